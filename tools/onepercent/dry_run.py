"""The dry run: actions run in a transaction that is rolled back, to see what they would do."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.onepercent import actions, days, fields, sentences, settings, words
from tools.onepercent.actions import Action, Outcome
from tools.onepercent.actions.unit_of_work import UnitOfWork
from tools.onepercent.database import Database, Row

DIFF_SECTIONS = ("creates", "updates", "deletes", "completions")
MOST_REVERSED = 5  # changes that the preview of an undo names one by one


@dataclass(frozen=True, slots=True)
class Planned:
    """An action with its canonical values; `place`: its number in the call, by which others may refer to it,
    too."""

    kind: Action
    client_action_id: str
    values: JsonObject
    place: int = 0

    def run(self, unit: UnitOfWork) -> Outcome:
        """Run the action; every diff entry gets its client_action_id. Raises ToolError."""
        outcome = self.kind.run(unit, dict(self.values))
        own = {"client_action_id": self.client_action_id} if self.kind.published else {}
        outcome.entries = [(section, own | entry) for section, entry in outcome.entries]
        if outcome.created_id is not None:
            created = (self.kind.domain, outcome.created_id)
            unit.created[self.client_action_id] = created
            unit.created.setdefault(str(self.place), created)
        return outcome


def read(sent: object, place: int, used: set[str]) -> Planned:
    """One action of a preview as sent. Without a client_action_id its place is its id; the id joins `used`.
    Raises ToolError."""
    if not isinstance(sent, dict):
        raise fields.invalid("an action", "an object with action, client_action_id and params")
    fields.check_names(sent, actions.ENVELOPE, "An action")
    kind = actions.find(sent.get("action"))
    name = "client_action_id"
    if sent.get(name) in (None, ""):
        client_action_id = f"{place}'" if str(place) in used else str(place)
    elif (client_action_id := fields.action_id(name, sent[name])) in used:
        hint = "Give every action an id of its own, or none."
        raise ToolError(f"{name} is used twice: {client_action_id}", hint, code="FIELD_INVALID", field=name)
    used.add(client_action_id)
    return Planned(kind, client_action_id, kind.read(sent.get("params")), place)


@dataclass(frozen=True, slots=True)
class Run:
    """What actions did, and the errors of those that were refused; a dry run took it back."""

    unit: UnitOfWork
    planned: list[Planned]
    outcomes: list[Outcome]
    errors: list[JsonObject]

    @property
    def xp(self) -> int:
        """XP in total."""
        return sum(outcome.xp for outcome in self.outcomes)

    @property
    def entries(self) -> list[tuple[str, JsonObject]]:
        """The entries of the diff, each with its section."""
        return [entry for outcome in self.outcomes for entry in outcome.entries]

    def refusals(self) -> list[str]:
        """Say what stays undone."""
        return [f"✗ {sentences.refused(error)}" for error in self.errors]

    def checked(self) -> "Run":
        """The same, of a single action that succeeded. Raises ToolError: what the action failed at."""
        for error in self.errors:
            raise ToolError(error["error"], error["hint"], code=error["code"])
        return self

    @property
    def is_unsafe(self) -> bool:
        """Something is refused beside something that deletes, which was perhaps meant to be empty by then."""
        return bool(self.errors) and any(outcome.deletes for outcome in self.outcomes)

    def in_order(self) -> list[tuple[str, Outcome]]:
        """The outcomes with the client_action_id of each; those that delete come first."""
        ids = [planned.client_action_id for planned in self.planned]
        return sorted(zip(ids, self.outcomes, strict=True), key=lambda pair: not pair[1].deletes)

    def lines(self) -> list[str]:
        """Say what stays undone, what is going to happen, what becomes of the XP, and what may not be meant."""
        changes: list[str] = []
        warnings: list[str] = []
        for _, outcome in self.in_order():
            texts = [sentences.line(section, entry).text for section, entry in outcome.entries]
            changes += words.more(texts, MOST_REVERSED) if outcome.reversal else texts
            warnings += [f"! {words.warning(*warning)}" for warning in outcome.warnings]
        return [*self.refusals(), *(f"• {change}" for change in changes), self.xp_line(), *warnings]

    def xp_line(self) -> str:
        """+25 XP."""
        return words.xp_signed(self.xp) if self.xp else words.say("preview.no_xp")

    def question(self) -> str:
        """Ask the person for consent: the counts in the first line, since clients show few, then every
        change."""
        xp = self.xp_line()
        head = words.say("preview.question", counts=f"{sentences.counts(self.entries)} {xp}")
        return "\n".join([head, *(line for line in self.lines() if line != xp)])

    def diff(self) -> "Diff":
        """The entries by section, and the errors."""
        diff = Diff(self)
        for section, entry in self.entries:
            diff[section].append(entry)
        diff["errors"] = self.errors
        return diff


class Diff(dict[str, list[JsonObject]]):
    """The entries of a dry run by section. A page that shows them draws the dry run itself."""

    def __init__(self, dry: Run):
        super().__init__((name, []) for name in DIFF_SECTIONS)
        self.dry = dry


def dry_run(db: Database, sent: Sequence[object], moment: datetime) -> Run:
    """Try the actions in order in a transaction within `db`'s, and take them back."""
    unit = UnitOfWork(db, settings.user(), moment, days.today(moment))
    dry = Run(unit, [], [], [])
    used = set[str]()
    db.execute("SAVEPOINT dry_run")
    for index, action in enumerate(sent):
        db.execute("SAVEPOINT action")
        unit.found.clear()
        try:
            planned = action if isinstance(action, Planned) else read(action, index + 1, used)
            dry.outcomes.append(planned.run(unit))
            dry.planned.append(planned)
        except ToolError as error:
            db.execute("ROLLBACK TO action")
            dry.errors.append({"index": index} | _refusal(action, error, unit.found))
            if isinstance(action, dict) and action.get("action") == "goal.create":
                unit.latest_goal = None  # Else goal_id null would quietly mean an older goal than was meant.
        db.execute("RELEASE action")
    db.execute("ROLLBACK TO dry_run")
    db.execute("RELEASE dry_run")
    return dry


def _refusal(sent: object, error: ToolError, found: dict[str, Row]) -> JsonObject:
    """The error of an action, with the title of what it was about, if that is there."""
    own = sent if isinstance(sent, dict) else {}
    named = ("client_action_id", "action")
    shown = {name: fields.printable(own[name]) for name in named if own.get(name) is not None}
    row = dict(found.get(str(own.get("action")).partition(".")[0], {}))
    if title := row.get("title") or row.get("name"):
        shown["title"] = title
    entity, _, problem = error.code.lower().partition("_")
    params = own.get("params")
    if problem == "not_found" and isinstance(params, dict) and isinstance(params.get(f"{entity}_id"), int):
        shown["id"] = params[f"{entity}_id"]
    return shown | {name: value for name, value in error.answer().items() if name != "success"}
