"""Sentences for the person: what a change does, before and after it, and why a change is refused.

A page draws the parts of a sentence: title, what, details.
"""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from tools.toolkit import JsonObject, one_line

from .base import rules
from .base.diff import (
    MOST_ROWS,
    Archived,
    Changed,
    Created,
    Deleted,
    DiffEntry,
    Done,
    Edit,
    Grouped,
    Marked,
    Paused,
    Resumed,
    Shifted,
)
from .base.words import (
    amount_in_words,
    count_in_words,
    days_in_words,
    field_name,
    frequency_in_words,
    in_quotes,
    shortened,
    span_in_words,
    target_in_words,
    text_of,
    text_or_empty,
    value_in_words,
    xp_signed,
)
from .habits import schedules

# Values that a sentence leaves out.
DEFAULT_VALUES = {"priority": "attention", "icon": "star"}
# Fields that the subject of a sentence shows.
TITLE_FIELDS = ("title", "name")
# Fields of a new habit that are shown together.
FIELDS_OF_HABIT_LINE = (
    "frequency",
    *schedules.DETAILS.values(),
    "xp_reward",
    "xp_penalty",
    "target",
)

Detail = str | list[str]  # a list: label, value before, value after


class Sentence(NamedTuple):
    """The sentence before a change (`text`), after it (`done`), and its parts for a page.

    `done` is short: the preview has shown the details.
    """

    text: str
    done: str
    page: JsonObject


def sentence_of(entry: DiffEntry) -> Sentence:
    """Make the sentence of an entry. Цель «Дом»: новая; срок 20.12. Удалить: цель «Дом» и 7 шагов."""
    # A mark that goes is a change of its day, not something gone.
    is_unmarked = isinstance(entry, Deleted) and entry.thing.kind == "mark"
    is_gone = isinstance(entry, Deleted) and not is_unmarked
    subject, title, noun = _subject(entry, is_gone)
    details = _details(entry)
    phrases = list(map(_detail_in_words, details))

    # The beginning, before and after it is done, and what stands beside the title on a page.
    if is_gone:
        head, head_done = text_of(f"head.{entry.verb}").split("|")
        start = f"{head}: {subject}"
        done = f"{head_done}: {subject}"
        what = f"{head}: {noun}"
    else:
        start = subject
        done = _joined(subject, "; ".join(phrases if isinstance(entry, Changed) else phrases[:1]))
        what = noun
        if details and isinstance(details[0], str):
            what = _joined(noun, details[0])
            details = details[1:]

    # The whole, and its sign on a page.
    steps = _steps_in_words(entry)
    text = _joined(start, "; ".join(phrases), ", ".join(steps))
    if entry.xp_reward:
        text += f" ({xp_signed(entry.xp_reward)})"

    sign = "updates" if is_unmarked else entry.verb
    if isinstance(entry, Marked) and entry.status == "missed":
        sign = "missed"
    page = {
        "sign": sign,
        "title": title,
        "what": what,
        "details": details,
        "rows": steps,
        "xp": entry.xp_reward or 0,
    }
    return Sentence(text, done, page)


def _subject(entry: DiffEntry, is_gone: bool) -> list[str]:
    """Subject of the sentence; for a page the title alone, and its noun: цель «Дом», Дом, цель."""
    thing = entry.thing
    forms = is_gone and text_or_empty(f"about.{thing.kind}.gone")
    forms = forms or text_or_empty(f"about.{thing.kind}")
    name = (
        value_in_words("category", thing.title).capitalize() if thing.kind == "ssp" else thing.title
    )
    steps = ""
    if thing.kind == "steps":
        steps = count_in_words(entry.things()["step"], "step")
        if thing.goal_title:
            steps = text_of("steps.of_goal", steps=steps, goal=in_quotes(thing.goal_title))
    company = ""
    if isinstance(entry, Deleted) and entry.step_titles:
        company = " " + text_of("with.steps", steps=count_in_words(len(entry.step_titles), "step"))
    values = {
        "name": name,
        "title": in_quotes(name),
        "date": days_in_words(thing.dates),
        "steps": steps,
        "company": company,
    }
    # Filled in after the split: a person's title may have the sign between the three forms.
    return [form.format_map(values) for form in forms.split("|")]


