"""search_docs asked in ways nobody should ask."""

import pytest

from tests.klipper.asking import answer, paths, search

PAGES = {
    "Bed_Mesh.md": "# Bed Mesh\n\nThe mesh of a bed: `[bed_mesh]`, probed at (10, 10).\n",
    "CANBUS.md": "# CANBUS\n\nA bus that can have many boards.\n",
}


@pytest.fixture(autouse=True)
def docs(small_docs):
    small_docs(PAGES)


def test_a_blank_query_or_a_limit_out_of_range_is_an_error_with_a_hint():
    for query in ("", " ", "\n\t", "\u2003"):
        assert answer(query)["code"] == "EMPTY_QUERY" and answer(query)["hint"]
    assert [answer("mesh", limit=limit)["success"] for limit in (0, 8, -1, "many")] == [False] * 4
    assert "20000" in answer("mesh " * 5000)["error"]


@pytest.mark.parametrize(
    "query", ["qqqqzzzz", "🙂", "...", "\x00\x07", "((((", "\\", "№", "%s", "\ud800", "--", "''", ".*"]
)
def test_what_is_nowhere_answers_an_empty_list_with_a_hint(query):
    assert answer(query)["result"] == [] and "list_docs_map" in answer(query)["hint"]


@pytest.mark.parametrize(
    "query",
    ["(mesh", "[mesh", "mesh)", "mesh+?", "mesh{1000000}", "^mesh$", "(?i)mesh", "mesh\x00", "mesh\n\n\n", "MESH🙂",
     "'; DROP TABLE mesh; --", "$(mesh)", "`mesh`", "../../mesh", "/etc/mesh", "docs/Bed_Mesh.md",
     "bed mesh " + " ".join(f"word{number}" for number in range(100))],
)  # fmt: skip
def test_a_query_is_never_a_pattern_or_a_command(query):
    assert paths(query) == ["Bed_Mesh.md"]


@pytest.mark.parametrize(
    "query",
    ["how do I", "can", "what is it", "как", "x", "1." * 9000, "a" * 20_000, "ж" * 9000, "_" * 9000, "a_" * 9000,
     "x y z " * 3000, "mesh_bed " * 2000, "'s" * 9000],
)  # fmt: skip
def test_stop_words_alone_and_an_endless_query_are_answered(query):
    assert isinstance(search(query[:20_000]), list)


def test_an_empty_page_and_one_without_a_heading_are_pages(small_docs):
    small_docs({"Empty_Page.md": "", "Plain.md": "Only katapult here.\n"})
    (result,) = search("katapult")
    assert (result["heading"], result["offset"], result["line"]) == ("", 0, 1)
    assert "Empty_Page.md" in answer("emptypagge")["hint"]
