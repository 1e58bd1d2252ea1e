"""A change as one sentence for the person, the same before and after it; and why a change is refused.

A page draws the parts of the sentence: title, what, details.
"""

from collections import Counter
from dataclasses import dataclass

from tools.core import errors
from tools.core.json_types import JsonObject
from tools.onepercent import texts, words

DIARY = ("what_done", "what_not_done", "reflection", "plans")
SCHEDULE = ("schedule_days", "times", "n", "month_days")
"""Fields that say when a habit is due, if its frequency alone does not."""
STEP_DETAILS = ("dt", "time_duration", "priority", "repeat")
LONG = ("why_important", "why_give_me", "why_about_me", "description")
LONGEST_TITLE = 500
LONGEST_TEXT = 150  # characters of a title and of another text that a sentence quotes

# The section that an action belongs to by the end of its name; `updates` for any other.
SECTION = {"create": "creates", "create_entry": "creates", "delete": "deletes", "delete_entry": "deletes",
           "unmark": "unmark", "complete": "completions", "mark_completed": "completions",
           "mark_missed": "completions"}  # fmt: skip

Detail = str | list[str]  # a list: label, value before, value after
Described = tuple[str, list[Detail]]  # what happens, and its details


@dataclass(slots=True)
class Line:
    """A sentence in its parts.

    `subject` is what it is about, `title` and `kind` the same for a page that shows the title alone: цель
    «Дом», Дом, цель. `head`: the verb before the subject, if something goes or comes back.
    """

    sign: str
    subject: str
    title: str
    kind: str
    head: str
    what: str
    details: list[Detail]
    steps: list[str]
    rows: list[str]
    xp: int

    def text(self, is_done: bool = False) -> str:
        """Цель «Дом»: новая; срок 20.12. Удалить: цель «Дом» и 7 шагов.

        Once it is done, only what it was: the preview has shown the rest.
        """
        start = self.subject
        parts = list(map(_detail_text, self.details))
        if self.head:
            start = f"{verb(self.head, is_done)}{self.subject}{self.what}"
        elif self.what:
            parts = [self.what, *parts]
        if is_done:
            return _joined(capital(start), "" if self.head else parts[0])
        text = _joined(capital(start), "; ".join(parts), ", ".join(self.steps))
        text = "; ".join([text, *self.rows])
        return f"{text} ({words.xp_signed(self.xp)})" if self.xp else text

    def parts(self) -> JsonObject:
        """The parts as a page draws them."""
        what = _joined(self.kind, self.what)
        if self.head:
            what = f"{verb(self.head)}{self.kind}{self.what}"
        return {
            "sign": self.sign,
            "title": capital(self.title),
            "what": capital(what),
            "details": self.details,
            "rows": self.steps + self.rows,
            "xp": self.xp,
        }


def _joined(*parts: str) -> str:
    return ": ".join(filter(None, parts))


def _detail_text(detail: Detail) -> str:
    if isinstance(detail, str):
        return detail
    label, before, after = detail
    return _joined(label, f"{before} → {after}")


def verb(head: str, is_done: bool = False) -> str:
    return f"{words.say(f'head.{head}').split('|')[is_done]}: "


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def line(section: str, entry: JsonObject) -> Line:
    """The sentence of a diff's entry."""
    entity = _entity(entry)
    sign = _sign(section, entity, entry)
    head = sign if sign in ("deletes", "restored") else ""
    if entity == "mark" and section == "deletes":
        head = "unmark"
    about = f"about.{'inbox' if 'inbox' in entry else entity}"
    if head and f"{about}.gone" in texts.table():
        about += ".gone"
    name = entry.get("name") or entry.get("title") or ""
    if entity == "ssp":
        name = words.value("category", entry.get("category")).capitalize()
    places = {"name": name, "title": _title(name), "date": _dates(entry)}
    if entity == "steps":
        places["steps"] = _steps(entry)
    # The places are filled last: a person's title may have the sign between the three parts.
    subject, title, kind = (part.format_map(places) for part in words.template(about).split("|"))
    describe = _company if head else DESCRIBE[section]
    what, details = describe(entity, entry)
    details += [_labelled(name, entry[name]) for name in DIARY if entry.get(name)]
    steps: list[str] = []
    if "rows" in entry:
        steps = _moved(entry) if "first" in entry else _listed(entry)
    rows = [_labelled(name, entry[name]) for name in LONG if entry.get(name)]
    # The reward of a habit that is created or deleted is not XP that moves.
    xp = 0 if entity == "habit" else entry.get("xp_reward", 0)
    return Line(sign, subject, title, kind, head, what, details, steps, rows, xp)


