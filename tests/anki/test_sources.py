"""What the tests of Anki were made from: the requirement and whole recordings, of which a clone has excerpts."""

import json
import re

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

STUDY_BESIDE = ("exportPackage", "getDeckConfig", "gui", "importPackage", "sync", "window", "fsrs off again", "[add-on")
"""Labels of a study session that need windows or an account, tell a whole preset, or are of the other add-on."""

BY_CHANCE = (
    "deck stats: an unknown name",
    "getIntervals seconds",
    "getReviewsOfCards",
    "setDueDate: what",
    "reviewed by day",
)
"""Labels whose answer holds an id made by the request, a day, or an interval with Anki's fuzz."""

RECORDED = (
    1795324478918, 1795324478946, 1795324478964, 1795324479062, 1795324479121, 1795324479139, 1795324479175,
    1795324479202,
)  # fmt: skip
"""The ids of the eight notes, which are also those of their cards, in the recording."""
RECORDED_DECKS = {"Study": 1795324478453, "Study::Sub": 1795324478754}


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


def study_collection(collection, answer):
    """The collection of the recorded study session: eight cards, two of them in a subdeck."""
    models = collection.models
    plain = models.new("Plain")
    for name in ("Q", "A"):
        models.add_field(plain, models.new_field(name))
    template = models.new_template("Card 1")
    template["qfmt"], template["afmt"] = "{{Q}}", answer
    models.add_template(plain, template)
    plain["css"] = ".c{}"
    models.add(plain)
    ids = []
    for number in range(8):
        note = collection.new_note(models.by_name("Plain"))
        note["Q"], note["A"], note.tags = f"q{number}", f"a{number}", ["t"]
        collection.add_note(note, collection.decks.id("Study" if number < 6 else "Study::Sub"))
        ids.append(note.id)
    collection.db.execute("update cards set id = nid")
    return ids


def test_the_standin_answers_a_recorded_study_session_as_ankiconnect_did(collection_in, tmp_path):
    recording = RECORDINGS / "study.jsonl"
    standin = StandIn(collection_in(tmp_path / "User 1"))
    collection = standin.collection
    notes = study_collection(collection, "{{Q}}<hr id=answer>{{A}}")
    replay = Replay(standin, tmp_path)
    decks = {number: collection.decks.id(name) for name, number in RECORDED_DECKS.items()}
    known = {**decks, **dict(zip(RECORDED, notes, strict=True))}
    replay.ids = {"note": known, "card": known}

    lines = [json.loads(line) for line in recording.read_text(encoding="utf-8").splitlines()]
    lines = lines[: next(at for at, line in enumerate(lines) if line["label"] == "sync without an account")]
    replayed = [line for line in lines if not line["label"].startswith(STUDY_BESIDE) or "guiUndo" in line["label"]]
    differences = {line["label"]: found for line in replayed if (found := replay.differences(line))}
    unexpected = {label: found for label, found in differences.items() if not label.startswith(BY_CHANCE)}
    standin.close()

    assert len(replayed) > 60
    assert not unexpected, "\n".join(f"{label}: {found}" for label, found in unexpected.items())
