"""Anki's prompts: cards from a text, and a review in the conversation."""

import json
from typing import Annotated

from tools.core.prompts import Language, Prompt
from tools.toolkit import filled

from .settings import current

CARDS_TEXT = {
    "ru": """\
Сделай из текста хорошие карточки Anki. Колода: {deck}. Тип заметки: {model}.

Правила:
- Один факт на карточку; ответ короткий: слово, число, одна фраза. Длинное разбей на несколько карточек, из перечня сделай по карточке на пункт.
- Вопрос понятен сам по себе через год, без текста под рукой, и имеет ровно один верный ответ. Никаких «да/нет» и «перечисли».
- Только то, что сказано в тексте, и только то, что стоит помнить; пустяки пропусти. Пиши на языке текста; термины не переводи.
- Поля типа «Поля для ChatGPT» по порядку: Prompt: вопрос; Response: ответ; Context: область, пример или зачем это; Sources: откуда (название, автор, страница, ссылка). У другого типа поля покажет anki_model_info; источник и там указывай.

Порядок:
1. anki_model_info для типа, anki_find_notes по ключевым словам: что уже есть, не повторяй.
2. Покажи карточки таблицей и дождись согласия или правок.
3. anki_add_from_model одним вызовом, у каждой заметки tags (одна-две темы) и dedup_key из её факта. Скажи, сколько добавлено, что пропущено и почему.

Текст:
{text}""",
    "en": """\
Make good Anki cards from the text. Deck: {deck}. Note type: {model}.

Rules:
- One fact per card; the answer is short: a word, a number, one phrase. Split long answers into several cards, a list into one card per item.
- The question is clear by itself in a year's time, without the text at hand, and has exactly one right answer. No yes/no, no "list all".
- Only what the text says, and only what is worth remembering; leave trifles out. Write in the language of the text; do not translate terms.
- Fields of the note type "Поля для ChatGPT", in order: Prompt: the question; Response: the answer; Context: field, example or what it is good for; Sources: where it is from (title, author, page, link). For another note type, anki_model_info shows the fields; give the source there too.

Order:
1. anki_model_info of the type, anki_find_notes by key words: do not repeat what is there.
2. Show the cards as a table and wait for a yes or corrections.
3. anki_add_from_model in one call, each note with tags (one or two topics) and a dedup_key made from its fact. Say how many were added, and what was skipped and why.

Text:
{text}""",
}


@Prompt(
    "anki_cards",
    "Карточки из текста · Cards from a text",
    when="wants to learn a text with Anki cards",
    write=True,
)
def anki_cards(
    text: Annotated[str, "what to learn"],
    deck: Annotated[str, "the default deck if left out"] = "",
    language: Language = "ru",
) -> str:
    """Make Anki cards from a text: one fact per card, with its source.

    Source: the minimum information principle of spaced repetition.
    """
    settings = current()
    return CARDS_TEXT[language].format(
        text=text, deck=deck or settings.anki_default_deck, model=settings.anki_default_model
    )


REVIEW_TEXT = {
    "ru": """\
Повтори со мной карточки Anki{deck}, как терпеливый учитель: вопросы задаёшь ты, оценку ставлю я.

1. anki_invoke {{"action": "sync"}}: так придут ответы с телефона. Если аккаунта нет (auth not configured), продолжай молча; о другой ошибке скажи.
2. anki_due{argument}: скажи одной строкой, сколько карточек ждёт (новые, в изучении, повторение). Если ни одной, скажи это и закончи.
3. По одной карточке: покажи только вопрос и жди моего ответа. Ответ заранее не показывай и не подсказывай, пока не попрошу.
4. Потом покажи ответ, в двух словах скажи, что верно, а чего не хватило, и предложи оценку с её сроком из next: снова, трудно, хорошо, легко. Решаю я: жди моего слова.
5. anki_answer_cards с моими оценками, сразу или по несколько карточек. Если карточка пропущена, скажи почему. Если я оговорился с оценкой: anki_answer_cards {{"undo": true}}, потом верная оценка. Если в ответе есть `note`, что карточки идут раньше срока, отвечай с early.
6. Карточки кончились: anki_due ещё раз. Когда я скажу «хватит» или больше ничего нет: снова sync, итог одной строкой и, если просил, anki_stats.

Ошибки в самих карточках запоминай и предложи исправить в конце (anki_update_notes), без моего согласия ничего не меняй.""",
    "en": """\
Review my Anki cards{deck} with me, as a patient teacher: you ask, I rate.

1. anki_invoke {{"action": "sync"}}: it brings what I answered on my phone. Without an account (auth not configured) go on and say nothing; tell me about any other error.
2. anki_due{argument}: say in one line how many cards are waiting (new, learning, review). If there are none, say so and stop.
3. One card at a time: show only the question and wait for my answer. Do not show the answer or give hints before I ask.
4. Then show the answer, say in a few words what was right and what was missing, and suggest a rating with its interval from `next`: again, hard, good, easy. I decide: wait for my word.
5. anki_answer_cards with my ratings, at once or a few cards together. If a card was skipped, say why. If I rated one by mistake: anki_answer_cards {{"undo": true}}, then the right rating. If the answer has a `note` that cards come early, answer them with early.
6. No cards left: anki_due once more. When I say stop, or nothing is due: sync again, one line of summary and, if I asked, anki_stats.

Remember mistakes in the cards themselves and offer to correct them at the end (anki_update_notes); change nothing without my yes.""",
}


@Prompt(
    "anki_review",
    "Повторение карточек · Review of cards",
    when="wants to review Anki cards in the conversation",
    write=True,
)
def anki_review(
    deck: Annotated[str, "every deck if left out"] = "",
    language: Language = "ru",
) -> str:
    """Review due Anki cards in the conversation: one question at a time, and the person rates.

    Source: anki.due and anki.answer_cards.
    """
    return REVIEW_TEXT[language].format(
        deck=f" ({deck})" if deck else "",
        argument=f" {json.dumps(filled(deck=deck, asText=True), ensure_ascii=False)}",
    )
