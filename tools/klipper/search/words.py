"""Words of a text, and the forms of one."""

import re

WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]{1,2}(?![^\W_]))?")

STOP_TEXT = """
    a about after again all also am an and any anyone are as at be because been before being but by can cannot come
    could did do does doing done during each either else ever every for from get gets getting give gives go goes going
    got had has have having he help her here him his how i if in instead into is it its itself just keep keeps know let
    like look make makes many may maybe me might mine more most much must my myself need needs no not now of off on one
    only onto or other our out over own please possible properly really right same seem seems shall she should so some
    someone something still such than that the their them then there these they thing things this those through to too
    try trying up us use used uses using very want wants was way we well were what when where whether which while who
    whose why will with without work working works would you your yours ain aren couldn didn doesn don hadn hasn haven
    isn ll mustn re shouldn ve wasn weren won wouldn s t d m
    а без более бы был была были было быть в вам вас ведь во вообще вот все всё всего всех вы где да даже для до его ее
    её если есть еще ещё же за зачем и из или им их к как какая какие какой каком какую когда кто куда ли лучше меня
    мне может можно мой моя моё мы на надо нам нас не него нее неё нельзя нет ни них но ну нужен нужна нужно о об один
    он она они оно от очень по под подскажите пожалуйста помогите после потом почему при про просто с сам свой себя со
    так такое такой там то тогда того тоже только том ты у уже хочу чего чем через что чтобы чтоб эта эти это этого
    этот я делать сделать сильно сколько насколько
"""
STOP_WORDS = frozenset(STOP_TEXT.split())
"""Words that say nothing of the subject of a question."""

SUFFIX = re.compile(
    r"(?:(?<=\w{5})(?:at(?:e[sd]?|ing|ions?)|ions?|e?ments?)"
    r"|(?<=\w{4})(?:ie[sd]|(?<![aeiou])y)"
    r"|(?<=\w{3})(?:ings?|e[sd]?|(?<![sui])s))$"
)
"""What is taken off a word: the longest that leaves enough. `ss`, `us` and `is` are no plurals."""

DOUBLED = re.compile(r"(?<=\w{2})([bdgmnprt])\1$|(?<=\w{4})ll$")
SHORT = 3
ANY_END = "*"
"""Follows a word of which only the beginning is known."""


class Any(frozenset[str]):
    """A set that has everything in it."""

    def __contains__(self, one: object) -> bool:
        return True


EXACT = frozenset(("",))
PLURAL = frozenset(("", "s"))
AFTER_Y = frozenset(("y", "ies", "ied"))
AT_ENDINGS = frozenset(("ate", "ates", "ated", "ating", "ation", "ations"))
AFTER_E = AT_ENDINGS | {"e", "es", "ed", "ing", "ings", "ion", "ions", "ment", "ments", "ement", "ements", "s", "d"}
ENDINGS = AFTER_E | EXACT
ALL = Any()


def words(text: str) -> list[str]:
    """The words of a text in order, in lower case; what is written with `_` or `-` is several."""
    return [match[0].lower().replace("’", "'").removesuffix("'s") for match in WORD.finditer(text)]


def forms(word: str) -> tuple[str, frozenset[str]]:
    """The stem of an English word, and what may follow it: `calibrate` finds `calibrating`, also `calibration`.

    Inflection, and the noun of a verb; `printer` is no form of `print`. What is no English word stands for itself.
    """
    if not (word.isascii() and word.isalpha()):
        return (word.removesuffix(ANY_END), ALL) if word.endswith(ANY_END) else (word, EXACT)
    suffix = SUFFIX.search(word)
    stem = word[: suffix.start()] if suffix else word
    if len(word.removesuffix("s")) <= SHORT:
        return stem, PLURAL
    if suffix and suffix[0] in ("y", "ies", "ied"):
        return stem, AFTER_Y
    if suffix and suffix[0] in ("e", "es") and word[-3] not in "shx":
        return stem, AFTER_E
    stem = DOUBLED.sub(lambda match: match[0][0], stem)
    return stem, ENDINGS
