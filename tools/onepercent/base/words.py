"""Values, days, counts and quotations in words, in the person's language."""

import json
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from datetime import date
from os.path import commonprefix
from typing import Any

from tools.core import settings
from tools.toolkit import JsonObject, cut, one_line, quoted

from . import days, texts

# Characters shown before and after a changed place.
CONTEXT_CHARS = 20
# Characters shown of what was added or removed.
LONGEST_CHANGED_LINE = 120
# Characters of a text that a sentence quotes: a title, whole.
LONGEST_QUOTED = 500
# The form of a Russian noun after a number by its last digit, unless it is 11 to 14.
RUSSIAN_FORMS = [2, 0, 1, 1, 1, 2, 2, 2, 2, 2]
# The first number whose thousands stand apart.
GROUPED = 10_000

# The client's language while the texts of a page are made; otherwise empty.
LANGUAGE: ContextVar[str] = ContextVar("language", default="")


def language() -> str:
    """Language that the person reads: MCP_LANGUAGE."""
    return LANGUAGE.get() or settings.current().language


def text_of(name: str, **values: object) -> str:
    """Text of that name in the person's language, its placeholders filled in."""
    return texts.in_language(language())[name].format(**values)


def text_or_empty(name: str) -> str:
    """Text of that name with its placeholders; "" if there is none."""
    return texts.in_language(language()).get(name, "")


# A warning that is put into words later: the key of its text and the values for its placeholders.
PlannedWarning = tuple[str, JsonObject]


def warning_in_words(name: str, values: JsonObject) -> str:
    """A warning in words."""
    return text_of(name, **{key: value_in_words(key, content) for key, content in values.items()})


def field_name(name: str) -> str:
    """Name of a field in the person's language."""
    return text_or_empty(f"field.{name}") or name


def value_in_words(name: str, content: Any) -> str:
    """Value of a field or of a placeholder in the person's language."""
    if content is None or content == "":
        return "—"
    if in_words := VALUES.get(name):
        return in_words(content)
    if noun := COUNTED_NOUNS.get(name):
        return count_in_words(content, noun)
    return text_or_empty(f"{name}.{content}") or (
        in_quotes(content) if isinstance(content, str) else number(content)
    )


def number(content: float) -> str:
    """2; 1,5; −10; 300 000, in English 300,000."""
    # Thousands apart from five digits on, as both languages have it.
    form = "_" if abs(content) >= GROUPED else ""
    return f"{content:{form}.12g}".translate(str.maketrans("._-", text_of("number.signs")))


def xp_signed(xp: int) -> str:
    """XP with its sign: `+25 XP`, `−10 XP`."""
    return f"{xp:+} XP".replace("-", "−")


def amount_in_words(done: float, target: JsonObject) -> str:
    """An amount beside its target: `1.5 of 2 l`; beyond it `12 times, 10 needed`; of a limit
    `3 h, at most 2`. In Russian «1,5 из 2 л»."""
    is_limit = "at_most" in target
    limit = target["at_most" if is_limit else "amount"]
    form = "beyond" if done > limit else "amount"
    if is_limit:
        form = "limit"
    return text_of(f"mark.{form}", amount=number(done), target=number(limit), unit=target["unit"])


def target_in_words(target: JsonObject) -> str:
    """A target: `2 l`, or `at most 2 h`; «2 л», «не больше 2 ч»."""
    if "at_most" in target:
        return text_of("limit", limit=number(target["at_most"]), unit=target["unit"])
    return f"{number(target['amount'])} {target['unit']}"


def frequency_in_words(frequency: str, detail: Any) -> str:
    """A habit's schedule: `on weekdays`, `3 times a week`; «по будням», «1-го и 15-го числа»."""
    return text_of(f"frequency_type.{frequency}", detail=value_in_words(frequency, detail))


def repeat_in_words(rule: str) -> str:
    """A step's rule: `every 2 weeks: Tue`; «раз в 2 недели: вт», «1-го и 15-го числа, до 31.12», «через 3 дня
    после выполнения»."""
    parts = json.loads(rule)
    every = parts["every"]
    count = count_in_words(parts.get("interval", 1), f"every.{every}")
    if "after" in parts:
        repeats = text_of("repeat.after", count=count)
    else:
        head = text_or_empty(f"repeat.{every}")
        if "interval" in parts:
            head = text_of("repeat.interval", count=count)
        repeats = ": ".join(filter(None, [head, _days_of_rule(parts)]))
    if "until" in parts:
        repeats += text_of("repeat.until", day=day_in_words(parts["until"]))
    return repeats


def _days_of_rule(parts: JsonObject) -> str:
    """The days that a rule names: «вт», «1-го и 15-го числа», «19.03»; "" if it names none."""
    match parts["every"]:
        case "week":
            return value_in_words("schedule_days", parts["on"])
        case "month":
            return frequency_in_words("monthly", parts["on"])
        case "year":
            return _date("date", date.fromisoformat(parts["start"]))
    return ""


def _days_of_month(numbers: list[int]) -> str:
    """Days of a month: `1st, 22nd and last day`; «1-го, 15-го и последнего»."""
    *most, last = map(_day_of_month, numbers)
    return f"{', '.join(most)} {text_of('and')} {last}" if most else last


def _day_of_month(number: int) -> str:
    form = text_or_empty(f"day_of_month.{number}") or text_or_empty("day_of_month")
    return form.format(number)


