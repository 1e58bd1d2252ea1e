"""Changes described for the person, in their language: before they happen, and after."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Any

from tools.core import settings
from tools.core.json_types import JsonObject
from tools.onepercent import days, texts

Entry = JsonObject
"""An entry of the diff."""

SHORT = 60
"""Characters of a text that a sentence quotes."""


def language() -> str:
    """The language that the person reads: MCP_LANGUAGE."""
    return settings.current().language


def say(name: str, **values: object) -> str:
    """A text of `texts` in the person's language."""
    return texts.TEXTS[name][language()].format(**values)


def planned(section: str, entry: Entry) -> str:
    """What is going to happen, with its content: Перенести шаг „Пройти тест“: 21.11 → 23.11."""
    return _Plan(entry).sentence(section)


def done(section: str, entry: Entry) -> str:
    """What has happened, short: Шаг 'Пройти тест' обновлён."""
    key = f"done.{_kind(section, entry)}"
    label = entry.get("changes", {}).get(_label_field(entry), {}).get("to") or _label(entry)
    return say(key, title=label, date=entry.get("date", ""), **_status(entry))


def _kind(section: str, entry: Entry) -> str:
    """The key of the text: `creates.goal`; marks and restored entities have keys of their own."""
    entity = entry["entity"]
    if entity == "habit" and "date" in entry:
        entity = "mark"
    if entry.get("restored"):
        return f"restored.{entity}"
    if section == "updates" and _is_reopened(entry):
        return f"reopened.{entity}"
    return f"{section}.{entity}"


def _is_reopened(entry: Entry) -> bool:
    changes = entry.get("changes", {})
    return changes.get("is_complete", {}).get("to") is False or changes.get("status", {}).get("to") == "work"


def _label_field(entry: Entry) -> str:
    return {"habit": "name", "diary": "date"}.get(entry["entity"], "title")


def _label(entry: Entry) -> str:
    if entry["entity"] == "ssp":
        return value("category", entry.get("category"))
    return str(entry.get(_label_field(entry), ""))


def _status(entry: Entry) -> dict[str, str]:
    return {"status": say(f"mark.{entry['status']}")} if "status" in entry else {"status": ""}


@dataclass(frozen=True)
class _Plan:
    """A diff entry, from which a sentence is made."""

    entry: Entry

    def sentence(self, section: str) -> str:
        kind = _kind(section, self.entry)
        text = say(
            f"planned.{self._variant(kind)}",
            title=_label(self.entry) if self.entry["entity"] == "ssp" else quoted(_label(self.entry), 500),
            goal=quoted(self.entry.get("goal_title", ""), 100),
            date=day(self.entry["date"]) if "date" in self.entry else "",
            **_status(self.entry),
            **self._moved(),
        )
        return text + self._details(section, kind) + self._steps() + self._xp()

    def _variant(self, kind: str) -> str:
        changes = self.entry.get("changes", {}).keys()
        if kind == "updates.step" and changes == {"dt"} and all(self.entry["changes"]["dt"].values()):
            return "postponed.step"
        if kind == "updates.step" and changes == {"goal_id", "goal_title"}:
            return "moved.step"
        return kind

    def _moved(self) -> dict[str, str]:
        titles = self.entry.get("changes", {}).get("goal_title", {})
        return {"before": quoted(titles.get("from", ""), 100), "after": quoted(titles.get("to", ""), 100)}

    def _details(self, section: str, kind: str) -> str:
        if kind.startswith("reopened") or self._variant(kind) == "moved.step":
            return ""
        if section == "updates":
            parts = [*self._changes(named=self._variant(kind) != "postponed.step")]
        elif section == "creates" and "restored" not in self.entry:
            parts = DETAILS[self.entry["entity"]](self.entry) if self.entry["entity"] in DETAILS else []
        else:
            parts = [f"{say('field.excuse_reason')}: {quoted(self.entry['excuse_reason'])}"] if self._excused() else []
        return f": {'; '.join(parts)}" if parts else ""

    def _excused(self) -> bool:
        return bool(self.entry.get("excuse_reason"))

    def _changes(self, named: bool) -> list[str]:
        lines = []
        for name, pair in self.entry.get("changes", {}).items():
            if name != "goal_id":
                change = f"{value(name, pair['from'])} → {value(name, pair['to'])}"
                lines.append(f"{field(name)}: {change}" if named and self.entry["entity"] != "ssp" else change)
        return lines

    def _steps(self) -> str:
        count = self.entry.get("steps_deleted", 0)
        return say("with.steps", steps=steps(count)) if count else ""

    def _xp(self) -> str:
        habit_made = self.entry["entity"] == "habit" and "date" not in self.entry
        xp = 0 if habit_made else self.entry.get("xp_reward", 0)
        return f" ({xp_signed(xp)})" if xp else ""


