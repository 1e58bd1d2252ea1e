"""Words for the person, in their language: values, days, counts, quotations."""

import json
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from datetime import date
from operator import eq
from typing import Any

from tools.core import errors, settings
from tools.onepercent import days, texts

AROUND = 20
LONGEST_PART = 120
"""Characters before and after a changed place, and of what was added or removed there."""
LAST_DAY = 31  # stands for the last day of any month

# The language of a page, which is its client's, while its texts are made; else it is the setting's.
LANGUAGE: ContextVar[str] = ContextVar("language", default="")


def language() -> str:
    """The language that the person reads: MCP_LANGUAGE."""
    return LANGUAGE.get() or settings.current().language


def say(name: str, **values: object) -> str:
    """One of `texts` in the person's language, its places filled in."""
    return template(name).format(**values)


def template(name: str) -> str:
    """One of `texts` in the person's language, with its places."""
    return texts.table()[name][language() == "en"]


def said(name: str) -> str:
    """One of `texts` without places; nothing if there is none."""
    return template(name) if name in texts.table() else ""


Warning = tuple[str, dict[str, Any]]
"""A text for what may not be meant, and the values of its places: said in the language of the moment."""


def warning(name: str, values: Mapping[str, Any]) -> str:
    """A warning, its places filled with these values in words."""
    return say(name, **{place: value(place, content) for place, content in values.items()})


def xp_signed(xp: int) -> str:
    """+25 XP, −10 XP."""
    return f"{'+' if xp > 0 else '−'}{abs(xp)} XP"


def field(name: str) -> str:
    """A field's name as the person would say it."""
    return said(f"field.{name}") or name


def value(name: str, content: Any) -> str:
    """A value of a field, or of a place in a warning, as the person would say it."""
    if content is None or content == "":
        return "—"
    if in_words := VALUES.get(name):
        return in_words(content)
    if isinstance(content, bool):
        return say("yes" if content else "no")
    return said(f"{name}.{content}") or (quoted(content) if isinstance(content, str) else number(content))


def repetition(rule: Mapping[str, Any]) -> str:
    """каждый день; каждую неделю: вт; 1-го и 15-го числа, до 31.12."""
    text = say("frequency_type.daily")
    if rule["every"] == "week":
        text = say("repeat.week", days=value("schedule_days", rule["on"]))
    elif rule["every"] == "month":
        text = value("month_days", rule["on"])
    return text + (say("repeat.until", day=day(rule["until"])) if "until" in rule else "")


def changed_value(name: str, content: Any) -> str:
    """A value before or after a change; of numbers whose field's name says what they count, the number alone."""
    if name in ("times", "n", "month_days") and content:
        return ", ".join(map(str, content)) if isinstance(content, list) else str(content)
    return value(name, content)


def _day_of_month(number: int) -> str:
    """1-го, последнего; 1st, 22nd."""
    if number == LAST_DAY:
        return say("last")
    if language() == "ru":
        return f"{number}-го"
    ending = "th" if 11 <= number <= 13 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _enumerated(days_of_month: list[int]) -> str:
    """1-го, 15-го и последнего."""
    *most, last = map(_day_of_month, days_of_month)
    return f"{', '.join(most)} {say('and')} {last}" if most else last


def _weekdays(numbers: list[int]) -> list[str]:
    return [texts.SHORT_WEEKDAYS[language()][number - 1] for number in numbers]


def amount(amount: float, target: Mapping[str, Any]) -> str:
    """1,5 из 2 л."""
    return say("mark.amount", amount=number(amount), target=number(target["amount"]), unit=target["unit"])


def number(content: float) -> str:
    """2; 1,5."""
    return f"{content:g}".replace(".", "," if language() == "ru" else ".")


def changed_place(before: str, after: str) -> str:
    """The place that changed in a text: …в десяти.[+ Вечером звонила Аня.]"""
    start = _common(before, after)
    end = _common(before[start:][::-1], after[start:][::-1])
    removed = before[start : len(before) - end]
    added = after[start : len(after) - end]
    parts = [f"[{sign} {_part(part)}]" for sign, part in (("−", removed), ("+", added)) if part.strip()]
    lead = before[:start]
    rest = before[len(before) - end :]
    lead = f"…{lead[-AROUND:]}" if len(lead) > AROUND else lead
    return f"{lead}{''.join(parts)}{rest[:AROUND]}{'…' if len(rest) > AROUND else ''}"


