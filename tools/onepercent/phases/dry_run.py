"""Dry runs: actions run in a transaction that is rolled back, to see what they would do."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import NamedTuple

from tools.toolkit import JsonObject, ToolError, filled

from .. import actions, sentences, settings
from ..actions.unit_of_work import ENTITIES, Outcome, UnitOfWork
from ..base import days, fields, words
from ..base.diff import DIFF_SECTIONS, DiffEntry
from ..database import Database

MOST_REVERSED = 5  # changes that the preview of an undo names one by one


class Planned(NamedTuple):
    """An action with its canonical values, as a preview stores it.

    - `number`: its place in the call, by which others may refer to it, too;
    - `shown`: the entries of the diff that its preview showed.
    """

    name: str
    client_action_id: str
    values: JsonObject
    number: int = 0
    shown: object = None

    @property
    def action(self) -> actions.Action:
        return actions.ACTIONS[self.name]

    def run(self, unit: UnitOfWork) -> Outcome:
        """Run the action. Raises ToolError."""
        outcome = unit.outcome = Outcome()
        before = unit.balance
        try:
            self.action.run(unit, dict(self.values))
        except OverflowError:
            raise ToolError(
                "A day would be after the year 9999", "Send fewer days.", "INVALID_DATE"
            ) from None
        outcome.xp = unit.balance - before
        if outcome.created_id is not None:
            created = (self.action.domain, outcome.created_id)
            unit.created[self.client_action_id] = created
            unit.created.setdefault(str(self.number), created)
        return outcome


def parse_action(sent: object, number: int, used_ids: set[str]) -> Planned:
    """Read an action of a preview as sent. Without a client_action_id its number is its id; the id joins
    `used_ids`. Raises ToolError."""
    if not isinstance(sent, dict):
        raise fields.invalid_error(
            "an action", "an object with action, client_action_id and params"
        )
    fields.check_names(sent, ("action", "client_action_id", "params"), "An action")
    action = actions.action_named(sent.get("action"))
    name = "client_action_id"
    # Another action may have the number for its id.
    default = f"{number}'" if str(number) in used_ids else number
    client_action_id = fields.action_id(name, sent.get(name) or default)
    if client_action_id in used_ids:
        raise ToolError(
            f"{name} is used twice: {client_action_id}",
            "Give every action an id of its own, or none.",
            "FIELD_INVALID",
            field=name,
        )
    used_ids.add(client_action_id)
    return Planned(action.name, client_action_id, action.parse(sent.get("params")), number)


class Run(NamedTuple):
    """Outcomes of the actions that ran, and errors of those that were refused; a dry run is rolled back."""

    unit: UnitOfWork
    done: list[tuple[Planned, Outcome]]
    errors: list[JsonObject]

    @property
    def xp(self) -> int:
        """XP in total."""
        return sum(outcome.xp for _, outcome in self.done)

    @property
    def entries(self) -> list[DiffEntry]:
        """Entries of the diff."""
        return list(chain.from_iterable(outcome.entries for _, outcome in self.done))

    def refusals(self) -> list[str]:
        """Sentences about what is refused."""
        return [f"✗ {sentences.refusal_in_words(error)}" for error in self.errors]

    @property
    def is_unsafe(self) -> bool:
        """True if an action is refused beside one that deletes: it may have been meant to save something from
        it."""
        return bool(self.errors) and any(outcome.deletes for _, outcome in self.done)

    def deletions_first(self) -> list[tuple[Planned, Outcome]]:
        """Actions with their outcomes, those that delete first."""
        return sorted(self.done, key=lambda pair: not pair[1].deletes)

    def lines(self) -> list[str]:
        """Sentences for the person: what is refused, what will happen, the XP, and warnings."""
        return [*self.changes(), self.xp_line(), *self.warnings()]

    def changes(self) -> list[str]:
        """Sentences about what is refused and what will happen."""
        lines = self.refusals()
        for _, outcome in self.deletions_first():
            changes = [sentences.sentence_of(entry).text for entry in outcome.entries]
            if outcome.message:
                changes = words.shortened(changes, MOST_REVERSED)
            lines += [f"• {change}" for change in changes]
        return lines

    def warnings(self) -> Iterator[str]:
        """Warnings in words."""
        for _, outcome in self.deletions_first():
            for key, values in outcome.warnings:
                yield f"! {words.warning_in_words(key, values)}"

    def xp_line(self) -> str:
        """+25 XP."""
        return words.xp_signed(self.xp) if self.xp else words.text_of("preview.no_xp")

    def question(self) -> str:
        """Question to the person: counts in the first line, since clients show few lines, then every
        change."""
        counts = f"{sentences.counts_in_words(self.entries)} {self.xp_line()}"
        head = words.text_of("preview.question", counts=counts)
        return "\n".join([head, *self.changes(), *self.warnings()])


class Diff(dict[str, list[JsonObject]]):
    """Entries of a dry run by section, and its errors. A page that shows them draws the dry run itself."""

    def __init__(self, dry: Run):
        super().__init__((name, []) for name in DIFF_SECTIONS)
        self.dry = dry
        for planned, outcome in dry.done:
            identity = {}
            # Without a number it is an undo; an id that is its number was not sent.
            if planned.client_action_id != f"{planned.number}" and planned.number:
                identity["client_action_id"] = planned.client_action_id
            for section, entry in outcome.entries_as_json:
                self[section].append(identity | entry)
        self["errors"] = dry.errors


def dry_run(db: Database, requested: Sequence[object], *, is_strict: bool = False) -> Run:
    """Run actions, planned ones or as sent, in a nested transaction, and roll them back. With `is_strict` it
    raises the ToolError of the first that is refused."""
    unit = UnitOfWork(db, settings.user(), days.now(), days.today())
    dry = Run(unit, [], [])
    used_ids = set[str]()
    db.execute("SAVEPOINT dry_run")
    for index, action in enumerate(requested):
        db.execute("SAVEPOINT action")
        unit.subjects.clear()
        try:
            planned = action
            if not isinstance(planned, Planned):
                planned = parse_action(action, index + 1, used_ids)
            dry.done.append((planned, planned.run(unit)))
        except ToolError as error:
            if is_strict:
                raise
            db.execute("ROLLBACK TO action")
            members = action if isinstance(action, dict) else {}
            dry.errors.append({"index": index} | _refusal(unit, members, error))
            if members.get("action") == "goal.create":
                # Else goal_id null would quietly mean an older goal than was meant.
                unit.created.pop("", None)
        db.execute("RELEASE action")
    db.execute("ROLLBACK TO dry_run")
    db.execute("RELEASE dry_run")
    return dry


def _refusal(unit: UnitOfWork, sent: JsonObject, error: ToolError) -> JsonObject:
    """Describe the error of an action, with the title of its subject, stored or as sent, or the id that does
    not exist."""
    # The action as sent, of any type.
    action = fields.printable(sent.get("action") or "")
    entity = action.partition(".")[0]
    params = sent.get("params")
    if not isinstance(params, dict):
        params = {}

    # The subject of the error: a step of a list, the stored thing, else the parameters.
    subject = params
    if match := re.match(r"steps\[(\d+)\]\.", str(error.data.get("field"))):
        steps = params["steps"]
        step = steps[int(match[1])] if isinstance(steps, list) else steps
        subject = step if isinstance(step, dict) else {"title": step}
    elif entity in ENTITIES:
        name = f"{entity}_id"
        with suppress(ToolError):
            subject = unit.subjects.get(entity) or unit.existing(
                entity, fields.ENTITY_ID.parse(name, params.get(name))
            )

    # The id that does not exist.
    missing_entity = error.code.removesuffix("_NOT_FOUND").lower()
    missing_id = params.get(f"{missing_entity}_id")
    title = subject.get("title") or subject.get("name")
    identity = filled(
        client_action_id=fields.printable(sent.get("client_action_id") or ""),
        action=action,
        title=fields.printable(title) if isinstance(title, str) else "",
        id=missing_id if isinstance(missing_id, int) else None,
    )
    answer = error.answer()
    del answer["success"]
    return identity | answer