def xp_signed(xp: int) -> str:
    """+25 XP, −10 XP."""
    return f"{'+' if xp > 0 else '−'}{abs(xp)} XP"


def field(name: str) -> str:
    """A field's name as the person would say it."""
    key = f"field.{name}"
    return say(key) if key in texts.TEXTS else name


def value(name: str, content: Any) -> str:
    """A field's value as the person would say it."""
    if content is None or content == "":
        return "—"
    if name in ("dt", "date"):
        return day(content)
    if name == "time_duration":
        return duration(content["minutes"] if isinstance(content, dict) else content)
    if name == "schedule_days":
        return ", ".join(texts.SHORT_WEEKDAYS[language()][number - 1] for number in content)
    if isinstance(content, bool):
        return say("yes" if content else "no")
    key = f"{'frequency' if name == 'frequency_type' else name}.{content}"
    if key in texts.TEXTS:
        return say(key)
    return quoted(content) if isinstance(content, str) else str(content)


def day(text: str) -> str:
    """22.11, with the year if it is not the current one."""
    parsed = date.fromisoformat(text)
    this_year = days.today(days.now()).year
    if language() == "ru":
        return f"{parsed:%d.%m}" if parsed.year == this_year else f"{parsed:%d.%m}.{parsed.year}"
    month = texts.MONTHS[parsed.month - 1]
    return f"{parsed.day} {month}" if parsed.year == this_year else f"{parsed.day} {month} {parsed.year}"


def weekday(day: date) -> str:
    """The weekday's name: среда."""
    return texts.WEEKDAYS[language()][day.weekday()]


def duration(minutes: int) -> str:
    """30 мин, 1 ч, 1 ч 30 мин."""
    hours, rest = divmod(minutes, 60)
    parts = [say("hours", count=hours)] if hours else []
    return " ".join(parts + ([say("minutes", count=rest)] if rest or not hours else []))


def steps(count: int) -> str:
    """1 шаг, 2 шага, 5 шагов."""
    return _counted(count, "steps")


def open_steps(count: int) -> str:
    """1 открытый шаг, 2 открытых шага."""
    return _counted(count, "open_steps")


def _counted(count: int, name: str) -> str:
    forms = texts.COUNTED[name][language()]
    if language() == "en":
        return f"{count} {forms[0] if count == 1 else forms[1]}"
    tens, ones = count % 100, count % 10
    form = 2 if 11 <= tens <= 14 else 0 if ones == 1 else 1 if 2 <= ones <= 4 else 2
    return f"{count} {forms[form]}"


def quoted(text: object, longest: int = SHORT) -> str:
    """A text in quotation marks, cut if it is long."""
    shown = str(text)
    if len(shown) > longest:
        shown = shown[:longest].rstrip() + "…"
    return f"„{shown}“" if language() == "ru" else f"“{shown}”"


def _named(entry: Entry, *names: str) -> list[str]:
    return [f"{field(name)} {value(name, entry[name])}" for name in names if entry.get(name) not in (None, "")]


def _goal(entry: Entry) -> list[str]:
    return [value("category", entry["category"])]


def _step(entry: Entry) -> list[str]:
    usual = {"priority": "attention"}
    return [
        value(name, entry[name])
        for name in ("dt", "time_duration", "priority")
        if entry.get(name) and entry[name] != usual.get(name)
    ]


def _habit(entry: Entry) -> list[str]:
    chosen = value("schedule_days", entry["schedule_days"]) if entry.get("schedule_days") else ""
    often = chosen or value("frequency_type", entry["frequency"])
    return [often, f"+{entry['xp_reward']}/−{entry['xp_penalty']} XP"]


def _diary(entry: Entry) -> list[str]:
    return _named(entry, "what_done", "what_not_done", "reflection", "plans")


DETAILS: dict[str, Callable[[Entry], list[str]]] = {"goal": _goal, "step": _step, "habit": _habit, "diary": _diary}