def _company(entity: str, entry: JsonObject) -> Described:
    """What goes or comes back along with something, and what it was."""
    what = ""
    details = list[Detail]()
    if count := entry.get("steps_deleted") or entry.get("steps_restored"):
        what = " " + words.say("with.steps", steps=words.counted(count, "step"))
    if "marks" in entry:
        best = words.counted(entry["best_streak"], entry["streak_in"].removesuffix("s"))
        details.append(words.say("with.marks", marks=words.counted(entry["marks"], "mark"), best=best))
    if "status" in entry:
        details.append(_status(entry))
    if "repeat" in entry:
        details.append(words.say("repeat.ends", repeat=words.value("repeat", entry["repeat"])))
    for name, score in entry.get("scores", {}).items():
        details.append(f"{words.value('category', name)} {score}")
    return what, details


def _content(entity: str, entry: JsonObject) -> Described:
    """Everything that is going to be stored, without what is as usual."""
    details: list[Detail] = []
    if "inbox" in entry:
        return words.say("new.inbox"), details
    match entity:
        case "goal":
            details.append(words.value("category", entry["category"]))
            if "due" in entry:
                details.append(f"{words.field('due')} {words.day(entry['due'])}")
            if "rows" in entry:
                details.append(words.counted(len(entry["rows"]), "step"))
        case "habit":
            details += _habit_details(entry)
        case "step":
            details += [words.say("to.goal", goal=_title(entry["goal_title"])), *_step_details(entry)]
    return words.say(f"new.{entity}"), details


def _step_details(step: JsonObject) -> list[str]:
    """21.11, 2 ч, важный."""
    usual = (None, "attention")
    names = [name for name in STEP_DETAILS if step.get(name) not in usual]
    details = [words.value(name, step[name]) for name in names]
    return details + ([_labelled("order", step["order"])] if "order" in step else [])


def _habit_details(entry: JsonObject) -> list[str]:
    """по будням; 2 л; +10/−10 XP."""
    details = [words.value(name, entry[name]) for name in SCHEDULE if name in entry]
    details = details or [words.value("frequency_type", entry["frequency"])]
    if "target_amount" in entry:
        details.append(f"{words.number(entry['target_amount'])} {entry['target_unit']}")
    details.append(f"+{entry['xp_reward']}/−{entry['xp_penalty']} XP")
    return details + ([_labelled("icon", entry["icon"])] if entry["icon"] != "star" else [])


def _completion(entity: str, entry: JsonObject) -> Described:
    details: list[Detail] = []
    if entity != "mark":
        if "next" in entry:
            details.append(words.say("repeat.next", day=words.day(entry["next"])))
        return f"{words.say(f'done.{entity}')} {_dates(entry)}".rstrip(), details
    if "excuse_reason" in entry:
        details.append(words.say("mark.reason", reason=words.quoted(entry["excuse_reason"])))
    if "added" in entry:
        details.append(f"+{words.number(entry['added'])}")
    before = entry.get("replaces")
    if isinstance(before, str):
        details.append(words.say("before", value=words.say(f"mark.{before}")))
    return _status(entry), details


UNDONE = {"from": True, "to": False}
REOPENED = {"from": "complete", "to": "work"}


def _update(entity: str, entry: JsonObject) -> Described:
    changes = entry.get("changes", {})
    if "archived" in entry:
        return words.say(f"{'archived' if entry['archived'] else 'unarchived'}.{entity}"), []
    if pause := entry.get("pause"):
        reason = [words.quoted(pause["reason"])] if "reason" in pause else []
        span = words.span(pause["from"], pause.get("to"))
        return words.say("paused", span=span), [*reason, words.say("paused.means")]
    if "resumed" in entry:
        return words.say("resumed"), []
    if "fields" in entry:
        return ", ".join(map(words.field, entry["fields"])), []
    if "first" in entry:
        first, first_moved = entry["first"]
        last, last_moved = entry["last"]
        days = entry.get("shifted_days", 0)
        shift = ""
        if days:
            shift = words.say("later" if days > 0 else "earlier", days=words.counted(abs(days), "day"))
        return shift, [["", words.span(first, last), words.span(first_moved, last_moved)]]
    if changes.get("is_complete") == UNDONE or changes.get("status") == REOPENED:
        return words.say("reopened"), []
    return "", _changes(changes)


