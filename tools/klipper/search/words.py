"""The words of a text, and the stem of a word."""

import re
from typing import NamedTuple

# Letters and digits, with an English ending after an apostrophe: `probe's`, `don't`.
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

# The longest suffix that leaves enough of the word. `ss`, `us` and `is` are not plurals.
SUFFIX = re.compile(
    r"(?:(?<=\w{5})(?:at(?:e[sd]?|ing|ions?)|ions?|e?ments?)"
    r"|(?<=\w{4})(?:ie[sd]|(?<![aeiou])y)"
    r"|(?<=\w{3})(?:ings?|e[sd]?|(?<![sui])s))$"
)

# The doubled last letter of a stem: `stopp` of `stopping`, `levell` of `levelling`.
DOUBLED = re.compile(r"(?<=\w{2})([bdgmnprt])\1$|(?<=\w{4})ll$")

SHORT = 3
"""A word of at most so many letters has no other form than its plural."""

ANY_END = "*"
"""Follows a word of which only the beginning is known."""


class AnyEnding(frozenset[str]):
    """The set of all endings."""

    def __contains__(self, ending: object) -> bool:
        return True


EXACT = frozenset(("",))
PLURAL = frozenset(("", "s"))
AFTER_Y = frozenset(("y", "ies", "ied"))
AT_ENDINGS = frozenset(("ate", "ates", "ated", "ating", "ation", "ations"))
AFTER_E = AT_ENDINGS | {"e", "es", "ed", "ing", "ings", "ion", "ions", "ment", "ments", "ement", "ements", "s", "d"}
ENDINGS = AFTER_E | EXACT
ALL = AnyEnding()


class Stem(NamedTuple):
    """The beginning that the forms of a word share, and the endings that make one of them."""

    text: str
    endings: frozenset[str]


def words(text: str) -> list[str]:
    """The words of a text in order, in lower case; `bed_mesh` and `bed-mesh` are two words each."""
    return [match[0].lower().replace("’", "'").removesuffix("'s") for match in WORD.finditer(text)]


def stem(word: str) -> Stem:
    """The stem of an English word, with the endings of its inflection and of the noun of a verb.

    `calibrate` covers `calibrating` and `calibration`, `print` does not cover `printer`. A word with other characters
    than English letters has no other form.
    """
    if word.endswith(ANY_END):
        return Stem(word.removesuffix(ANY_END), ALL)
    if not (word.isascii() and word.isalpha()):
        return Stem(word, EXACT)
    suffix = SUFFIX.search(word)
    text = word[: suffix.start()] if suffix else word
    if len(word.removesuffix("s")) <= SHORT:
        return Stem(text, PLURAL)
    if suffix and suffix[0] in ("y", "ies", "ied"):
        return Stem(text, AFTER_Y)
    if suffix and suffix[0] in ("e", "es") and word[-3] not in "shx":
        return Stem(text, AFTER_E)
    return Stem(DOUBLED.sub(lambda double: double[0][0], text), ENDINGS)
