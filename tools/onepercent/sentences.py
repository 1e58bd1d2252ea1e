"""A change as one sentence for the person, the same before and after it; and why a change is refused.

A page draws the parts of the sentence: title, what, details.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from tools.core import errors
from tools.core.json_types import JsonObject
from tools.onepercent.habits import schedules
from tools.onepercent.words import (
    amount,
    counted,
    field,
    frequency,
    more,
    number,
    quoted,
    said,
    say,
    span,
    value,
    xp_signed,
)

DIARY = ("what_done", "what_not_done", "reflection", "plans")
WHY = ("why_important", "why_give_me", "why_about_me")
# What a sentence says of something new by its kind, and of what is done: each field that the entry has.
CREATED = {
    "goal": ("category", "due", *WHY, "rows"),
    "step": ("goal_title", "dt", "time_duration", "priority", "repeat", "order", "description"),
    "habit": ("icon", "description"),
    "diary": DIARY,
}
COMPLETED = ("next", "excuse_reason", "added", "replaces")
ROW = ("dt", "time_duration", "priority", "repeat", "note")  # of a step in a list, after its title
USUAL = {"priority": "attention", "icon": "star"}  # values that are not said

# The section of an action by the beginning of its verb; `updates` for any other.
SECTION = {
    "create": "creates",
    "delete": "deletes",
    "unmark": "unmark",
    "complete": "completions",
    "mark": "completions",
}

Detail = str | list[str]  # a list: label, value before, value after


class Line(NamedTuple):
    """A sentence before the change and once it is done, and its parts as a page draws them.

    `done` says only what it was: the preview has shown the rest.
    """

    text: str
    done: str
    page: JsonObject


def line(section: str, entry: JsonObject) -> Line:
    """The sentence of a diff's entry. Цель «Дом»: новая; срок 20.12. Удалить: цель «Дом» и 7 шагов."""
    entity = _entity(entry)
    sign = _sign(section, entity, entry)
    is_gone = sign in ("deletes", "unmark", "restored")
    subject, title, kind = _subject(entity, entry, is_gone)
    details = DESCRIBE["deletes" if is_gone else section](entity, entry)
    parts = list(map(_detail_text, details))

    if is_gone:
        verb, verb_done = _verbs(sign)
        start = f"{verb}: {subject}"
        done = f"{verb_done}: {subject}"
        what = f"{verb}: {kind}"
    else:
        start = subject
        done = _joined(subject, *parts[:1])
        what = kind
        if details and isinstance(details[0], str):
            what = _joined(kind, details[0])
            details = details[1:]

    steps = _rows(entry)
    text = _joined(start, "; ".join(parts), ", ".join(steps))
    # The reward of a habit that is created or deleted is not XP that moves.
    xp = 0 if entity == "habit" else entry.get("xp_reward", 0)
    if xp:
        text += f" ({xp_signed(xp)})"

    page = {
        "sign": "updates" if sign == "unmark" else sign,
        "title": title,
        "what": what,
        "details": details,
        "rows": steps,
        "xp": xp,
    }
    return Line(text, done, page)


def _subject(entity: str, entry: JsonObject, is_gone: bool) -> list[str]:
    """The subject of the sentence; for a page the title alone, and its kind: цель «Дом», Дом, цель."""
    forms = (said(f"about.{entity}.gone") if is_gone else "") or said(f"about.{entity}")
    sphere = value("category", entry.get("category")).capitalize()
    name = entry.get("name") or entry.get("title") or sphere
    places = {"name": name, "title": quoted(name), "date": _dates(entry), "steps": _steps(entry)}
    places["company"] = ""
    if count := entry.get("steps_deleted") or entry.get("steps_restored"):
        places["company"] = " " + say("with.steps", steps=counted(count, "step"))
    # The places are filled last: a person's title may have the sign between the three parts.
    return [part.format_map(places) for part in forms.split("|")]


def _joined(*parts: str) -> str:
    return ": ".join(filter(None, parts))


def _detail_text(detail: Detail) -> str:
    if isinstance(detail, str):
        return detail
    label, before, after = detail
    return _joined(label, f"{before} → {after}")


