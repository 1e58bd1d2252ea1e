"""The person's words of consent: a yes, or anything else."""

import re

# Only letters are compared, in lower case, stretched ones once: `Нееет!` is `нет`, `nooo` is `no`. A yes has
# to be said: words in none of these lists are not one, since a person can refuse in any words. In order:
# 1. phrases that only sound like a no are taken out and count as a yes;
# 2. a negation, or a word that stops, is a no wherever it stands;
# 3. the first of a plain yes and a no decides: “yes, cancel the gym”;
# 4. without either, a verb that lets it happen, praise or a sign of consent is a yes, unless it is a
#    question.

HARMLESS = r"""\b(
    нет\ (проблем|возражений|вопросов|сомнений) | без\ (проблем|возражений|вопросов|сомнений)
    | не\ (против|возражаю|вопрос|проблема|сомневайся|сомневаюсь|спрашивай|жалко) | почему\ (бы\ )?(и\ )?нет
    | отмени\ последн\w+
    | why\ not | no\ (problem|objection|worr|doubt|question|issue|rush|hurry)\w* | not\ a\ problem
    | (don't|dont|do\ not)\ (mind|object|worry|hesitate|ask|wait) | can't\ wait | no\ need\ to\ (ask|wait)
    | keep\ going | wait\ no\ more
    )\b"""
# `да нет` is a no, as a Russian says it.
NEVER = r"""\b(
    не|ни|(да|конечно|разумеется|естественно)\ нет|да\ ну|нельзя|стоп|стой|стойте|подожди|подождите|погоди
    |погодите|постой|обожди|отбой|передумала?|давай(те)?\ (лучше\ )?(потом|позже|завтра|иначе|по\ другому)
    |not|never|cannot|\w+n't|dont|wont|cant|stop|wait|hold\ on|halt|go\ back|changed\ my\ mind
    |second\ thoughts|to\ be\ \w+
    )\b"""
# Words that refuse or put off, and words that ask or want something else first.
NO = r"""
    нет|нетушки|неа|ненадо|ненужно|нехочу|незачем|неверно|неправильно|несогласн?[аы]?|несогласен|н|без
    |отмен\w*|отставить|хватит|потом|позже|попозже|рано|против|отказ\w*|откажусь|отклон\w*|остав\w*
    |остан[еу]\w*|брось|забудь|забей|прекрати\w*|ошибк\w*|обойдусь|воздержусь|увы|запре\w*|отлож\w*|зря|плохо
    |но|лучше|сначала|сперва|иначе|вместо|на|еще|только|кроме|объясни\w*|покажи\w*|расскажи\w*|почему|зачем
    |подробнее|какой|какая|какую|возможно|наверное|подума\w*|думаю|может|м|хм|эм
    |no|nope|nah|naw|n|net|nyet|nix|negative|cancel\w*|abort\w*|later|declin\w*|disagree\w*|reject\w*
    |refus\w*|deny|denie[ds]|leave|skip\w*|pass|forget|dismiss\w*|against|wrong|keep|nothing|without
    |un(confirmed|approved|answered|sure)|ignored?|false|undo|revert|but|to|another|also|only|except|first
    |instead|rather|before|explain|show|tell|why|what|which|how|when|null|none|undefined|nil|maybe|perhaps
    |hm+|depends|pending|tbd
    """
YES = r"""
    (да)+|д|ага|угу|конечно|разумеется|безусловно|обязательно|подтвержда\w+|согласен|согласн[аы]|применяй\w*
    |примени\w*|йес
    |yess?|yep|yeah|yup|yea|yah?|aye|y|sure|agree[sd]?|approve[sd]?|confirm(ed|s)?|proceed|accept(ed)?|apply
    |absolutely|definitely|certainly
    """
FINE = r"""
    хорошо|ок|окей|оке|ладно|ладненько|лады|можно|можешь|валяй\w*|поехали|погнали|вперед|жги|годится|пойдет
    |подойдет|подходит|идет|устраивает|го|верно|точно|правильно|имено|так|все|принято|принимаю|добро|отлично
    |супер|прекрасно|замечательно|класн?о?|круто|здорово|спасибо|благодарю|пожалуйста|норм|нормально|плюс
    |разрешаю|разрешено|давай\w*|подтверд\w+|одобр\w+|с?делай\w*|выполн\w+|запи[сш]\w+|внос\w+|внес\w+
    |сохран\w+|созда\w+|добав\w+|удал\w+|убер\w+|убирай\w*|меняй\w*|измени\w*|поменяй\w*|перенес\w+
    |перенос\w+|отмет\w+|отмечай\w*|постав\w+|став\w+|закр\w+|заверш\w+|архивируй\w*
    |please|thanks?|ok|okay|okey|k|go|do|fine|great|good|nice|cool|perfect|correct|right|alright|exactly
    |works|sounds|looks|all|affirmative|roger|granted|allowed|course|means|continue|carry|let's|save|delete
    |remove|record|add|create|change|mark|move|archive|write|finish|complete|log
    """


def is_yes(confirmation: str) -> bool:
    """True if the person has said yes."""
    lower = confirmation.lower().replace("ё", "е").replace("’", "'")
    # Letters, with an apostrophe inside: `don't`.
    words = re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)?", lower)
    # Russian has few doubled letters, English none three times; Russian words stand above without them.
    phrase = re.sub(r"([а-я])\1+|([a-z])\2{2,}", lambda match: match[0][0], " ".join(words))
    phrase, harmless = re.subn(HARMLESS, "", phrase, flags=re.VERBOSE)
    if re.search(NEVER, phrase, re.VERBOSE):
        return False

    if answer := _first_word(f"(?P<no>{NO})|{YES}", phrase):
        return not answer["no"]
    is_question = confirmation.strip().endswith("?")
    assent = _first_word(FINE, phrase) or re.search("[👍👌✅✔☑🆗💯🙏+]", confirmation)
    return bool(harmless or (assent and not is_question))


def _first_word(pattern: str, text: str) -> re.Match[str] | None:
    """First whole word that matches a pattern, which is compiled at its first use: every session pays for
    what happens at the import."""
    return re.search(rf"(?<!\S)(?:{pattern})(?!\S)", text, re.VERBOSE)
