"""The prompt that makes good cards from a text."""

from typing import Annotated

from tools.catalog import Language, Prompt
from tools.settings import current

TEXT = {
    "ru": """\
Сделай из текста хорошие карточки Anki. Колода: {deck}. Тип заметки: {model}.

Правила:
- Один факт на карточку; ответ короткий: слово, число, одна фраза. Длинное разбей на несколько карточек, перечень: по карточке на пункт.
- Вопрос понятен сам по себе через год, без текста под рукой, и имеет ровно один верный ответ. Никаких «да/нет» и «перечисли».
- Только то, что сказано в тексте, и только то, что стоит помнить; пустяки пропусти. Пиши на языке текста; термины не переводи.
- Поля типа «Поля для ChatGPT» по порядку: Prompt: вопрос; Response: ответ; Context: область, пример или зачем это; Sources: откуда (название, автор, страница, ссылка). У другого типа поля покажет anki_model_info; источник и там указывай.

Порядок:
1. anki_model_info для типа, anki_find_notes по ключевым словам: что уже есть, не повторяй.
2. Покажи карточки таблицей и дождись согласия или правок.
3. anki_add_from_model одним вызовом, у каждой заметки tags (одна-две темы) и dedup_key из её факта. Скажи, сколько добавлено и что пропущено, почему.

Текст:
{text}""",
    "en": """\
Make good Anki cards from the text. Deck: {deck}. Note type: {model}.

Rules:
- One fact a card; the answer is short: a word, a number, one phrase. Split what is long into several cards; a list: a card for each item.
- The question is clear by itself in a year's time, without the text at hand, and has exactly one right answer. No yes/no, no "list all".
- Only what the text says, and only what is worth remembering; leave trifles out. Write in the language of the text; do not translate terms.
- Fields of the note type "Поля для ChatGPT", in order: Prompt: the question; Response: the answer; Context: field, example or what it is good for; Sources: where it is from (title, author, page, link). Of another type anki_model_info shows the fields; give the source there too.

Order:
1. anki_model_info of the type, anki_find_notes by key words: do not repeat what is there.
2. Show the cards as a table and wait for a yes or corrections.
3. anki_add_from_model in one call, each note with tags (one or two topics) and a dedup_key made from its fact. Say how many were added, and what was skipped and why.

Text:
{text}""",
}


@Prompt("anki_cards", "Карточки из текста · Cards from a text", write=True)
def anki_cards(
    text: Annotated[str, "what to learn"],
    deck: Annotated[str, "the default deck if left out"] = "",
    language: Language = "ru",
) -> str:
    """Make Anki cards from a text: one fact a card, with its source.

    Source: the minimum information principle of spaced repetition.
    """
    now = current()
    return TEXT[language].format(text=text, deck=deck or now.anki_default_deck, model=now.anki_default_model)
