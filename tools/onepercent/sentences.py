"""A change as one sentence for the person, the same before and after it; and why a change is refused.

A page draws the parts of the sentence: title, what, details.
"""

from collections import Counter

from tools.core import errors
from tools.core.json_types import JsonObject
from tools.onepercent import texts, words
from tools.onepercent.line import Detail, Line, verb

DIARY = ("what_done", "what_not_done", "reflection", "plans")
SCHEDULE = ("schedule_days", "times", "n", "month_days")
"""Fields that say when a habit is due, if its frequency alone does not."""
STEP_DETAILS = ("dt", "time_duration", "priority", "repeat")
LONG = ("why_important", "why_give_me", "why_about_me", "description")
LONGEST_TITLE, LONGEST_TEXT = 500, 150  # characters of a title and of another text that a sentence quotes

# The section that an action belongs to by the end of its name; `updates` for any other.
SECTION = {"create": "creates", "create_entry": "creates", "delete": "deletes", "delete_entry": "deletes",
           "unmark": "unmark", "complete": "completions", "mark_completed": "completions",
           "mark_missed": "completions"}  # fmt: skip


def line(section: str, entry: JsonObject) -> Line:
    """The sentence of a diff's entry."""
    entity = _entity(entry)
    sign = _sign(section, entity, entry)
    head = {"deletes": "deletes", "restored": "restored"}.get(sign, "")
    if entity == "mark" and section == "deletes":
        head = "unmark"
    about = f"about.{entity}"
    if head and f"{about}.gone" in texts.table():
        about += ".gone"
    if entry.get("inbox"):
        about = "about.inbox"
    name = entry.get("name") or entry.get("title", "")
    if entity == "ssp":
        name = words.value("category", entry.get("category")).capitalize()
    places = {"name": name, "title": _title(name), "date": _dates(entry), "steps": _steps(entry)}
    # The places are filled last: a person's title may have the sign between the three parts.
    subject, title, kind = (part.format_map(places) for part in words.template(about).split("|"))
    change = Line(sign, subject, title, kind, head)
    change.count = sum(_things(entry).values())
    # The reward of a habit that is created or deleted is not XP that moves.
    change.xp = 0 if entity == "habit" else entry.get("xp_reward", 0)
    if head:
        _fill_company(change, entity, entry)
    elif section == "creates":
        change.what = words.say("new.inbox" if entry.get("inbox") else f"new.{entity}")
        _fill_content(change, entity, entry)
    elif section == "completions":
        _fill_completion(change, entity, entry)
    else:
        _fill_update(change, entity, entry)
    return change


def _fill_company(change: Line, entity: str, entry: JsonObject) -> None:
    """Say what goes or comes back along with something, and what it was."""
    if count := entry.get("steps_deleted", 0) or entry.get("steps_restored", 0):
        change.what = " " + words.say("with.steps", steps=words.counted(count, "step"))
    if "marks" in entry:
        best = words.counted(entry["best_streak"], entry["streak_in"].removesuffix("s"))
        change.details.append(words.say("with.marks", marks=words.counted(entry["marks"], "mark"), best=best))
    if "status" in entry:
        change.details.append(_status(entry))
    if "repeat" in entry:
        change.details.append(words.say("repeat.ends", repeat=words.value("repeat", entry["repeat"])))
    change.details += [_labelled(name, entry[name]) for name in DIARY if entry.get(name)]
    scores = entry.get("scores", {})
    change.details += [f"{words.value('category', name)} {score}" for name, score in scores.items()]


def _fill_content(change: Line, entity: str, entry: JsonObject) -> None:
    """Say everything that is going to be stored, without what is as usual."""
    change.steps = [_step_in_words(*row) for row in entry.get("rows", ())]
    match entity:
        case "goal":
            change.details.append(words.value("category", entry["category"]))
            if entry.get("due"):
                change.details.append(f"{words.field('due')} {words.day(entry['due'])}")
        case "step":
            change.details.append(words.say("to.goal", goal=_title(entry["goal_title"])))
            change.details += _step_details(entry)
        case "habit":
            change.details += _habit_details(entry)
        case "diary":
            change.details += [_labelled(name, entry[name]) for name in DIARY if entry.get(name)]
    if change.steps and entity == "goal":
        change.details.append(words.counted(len(change.steps), "step"))
    change.rows = [_labelled(name, entry[name]) for name in LONG if entry.get(name)]
    if entry.get("inbox"):
        change.details = []


