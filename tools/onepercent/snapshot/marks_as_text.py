"""The marks of habits as lines of text, a sign a day, for clients that show no pages."""

from datetime import date, timedelta

from tools.onepercent import words
from tools.onepercent.database import Database
from tools.onepercent.days import YEAR
from tools.onepercent.habits.histories import signs_between

DEFAULT_DAYS = 28


def lines(db: Database, user: str, today: date, first: date | None, last: date | None) -> tuple[str, ...]:
    """One text with a line for each habit: of the days between two dates, by default of the last four weeks.

    At most a year, which ends today at the latest and begins with the first day on which something was due.
    """
    end = min(today, last or today)
    begin = min(end, first or end - timedelta(DEFAULT_DAYS - 1))
    begin = max(begin, end - timedelta(YEAR - 1))
    habits = signs_between(db, user, begin, end, today)
    if not habits:
        return ()
    empty = min(len(habit.signs) - len(habit.signs.lstrip(".")) for habit in habits)
    empty = min(empty, (end - begin).days)
    rows = [f"{number} {habit.name} {habit.signs[empty:]}" for number, habit in enumerate(habits, 1)]
    head = f"{begin + timedelta(empty)} – {end}: {words.say('shell.marks')}"
    return ("\n".join([head, *rows]),)