def _joined(*parts: str) -> str:
    return ": ".join(filter(None, parts))


def _detail_in_words(detail: Detail) -> str:
    if isinstance(detail, str):
        return detail
    label, before, after = detail
    return _joined(label, f"{before} → {after}")


def _steps_in_words(entry: DiffEntry) -> list[str]:
    """«Раз», «Два», ещё 6, of steps that move; «Плитка» (20.03, 2 ч, важный, «белая»), of new ones."""
    if isinstance(entry, Shifted):
        return shortened([in_quotes(title) for title, _, _ in entry.moves], MOST_ROWS)

    texts = []
    if isinstance(entry, Created):
        for step in entry.steps:
            text = in_quotes(step["title"])
            if details := _fields_in_words(**step):
                text += f" ({', '.join(details)})"
            texts.append(text)
    return texts


def _fields_in_words(**values: object) -> list[str]:
    """Fields with their values, without default ones: срок 20.12; значок: «run»; 2 ч."""
    texts = []
    for name, content in values.items():
        if name not in TITLE_FIELDS and content not in (None, "", {}, DEFAULT_VALUES.get(name)):
            form = text_or_empty(f"detail.{name}") or f"{field_name(name)}: {{value}}"
            texts.append(form.format(value=value_in_words(name, content)))
    return texts


def _details(entry: DiffEntry) -> list[Detail]:
    """Details of a sentence, by the kind of change."""
    match entry:
        # Everything that is new, changed or gone.
        case Created():
            return _creation_details(entry)
        case Changed():
            return _change_details(entry)
        case Deleted():
            return _deletion_details(entry)
        # A thing that is done, and when; the day on which a repeating step is due next.
        case Done():
            done = text_of(f"done.{entry.thing.kind}")
            if entry.date:
                done += f" {value_in_words('day', entry.date)}"
            return [done, *_fields_in_words(next=entry.next)]
        # The status, then what else a mark has.
        case Marked():
            others = _fields_in_words(
                excuse_reason=entry.excuse_reason,
                note=entry.note,
                added=entry.added,
                replaces=entry.replaces,
            )
            return [_status_in_words(entry), *others]
        # By how many days steps move; the first and the last of their days, before and after.
        case Shifted():
            _, first, first_after = entry.moves[0]
            _, last, last_after = entry.moves[-1]
            dates = ["", span_in_words(first, last), span_in_words(first_after, last_after)]
            return [*_fields_in_words(shifted_days=entry.days), dates]
        # Archived or back, paused, resumed.
        case Archived():
            return [text_of(f"{'archived' if entry.archived else 'unarchived'}.{entry.thing.kind}")]
        case Paused():
            pause = entry.pause
            paused = text_of("paused", span=span_in_words(pause["from"], pause["to"]))
            reason = _fields_in_words(reason=pause.get("reason"))
            return [paused, *reason, text_of("paused.means")]
        case Resumed():
            return [text_of("resumed")]
        # The number of things that an import adds, or the fields that an undo changes.
        case Grouped():
            if entry.noun:
                return [count_in_words(entry.count, entry.noun)]
            return [", ".join(map(field_name, entry.fields))]
    raise NotImplementedError(type(entry))


def _creation_details(entry: Created) -> list[Detail]:
    """Everything that will be stored, without default values."""
    kind = entry.thing.kind
    details: list[Detail] = [text_of(f"new.{kind}")]
    if kind in ("inbox", "steps"):
        return details

    values: JsonObject = {"goal_title": entry.thing.goal_title} | entry.values
    if kind == "habit":
        details.append(_frequency(values["frequency"], values))
        if "target" in values:
            details.append(target_in_words(values["target"]))
        details.append(f"+{values['xp_reward']}/−{values['xp_penalty']} XP")
        for name in FIELDS_OF_HABIT_LINE:
            values.pop(name, None)
    if entry.steps:
        values["rows"] = entry.steps
    return details + _fields_in_words(**values)


