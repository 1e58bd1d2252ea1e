"""The prompts of a day and a week, and the words that they share: which action a person's words mean."""

from datetime import timedelta
from typing import Annotated

from tools.core.prompts import IS_DATED, Language, Prompt
from tools.onepercent import words
from tools.onepercent.database import store

RULES = {
    "ru": """\
Сегодня {today}, {weekday}. Правила:
- Сначала get_user_snapshot: id бери только из него, никогда не угадывай. Подходит не одно или непонятно, что имелось в виду: спроси.
- Любые изменения только так: preview_actions, покажи diff словами, дождись явного «да», тогда apply_actions (в user_confirmation слова человека). На «нет»: cancel_preview. Отменить последнее: undo_last.
- Всё, что меняется вместе, клади в один preview. Параметры действий: ресурс onepercent://actions.""",
    "en": """\
Today is {today}, {weekday}. Rules:
- get_user_snapshot first: take ids from it only, never guess one. Where several fit, or the meaning is not clear: ask.
- Every change goes this way: preview_actions, show the diff in words, wait for a clear yes, then apply_actions (user_confirmation: the person's words). On a no: cancel_preview. To take the last change back: undo_last.
- What changes together goes into one preview. Parameters of the actions: resource onepercent://actions.""",
}

WORDS = {
    "ru": """\
Слова → действие:
- «хочу», «моя цель», «научиться» → goal.create; «переименуй», «это важно, потому что» → goal.update; «цель достигнута» → goal.complete; «рано закрыл» → goal.reopen; «в архив», «из архива» → goal.archive, goal.unarchive; «убери цель» → goal.delete
- «надо сделать», «добавь шаг, задачу» → step.create (к какой цели: если неясно, спроси); «перенеси на», «срочно», «займёт час» → step.update (dt, priority, time_duration); «сдвинь всё на неделю» → step.shift; «в другую цель» → step.update (goal_id); «сделал», «готово» → step.complete; «не сделал всё-таки» → step.reopen; «убери шаг» → step.delete
- «каждый день», «по будням», «по понедельникам», «раз в неделю», «через день», «первого числа», «два литра» → habit.create; «теперь по выходным» → habit.update; «уезжаю», «заболел» → habit.pause, «снова могу» → habit.resume; «в архив», «из архива» → habit.archive, habit.unarchive; «больше не хочу» → habit.delete
- «сделал» о привычке → habit.mark_completed; «пропустил» → habit.mark_missed, с уважительной причиной → excuse_reason; «отметил зря» → habit.unmark
- «запиши», «день был» → diary.create_entry: что сделано, что нет, мысли, планы; «допиши в дневник» → diary.update_entry (append); «убери запись» → diary.delete_entry
- «работой доволен на 7» → ssp.rate; «я во Владивостоке», «ложусь в три» → person.update (time_zone, day_start_hour)
Категория: work: работа, учёба, карьера; health_sport: здоровье, спорт, сон, еда; welfare: деньги, жильё, достаток; family: семья, дети; environment: друзья, окружение; hobby: увлечения, отдых.
Приоритет: critical: срочно; important: важно; attention: обычный; optional: когда-нибудь.
«Сделал зарядку» может быть и шагом, и привычкой: посмотри в снимок; есть и то и другое: спроси.""",
    "en": """\
Words → action:
- "I want to", "my goal", "learn" → goal.create; "rename", "it matters because" → goal.update; "I reached it" → goal.complete; "not reached after all" → goal.reopen; "archive it", "bring it back" → goal.archive, goal.unarchive; "drop the goal" → goal.delete
- "I have to", "add a step, a task" → step.create (if it is not clear to which goal: ask); "move to", "urgent", "takes an hour" → step.update (dt, priority, time_duration); "everything a week later" → step.shift; "to the other goal" → step.update (goal_id); "done", "finished" → step.complete; "not done after all" → step.reopen; "drop the step" → step.delete
- "every day", "on weekdays", "on Mondays", "once a week", "every other day", "on the 1st", "two litres" → habit.create; "at weekends from now on" → habit.update; "I am away", "I am ill" → habit.pause, "I can again" → habit.resume; "archive it", "bring it back" → habit.archive, habit.unarchive; "I give it up" → habit.delete
- "did it" of a habit → habit.mark_completed; "missed it" → habit.mark_missed, with a good reason → excuse_reason; "marked by mistake" → habit.unmark
- "note", "my day was" → diary.create_entry: what was done, what was not, thoughts, plans; "add to the entry" → diary.update_entry (append); "remove the entry" → diary.delete_entry
- "content with work: 7" → ssp.rate; "I am in Tokyo", "my day ends at three" → person.update (time_zone, day_start_hour)
Category: work: job, studies, career; health_sport: health, sport, sleep, food; welfare: money, home, prosperity; family: family, children; environment: friends, people around; hobby: pastimes, rest.
Priority: critical: burning; important: matters; attention: ordinary; optional: some day.
"Did my exercises" may be a step or a habit: look into the snapshot; if there are both: ask.""",
}

