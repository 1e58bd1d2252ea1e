"""What a person's words mean: the part that the prompts share."""

from tools.onepercent import days

RULES = {
    "ru": """\
Сегодня {today}, {weekday}. Правила:
- Сначала get_user_snapshot: id бери только из него, никогда не угадывай. Подходит не одно или непонятно, что имелось в виду: спроси.
- Любые изменения только так: preview_actions, покажи diff словами, дождись явного «да», тогда apply_actions (в user_confirmation слова человека). На «нет»: cancel_preview. Отменить последнее: undo_last.
- Всё, что меняется вместе, клади в один preview. client_action_id: новый UUID у каждого действия. Параметры действий: ресурс onepercent://actions.""",
    "en": """\
Today is {today}, {weekday}. Rules:
- get_user_snapshot first: take ids from it only, never guess one. Where several fit, or the meaning is not clear: ask.
- Every change goes this way: preview_actions, show the diff in words, wait for a clear yes, then apply_actions (user_confirmation: the person's words). On a no: cancel_preview. To take the last change back: undo_last.
- What changes together goes into one preview. client_action_id: a new UUID for each action. Parameters of the actions: resource onepercent://actions.""",
}

WORDS = {
    "ru": """\
Слова → действие:
- «хочу», «моя цель», «научиться» → goal.create; «переименуй», «это важно, потому что» → goal.update; «цель достигнута» → goal.complete; «рано закрыл» → goal.reopen; «убери цель» → goal.delete
- «надо сделать», «добавь шаг, задачу» → step.create (к какой цели: если неясно, спроси); «перенеси на», «срочно», «займёт час» → step.update (dt, priority, time_duration); «в другую цель» → step.update (goal_id); «сделал», «готово» → step.complete; «не сделал всё-таки» → step.reopen; «убери шаг» → step.delete
- «каждый день», «по будням», «по понедельникам», «раз в неделю» → habit.create; «теперь по выходным» → habit.update; «больше не хочу» → habit.delete
- «сделал» о привычке → habit.mark_completed; «пропустил» → habit.mark_missed, с уважительной причиной → excuse_reason; «отметил зря» → habit.unmark
- «запиши», «день был» → diary.create_entry: что сделано, что нет, мысли, планы; «допиши в дневник» → diary.update_entry; «убери запись» → diary.delete_entry
- «работой доволен на 7» → ssp.rate
Категория: work: работа, учёба, карьера; health_sport: здоровье, спорт, сон, еда; welfare: деньги, жильё, достаток; family: семья, дети; environment: друзья, окружение; hobby: увлечения, отдых.
Приоритет: critical: горит; important: важно; attention: обычный; optional: когда-нибудь.
«Сделал зарядку» может быть и шагом, и привычкой: посмотри в снимок; есть и то и другое: спроси.""",
    "en": """\
Words → action:
- "I want to", "my goal", "learn" → goal.create; "rename", "it matters because" → goal.update; "I reached it" → goal.complete; "not reached after all" → goal.reopen; "drop the goal" → goal.delete
- "I have to", "add a step, a task" → step.create (if it is not clear to which goal: ask); "move to", "urgent", "takes an hour" → step.update (dt, priority, time_duration); "to the other goal" → step.update (goal_id); "done", "finished" → step.complete; "not done after all" → step.reopen; "drop the step" → step.delete
- "every day", "on weekdays", "on Mondays", "once a week" → habit.create; "at weekends from now on" → habit.update; "I give it up" → habit.delete
- "did it" of a habit → habit.mark_completed; "missed it" → habit.mark_missed, with a good reason → excuse_reason; "marked by mistake" → habit.unmark
- "note", "my day was" → diary.create_entry: what was done, what was not, thoughts, plans; "add to the entry" → diary.update_entry; "remove the entry" → diary.delete_entry
- "content with work: 7" → ssp.rate
Category: work: job, studies, career; health_sport: health, sport, sleep, food; welfare: money, home, prosperity; family: family, children; environment: friends, people around; hobby: pastimes, rest.
Priority: critical: burning; important: matters; attention: ordinary; optional: some day.
"Did my exercises" may be a step or a habit: look into the snapshot; if there are both: ask.""",
}

WEEKDAYS = {
    "ru": ("понедельник", "вторник", "среда", "четверг", "пятница", "суббота", "воскресенье"),
    "en": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
}


def prompt(text: dict[str, str], language: str, **values: str) -> str:
    """A prompt's own text, then the rules and the words, in one language."""
    today = days.today(days.now())
    rules = RULES[language].format(today=today, weekday=WEEKDAYS[language][today.weekday()])
    return "\n\n".join([text[language].format(**values).strip(), rules, WORDS[language]])
