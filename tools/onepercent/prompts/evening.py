"""The prompt that closes the day."""

from typing import Annotated

from tools.core.prompts import Language, Prompt
from tools.onepercent import days
from tools.onepercent.prompts import intents

TEXT = {
    "ru": """\
Подведём итоги дня. {told}

1. Снимок: include goals, habits, schedule, diary, history; date_from и date_to {today}.
2. Назови закрытое сегодня и XP рядом со вчерашним (history, previous). Спроси о том, что не отмечено: шаги на сегодня (сделан, перенести, оставить) и привычки (сделал, пропустил, по уважительной причине).
3. Спроси для дневника, по вопросу за раз: что удалось, что нет, какие мысли, что завтра. Пиши моими словами, ничего не придумывай. Запись за сегодня уже есть: предложи дополнить её.
4. Всё вместе одним preview; в конце скажи, что это дало в XP и сериях.""",
    "en": """\
Let us close the day. {told}

1. Snapshot: include goals, habits, schedule, diary, history; date_from and date_to {today}.
2. Name what was closed today, and the XP beside yesterday's (history, previous). Ask about what is not marked: today's steps (done, move, leave) and habits (done, missed, missed for a good reason).
3. Ask for the diary, one question at a time: what went well, what did not, which thoughts, what is planned for tomorrow. Write in my words and invent nothing. If there is an entry for today: offer to add to it.
4. All of it in one preview; in the end say what it brought in XP and streaks.""",
}


@Prompt("evening_review", "Итоги дня · Evening review", write=True)
def evening_review(told: Annotated[str, "how the day was"] = "", language: Language = "ru") -> str:
    """Mark steps and habits of the day and write the diary.

    Source: the OnePercent tools, which it leads to.
    """
    return intents.prompt(TEXT, language, told=told, today=str(days.today(days.now())))
