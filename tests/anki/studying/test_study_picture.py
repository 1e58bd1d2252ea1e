"""The picture of a card to study for the documentation: with PI_MCP_SCREENSHOTS=docs it is written there."""

import os

import pytest

from tests.anki.anki_helpers import add_notes
from tests.conftest import PROJECT
from tests.onepercent.page.test_screenshots import small
from tests.support.pages import Host, capable, shown

pytestmark = pytest.mark.slow

CARDS = {
    "en": ("Italian", "la farfalla", "the butterfly", "una farfalla sul fiore: a butterfly on the flower"),
    "ru": ("Итальянский", "la farfalla", "бабочка", "una farfalla sul fiore: бабочка на цветке"),
}
WAITING = 11


@pytest.mark.skipif("PI_MCP_SCREENSHOTS" not in os.environ, reason="writes the documentation's pictures")
@pytest.mark.parametrize("language", CARDS)
def test_the_picture_of_a_card_for_the_documentation(browser, anki, tmp_path, language):
    deck, question, answer, example = CARDS[language]
    first, *_ = add_notes(anki.collection, deck, question, *(f"parola {number}" for number in range(WAITING)))
    note = anki.collection.get_note(first)
    note["Back"] = f"{answer}<br><small><i>{example}</i></small>"
    anki.collection.update_note(note)
    folder = PROJECT / os.environ["PI_MCP_SCREENSHOTS"]
    with capable(ANKI_CONNECT_URL=os.environ["ANKI_CONNECT_URL"]) as client:
        host = Host(client)
        for theme in ("light", "dark"):
            tab = shown(browser, host.url, "anki_due", {"deck": deck}, 480, locale=language, theme=theme)
            tab.wait("shown && !open")
            tab.key(" ")
            tab.wait("open")
            tab.run(
                "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))", host=True
            )
            tab.picture(tmp_path / "picture.png")
            ends = (".dark" if theme == "dark" else "") + (".ru" if language == "ru" else "")
            small(tmp_path / "picture.png", folder / f"page_study{ends}.png")
            tab.close()
        host.close()
