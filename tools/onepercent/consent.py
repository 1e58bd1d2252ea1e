"""The person's words of consent: a yes, or a no and what is neither."""

import re

# What is compared is letters alone, in lower case, and stretched ones once: `Нееет!` is `нет`, `nooo` is `no`. In order:
# 1. pairs that sound like a no and are none go;
# 2. a negation, or a word that stops, is a no wherever it stands;
# 3. another no-word is a no, unless a yes stands before it: “yes, cancel the gym”;
# 4. without a word or a sign of consent, or with a question, nothing was said.

WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
# Russian has few doubled letters, English none three times.
STRETCHED = re.compile(r"([а-я])\1+|([a-z])\2{2,}")
# Signs of consent, without a word.
SIGNS = re.compile("[👍👌✅✔🆗+]")

HARMLESS = re.compile(
    r"\b(нет (проблем|возражений|вопросов|сомнений)|не (против|возражаю|вопрос|проблема|сомневайся|сомневаюсь|спрашивай|жалко)"
    r"|почему (бы )?(и )?нет|отмени последн\w+|why not|no (problem|objection|worr|doubt|question|issue)\w*|not a problem|(don't|dont|do not) "
    r"(mind|object|worry|hesitate|ask|wait)|can't wait|no need to (ask|wait)|keep going|wait no more)\b"
)
# `да нет` is a no, as a Russian says it.
NEVER = re.compile(
    r"\b(не|ни|да нет|нельзя|стоп|стой|стойте|подожди|подождите|погоди|погодите|постой|обожди|отбой|передумала?|not|never|"
    r"cannot|\w+n't|dont|wont|cant|stop|wait|hold on|halt|go back|changed my mind|second thoughts)\b"
)
NO = frozenset(
    "нет нетушки неа ненадо ненужно нехочу незачем неверно неправильно несогласен несогласна н отмена отмени отмените отменить "
    "отменяй отменяю отставить хватит потом позже попозже рано против отказ отказываюсь отказался отказалась отказано "
    "откажусь отклонить отклоняю отклонил отклонила отклонено отклони оставь оставьте оставим останется останутся брось "
    "забудь забей прекрати прекратите ошибка обойдусь воздержусь увы "
    "no nope nah naw n net nyet nix negative cancel cancels cancelled canceled abort aborted later decline declines "
    "declined reject rejects rejected refuse refuses refused deny denied denies disagree disagrees leave skip skipped pass "
    "forget dismiss dismissed against wrong keep nothing unconfirmed unapproved unanswered ignore ignored false "
    # Neither is a consent.
    "null none undefined nil maybe perhaps hm hmm unsure depends pending tbd м хм эм возможно наверное подумаю подумаем".split()
)
YES = frozenset(
    "да ага угу конечно давай давайте подтверждаю подтверждено подтвердил подтвердила согласен согласна согласны применяй "
    "применить примени делай сделай верно точно yes yep yeah yup yea y sure agree agreed agrees approve approved approves "
    "confirm confirmed confirms proceed accept accepted apply".split()
)


def is_yes(confirmation: str) -> bool:
    """True if the person has said yes."""
    words = WORD.findall(confirmation.lower().replace("ё", "е").replace("’", "'"))
    text = STRETCHED.sub(lambda match: match[0][0], " ".join(words))
    text, harmless = HARMLESS.subn("", text)
    if NEVER.search(text):
        return False

    for word in text.split():
        if word in YES or word in NO:
            return word in YES
    is_asked = confirmation.strip().endswith("?")
    return bool(harmless or SIGNS.search(confirmation) or (words and not is_asked))
