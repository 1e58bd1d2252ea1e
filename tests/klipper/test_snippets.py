"""The line of text shown of a page."""

import pytest

from tools.klipper.search.snippets import snippet

SENTENCES = "".join(f"Sentence {number} says nothing of use to anyone. " for number in range(60))


@pytest.mark.parametrize("at", range(0, len(SENTENCES), 97))
def test_a_snippet_is_150_to_200_characters_of_one_line_around_the_place(at):
    text = SENTENCES.replace(". ", ".\n\n   ")
    shown = snippet(text, min(at, len(text) - 1))
    assert 150 <= len(shown) <= 200
    assert shown.strip("…") in " ".join(text.split())
    assert "\n" not in shown


def test_it_is_cut_between_words_and_says_so():
    shown = snippet(SENTENCES, 1000)
    assert shown[0] == shown[-1] == "…"
    assert f" {shown.strip('…')} " in SENTENCES


def test_it_begins_with_a_sentence_that_begins_near():
    assert snippet(SENTENCES, SENTENCES.index("30 says") + 20).startswith("…Sentence 29")


def test_the_beginning_and_the_end_of_a_page_have_no_mark():
    assert snippet(SENTENCES, 0).startswith("Sentence 0")
    assert snippet(SENTENCES, len(SENTENCES) - 5).endswith("of use to anyone.")


def test_it_begins_no_earlier_than_the_section():
    text = f"{SENTENCES}\n\n## Section\n\n{SENTENCES}"
    section = text.index("## Section")
    assert snippet(text, section + 40, section).startswith("…## Section")


def test_the_last_words_of_a_page_still_make_a_full_snippet():
    text = f"{SENTENCES}\n\n## End\n\nShort.\n"
    assert 150 <= len(snippet(text, text.index("Short"), text.index("## End"))) <= 200


@pytest.mark.parametrize(
    ("text", "shown"), [("", ""), ("# A\n", "# A"), ("word " * 3, "word word word"), (" " * 9000 + "end", "end")]
)
def test_a_short_page_is_shown_whole(text, shown):
    assert snippet(text, len(text) // 2) == shown


@pytest.mark.parametrize("text", ["x" * 5000, ("y" * 400 + " ") * 9, "| a |" + " " * 3000 + "| b |" + " z" * 400])
def test_words_without_end_and_blanks_without_end_are_bounded(text):
    assert all(len(snippet(text, at)) <= 200 for at in range(0, len(text), 211))


def test_a_long_address_is_not_cut_where_the_word_before_it_ends_near():
    address = "https://example.org/" + "path/" * 20
    shown = snippet(f"{SENTENCES}see {address} for more. {SENTENCES}", len(SENTENCES) + 120)
    assert shown.startswith(f"…{address} for more.")
