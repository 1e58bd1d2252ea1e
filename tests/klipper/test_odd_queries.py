"""search_docs asked in ways nobody should ask."""

import pytest

from tests.klipper.asking import answer, paths, search

PAGES = {
    "Bed_Mesh.md": "# Bed Mesh\n\nThe mesh of a bed: `[bed_mesh]`, probed at (10, 10).\n",
    "CANBUS.md": "# CANBUS\n\nA bus that can have many boards.\n",
}


@pytest.mark.parametrize("query", ["", " ", "\n\t", "\u2003"])
def test_a_blank_query_is_an_error_with_a_hint(small_docs, query):
    small_docs(PAGES)
    assert answer(query)["success"] is False
    assert answer(query)["code"] == "EMPTY_QUERY"
    assert answer(query)["hint"]


@pytest.mark.parametrize(
    "query", ["qqqqzzzz", "🙂", "...", "\x00\x07", "((((", "\\", "№", "%s", "🙂🙂 qqqqzzzz", "\ud800", "--", "'", "''"]
)
def test_what_is_nowhere_answers_an_empty_list_with_a_hint(small_docs, query):
    small_docs(PAGES)
    assert answer(query)["result"] == []
    assert "list_docs_map" in answer(query)["hint"]


def test_the_hint_names_the_nearest_files(small_docs):
    small_docs(PAGES)
    assert "Bed_Mesh.md" in answer("bdmsh")["hint"]


@pytest.mark.parametrize(
    "query",
    [".*", "(mesh", "[mesh", "mesh)", "mesh|bus", "mesh+?", "mesh{1000000}", "^mesh$", "(?i)mesh", "mesh\x00",
     "mesh\n\n\n", "'; DROP TABLE mesh; --", "$(mesh)", "`mesh`", "../../mesh", "/etc/mesh", "docs/Bed_Mesh.md", "MESH🙂"],
)  # fmt: skip
def test_a_query_is_never_a_pattern_or_a_command(small_docs, query):
    small_docs(PAGES)
    assert paths(query) == (
        [] if query == ".*" else ["Bed_Mesh.md", "CANBUS.md"] if "bus" in query else ["Bed_Mesh.md"]
    )


@pytest.mark.parametrize("query", ["how do I", "can", "the", "what is it", "как", "a", "x"])
def test_stop_words_alone_are_looked_for_as_they_are(small_docs, query):
    small_docs(PAGES)
    assert answer(query)["success"] is True


def test_a_long_query_is_refused_and_says_the_bound(small_docs):
    small_docs(PAGES)
    assert "1000" in answer("mesh " * 300)["error"]
    assert answer("mesh " * 300)["hint"]


def test_a_pasted_log_is_searched_by_its_first_words(small_docs):
    small_docs(PAGES)
    words = " ".join(f"word{number}" for number in range(120))
    assert paths(f"bed mesh {words}"[:1000]) == ["Bed_Mesh.md"]


@pytest.mark.parametrize(
    "query", ["1." * 500, "a" * 1000, "ж" * 1000, "_" * 1000, "a_" * 500, "x y z " * 160, "mesh_bed " * 110, "'s" * 500]
)
def test_an_endless_query_is_answered(small_docs, query):
    small_docs(PAGES)
    assert answer(query[:1000])["success"] is True


@pytest.mark.parametrize("limit", [0, 8, -1, "many"])
def test_a_limit_out_of_range_is_an_error(small_docs, limit):
    small_docs(PAGES)
    assert answer("mesh", limit=limit)["success"] is False


def test_no_documentation_says_how_to_get_it(env):
    assert answer("mesh")["code"] == "DOCS_MISSING"


def test_an_empty_page_and_one_without_a_heading_are_pages(small_docs):
    small_docs({"Empty_Page.md": "", "Plain.md": "Only katapult here.\n"})
    (result,) = search("katapult")
    assert (result["heading"], result["offset"], result["line"]) == ("", 0, 1)
    assert paths("empty page") == []
