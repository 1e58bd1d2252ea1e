"""What the tests of Anki were made from: the requirement and whole recordings, of which a clone has excerpts."""

import json
import re
from typing import NamedTuple

import pytest

pytest.importorskip("anki.collection", reason="the PyPI package `anki` is not installed")

from tests.anki.anki_standin import StandIn
from tests.anki.test_replay import Replay, compare
from tests.anki.test_requirement import EXAMPLES
from tests.conftest import SHARED

RECORDINGS = SHARED / "ankiconnect"
REQUIREMENT = SHARED.parent / "requirements" / "anki_tools.ru.md"

if not RECORDINGS.is_dir():
    pytest.skip("the requirement and the recordings are not in a clone (../shared)", allow_module_level=True)

BESIDE_THE_COLLECTION = (
    "exportPackage", "importPackage", "sync", "guiEditNote", "guiBrowse reorder", "fsrs off again", "deck stats respect",
)  # fmt: skip
"""Labels of the study sessions that are not compared: packages and syncing need files and an account and no tool uses
them; a dialog that is broken in that Anki; the columns of its Browser; a whole preset, which changes with Anki; counts
after answers that were not recorded."""

BY_CHANCE = ("deck stats: an unknown name", "reviewed by day", "setDueDate: what it writes")
"""Labels whose answer holds an id that the request made, a day, or a day from a range."""


class Session(NamedTuple):
    """A collection as it was at the beginning of a recorded session. The ids of notes are those of their cards too, which
    Anki's spreading of intervals depends on."""

    version: str
    decks: dict[str, int]
    notes: tuple[int, ...]
    answer: str = "{{Q}}<hr id=answer>{{A}}"
    fsrs: bool = False


SM2 = Session(
    "2025-11",
    {"Study": 1795324478453, "Study::Sub": 1795324478754},
    (
        1795324478918, 1795324478946, 1795324478964, 1795324479062, 1795324479121, 1795324479139, 1795324479175,
        1795324479202,
    ),
)  # fmt: skip
FSRS = Session(
    "2025-11",
    {"Study": 1795324599250},
    (1795324599525, 1795324599546, 1795324599601, 1795324599625, 1795324599727),
    "{{A}}",
    fsrs=True,
)
OLDER = Session(
    "2023-10",
    {"Study": 1795324507780, "Study::Sub": 1795324507898},
    (1795324508076, 1795324508221),
)
BEGINNINGS = ("fsrs on: answerCards 1-4 on new cards", "[add-on 2023-10] deck stats")
"""The labels with which the second and the third session begin."""


def test_the_examples_are_those_of_the_requirement():
    examples = json.loads(EXAMPLES.read_text(encoding="utf-8"))
    assert examples == examples_of(REQUIREMENT)


def examples_of(requirement):
    found = {}
    for section in re.split(r"^### ", requirement.read_text(encoding="utf-8"), flags=re.MULTILINE):
        for text in re.findall(r"```json\n(.*?)```", section, flags=re.DOTALL):
            block = json.loads(text)
            if isinstance(block, dict) and block.get("name", "").startswith("anki."):
                found.setdefault(block["name"], []).append([block.get("arguments", {}), None])
                last = block["name"]
            elif section.startswith("`anki."):
                found[last][-1][1] = block
    return found


@pytest.mark.parametrize("version", ["2025-11", "2023-10"])
def test_the_standin_answers_every_recorded_request_as_ankiconnect_did(version, collection_in, tmp_path):
    recording = RECORDINGS / f"anki-26.9-addon-{version}.jsonl"
    assert compare(recording, version, collection_in, tmp_path) > 300


def study_collection(collection, session):
    """The collection of a recorded session: its cards lie in the first deck, the last two of eight in a subdeck. The
    add-on of 2023 left them in the default deck."""
    models = collection.models
    plain = models.new("Plain")
    for name in ("Q", "A"):
        models.add_field(plain, models.new_field(name))
    template = models.new_template("Card 1")
    template["qfmt"], template["afmt"] = "{{Q}}", session.answer
    models.add_template(plain, template)
    plain["css"] = ".c{}"
    models.add(plain)
    decks = {name: collection.decks.id(name) for name in session.decks}
    for number, recorded in enumerate(session.notes):
        note = collection.new_note(models.by_name("Plain"))
        note["Q"], note["A"], note.tags = f"q{number}", f"a{number}", ["t"]
        deck = 1 if session is OLDER else decks["Study" if number < 6 else "Study::Sub"]
        collection.add_note(note, deck)
        collection.db.execute("update notes set id = ? where id = ?", recorded, note.id)
        collection.db.execute("update cards set id = ?, nid = ? where nid = ?", recorded, recorded, note.id)
    collection.set_config("fsrs", session.fsrs)
    return {session.decks[name]: number for name, number in decks.items()}


def prepare_window(collection):
    """What was done between the recorded requests: FSRS is off, and the forgotten card comes first."""
    collection.set_config("fsrs", False)
    collection.sched.suspend_cards([card for card in collection.find_cards("") if card != FSRS.notes[3]])


def lines_of(session):
    """What was recorded of a session, without what no collection can answer."""
    text = (RECORDINGS / "study.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in text.splitlines()]
    ends = [0, *(at for at, line in enumerate(lines) if line["label"] in BEGINNINGS), len(lines)]
    at = [SM2, FSRS, OLDER].index(session)
    beside = BESIDE_THE_COLLECTION if session is not OLDER else ("sync", "guiEditNote")
    return [
        line
        for line in lines[ends[at] : ends[at + 1]]
        if not line["label"].removeprefix("[add-on 2023-10] ").startswith(beside)
    ]


@pytest.mark.parametrize(("session", "count"), [(SM2, 99), (FSRS, 16), (OLDER, 9)], ids=["SM-2", "FSRS", "2023-10"])
def test_the_standin_answers_a_recorded_study_session_as_ankiconnect_did(collection_in, tmp_path, session, count):
    lines = lines_of(session)
    standin = StandIn(collection_in(tmp_path / "User 1"), session.version)
    replay = Replay(standin, tmp_path)
    known = {**study_collection(standin.collection, session), **{note: note for note in session.notes}}
    replay.ids = {"note": known, "card": known}
    differences = {}
    for line in lines:
        if line["label"] == "guiDeckReview with nothing due":
            standin.collection.decks.id("Empty")
        if line["label"] == "guiDeckReview" and session.fsrs:
            prepare_window(standin.collection)
        differences[line["label"]] = replay.differences(line)
    standin.close()

    unexpected = {label: found for label, found in differences.items() if found and not label.startswith(BY_CHANCE)}
    assert not unexpected, "\n".join(f"{label}: {found}" for label, found in unexpected.items())
    assert len(lines) == count
