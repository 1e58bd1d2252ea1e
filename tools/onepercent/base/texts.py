"""Texts for the person, in Russian and in English, from `texts.txt`; `words` puts them together."""

from functools import cache
from itertools import chain
from pathlib import Path

WEEKDAYS = {
    "ru": "понедельник вторник среда четверг пятница суббота воскресенье".split(),
    "en": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(),
}
SHORT_WEEKDAYS = {"ru": "пн вт ср чт пт сб вс".split(), "en": "Mon Tue Wed Thu Fri Sat Sun".split()}
# Monday to Sunday, four times.
LOWER_WEEKDAYS = [name.lower() for name in chain(*SHORT_WEEKDAYS.values(), *WEEKDAYS.values())]
MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()


@cache
def in_language(language: str) -> dict[str, str]:
    """Texts in a language by their keys."""
    lines = Path(__file__).with_name("texts.txt").read_text("utf-8").splitlines()
    rows = [line.split(" | ") for line in lines if line and not line.startswith("#")]
    column = ["key", "ru", "en"].index(language)
    return {row[0]: row[column] for row in rows}


def weekday_number(name: object) -> int:
    """ISO weekday of a name, short or whole, in either language; 0 if it is not one."""
    lower = str(name).strip().lower()
    return LOWER_WEEKDAYS.index(lower) % 7 + 1 if lower in LOWER_WEEKDAYS else 0
