"""The dry run: actions run in a transaction that is rolled back, to see what they would do."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tools.core.errors import ToolError
from tools.core.json_types import JsonObject
from tools.onepercent import actions, days, fields, names, settings, words
from tools.onepercent.actions import Action, Outcome
from tools.onepercent.actions.unit_of_work import UnitOfWork
from tools.onepercent.database.types import Database

SECTIONS = ("creates", "updates", "deletes", "completions")


@dataclass(frozen=True, slots=True)
class Planned:
    """An action with its canonical values."""

    kind: Action
    client_action_id: str
    values: JsonObject

    def run(self, unit: UnitOfWork) -> Outcome:
        """Run the action; every diff entry gets its client_action_id.

        Raises ToolError.
        """
        outcome = self.kind.run(unit, dict(self.values))
        outcome.entries = [
            (section, {"client_action_id": self.client_action_id, **entry}) for section, entry in outcome.entries
        ]
        if outcome.created_id is not None:
            unit.created[self.client_action_id] = (self.kind.domain, outcome.created_id)
        return outcome


def read(sent: object, used: set[str]) -> Planned:
    """One action of a preview as sent; its client_action_id joins `used`.

    Raises ToolError.
    """
    if not isinstance(sent, dict):
        raise fields.invalid("an action", "an object with action, client_action_id and params")
    names.known(sent, actions.ENVELOPE, "An action")
    kind = actions.find(sent.get("action"))
    client_action_id = _identifier(sent.get("client_action_id"))
    if client_action_id in used:
        raise ToolError(
            f"client_action_id is used twice: {client_action_id}",
            "Give every action a UUID of its own.",
            code="FIELD_INVALID",
            field="client_action_id",
        )
    used.add(client_action_id)
    return Planned(kind, client_action_id, kind.read(sent.get("params")))


def _identifier(value: object) -> str:
    """Raises ToolError whose hint asks for an id of the action's own."""
    try:
        return fields.identifier("client_action_id", value)
    except ToolError as error:
        hint = "Send a new UUID as client_action_id, another one for each action."
        raise ToolError(error.message, hint, code=error.code, **error.data) from None


@dataclass(frozen=True, slots=True)
class DryRun:
    """The result of a dry run: what each action did, and the errors of those that failed."""

    unit: UnitOfWork
    planned: list[Planned]
    outcomes: list[Outcome]
    errors: list[JsonObject]

    @property
    def xp(self) -> int:
        """XP in total."""
        return sum(outcome.xp for outcome in self.outcomes)

    @property
    def warnings(self) -> list[str]:
        """Allowed, but possibly unintended."""
        return [warning for outcome in self.outcomes for warning in outcome.warnings]

    def lines(self) -> list[str]:
        """Lines for the person: what is going to happen, what was refused, and the warnings."""
        lines = [f"• {line}" for outcome in self.outcomes for line in outcome.planned()]
        refused = [
            words.say("preview.refused", action=error.get("action", error["index"]), error=error["error"])
            for error in self.errors
        ]
        return [*lines, *(f"✗ {line}" for line in refused), *(f"! {line}" for line in self.warnings), self._xp_line()]

    def _xp_line(self) -> str:
        return words.xp_signed(self.xp) if self.xp else words.say("preview.no_xp")

    def diff(self) -> dict[str, list[JsonObject]]:
        """The entries by section, and the errors."""
        diff: dict[str, list[JsonObject]] = {section: [] for section in SECTIONS}
        for outcome in self.outcomes:
            for section, entry in outcome.entries:
                diff[section].append(entry)
        return {**diff, "errors": self.errors}


def dry_run(db: Database, sent: Sequence[object], moment: datetime) -> DryRun:
    """Try the actions in order in a transaction within `db`'s, and take them back."""
    unit = UnitOfWork(db, settings.current().onepercent_user, moment, days.today(moment))
    tried = DryRun(unit, [], [], [])
    used: set[str] = set()
    db.execute("SAVEPOINT dry_run")
    for index, action in enumerate(sent):
        try:
            planned = action if isinstance(action, Planned) else read(action, used)
            outcome = _tried(unit, planned)
        except ToolError as error:
            tried.errors.append(_error(index, action, error))
            if isinstance(action, dict) and action.get("action") == "goal.create":
                unit.latest_goal = None  # Else goal_id null would quietly mean an older goal than was meant.
            continue
        tried.planned.append(planned)
        tried.outcomes.append(outcome)
    db.execute("ROLLBACK TO dry_run")
    db.execute("RELEASE dry_run")
    return tried


def _tried(unit: UnitOfWork, planned: Planned) -> Outcome:
    unit.db.execute("SAVEPOINT action")
    try:
        return planned.run(unit)
    except ToolError:
        unit.db.execute("ROLLBACK TO action")
        raise
    finally:
        unit.db.execute("RELEASE action")


def _error(index: int, sent: object, error: ToolError) -> JsonObject:
    named = {}
    if isinstance(sent, dict):
        named = {
            name: fields.shown(sent[name]) for name in ("client_action_id", "action") if sent.get(name) is not None
        }
    data = {name: value for name, value in error.answer().items() if name != "success"}
    return {"index": index, **named, **data}
