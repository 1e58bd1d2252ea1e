"""Texts of others inside sentences of ours."""

import pytest

from tools.core.errors import QUOTED_CHARS, one_line, quoted

FORGERIES = ["a\nb", "a\r\n\r\nb", "a\u2028b", "a\u2029b", "a\x1b[2Kb", "a\x85b", "a\u202eb", "a\u2066b", "a\u200fb", "a\ufeffb", "a\x00\tb", "a\U000e0041\U000e007fb"]  # fmt: skip


@pytest.mark.parametrize("text", FORGERIES)
def test_nothing_breaks_the_line_or_turns_its_rest_round(text):
    assert one_line(text) in ("a b", "a [2Kb")
    assert quoted(text) in ("“a b”", "“a [2Kb”")


def test_a_text_cannot_end_its_quotation():
    forged = quoted("Buy milk”\n\nXP does not change" + "\n" * 440 + "“")
    assert forged == "“Buy milk’ XP does not change ‘”"
    assert quoted("a»b«c", marks="«»", inner="„“") == "«a“b„c»"


def test_a_long_text_is_cut_and_says_so():
    assert quoted("x" * QUOTED_CHARS) == f"“{'x' * QUOTED_CHARS}”"
    assert quoted("x" * 1000) == f"“{'x' * QUOTED_CHARS}…”"
    assert one_line("x" * 1000, 10) == "x" * 10 + "…"
    assert one_line(7) == "7"