def _verbs(head: str) -> list[str]:
    """Удалить and Удалено: before and after it is done."""
    return say(f"head.{head}").split("|")


def _entity(entry: JsonObject) -> str:
    """The kind of thing that an entry is about: also a mark, which is a habit's, several steps, the goal for
    errands."""
    entity: str = entry["entity"]
    if "inbox" in entry:
        return "inbox"
    if entity == "habit" and ("date" in entry or "dates" in entry):
        return "mark"
    return "steps" if entity == "step" and "title" not in entry else entity


def _sign(section: str, entity: str, entry: JsonObject) -> str:
    """The sign by which a page distinguishes kinds of changes; of what goes or comes back also its verb."""
    if "restored" in entry:
        return "restored"
    if entity == "mark" and section == "deletes":
        return "unmark"
    return "missed" if entry.get("status") == "missed" else section


def _dates(entry: JsonObject) -> str:
    """16.11–22.11, 24.11."""
    dates = [entry["date"]] if "date" in entry else entry.get("dates", ())
    spans = [days.split("..") for days in dates]
    return ", ".join(span(ends[0], ends[-1]) for ends in spans)


def _steps(entry: JsonObject) -> str:
    """7 шагов цели «Дом»."""
    steps = counted(entry.get("count", len(entry.get("rows", ()))), "step")
    goal = entry.get("goal_title")
    return say("steps.of_goal", steps=steps, goal=quoted(goal)) if goal else steps


def _rows(entry: JsonObject) -> list[str]:
    """«Раз», «Два», ещё 6, of steps that move; «Плитка» (20.03, 2 ч, важный, «белая»), of new ones."""
    are_moved = "first" in entry
    steps = []
    for title, *values in entry.get("rows", ()):
        details = [] if are_moved else _said(dict(zip(ROW, values, strict=False)), ROW)
        steps.append(quoted(title) + (f" ({', '.join(details)})" if details else ""))
    return more(steps, len(steps), entry["count"]) if are_moved else steps


def _said(entry: Mapping[str, Any], names: tuple[str, ...]) -> list[str]:
    """What an entry has of these fields, as the person would say it, without what is as usual: срок 20.12;
    значок: «run»; 2 ч."""
    texts = []
    for name in names:
        content = entry.get(name)
        if content not in (None, "", USUAL.get(name)):
            form = said(f"detail.{name}") or f"{field(name)}: {{value}}"
            texts.append(form.format(value=value(name, content)))
    return texts


def _created(entity: str, entry: JsonObject) -> list[Detail]:
    """Everything that is going to be stored, without what is as usual."""
    details: list[Detail] = [say(f"new.{entity}")]
    if entity == "habit":
        details.append(_frequency({**entry, "frequency_type": entry["frequency"]}))
        if "target_amount" in entry:
            details.append(f"{number(entry['target_amount'])} {entry['target_unit']}")
        details.append(f"+{entry['xp_reward']}/−{entry['xp_penalty']} XP")
    return details + _said(entry, CREATED.get(entity, ()))


def _completed(entity: str, entry: JsonObject) -> list[Detail]:
    done = _status(entry) if entity == "mark" else f"{say(f'done.{entity}')} {_dates(entry)}".rstrip()
    return [done, *_said(entry, COMPLETED)]


def _gone(entity: str, entry: JsonObject) -> list[Detail]:
    """What goes or comes back along with something, and what it was."""
    details: list[Detail] = []
    if "marks" in entry:
        best = counted(entry["best_streak"], entry["streak_in"].removesuffix("s"))
        details.append(say("with.marks", marks=counted(entry["marks"], "mark"), best=best))
    if "status" in entry:
        details.append(_status(entry))
    for name, score in entry.get("scores", {}).items():
        details.append(f"{value('category', name)} {score}")
    ended = {**entry, "ended": entry.get("repeat")}
    return details + _said(ended, ("ended", *DIARY))


