"""What the tests of Anki were made from: the requirement and whole recordings, of which a clone has excerpts."""

import json
import re

import pytest

pytest.importorskip("anki.collection", reason="the PyPI package `anki` is not installed")

from tests.anki.test_replay import compare
from tests.anki.test_requirement import EXAMPLES
from tests.conftest import SHARED

RECORDINGS = SHARED / "ankiconnect"
REQUIREMENT = SHARED.parent / "requirements" / "anki_tools.ru.md"

if not RECORDINGS.is_dir():
    pytest.skip("the requirement and the recordings are not in a clone (../shared)", allow_module_level=True)


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
