"""The first picture of the README: what its tools answer is what they answer now."""

import pytest

from docs import conversation
from tests.conftest import PROJECT
from tests.klipper.asking import call


@pytest.mark.parametrize("language", conversation.PICTURES)
def test_the_picture_of_the_printer_that_stopped_is_real(env, any_docs, language):
    with conversation.stopped_printer() as printer:
        env(KLIPPER_PRINTER_DATA=printer)
        lines = conversation.conversation(call, language)
    picture = PROJECT / "docs" / conversation.PICTURES[language]
    assert conversation.svg(lines, language) == picture.read_text("utf-8")
