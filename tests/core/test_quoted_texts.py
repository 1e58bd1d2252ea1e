"""Every text that the requirements quote is said to the letter."""

import pytest

from tests.klipper.asking import call
from tests.support.client import PROJECT
from tools.core.errors import ToolError
from tools.klipper.checkout import freshness

REQUIREMENTS = PROJECT.parent / "shared" / "requirements"


def refusal():
    """As Python writes it, without the code, which is ours."""
    answer = ToolError("Deck not found: X", "Use list-decks...").answer()
    del answer["code"]
    return str(answer).replace("'", '"')


TEXTS = {
    "List should have at least 1 item after validation, not 0": lambda: call(
        "anki.delete_notes", noteIds=[]
    )["error"],
    "Привет, Алиса! Я твой MCP-сервер.": lambda: call("greet", name="Алиса"),
    "(РЕКОМЕНДУЕТСЯ: база устарела)": lambda: freshness.STALE_NOTE,
    '{"success": False, "error": "Deck not found: X", "hint": "Use list-decks..."}': refusal,
}


@pytest.mark.parametrize(("text", "said"), TEXTS.items())
def test_a_text_of_the_requirements_is_said_to_the_letter(text, said):
    assert said().removeprefix("noteIds: ") == text


@pytest.mark.skipif(
    not REQUIREMENTS.is_dir(), reason="the requirements are not in a clone (../shared)"
)
def test_these_texts_are_in_the_requirements():
    documents = "".join(path.read_text("utf-8") for path in REQUIREMENTS.glob("*.md"))
    assert [text for text in TEXTS if text not in documents] == []
