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
# Labels that need windows, a sync server, the network or one machine's files, or what no tool of ours uses:
# media within a note, by a URL.
LEFT_OUT = (
    "apiReflect",
    "areSuspended",
    "canAddNotes",
    "exportPackage",
    "getMediaDirPath",
    "getMediaFilesNames a",
    "getNoteTags",
    "getProfiles",
    "gui",
    "importPackage",
    "modelFieldsOnTemplates",
    "notesInfo audio",
    "notesInfo picture",
    "reloadCollection",
    "requestPermission",
    "storeMediaFile url",
    "sync",
    "updateModel",
)

# Moments, how long an answer took, and what is spread by chance.
VARYING = ("mod", "usn", "id", "nextReviews", "time")


class Replay:
    """The recorded requests sent in order, each recorded id in them replaced by the one that stands for it
    here."""

    def __init__(self, standin, folder):
        self.standin = standin
        self.folder = folder
        self.ids = {"note": {}, "card": {}}

    def difference(self, recorded):
        """The answer that was recorded and the one of the stand-in, if they differ."""
        headers = {"origin": "http://evil.example"} if recorded["label"] == "Origin foreign" else {}
        request, answer = _read(recorded["request"]), _read(recorded["response"])
        action = request.get("action", "") if isinstance(request, dict) else ""
        body = request if isinstance(request, str) else json.dumps(self.here(request, "note"))
        status, got = self.standin.respond(headers, body.encode())
        kind = "card" if action in OF_CARDS else "note"
        expected = [recorded["status"], answer]
        seen = [status, _read(got.decode())]
        return None if self.same(expected, seen, kind) else (expected, seen)

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

    def same(self, recorded, got, kind):
        """True if the two say the same, which ids learned on the way stand for."""
        if isinstance(recorded, dict) and isinstance(got, dict):
            recorded = {self.here(name, kind): value for name, value in recorded.items()}
            return recorded.keys() == got.keys() and all(
                self.same(value, got[name], "card" if name in CARDS else kind)
                for name, value in recorded.items()
                if name not in VARYING
            )
        if isinstance(recorded, list) and isinstance(got, list) and len(recorded) == len(got):
            pairs = zip(*self.in_one_order(recorded, got, kind), strict=True)
            return all(self.same(*pair, kind) for pair in pairs)
        self.learn(recorded, got, kind)
        return self.here(recorded, kind) == got

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

    lines = [json.loads(line) for line in recording.read_text("utf-8").splitlines()]
    compared = [line for line in lines if not line["label"].startswith(LEFT_OUT)]
    differences = {line["label"]: replay.difference(line) for line in compared}
    standin.close()

    assert not any(differences.values()), differences
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
