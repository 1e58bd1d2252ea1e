"""The prompt that looks back on a week and ahead to the next."""

from datetime import timedelta

from tools.core.prompts import Language, Prompt
from tools.onepercent import days
from tools.onepercent.prompts import intents

TEXT = {
    "ru": """\
Подведём итоги недели и наметим следующую.

1. Снимок: include history, diary, date_from {first}, date_to {today}; затем goals, schedule, date_to {last}.
2. Скажи, опираясь на числа: какие шаги и цели закрыты (history), как держатся привычки (rate, серии), что изменилось против прошлой недели (previous), что повторяется в дневнике. Похвали за сделанное; о несделанном спроси, что помешало, без упрёков.
3. Цели без открытых шагов: предложи следующий шаг. Привычки, которые не держатся: упростить, сменить расписание или отпустить. Просроченное: перенести или убрать.
4. Договоримся о трёх главных шагах недели с днями, и оформи решённое действиями.""",
    "en": """\
Let us look back on the week and plan the next.

1. Snapshot: include history, diary, date_from {first}, date_to {today}; then goals, schedule, date_to {last}.
2. Say, by the numbers: which steps and goals are closed (history), how habits hold (rate, streaks), what changed since the week before (previous), what recurs in the diary. Praise what was done; of what was not, ask what stood in the way, without reproach.
3. Goals without open steps: propose the next one. Habits that do not hold: make them easier, change the schedule or let them go. What is overdue: move or drop it.
4. Let us agree on the week's three main steps with their days, and turn what was decided into actions.""",
}


@Prompt("weekly_review", "Итоги недели · Weekly review", write=True)
def weekly_review(language: Language = "ru") -> str:
    """Look back on the last seven days and plan the next.

    Source: the OnePercent tools, which it leads to.
    """
    today = days.today(days.now())
    week = timedelta(days=7)
    return intents.prompt(
        TEXT, language, first=str(today - timedelta(days=6)), today=str(today), last=str(today + week)
    )