def changed_part(before: str, after: str) -> str:
    """Part of a text that changed, between its surroundings: `…at ten.[+ Anya called.]`"""
    lead = commonprefix([before, after])  # noqa: RUF071
    removed = before.removeprefix(lead)
    added = after.removeprefix(lead)
    tail = commonprefix([removed[::-1], added[::-1]])[::-1]  # noqa: RUF071
    changes = ""
    for sign, changed in (("−", removed), ("+", added)):
        line = one_line(changed.removesuffix(tail))
        if len(line) > LONGEST_CHANGED_LINE:
            line = text_of("part", text=line[: LONGEST_CHANGED_LINE // 2], count=len(line))
        if line:
            changes += f"[{sign} {line}]"
    if len(lead) > CONTEXT_CHARS:
        lead = f"…{lead[-CONTEXT_CHARS:]}"
    return lead + changes + cut(tail, CONTEXT_CHARS)


def ranges(dates: list[str]) -> list[str]:
    """Join dates in order, where they follow each other, to ranges: 2026-11-16..2026-11-22."""
    spans: list[str] = []
    begin = ""
    previous = 0
    for day in dates:
        ordinal = days.ordinal(day)
        if ordinal == previous + 1:
            spans[-1] = f"{begin}..{day}"
        else:
            begin = day
            spans.append(day)
        previous = ordinal
    return spans


def span_in_words(first: str, last: str | None = "") -> str:
    """A day, or a period: `16.11`, `16.11–22.11`; without an end «с 16.11»."""
    if last is None:
        return text_of("since", day=day_in_words(first))
    if last in ("", first):
        return day_in_words(first)
    return f"{day_in_words(first)}–{day_in_words(last)}"


def days_in_words(spans: Iterable[str]) -> str:
    """Dates and ranges, as `ranges` makes them: `16.11–22.11, 25.11`."""
    return ", ".join(span_in_words(*span.split("..")) for span in spans)


def day_in_words(day: str) -> str:
    """A date: `22.11`, with its year if that is not the current one."""
    parsed = date.fromisoformat(day)
    return _date("date" if parsed.year == days.today().year else "date.of_another_year", parsed)


def _date(form: str, day: date) -> str:
    return text_of(form, date=day, month=texts.MONTHS[day.month - 1])


def weekday_name(day: date) -> str:
    """The name of a weekday: `Wednesday`, «среда»."""
    return texts.WEEKDAYS[language()][day.weekday()]


def duration_in_words(minutes: int) -> str:
    """A duration: `1 h 30 min`, «1 ч 30 мин»."""
    parts = dict(zip(("hours", "minutes"), divmod(minutes, 60)))
    return " ".join(text_of(name, count=count) for name, count in parts.items() if count)


def count_in_words(count: int, name: str) -> str:
    """A number and its noun in the right form: `1 step`, `5 steps`; «1 шаг», «2 шага», «5 шагов»."""
    forms = text_of(f"counted.{name}").split(", ")
    form = int(count != 1)
    if language() == "ru":
        is_teen = 11 <= count % 100 <= 14
        form = 2 if is_teen else RUSSIAN_FORMS[count % 10]
    return f"{count} {forms[form]}"


def shortened(items: list[str], most: int, count: int = 0) -> list[str]:
    """The first texts, then how many are left out: `3 more`. `count`: of all texts, if these are not all."""
    few = items[:most]
    others = (count or len(items)) - most
    if others > 0:
        few.append(text_of("and.more", count=others))
    return few


def in_quotes(text: object) -> str:
    """A person's text in the quotation marks of their language."""
    return quoted(text, LONGEST_QUOTED, marks=text_of("quotes"), inner=text_of("quotes.inner"))


def _shift(number: int) -> str:
    """How far something moves: `7 days later`, «на 7 дней вперёд»."""
    return text_of("later" if number > 0 else "earlier", days=count_in_words(abs(number), "day"))


def _streak(length: tuple[int, str]) -> str:
    """The length of a streak: `4 weeks`, or `0`."""
    count, period = length
    return count_in_words(count, period) if count else "0"


def _replaced(status: str | Mapping[str, str]) -> str:
    """The status that a mark replaces: `done`; of several days each with its date."""
    if isinstance(status, str):
        return value_in_words("status", status)
    return ", ".join(
        f"{day_in_words(when)} {value_in_words('status', replaced)}"
        for when, replaced in status.items()
    )


# The noun that a field counts, by the field.
COUNTED_NOUNS = {
    "times_per_week": "time",
    "every_n_days": "day",
    "open_steps": "open_steps",
    "left": "step",
}
# The functions that put values of certain fields into words.
VALUES: dict[str, Callable[[Any], str]] = {
    "repeat": repeat_in_words,
    "ended": repeat_in_words,
    "time_zone": str,
    "progress": lambda percent: text_of("half") if percent == 50 else f"{percent} %",
    "weekday": lambda day: weekday_name(date.fromisoformat(day)),
    **dict.fromkeys(("dt", "date", "due", "until", "day", "next"), day_in_words),
    "minutes": duration_in_words,
    "time_duration": duration_in_words,
    "schedule_days": lambda numbers: ", ".join(
        texts.SHORT_WEEKDAYS[language()][number - 1] for number in numbers
    ),
    "month_days": lambda numbers: ", ".join(map(str, numbers)),
    "custom": lambda numbers: value_in_words("schedule_days", numbers),
    "monthly": _days_of_month,
    "dates": lambda dates: days_in_words(ranges(dates)),
    "day_start_hour": lambda hour: f"{hour}:00",
    "rows": lambda rows: count_in_words(len(rows), "step"),
    "shifted_days": _shift,
    "before": _streak,
    "after": _streak,
    "replaces": _replaced,
    "target": target_in_words,
    "sum": lambda total: (
        amount_in_words(total["amount"], total["target"])
        if isinstance(total, dict)
        else number(total)
    ),
}
