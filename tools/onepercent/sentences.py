"""Changes as sentences for the person: before they happen, after, and why they do not."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from tools.core import errors
from tools.core.json_types import JsonObject
from tools.onepercent import texts, words

DIARY = ("what_done", "what_not_done", "reflection", "plans")
DETAILS = ("schedule_days", "times", "n", "month_days")
"""Fields that say when a habit is due, if its frequency alone does not."""

# The sentence by which an action that was refused is named, if its verb is not the one of the texts.
VERBS = {
    "create": "creates", "update": "updates", "shift": "postponed", "complete": "completions", "reopen": "reopened",
    "delete": "deletes", "mark_completed": "mark", "mark_missed": "mark", "unmark": "deletes", "resume": "resumed",
    "archive": "archived", "unarchive": "unarchived", "rate": "updates.ssp", "last": "undo", "redo": "undo",
}  # fmt: skip


def planned(section: str, entry: JsonObject) -> str:
    """Tell what is going to happen, with its content: Перенести шаг «Пройти тест»: 21.11 → 23.11."""
    text, details, more, xp = parts(section, entry)
    return text + (f": {details}" if details else "") + more + (f" ({words.xp_signed(xp)})" if xp else "")


def parts(section: str, entry: JsonObject) -> tuple[str, str, str, int]:
    """The sentence, its details, what goes with it, and the XP that moves."""
    kind, entity = _kind(section, entry)
    more = ""
    if count := entry.get("steps_deleted", 0) or entry.get("steps_restored", 0):
        more = words.say("with.steps", steps=words.counted(count, "step"))
    if "marks" in entry:
        more = words.say("with.marks", marks=words.counted(entry["marks"], "mark"), best=entry["best_streak"])
    # The reward of a habit that is created or deleted is not XP that moves.
    xp = 0 if entity == "habit" else entry.get("xp_reward", 0)
    return _sentence("planned", kind, entity, entry), "; ".join(_details(kind, entity, entry)), more, xp


def done(section: str, entry: JsonObject) -> str:
    """Tell what has happened, in short: Шаг «Пройти тест» обновлён."""
    kind, entity = _kind(section, entry)
    new_title = entry.get("changes", {}).get("name" if entity == "habit" else "title", {}).get("to")
    kind = {"postponed": "updates", "moved": "updates"}.get(kind, kind)
    return _sentence("done", kind, entity, entry, new_title)


def _sentence(tense: str, kind: str, entity: str, entry: JsonObject, new_title: str | None = None) -> str:
    name = new_title or entry.get("name" if entity in ("habit", "mark") else "title", "")
    if entity == "ssp":
        name = words.value("category", entry.get("category")).capitalize()
    key = f"{tense}.{kind}.{entity}"
    template = words.template(key if key in texts.TEXTS else f"{tense}.{kind}")
    text = template.format_map(Places(tense, entity, entry, name))
    return (
        f"{text} {words.span(entry['pause']['from'], entry['pause'].get('to'))}" if "pause" in entry else text
    )


@dataclass(slots=True)
class Places:
    """The words for the places of a text, each made when the text has it."""

    tense: str
    entity: str
    entry: JsonObject
    name: str

    def __getitem__(self, place: str) -> str:
        return PLACES[place](self)


def _thing(of: Places) -> str:
    """The kind of thing and its name: цель «Дом», with a capital where the sentence begins with it."""
    key = f"label.{of.entity}"
    label = words.template(key if key in texts.TEXTS else "label").format_map(of)
    thing = words.say(f"thing.{of.entity}") if f"thing.{of.entity}" in texts.TEXTS else ""
    if of.tense == "done" and of.entity in texts.COUNTED:
        thing = words.counted(1, of.entity)[2:].capitalize()
    return f"{thing} {label}".strip()


PLACES: dict[str, Callable[[Places], str]] = {
    "thing": _thing,
    "title": lambda of: words.quoted(of.name, 500),
    "goal": lambda of: words.quoted(of.entry.get("goal_title", ""), 100),
    "before": lambda of: words.quoted(of.entry["changes"]["goal_title"]["from"], 100),
    "after": lambda of: words.quoted(of.entry["changes"]["goal_title"]["to"], 100),
    "category": lambda of: words.quoted(words.value("category", of.entry.get("category")).capitalize()),
    "date": lambda of: _dates(of.entry),
    "status": lambda of: _status(of.entry),
    "steps": lambda of: words.counted(of.entry.get("count") or len(of.entry.get("rows", ())), "step"),
    "shift": lambda of: words.say(
        "later" if of.entry["shifted_days"] > 0 else "earlier", days=PLACES["days"](of)
    ),
    "days": lambda of: words.counted(abs(of.entry["shifted_days"]), "day"),
    "a": lambda of: "" if of.entity == "step" else "а",
    "en": lambda of: "ён" if of.entity == "step" else "ена",
}


def _kind(section: str, entry: JsonObject) -> tuple[str, str]:
    """The keys of the text: what is done, and to what kind of thing."""
    entity, changes = entry["entity"], entry.get("changes", {})
    if entity == "habit" and ("date" in entry or "dates" in entry):
        entity = "mark"
    if entity == "step" and "title" not in entry:
        entity = "steps"
    if section != "updates":
        return "restored" if entry.get("restored") else section, entity
    if "archived" in entry:
        return "archived" if entry["archived"] else "unarchived", entity
    if special := next((word for word in ("pause", "resumed", "shifted_days") if word in entry), ""):
        return special, entity
    if changes.get("is_complete", {}).get("to") is False or changes.get("status", {}).get("to") == "work":
        return "reopened", entity
    if entity == "step" and changes.keys() == {"dt"} and all(changes["dt"].values()):
        return "postponed", entity
    return "moved" if changes.keys() == {"goal_id", "goal_title"} else "updates", entity


def _dates(entry: JsonObject) -> str:
    """16.11–22.11, 24.11."""
    parts = entry["dates"] if "dates" in entry else [entry["date"]] if "date" in entry else []
    return ", ".join(words.span(part.split("..")[0], part.split("..")[-1]) for part in parts)


def _status(entry: JsonObject) -> str:
    """сделано; пропуск по причине (болел); 1,5 из 2 л (было: пропуск)."""
    if "status" not in entry:
        return ""
    text = words.say(f"mark.{entry['status']}")
    if target := entry.get("target"):
        sums = {"amount": words.number(entry["amount"]), "target": words.number(target["amount"])}
        text = words.say("mark.amount", **sums, unit=target["unit"])
    if reason := entry.get("excuse_reason"):
        text = words.say("mark.excused", reason=words.quoted(reason))
    if isinstance(before := entry.get("replaces"), str):
        text += f" ({words.say('before', value=words.say(f'mark.{before}'))})"
    return text


def _details(kind: str, entity: str, entry: JsonObject) -> list[str]:
    if kind in ("updates", "postponed"):
        return _changes(entry, named=kind == "updates" and entity != "ssp")
    if kind == "creates":
        return _content(entry)
    if kind == "shifted_days":
        (first, first_moved), (last, last_moved) = entry["first"], entry["last"]
        titles = [words.quoted(title) for title, _ in entry["rows"]]
        more = (
            [words.say("and.more", count=entry["count"] - len(titles))]
            if entry["count"] > len(titles)
            else []
        )
        return [
            f"{words.span(first, last)} → {words.span(first_moved, last_moved)}",
            ", ".join(titles + more),
        ]
    scores = [f"{words.value('category', name)} {score}" for name, score in entry.get("scores", {}).items()]
    return [words.quoted(entry["pause"]["reason"])] if entry.get("pause", {}).get("reason") else scores


def _changes(entry: JsonObject, named: bool) -> list[str]:
    """The changed fields: название: «Раз» → «Два»; without the name if the sentence has said it."""
    lines = []
    for name, pair in entry.get("changes", {}).items():
        if name == "goal_id":  # goal_title says it.
            continue
        change = f"{words.value(name, pair['from'])} → {words.value(name, pair['to'])}"
        if "place" in pair:
            change = words.quoted(pair["place"], 2 * words.LONGEST_PART + 4 * words.AROUND)
        if entry["entity"] == "ssp":
            change = str(pair["to"]) + (
                f" ({words.say('before', value=pair['from'])})" if pair["from"] else ""
            )
        lines.append(f"{words.field(name)}: {change}" if named else change)
    return lines


def _content(entry: JsonObject) -> list[str]:
    """The content of what is created, but for its title and what is as usual."""
    rows = [_step_in_words(*row) for row in entry.get("rows", ())]
    match entry["entity"]:
        case "goal":
            due = [f"{words.field('due')} {words.day(entry['due'])}"] if entry.get("due") else []
            return due + ([f"{words.counted(len(rows), 'step')}: {', '.join(rows)}"] if rows else [])
        case "step":
            names = ("dt", "time_duration", "priority")
            shown = [
                words.value(name, entry[name])
                for name in names
                if entry.get(name) and entry[name] != "attention"
            ]
            return [", ".join(rows)] if rows else shown
        case "habit":
            due = [words.value(name, entry[name]) for name in DETAILS if entry.get(name)]
            usual = [words.value("frequency_type", entry["frequency"])]
            target = entry.get("target_amount")
            amount = [f"{words.number(target)} {entry['target_unit']}"] if target else []
            return [*(due or usual), *amount, f"+{entry['xp_reward']}/−{entry['xp_penalty']} XP"]
    return [f"{words.field(name)} {words.value(name, entry[name])}" for name in DIARY if entry.get(name)]


def _step_in_words(title: str, dt: str | None, minutes: int | None) -> str:
    more = [part for part in (dt and words.day(dt), minutes and words.duration(minutes)) if part]
    return words.quoted(title) + (f" ({', '.join(more)})" if more else "")


def refused(error: JsonObject) -> str:
    """✗ Не получится изменить шаг «Пройти тест»: так уже и есть."""
    action = str(error.get("action", error.get("index")))
    domain, _, verb = action.partition(".")
    verb, thing = (
        VERBS.get(verb.removesuffix("_entry"), verb),
        f"thing.{'mark' if verb == 'unmark' else domain}",
    )
    if f"planned.{verb}" in texts.TEXTS and (thing in texts.TEXTS or verb == "undo"):
        about = [words.say(thing)] if thing in texts.TEXTS else []
        about += [words.quoted(error["title"], 100)] if "title" in error else []
        named = words.say(f"planned.{verb}", thing=" ".join(about))
        action = named[0].lower() + named[1:]
    reason = f"error.{error.get('code')}"
    reason = words.say(reason) if reason in texts.TEXTS else errors.one_line(error["error"])
    of_field = f" ({words.field(error['field'])})" if f"field.{error.get('field')}" in texts.TEXTS else ""
    return words.say("refused", action=action, error=reason + of_field)


def counts(entries: list[tuple[str, JsonObject]], are_done: bool = False) -> str:
    """Удалить: 1 цель, 2 шага. Создать: 3 шага. What is deleted comes first: clients show the beginning of a
    question."""
    parts = []
    for section in ("deletes", "updates", "completions", "creates"):
        things: Counter[str] = Counter()
        for entry in (entry for where, entry in entries if where == section):
            _, entity = _kind(section, entry)
            things["step" if entity == "steps" else entity] += entry.get("count", entity != "steps")
            things["step"] += entry.get("steps_deleted", 0) + (
                0 if "count" in entry else len(entry.get("rows", ()))
            )
        if things := +things:
            key = (
                f"counts.{section}"
                if are_done
                else f"planned.{'mark' if section == 'completions' else section}"
            )
            listed = ", ".join(words.counted(count, name) for name, count in things.items())
            parts.append(f"{words.say(key, thing='').strip()}: {listed}.")
    return " ".join(parts)
