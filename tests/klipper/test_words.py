"""Words, stems, terms: how a question is taken apart."""

import pytest

from tools.klipper.search import index, query

PAGES = {
    "Bed_Mesh.md": "# Bed Mesh\n\nCalibrate the probe, its z_offset, with bed_mesh. SET_PRESSURE_ADVANCE of 120.\n",
    "CANBUS.md": "# CANBUS\n\nThe extruder of a canbus, its rotation_distance, filament_switch_sensor, tmc2209, BLTouch.\n",
}


@pytest.fixture
def asked(small_docs):
    """A function that gives the words of the pages that each term of a question is looked for by."""
    small_docs(PAGES)
    return lambda text: [" ".join(sorted(term.words)) for term in query.question(text, index.current()).terms]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("How do I calibrate the probe's Z offset?", ["calibrate", "probe", "offset", "zoffset"]),
        ("mesh Mesh meshes", ["mesh"]),
        ("bl touch", ["bltouch"]),
        ("120.5 ohm on a 2209", ["tmc2209"]),
        ("bed_mesh", ["bed", "mesh", "bedmesh"]),
        ("ed_mes", ["bedmesh mesh", "bedmesh"]),
        ("calibarte", ["calibrate"]),
        ("калибровка z offset датчика", ["calibrate", "offset", "probe sensor", "zoffset"]),
        ("шина can", ["canbus"]),
        ("сколько шагов на мм у экструдера", ["rotationdistance", "rotation", "distance", "extruder"]),
        ("бурундук", []),
    ],
)
def test_a_question_becomes_words_of_the_pages(asked, text, found):
    assert asked(text) == found


def test_an_index_is_kept_until_a_page_changes(small_docs):
    folder = small_docs(PAGES)
    first = index.current()
    assert index.current() is first
    (folder / "CANBUS.md").write_text("# CANBUS\n\nA katapult.\n")
    assert index.current() is not first and list(index.current().forms("katapult")) == ["katapult"]


def test_the_glossary_has_no_entry_twice_and_no_empty_meaning():
    entries = [entry for group in query._glossary().values() for entry in group]
    assert len({tuple(key) for key, _ in entries}) == len(entries)
    assert all(meaning and all(map(all, meaning)) for _, meaning in entries)