def _step_details(entry: JsonObject) -> list[str]:
    """21.11, 2 ч, важный."""
    usual = (None, "attention")
    names = [name for name in STEP_DETAILS if entry.get(name) not in usual]
    details = [words.value(name, entry[name]) for name in names]
    return details + ([_labelled("order", entry["order"])] if "order" in entry else [])


def _habit_details(entry: JsonObject) -> list[Detail]:
    """по будням; 2 л; +10/−10 XP."""
    due = [words.value(name, entry[name]) for name in SCHEDULE if entry.get(name)]
    details: list[Detail] = [*(due or [words.value("frequency_type", entry["frequency"])])]
    if target := entry.get("target_amount"):
        details.append(f"{words.number(target)} {entry['target_unit']}")
    details.append(f"+{entry['xp_reward']}/−{entry['xp_penalty']} XP")
    if entry["icon"] != "star":
        details.append(_labelled("icon", entry["icon"]))
    return details


def _fill_completion(change: Line, entity: str, entry: JsonObject) -> None:
    if entity != "mark":
        change.what = words.say(f"done.{entity}")
        if "date" in entry:
            change.what += f" {_dates(entry)}"
        if "next" in entry:
            change.details.append(words.say("repeat.next", day=words.day(entry["next"])))
        return
    change.what = _status(entry)
    if reason := entry.get("excuse_reason"):
        change.details.append(words.say("mark.reason", reason=words.quoted(reason)))
    if "added" in entry:
        change.details.append(f"+{words.number(entry['added'])}")
    before = entry.get("replaces")
    if isinstance(before, str):
        change.details.append(words.say("before", value=words.say(f"mark.{before}")))


def _fill_update(change: Line, entity: str, entry: JsonObject) -> None:
    changes = entry.get("changes", {})
    if "archived" in entry:
        change.what = words.say(f"{'archived' if entry['archived'] else 'unarchived'}.{entity}")
    elif "pause" in entry:
        pause = entry["pause"]
        change.what = words.say("paused", span=words.span(pause["from"], pause.get("to")))
        change.details += [words.quoted(pause["reason"])] if pause.get("reason") else []
        change.details.append(words.say("paused.means"))
    elif "resumed" in entry:
        change.what = words.say("resumed")
    elif "fields" in entry:
        change.what = ", ".join(map(words.field, entry["fields"]))
    elif "first" in entry:
        _fill_shift(change, entry)
    elif changes.get("is_complete", {}).get("to") is False or changes.get("status", {}).get("to") == "work":
        change.what = words.say("reopened")
    else:
        change.details += _changes(entity, changes)


def _fill_shift(change: Line, entry: JsonObject) -> None:
    """на 2 дня вперёд; 10.11–21.11 → 12.11–23.11; «Раз», ещё 6."""
    (first, first_moved), (last, last_moved) = entry["first"], entry["last"]
    if days := entry.get("shifted_days"):
        change.what = words.say("later" if days > 0 else "earlier", days=words.counted(abs(days), "day"))
    change.details.append(["", words.span(first, last), words.span(first_moved, last_moved)])
    titles = [words.quoted(row[0]) for row in entry["rows"]]
    change.steps = words.more(titles, len(titles), entry["count"])


def _changes(entity: str, changes: JsonObject) -> list[Detail]:
    """The changed fields: название: «Раз» → «Два»; without the name if the values say it."""
    details: list[Detail] = []
    names = [name for name in changes if name != "goal_id"]  # goal_title says it.
    if "frequency_type" in changes:
        details.append([words.field("frequency_type"), *_frequencies(changes)])
        names = [name for name in names if name not in ("frequency_type", *SCHEDULE)]
    for name in names:
        before, after, label = changes[name]["from"], changes[name]["to"], words.field(name)
        if "place" in changes[name]:
            longest = 2 * words.LONGEST_PART + 4 * words.AROUND
            details.append(f"{label}: {words.quoted(changes[name]['place'], longest)}")
        elif entity == "ssp":
            was = f" ({words.say('before', value=before)})" if before else ""
            details.append(f"{after}{was}")
        else:
            is_plain = name == "dt" and before and after
            values = [words.changed_value(name, value) for value in (before, after)]
            details.append(["" if is_plain else label, *values])
    return details


def _frequencies(changes: JsonObject) -> list[str]:
    """The frequency before and after, with the days that it needs: каждый день, 3 раза в неделю."""
    frequencies = []
    for side in ("from", "to"):
        value = words.value("frequency_type", changes["frequency_type"][side])
        for name in SCHEDULE:
            if name in changes and changes[name][side]:
                value = words.value(name, changes[name][side])
        frequencies.append(value)
    return frequencies


