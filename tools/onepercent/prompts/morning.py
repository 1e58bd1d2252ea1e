"""The prompt that plans the day."""

from datetime import timedelta
from typing import Annotated

from tools.core.prompts import Language, Prompt
from tools.onepercent import days
from tools.onepercent.prompts import intents

TEXT = {
    "ru": """\
Помоги мне спланировать день. {wishes}

1. Снимок: include goals, habits, schedule, diary, history; date_from {yesterday}, date_to {today}.
2. Покажи коротко: что закрыто вчера и что на сегодня задумано в дневнике, шаги на сегодня и просроченные, привычки, которые ещё впереди, серии, которые могут прерваться.
3. Спроси, сколько сегодня времени и что главное. Предложи не больше трёх шагов, которые в него помещаются; просроченное: перенести, разбить или отпустить.
4. Что решили, оформи действиями (dt, priority, time_duration).""",
    "en": """\
Help me plan my day. {wishes}

1. Snapshot: include goals, habits, schedule, diary, history; date_from {yesterday}, date_to {today}.
2. Show briefly: what was closed yesterday and what the diary planned for today, the steps of today and overdue ones, the habits still to do, the streaks at risk.
3. Ask how much time there is today and what matters most. Propose at most three steps that fit into it; what is overdue: move it, split it or let it go.
4. Turn what was decided into actions (dt, priority, time_duration).""",
}


@Prompt("morning_plan", "План на день · Morning plan", write=True)
def morning_plan(wishes: Annotated[str, "what the day is to bring"] = "", language: Language = "ru") -> str:
    """Plan the day from goals, habits and schedule.

    Source: the OnePercent tools, which it leads to.
    """
    today = days.today(days.now())
    yesterday = today - timedelta(days=1)
    return intents.prompt(TEXT, language, wishes=wishes, today=str(today), yesterday=str(yesterday))
