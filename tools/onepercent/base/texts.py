"""The texts for the person, in Russian and in English, from `texts.txt`; `words` puts them together."""

from functools import cache
from pathlib import Path

WEEKDAYS = {
    "ru": "понедельник вторник среда четверг пятница суббота воскресенье".split(),
    "en": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(),
}
SHORT_WEEKDAYS = {"ru": "пн вт ср чт пт сб вс".split(), "en": "Mon Tue Wed Thu Fri Sat Sun".split()}
MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()


@cache
def table(language: str) -> dict[str, str]:
    """Each text by its key."""
    lines = Path(__file__).with_name("texts.txt").read_text("utf-8").splitlines()
    rows = [line.split(" | ") for line in lines if line and not line.startswith("#")]
    column = ["key", "ru", "en"].index(language)
    return {row[0]: row[column] for row in rows}