def _labelled(name: str, content: object) -> str:
    value = words.quoted(content, LONGEST_TEXT) if isinstance(content, str) else words.value(name, content)
    return f"{words.field(name)}: {value}"


def _title(title: str) -> str:
    return words.quoted(title, LONGEST_TITLE)


def _entity(entry: JsonObject) -> str:
    """The kind of thing that an entry is about: also a mark, which is a habit's, and several steps."""
    entity: str = entry["entity"]
    if entity == "habit" and ("date" in entry or "dates" in entry):
        return "mark"
    return "steps" if entity == "step" and "title" not in entry else entity


def _sign(section: str, entity: str, entry: JsonObject) -> str:
    """The sign by which a page distinguishes kinds of changes."""
    if entry.get("restored"):
        return "restored"
    if entity == "mark":
        return {"deletes": "updates"}.get(section, "missed" if entry["status"] == "missed" else section)
    return section


def _steps(entry: JsonObject) -> str:
    """7 шагов цели «Дом»."""
    steps = words.counted(entry.get("count") or len(entry.get("rows", ())), "step")
    goal = entry.get("goal_title")
    return words.say("steps.of_goal", steps=steps, goal=_title(goal)) if goal else steps


def _dates(entry: JsonObject) -> str:
    """16.11–22.11, 24.11."""
    spans = entry.get("dates") or [entry.get("date", "")]
    if spans == [""]:
        return ""
    return ", ".join(words.span(span.split("..")[0], span.split("..")[-1]) for span in spans)


def _status(entry: JsonObject) -> str:
    """сделано; пропуск; 1,5 из 2 л."""
    if target := entry.get("target"):
        sums = {"amount": words.number(entry["amount"]), "target": words.number(target["amount"])}
        return words.say("mark.amount", **sums, unit=target["unit"])
    return words.say(f"mark.{entry['status']}")


def _step_in_words(title: str, *values: object) -> str:
    """«Плитка» (20.03, 2 ч, важный, «белая»), of a row of a diff: title, date, minutes, priority, description."""
    step = dict(zip(("dt", "time_duration", "priority", "description"), values, strict=False))
    parts = _step_details(step)
    if step.get("description"):
        parts.append(words.quoted(step["description"]))
    return words.quoted(title) + (f" ({', '.join(parts)})" if parts else "")


def refused(error: JsonObject) -> str:
    """Не получится изменить: шаг «Пройти тест» — так уже и есть."""
    domain, _, verb = str(error.get("action", "")).partition(".")
    section = SECTION.get(verb, "updates")
    head = words.say(f"head.{section}").split("|")[0].lower()
    entity = "mark" if section == "unmark" else domain
    about = [words.say(f"thing.{entity}")] if f"thing.{entity}" in texts.table() else []
    if "title" in error:
        about.append(_title(error["title"]))
    reason = errors.one_line(error["error"])
    if f"error.{error.get('code')}" in texts.table():
        reason = words.say(f"error.{error['code']}")
        reason += f" ({error['id']})" if "id" in error else ""
    if f"field.{error.get('field')}" in texts.table():
        reason += f" ({words.field(error['field'])})"
    what = f"{head}: {' '.join(about)}"
    if not about or error.get("code") == "UNKNOWN_ACTION":
        what = str(error.get("action", error.get("index")))
    return words.say("refused", what=what, reason=reason)


def _things(entry: JsonObject) -> Counter[str]:
    """The number of things of each kind that an entry is about."""
    entity = _entity(entry)
    things: Counter[str] = Counter()
    if entity == "steps":
        things["step"] = entry.get("count", 0)
    else:
        things[entity] = entry.get("count", 1)
    things["step"] += entry.get("steps_deleted", 0)
    if "count" not in entry:
        things["step"] += len(entry.get("rows", ()))
    return things


def counts(entries: list[tuple[str, JsonObject]], is_done: bool = False) -> str:
    """Удалить: 1 цель, 2 шага. Создать: 3 шага. What is deleted comes first: clients show the beginning of a
    question."""
    sums: dict[str, Counter[str]] = {
        name: Counter() for name in ("deletes", "updates", "completions", "creates")
    }
    for section, entry in entries:
        sums[section].update(_things(entry))
    parts = []
    for section, things in sums.items():
        listed = [words.counted(count, name) for name, count in things.items() if count]
        if listed:
            parts.append(f"{verb(section, is_done)}{', '.join(listed)}.")
    return " ".join(parts)