def _common(text: str, other: str) -> int:
    """The number of characters that both begin with."""
    return [*map(eq, text, other), False].index(False)


def _part(text: str) -> str:
    text = errors.one_line(text)
    return text if len(text) <= LONGEST_PART else say("part", text=text[: LONGEST_PART // 2], count=len(text))


def ranges(dates: list[str]) -> list[str]:
    """Dates in order, with days that follow each other as a range: 2026-11-16..2026-11-22."""
    spans: list[list[date]] = []
    for each in map(date.fromisoformat, dates):
        if spans and (each - spans[-1][1]).days == 1:
            spans[-1][1] = each
        else:
            spans.append([each, each])
    return [f"{first}..{last}" if first < last else f"{first}" for first, last in spans]


def span(first: str, last: str | None) -> str:
    """16.11–22.11; с 16.11."""
    if last is None:
        return say("since", day=day(first))
    return day(first) if first == last else f"{day(first)}–{day(last)}"


def day(text: str) -> str:
    """22.11, with the year if it is not the current one."""
    parsed = date.fromisoformat(text)
    is_this_year = parsed.year == days.today().year
    if language() == "ru":
        return f"{parsed:%d.%m}" + ("" if is_this_year else f".{parsed.year}")
    return f"{parsed.day} {texts.MONTHS[parsed.month - 1]}" + ("" if is_this_year else f" {parsed.year}")


def weekday(day: date, of_language: str = "") -> str:
    """The weekday's name: среда."""
    return texts.WEEKDAYS[of_language or language()][day.weekday()]


def duration(minutes: int) -> str:
    """30 мин, 1 ч, 1 ч 30 мин."""
    hours, rest = divmod(minutes, 60)
    parts = [say("hours", count=hours)] if hours else []
    return " ".join(parts + ([say("minutes", count=rest)] if rest or not hours else []))


def counted(count: int, name: str) -> str:
    """1 шаг, 2 шага, 5 шагов."""
    forms = say(f"counted.{name}").split(", ")
    if language() == "en":
        return f"{count} {forms[count != 1]}"
    tens = count % 100
    ones = count % 10
    form = 2 if 11 <= tens <= 14 else 0 if ones == 1 else 1 if 2 <= ones <= 4 else 2
    return f"{count} {forms[form]}"


def more(texts_shown: list[str], most: int, count: int = 0) -> list[str]:
    """The first of several texts, or of `count` of which these are the first, with the number of the others:
    ещё 3."""
    left = (count or len(texts_shown)) - most
    return texts_shown[:most] + ([say("and.more", count=left)] if left > 0 else [])


def quoted(text: object, longest: int = errors.SHORT) -> str:
    """A person's text in the quotation marks of the person's language."""
    marks, inner = ("«»", "„“") if language() == "ru" else ("“”", "‘’")
    return errors.quoted(text, longest, marks=marks, inner=inner)


VALUES: dict[str, Callable[[Any], str]] = {
    "repeat": lambda rule: repetition(json.loads(rule)),
    "progress": lambda percent: say("half") if percent == 50 else f"{percent} %",
    "time_zone": str,
    "weekday": lambda day: weekday(date.fromisoformat(day)),
    "dt": day,
    "date": day,
    "due": day,
    "day": day,
    "minutes": duration,
    "time_duration": lambda length: duration(length["minutes"] if isinstance(length, dict) else length),
    "schedule_days": lambda numbers: ", ".join(_weekdays(numbers)),
    "month_days": lambda numbers: say("every.month_days", days=_enumerated(numbers)),
    "times": lambda count: say("every.times", count=counted(count, "time")),
    "n": lambda count: say("every.n", count=counted(count, "day")),
    "day_start_hour": lambda hour: f"{hour}:00",
    "open_steps": lambda count: counted(count, "open_steps"),
    "left": lambda count: counted(count, "step"),
    "before": lambda length: counted(*length),
    "after": lambda length: counted(*length) if length[0] else "0",
}
"""How a value of a name is said, if not as every value is."""
