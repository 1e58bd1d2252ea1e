"""The stand-in answers as the real AnkiConnect did."""

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("anki.collection", reason="the PyPI package `anki` is not installed")

from tests.anki.anki_standin import StandIn
from tests.conftest import SHARED

# The first requests of the newer recording, which a clone has.
EXCERPT = Path(__file__).with_name("recorded.jsonl")
WHOLE = SHARED / "ankiconnect"
# Ids are times in milliseconds; no other number in the recordings is as large.
LEAST_ID = 10**11

CARDS = ("cards", "cardId")
OF_CARDS = ("findCards", "getDecks")
# Labels that need windows, a sync server, the network or one machine's files, or what no tool of ours uses.
LEFT_OUT = (
    "apiReflect", "areSuspended", "canAddNotes", "exportPackage", "getMediaDirPath", "getMediaFilesNames abs", "getNoteTags",
    "getProfiles", "gui", "importPackage", "modelFieldsOnTemplates", "reloadCollection", "requestPermission",
    "storeMediaFile url bad", "storeMediaFile url garbage", "storeMediaFile url refused", "sync", "updateModel",
)  # fmt: skip

# Moments, how long an answer took, and what is spread by chance.
VARYING = ("mod", "usn", "id", "nextReviews", "time")


class Replay:
    """The recorded requests sent in order, each recorded id in them replaced by the one that stands for it
    here."""

    def __init__(self, standin, folder):
        self.standin = standin
        self.folder = folder
        self.ids = {"note": {}, "card": {}}

    def differences(self, recorded):
        headers = {"origin": "http://evil.example"} if recorded["label"] == "Origin foreign" else {}
        request, answer = _read(recorded["request"]), _read(recorded["response"])
        action = request.get("action", "") if isinstance(request, dict) else ""
        body = request if isinstance(request, str) else json.dumps(self.here(request, "note"))
        status, got = self.standin.respond(headers, body.encode())
        kind = "card" if action in OF_CARDS else "note"
        expected = {"status": recorded["status"], action: answer}
        return self.compare(expected, {"status": status, action: _read(got.decode())}, kind, "")

    def here(self, value, kind):
        """A recorded value with the ids and paths of this run."""
        if isinstance(value, dict):
            return {
                self.here(k, kind): self.here(v, "card" if k in CARDS else kind)
                for k, v in value.items()
            }
        if isinstance(value, list):
            return [self.here(member, kind) for member in value]
        if isinstance(value, str):
            text = re.sub(
                r"\d{13}", lambda match: str(self.ids[kind].get(int(match[0]), match[0])), value
            )
            return re.sub(r"(?<![\w.])/(anki|media)/", rf"{self.folder}/\1/", text)
        return self.ids[kind].get(value, value) if type(value) is int else value

    def compare(self, recorded, got, kind, path):
        """(path, expected, got) of every place where the two differ."""
        if isinstance(recorded, dict) and isinstance(got, dict):
            recorded = {self.here(name, kind): value for name, value in recorded.items()}
            if set(recorded) != set(got):
                return [(path, sorted(recorded), sorted(got))]
            pairs = [(name, recorded[name], got[name]) for name in recorded if name not in VARYING]
        elif isinstance(recorded, list) and isinstance(got, list) and len(recorded) == len(got):
            pairs = zip(range(len(got)), *self.in_one_order(recorded, got, kind), strict=True)
        else:
            self.learn(recorded, got, kind)
            expected = self.here(recorded, kind)
            return [] if expected == got else [(path, expected, got)]
        return [
            difference
            for name, *two in pairs
            for difference in self.compare(
                *two, "card" if name in CARDS else kind, f"{path}/{name}"
            )
        ]

    def in_one_order(self, recorded, got, kind):
        """Searches and folder listings have no order of their own: known ids and names are compared
        sorted."""
        if all(
            isinstance(member, str) or (type(member) is int and member in self.ids[kind])
            for member in recorded
        ):
            return sorted(self.here(recorded, kind)), sorted(got)
        return recorded, got

    def learn(self, recorded, got, kind):
        if type(recorded) is int is type(got) and min(recorded, got) > LEAST_ID:
            self.ids[kind].setdefault(recorded, got)


def _read(text):
    try:
        return json.loads(text or "")
    except ValueError:
        return text or ""


def compare(recording, version, collection_in, tmp_path):
    """How many recorded requests the stand-in answered; each as it was recorded."""
    (tmp_path / "media").mkdir()
    (tmp_path / "media" / "a.txt").write_text("hello from path")
    profile = tmp_path / "anki" / "User 1"
    standin = StandIn(collection_in(profile), version)
    (profile / "deleted.txt").touch()  # Anki's windows keep it, a collection alone does not
    replay = Replay(standin, tmp_path)

    lines = [json.loads(line) for line in recording.read_text(encoding="utf-8").splitlines()]
    compared = [line for line in lines if not line["label"].startswith(LEFT_OUT)]
    differences = {line["label"]: found for line in compared if (found := replay.differences(line))}
    standin.close()

    assert not differences, "\n".join(f"{label}: {found}" for label, found in differences.items())
    return len(compared)


def test_the_standin_answers_an_excerpt_of_a_recording_as_ankiconnect_did(collection_in, tmp_path):
    assert compare(EXCERPT, "2025-11", collection_in, tmp_path) > 80


@pytest.mark.skipif(not WHOLE.is_dir(), reason="the recordings are not in a clone (../shared)")
@pytest.mark.parametrize("version", ["2025-11", "2023-10"])
def test_the_standin_answers_every_recorded_request_as_ankiconnect_did(
    version, collection_in, tmp_path
):
    assert (
        compare(WHOLE / f"anki-26.9-addon-{version}.jsonl", version, collection_in, tmp_path) > 290
    )
