"""Calls as the tests of Anki make them."""

from tests.anki.conftest import call

__all__ = ["call"]
