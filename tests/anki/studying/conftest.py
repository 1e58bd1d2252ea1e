"""Fixtures of studying."""

import pytest

from tests.anki.anki_helpers import add_notes


@pytest.fixture
def deck(anki):
    """Thirty new cards in two decks."""
    for name, count in (("Geo", 20), ("Geo::Cities", 10)):
        add_notes(anki.collection, name, *(f"{name} question {number}" for number in range(count)))
    return anki