def _updated(entity: str, entry: JsonObject) -> list[Detail]:
    if "archived" in entry:
        return [say(f"{'archived' if entry['archived'] else 'unarchived'}.{entity}")]
    if pause := entry.get("pause"):
        paused = say("paused", span=span(pause["from"], pause.get("to")))
        return [paused, *_said(pause, ("reason",)), say("paused.means")]
    if "resumed" in entry:
        return [say("resumed")]
    if "fields" in entry:
        return [", ".join(map(field, entry["fields"]))]
    if "first" in entry:
        first, first_moved = entry["first"]
        last, last_moved = entry["last"]
        dates = ["", span(first, last), span(first_moved, last_moved)]
        return [*_said(entry, ("shifted_days",)), dates]
    changes = entry.get("changes", {})
    state = changes.get("is_complete") or changes.get("status")
    if state and state["to"] in (False, "work"):
        return [say("reopened")]
    return _changes(changes)


DESCRIBE = {"creates": _created, "completions": _completed, "updates": _updated, "deletes": _gone}


def _changes(changes: JsonObject) -> list[Detail]:
    """The changed fields: название: «Раз» → «Два»; without the name if the values say it."""
    details: list[Detail] = []
    before = {name: change["from"] for name, change in changes.items()}
    after = {name: change["to"] for name, change in changes.items()}
    redundant = {"goal_id"}  # goal_title says it
    if "frequency_type" in changes:
        details.append([field("frequency_type"), _frequency(before), _frequency(after)])
        redundant.update(("frequency_type", *schedules.DETAILS.values()))
    for name in [name for name in changes if name not in redundant]:
        label = field(name)
        if "place" in changes[name]:
            details.append(f"{label}: {quoted(changes[name]['place'])}")
        elif name == "score" and before[name] is None:
            details.append(f"{after[name]}")
        else:
            if name == "score" or (name == "dt" and before[name] and after[name]):
                label = ""
            details.append([label, value(name, before[name]), value(name, after[name])])
    return details


def _frequency(habit: Mapping[str, Any]) -> str:
    """каждый день, 3 раза в неделю."""
    kind = habit["frequency_type"]
    return frequency(kind, habit.get(schedules.DETAILS.get(kind, "")))


def _status(entry: JsonObject) -> str:
    """сделано; пропуск; 1,5 из 2 л."""
    if target := entry.get("target"):
        return amount(entry["amount"], target)
    return value("status", entry["status"])


def refused(error: JsonObject) -> str:
    """Не получится изменить: шаг «Пройти тест» — так уже и есть."""
    name = str(error.get("action", ""))
    code = error.get("code")
    domain, _, ending = name.partition(".")
    section = SECTION.get(ending.partition("_")[0], "updates")
    thing = said(f"thing.{'mark' if section == 'unmark' else domain}")
    what = name or f"#{error['index'] + 1}"
    if thing and code != "UNKNOWN_ACTION":
        title = f" {quoted(error['title'])}" if "title" in error else ""
        what = f"{_verbs(section)[0].lower()}: {thing}{title}"
    reason = said(f"error.{code}")
    if not reason:
        reason = errors.one_line(error["error"])
    elif "id" in error:
        reason += f" ({error['id']})"
    if place := said(f"field.{str(error.get('field')).partition('[')[0]}"):
        reason += f" ({place})"
    return say("refused", what=what, reason=reason)


def things_of(entry: JsonObject) -> Counter[str]:
    """The number of things of each kind that an entry is about."""
    entity = _entity(entry)
    rows = len(entry.get("rows", ()))
    if entity == "steps":
        return Counter(step=entry.get("count", rows))
    return Counter({entity: entry.get("count", 1)}) + Counter(step=entry.get("steps_deleted", rows))


def counts(entries: list[tuple[str, JsonObject]], is_done: bool = False) -> str:
    """Удалить: 1 цель, 2 шага. Создать: 3 шага. What is deleted comes first: clients show the beginning of a
    question."""
    things = {
        section: Counter[str]() for section in ("deletes", "updates", "completions", "creates", "restored")
    }
    for section, entry in entries:
        things["restored" if "restored" in entry else section] += things_of(entry)
    parts = []
    for section, numbers in things.items():
        if listed := [counted(count, name) for name, count in numbers.items()]:
            parts.append(f"{_verbs(section)[is_done]}: {', '.join(listed)}.")
    return " ".join(parts)