MORNING = {
    "ru": """\
Помоги мне спланировать день. {wishes}
1. Снимок: include goals, habits, schedule, diary, history; date_from {yesterday}, date_to {today}.
2. Покажи коротко: что закрыто вчера и что на сегодня задумано в дневнике, шаги на сегодня и просроченные, привычки, которые ещё впереди, серии, которые могут прерваться.
3. Спроси, сколько сегодня времени и что главное. Предложи не больше трёх шагов, которые в него помещаются; просроченное: перенести, разбить или отпустить.
4. Запиши решённое (preview_actions: dt, priority, time_duration).""",
    "en": """\
Help me plan my day. {wishes}
1. Snapshot: include goals, habits, schedule, diary, history; date_from {yesterday}, date_to {today}.
2. Show briefly: what was closed yesterday and what the diary planned for today, the steps of today and overdue ones, the habits still to do, the streaks at risk.
3. Ask how much time there is today and what matters most. Propose at most three steps that fit into it; what is overdue: move it, split it or let it go.
4. Turn what was decided into actions (dt, priority, time_duration).""",
}

EVENING = {
    "ru": """\
Подведём итоги дня. {told}
1. Снимок: include goals, habits, schedule, diary, history; date_from и date_to {today}.
2. Назови, что закрыто сегодня, и сравни XP со вчерашним (history, previous). Спроси о том, что не отмечено: шаги на сегодня (сделан, перенести, оставить) и привычки (сделал, пропустил, по уважительной причине).
3. Спроси для дневника, по вопросу за раз: что удалось, что нет, какие мысли, что завтра. Пиши моими словами, ничего не придумывай. Запись за сегодня уже есть: предложи дополнить её.
4. Всё вместе одним preview; в конце скажи, что это дало в XP и сериях.""",
    "en": """\
Let us close the day. {told}
1. Snapshot: include goals, habits, schedule, diary, history; date_from and date_to {today}.
2. Name what was closed today, and the XP beside yesterday's (history, previous). Ask about what is not marked: today's steps (done, move, leave) and habits (done, missed, missed for a good reason).
3. Ask for the diary, one question at a time: what went well, what did not, which thoughts, what is planned for tomorrow. Write in my words and invent nothing. If there is an entry for today: offer to add to it.
4. All of it in one preview; in the end say what it brought in XP and streaks.""",
}

WEEKLY = {
    "ru": """\
Подведём итоги недели и наметим следующую.
1. Снимок: include history, date_from {week_ago}, date_to {today}; затем goals, schedule, date_to {next_week}.
2. Скажи, опираясь на числа: какие шаги и цели закрыты (history), как держатся привычки (rate, серии), что изменилось против прошлой недели (previous), что повторяется в дневнике. Похвали за сделанное; о несделанном спроси, что помешало, без упрёков.
3. Цели без открытых шагов: предложи следующий шаг. Привычки, которые не держатся: упростить, сменить расписание или отпустить. Просроченное: перенести или убрать.
4. Договоримся о трёх главных шагах недели с днями, и запиши решённое (preview_actions).""",
    "en": """\
Let us look back on the week and plan the next.
1. Snapshot: include history, date_from {week_ago}, date_to {today}; then goals, schedule, date_to {next_week}.
2. Say, by the numbers: which steps and goals are closed (history), how habits hold (rate, streaks), what changed since the week before (previous), what recurs in the diary. Praise what was done; of what was not, ask what stood in the way, without reproach.
3. Goals without open steps: propose the next one. Habits that do not hold: make them easier, change the schedule or let them go. What is overdue: move or drop it.
4. Let us agree on the week's three main steps with their days, and turn what was decided into actions.""",
}

REQUEST = {
    "ru": """\
Сделай в моих целях, привычках и дневнике то, о чём я прошу:

{request}

Разбери просьбу на действия по таблице ниже, по порядку; в одной просьбе их может быть несколько. Чего не хватает для обязательных параметров, о том спроси, а не придумывай.""",
    "en": """\
Do in my goals, habits and diary what I ask for:

{request}

Take the request apart into actions by the table below, in order; there may be several in one request. What the required parameters lack, ask for it; do not invent it.""",
}


@Prompt("morning_plan", "План на день · Morning plan", when="wants to plan the day", write=True)
def morning_plan(wishes: Annotated[str, "what the day is to bring"] = "", language: Language = "ru") -> str:
    """Plan the day from goals, habits and schedule.

    Source: the OnePercent tools, which it leads to.
    """
    return _prompt(MORNING, language, wishes=wishes)


@Prompt("evening_review", "Итоги дня · Evening review", when="tells how the day was", write=True)
def evening_review(told: Annotated[str, "how the day was"] = "", language: Language = "ru") -> str:
    """Mark steps and habits of the day and write the diary.

    Source: the OnePercent tools, which it leads to.
    """
    return _prompt(EVENING, language, told=told)


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
    return _prompt(WEEKLY, language)


@Prompt(
    "free_request",
    "Просьба своими словами · Free request",
    when="wants something done in goals, habits or diary",
    write=True,
)
def free_request(request: Annotated[str, "what to do, in your own words"], language: Language = "ru") -> str:
    """Turn a request in one's own words into actions on goals, habits and diary.

    Source: the OnePercent tools, which it leads to.
    """
    return _prompt(REQUEST, language, request=request)


def _prompt(text: dict[str, str], language: Language, **values: str) -> str:
    """A prompt's own text, then the rules and the table of words, in one language."""
    today = store.today()
    dates = {
        "today": str(today),
        "weekday": words.weekday(today, language),
        "yesterday": str(today - timedelta(days=1)),
        "week_ago": str(today - timedelta(days=6)),
        "next_week": str(today + timedelta(days=7)),
    }
    if not IS_DATED.get():
        dates = {name: f"<{name}>" for name in dates}
    own, rules = (part[language].format(**dates, **values).strip() for part in (text, RULES))
    return "\n\n".join([own, rules, WORDS[language]])
