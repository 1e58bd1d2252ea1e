"""The prompts of a day and a week, and the rules that they share."""

from datetime import timedelta
from typing import Annotated

from tools.core.prompts import IS_DATED, Language, Prompt

from .base import texts
from .database import store

RULES = {
    "ru": """\
Сегодня {today}, {weekday}. Id бери только из снимка; непонятно, что имелось в виду, — спроси. Все изменения одним preview_actions: покажи message, дождись «да», тогда apply_actions; на «нет» cancel_preview.
«Сделал зарядку» может быть и шагом, и привычкой: посмотри в снимке.""",
    "en": """\
Today is {today}, {weekday}. Take ids from the snapshot only; if the meaning is not clear, ask. All changes in one preview_actions: show message, wait for a yes, then apply_actions; on a no cancel_preview.
"I did my exercises" may be a step or a habit: look in the snapshot.""",
}

MORNING_PLAN = {
    "ru": """\
Помоги мне спланировать день. {wishes}
1. Снимок: include goals, habits, schedule, diary, history; date_from {yesterday}, date_to {today}.
2. Покажи коротко: что закрыто вчера и что на сегодня задумано в дневнике, шаги на сегодня и просроченные, привычки, которые ещё впереди, серии, которые могут прерваться.
3. Спроси, сколько сегодня времени и что главное. Предложи не больше трёх шагов, которые в него поместятся; просроченное: перенести, разбить или отпустить.
4. Запиши, что решили.""",
    "en": """\
Help me plan my day. {wishes}
1. Snapshot: include goals, habits, schedule, diary, history; date_from {yesterday}, date_to {today}.
2. Show briefly: what was done yesterday and what the diary planned for today, today's steps and overdue ones, the habits still to do, the streaks at risk.
3. Ask how much time there is today and what matters most. Propose at most three steps that fit; what is overdue: move it, split it or let it go.
4. Record what was decided.""",
}

EVENING_REVIEW = {
    "ru": """\
Подведём итоги дня. {told}
1. Снимок: include goals, habits, schedule, diary, history; date_from и date_to {today}.
2. Назови, что закрыто сегодня, и сравни XP со вчерашним (history, previous). Спроси о том, что не отмечено: шаги на сегодня (сделан, перенести, оставить) и привычки (сделал, пропустил, по уважительной причине).
3. Спроси для дневника, по вопросу за раз: что удалось, что нет, какие мысли, что завтра. Пиши моими словами, ничего не придумывай. Запись за сегодня уже есть: предложи дополнить её.
4. Всё вместе одним preview; в конце скажи, что это дало в XP и сериях.""",
    "en": """\
Let us review the day. {told}
1. Snapshot: include goals, habits, schedule, diary, history; date_from and date_to {today}.
2. Name what was done today, and compare the XP with yesterday's (history, previous). Ask about what is not marked: today's steps (done, move, leave) and habits (done, missed, excused).
3. Ask for the diary, one question at a time: what went well, what did not, any thoughts, the plan for tomorrow. Write in my words and invent nothing. If today has an entry, offer to add to it.
4. Everything in one preview; then say what it brought in XP and streaks.""",
}

WEEKLY_REVIEW = {
    "ru": """\
Подведём итоги недели и наметим следующую.
1. Снимок: include history, date_from {week_ago}, date_to {today}; затем goals, schedule, date_to {next_week}.
2. Скажи, опираясь на числа: какие шаги и цели закрыты (history), как держатся привычки (rate, серии), что изменилось против прошлой недели (previous), что повторяется в дневнике. Похвали за сделанное; о несделанном спроси, что помешало, без упрёков.
3. Цели без открытых шагов: предложи следующий шаг. Привычки, которые не держатся: упростить, сменить расписание или отпустить. Просроченное: перенести или убрать.
4. Договоримся о трёх главных шагах недели и их днях; запиши, что решили.""",
    "en": """\
Let us look back on the week and plan the next.
1. Snapshot: include history, date_from {week_ago}, date_to {today}; then goals, schedule, date_to {next_week}.
2. Say, by the numbers: which steps and goals are done (history), how the habits are going (rate, streaks), what changed since the week before (previous), what recurs in the diary. Praise what was done; ask what got in the way of the rest, without reproach.
3. Goals without open steps: propose the next one. Habits that slip: make them easier, change the schedule or let them go. What is overdue: move or drop it.
4. Let us agree on the week's three main steps and their days; record what was decided.""",
}

FREE_REQUEST = {
    "ru": """\
Сделай в моих целях, привычках и дневнике то, о чём я прошу:

{request}

Разбери просьбу на действия по порядку; их может быть несколько. Чего не хватает, спроси, не придумывай.""",
    "en": """\
Do in my goals, habits and diary what I ask for:

{request}

Break the request into actions, in order; there may be several. Ask for what is missing; do not invent it.""",
}


@Prompt("morning_plan", "План на день · Morning plan", when="wants to plan the day", write=True)
def morning_plan(
    wishes: Annotated[str, "what you want from the day"] = "", language: Language = "ru"
) -> str:
    """Plan the day from goals, habits and schedule.

    Source: the OnePercent tools, which it leads to.
    """
    return _prompt(MORNING_PLAN, language, wishes=wishes)


@Prompt("evening_review", "Итоги дня · Evening review", when="says how the day was", write=True)
def evening_review(told: Annotated[str, "how the day was"] = "", language: Language = "ru") -> str:
    """Mark steps and habits of the day and write the diary.

    Source: the OnePercent tools, which it leads to.
    """
    return _prompt(EVENING_REVIEW, language, told=told)


@Prompt(
    "weekly_review",
    "Итоги недели · Weekly review",
    when="wants to look back on the week or plan the next",
    write=True,
)
def weekly_review(language: Language = "ru") -> str:
    """Look back on the last seven days and plan the next.

    Source: the OnePercent tools, which it leads to.
    """
    return _prompt(WEEKLY_REVIEW, language)


@Prompt(
    "free_request",
    "Просьба своими словами · Free request",
    when="wants something done in goals, habits or diary",
    write=True,
)
def free_request(
    request: Annotated[str, "what to do, in your own words"], language: Language = "ru"
) -> str:
    """Turn a request in one's own words into actions on goals, habits and diary.

    Source: the OnePercent tools, which it leads to.
    """
    return _prompt(FREE_REQUEST, language, request=request)


def _prompt(instructions: dict[str, str], language: Language, **values: str) -> str:
    """A prompt in one language: its own instructions, with their values filled in, then the rules."""
    today = store.persons_today()
    dates = {
        "today": f"{today}",
        "weekday": texts.WEEKDAYS[language][today.weekday()],
        "yesterday": f"{today - timedelta(1)}",
        "week_ago": f"{today - timedelta(6)}",
        "next_week": f"{today + timedelta(7)}",
    }
    if not IS_DATED.get():
        dates = {name: f"<{name}>" for name in dates}
    return f"{instructions[language]}\n\n{RULES[language]}".format(**dates, **values)