DESCRIBE = {"creates": _content, "completions": _completion, "updates": _update}


def _changes(changes: JsonObject) -> list[Detail]:
    """The changed fields: название: «Раз» → «Два»; without the name if the values say it."""
    details: list[Detail] = []
    names = [name for name in changes if name != "goal_id"]  # goal_title says it.
    if "frequency_type" in changes:
        details.append([words.field("frequency_type"), *_frequencies(changes)])
        names = [name for name in names if name not in ("frequency_type", *SCHEDULE)]
    for name in names:
        before = changes[name]["from"]
        after = changes[name]["to"]
        label = words.field(name)
        if "place" in changes[name]:
            longest = 2 * words.LONGEST_PART + 4 * words.AROUND
            details.append(f"{label}: {words.quoted(changes[name]['place'], longest)}")
        elif name == "score" and before is None:
            details.append(str(after))
        else:
            is_plain = name == "score" or (name == "dt" and before and after)
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
    if "restored" in entry:
        return "restored"
    if entity == "mark":
        return {"deletes": "updates"}.get(section, "missed" if entry["status"] == "missed" else section)
    return section


def _steps(entry: JsonObject) -> str:
    """7 шагов цели «Дом»."""
    steps = words.counted(entry.get("count") or len(entry.get("rows", ())), "step")
    goal = entry.get("goal_title")
    return words.say("steps.of_goal", steps=steps, goal=_title(goal)) if goal else steps


def _moved(entry: JsonObject) -> list[str]:
    """«Раз», «Два», ещё 6."""
    titles = [words.quoted(row[0]) for row in entry["rows"]]
    return words.more(titles, len(titles), entry["count"])


def _listed(entry: JsonObject) -> list[str]:
    """«Плитка» (20.03, 2 ч, важный, «белая»): rows of title, date, minutes, priority, rule, description."""
    steps = []
    for title, *values in entry["rows"]:
        step = dict(zip(("dt", "time_duration", "priority", "repeat", "description"), values, strict=False))
        details = _step_details(step)
        if "description" in step:
            details.append(words.quoted(step["description"]))
        steps.append(words.quoted(title) + (f" ({', '.join(details)})" if details else ""))
    return steps


def _dates(entry: JsonObject) -> str:
    """16.11–22.11, 24.11."""
    spans = []
    for days in entry.get("dates") or filter(None, [entry.get("date")]):
        first, _, last = days.partition("..")
        spans.append(words.span(first, last or first))
    return ", ".join(spans)


def _status(entry: JsonObject) -> str:
    """сделано; пропуск; 1,5 из 2 л."""
    if target := entry.get("target"):
        return words.amount(entry["amount"], target)
    return words.say(f"mark.{entry['status']}")


def refused(error: JsonObject) -> str:
    """Не получится изменить: шаг «Пройти тест» — так уже и есть."""
    name = str(error.get("action", ""))
    code = error.get("code")
    domain, _, ending = name.partition(".")
    section = SECTION.get(ending, "updates")
    thing = words.said(f"thing.{'mark' if section == 'unmark' else domain}")
    what = name or f"#{error['index'] + 1}"
    if thing and code != "UNKNOWN_ACTION":
        title = f" {_title(error['title'])}" if "title" in error else ""
        what = f"{verb(section).lower()}{thing}{title}"
    reason = words.said(f"error.{code}")
    if not reason:
        reason = errors.one_line(error["error"])
    elif "id" in error:
        reason += f" ({error['id']})"
    if field := words.said(f"field.{str(error.get('field')).partition('[')[0]}"):
        reason += f" ({field})"
    return words.say("refused", what=what, reason=reason)


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
    parts = []
    for section in ("deletes", "updates", "completions", "creates"):
        things: Counter[str] = Counter()
        for entry in [entry for each, entry in entries if each == section]:
            things += things_of(entry)
        listed = [words.counted(count, name) for name, count in things.items()]
        if listed:
            parts.append(f"{verb(section, is_done)}{', '.join(listed)}.")
    return " ".join(parts)
