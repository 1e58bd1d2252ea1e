"""A question taken apart into words, and search_docs asked in ways nobody should ask."""

import os

import pytest

from tests.klipper.asking import answer, paths, search
from tests.support.client import cases
from tools.klipper.search import index
from tools.klipper.search import query as queries
from tools.klipper.search.index import index_of_pages

PAGES = {
    "Bed_Mesh.md": "# Bed Mesh\n\nCalibrate the probe, its z_offset, with `[bed_mesh]`. SET_PRESSURE_ADVANCE of 120.\n",
    "CANBUS.md": "# CANBUS\n\nThe extruder of a canbus, its rotation_distance, filament_switch_sensor, tmc2209, BLTouch.\n",
}


@pytest.fixture(autouse=True)
def docs(small_docs):
    return small_docs(PAGES)


TERMS = """
How do I calibrate the probe's Z offset? | calibrate, probe, offset
mesh Mesh meshes | mesh
bl touch | bltouch
120.5 ohm on a 2209 | sb2209 tmc2209
bed_mesh | bed, mesh, bedmesh
ed_mes | bedmesh mesh, bedmesh
calibarte | calibrate
калибровка z offset датчика | calibrate, offset, probe sensor
шина can | canbus
can bus | canbus
e steps | rotationdistance
сколько шагов на мм у экструдера | rotationdistance, extruder
шагов экструдера | rotationdistance, extruder
"""


def test_each_term_of_a_question_becomes_some_words_of_the_pages():
    for text, words in [*cases(TERMS), ("бурундук", "")]:
        terms, _ = queries.question_terms(text, index_of_pages())
        assert ", ".join(" ".join(sorted(term)) for term in terms) == words


def index_of_another_session():
    index._cached_index.cache_clear()
    return index_of_pages()


def test_an_index_is_kept_for_this_session_and_the_next_until_a_page_changes(docs, monkeypatch):
    first = index_of_pages()
    assert index_of_pages() is first
    with monkeypatch.context() as blind:
        blind.delattr(index.pages, "page_text")  # no page is read
        again = index_of_another_session()
    assert (again.sections, again.words) == (first.sections, first.words)
    assert list(map(again.counts_of, again.words)) == list(map(first.counts_of, first.words))
    (docs / "CANBUS.md").write_text("# CANBUS\n\nA katapult.\n")
    assert list(index_of_pages().forms("katapult")) == ["katapult"]


def test_a_damaged_index_is_made_again():
    counts = index_of_pages().counts_of("probe")
    file = index.state_path("klipper-index")
    whole = file.read_bytes()
    for damaged in damages(whole):
        file.write_bytes(damaged)
        assert (
            index_of_another_session().counts_of("probe") == counts and file.read_bytes() == whole
        )
    file.unlink()
    os.mkfifo(file)  # nobody waits for it, and an index takes its place
    assert index_of_another_session().counts_of("probe") == counts and file.read_bytes() == whole
    file.unlink()
    file.mkdir()  # nothing can be kept
    assert index_of_another_session().counts_of("probe") == counts


def damages(whole):
    """Indexes as a card that rots or a copy cut short leaves them."""
    yield from (b"", b"\0" * len(whole), whole + b"\0")
    yield from (whole[:-cut] for cut in (1, 4, 12, 4000, 12_000))
    for place in range(0, len(whole), 50):
        rotten = bytearray(whole)
        rotten[place] ^= 1
        yield bytes(rotten)


def test_the_glossary_has_no_entry_twice_and_no_empty_meaning():
    entries = [entry for group in queries.glossary().values() for entry in group]
    keys = {tuple(key) for key, _ in entries}
    assert len(keys) == len(entries)
    assert all(meaning for _, meaning in entries)


def test_a_blank_query_is_an_error():
    for query in ("", " ", "\n\t", "\u2003"):
        assert answer(query)["code"] == "EMPTY_QUERY"


def test_what_is_nowhere_answers_an_empty_list_with_a_hint():
    for query in "qqqqzzzz 🙂 \x00\x07 (((( \\ %s \ud800 '' .*".split():
        response = answer(query)
        assert response["result"] == [] and "list_docs_map" in response["hint"]


def test_a_query_is_never_a_pattern_or_a_command():
    for query in "(mesh mesh+? mesh{1000000} (?i)mesh mesh\x00 MESH🙂 $(mesh) `mesh` ../../mesh docs/Bed_Mesh.md".split():
        assert paths(query) == ["Bed_Mesh.md"]


ENDLESS = ("1." * 9000, "a" * 20_000, "ж" * 9000, "a_" * 9000, "mesh_bed " * 2000, "'s" * 9000)


def test_stop_words_alone_and_an_endless_query_are_answered():
    for query in ("how do I", "как", "x", *ENDLESS):
        assert isinstance(search(query[:20_000]), list)


def test_an_empty_page_and_one_without_a_heading_are_pages(small_docs):
    small_docs({"Empty_Page.md": "", "Plain.md": "Only katapult here.\n"})
    (result,) = search("katapult")
    assert (result["heading"], result["offset"], result["line"]) == ("", 0, 1)
    assert "Empty_Page.md" in answer("emptypagge")["hint"]