def _deletion_details(entry: Deleted) -> list[Detail]:
    """Details of what is deleted or restored."""
    if entry.thing.kind == "mark":
        states = [_status_in_words(entry), text_of("unmarked")]
        return [["", *(reversed(states) if entry.restored else states)]]

    details: list[Detail] = []
    if entry.marks:
        best = count_in_words(entry.best_streak, entry.streak_in.removesuffix("s"))
        details.append(text_of("with.marks", marks=count_in_words(entry.marks, "mark"), best=best))
    for name, score in entry.scores.items():
        details.append(f"{value_in_words('category', name)} {score}")
    return details + _fields_in_words(ended=entry.repeat, **entry.values)


def _change_details(entry: Changed) -> list[Detail]:
    """Changed fields: название: «Раз» → «Два»."""
    changes = entry.changes
    kind = entry.thing.kind
    if state := changes.get("is_complete") or (kind == "goal" and changes.get("status")):
        return [text_of("reopened" if state.after in (False, "work") else f"done.{kind}")]

    details: list[Detail] = []
    redundant = {"xp"}  # said by the sum of XP
    if "frequency_type" in changes:
        frequencies = []
        for side in (0, 1):
            values = {name: edit[side] for name, edit in changes.items()}
            frequencies.append(_frequency(values["frequency_type"], values))
        details.append([field_name("frequency_type"), *frequencies])
        redundant.update(("frequency_type", *schedules.DETAILS.values()))
    for name, edit in changes.items():
        if name not in redundant:
            details.append(_edit_detail(name, edit))
    return details


def _edit_detail(name: str, edit: Edit) -> Detail:
    """A changed field; without its name if its values say what they are."""
    label = field_name(name)
    if edit.changed_part:
        return f"{label}: {in_quotes(edit.changed_part)}"
    if name == "score" and edit.before is None:
        return f"{edit.after}"
    if name in ("score", "status") or (name == "dt" and edit.before and edit.after):
        label = ""
    return [label, value_in_words(name, edit.before), value_in_words(name, edit.after)]


def _frequency(kind: str, values: JsonObject) -> str:
    """A schedule from its stored values: `every day`, «3 раза в неделю»."""
    return frequency_in_words(kind, values.get(schedules.DETAILS.get(kind, "")))


def _status_in_words(mark: Marked | Deleted) -> str:
    """A mark: `done`, `missed`, `1.5 of 2 l`; of a limit `slip`; «сделано», «срыв»."""
    if mark.target and mark.amount:
        return amount_in_words(mark.amount, mark.target)
    if "at_most" in (mark.target or {}):
        return text_of(f"limit.{mark.status}")
    return value_in_words("status", mark.status)


def refusal_in_words(error: JsonObject) -> str:
    """Why an action is refused, to the person: `Step “Buy”: a duration is 1 minute to 8 hours`. The reason is
    the text of the action, else of the field, else of the code."""
    action = str(error.get("action"))
    code = error["code"]
    parent, _, name = error.get("field", "").rpartition(".")
    name = name.partition("[")[0]
    reason = text_or_empty(f"error.{code}.{action}") or text_or_empty(f"error.{code}.{name}")
    if not reason:
        label = text_or_empty(f"field.{name}") if code.startswith("FIELD_") else ""
        if code == "FIELD_REQUIRED":  # the name is one of ours
            label = label or name
        reason = _joined(label, text_or_empty(f"error.{code}") or one_line(error["error"]))
    reason = reason.format(**vars(rules))
    if "id" in error:
        reason += f" ({error['id']})"

    entity = "step" if parent.startswith("steps[") else action.partition(".")[0]
    subject = "" if code == "UNKNOWN_ACTION" else text_or_empty(f"thing.{entity}")
    title = in_quotes(error["title"]) if subject and "title" in error else ""
    sentence = _joined(f"{subject} {title}".strip(), reason)
    return sentence[:1].upper() + sentence[1:]


def counts_in_words(entries: Iterable[DiffEntry], is_done: bool = False) -> str:
    """Удалить: 1 цель, 2 шага. Создать: 3 шага. What is deleted comes first: clients show the beginning of a
    question."""
    counts = []
    for verb in ("deletes", "updates", "completions", "creates", "restored"):
        numbers = Counter[str]()
        for entry in entries:
            if entry.verb == verb:
                numbers += entry.things()
        if listed := [count_in_words(count, kind) for kind, count in numbers.items()]:
            heads = text_of(f"head.{verb}").split("|")
            counts.append(f"{heads[is_done]}: {', '.join(listed)}.")
    return " ".join(counts)
