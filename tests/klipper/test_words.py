"""Words, stems, terms: how a question is taken apart."""

import pytest

from tools.klipper.search import glossary, query, spelling, words


def fits(word, other):
    stem, endings = words.stem(word)
    return other.startswith(stem) and (
        other[len(stem) :] in endings or (endings is words.ENDINGS and other[len(stem) + 1 :] in endings)
    )


@pytest.mark.parametrize(
    ("word", "others"),
    [
        ("calibrate", "calibrates calibrated calibrating calibration"),
        ("configuration", "configure configured configuring"),
        ("stopped", "stop stops stopping"),
        ("levelling", "level leveling levelled levels"),
        ("meshes", "mesh"),
        ("frequencies", "frequency"),
        ("wiring", "wire wired wires"),
        ("measurement", "measure measuring measurements"),
        ("probes", "probe probing probed"),
        ("pin", "pins"),
    ],
)
def test_a_stem_has_its_forms(word, others):
    assert [other for other in others.split() if not fits(word, other)] == []
    assert fits(word, word)


@pytest.mark.parametrize(
    ("word", "other"),
    [("print", "printer"), ("note", "not"), ("bus", "bu"), ("axis", "ax"), ("pin", "ping"), ("tmc2209", "tmc220"),
     ("heat", "heater"), ("probe", "problem"), ("glass", "glas")],
)  # fmt: skip
def test_a_stem_does_not_reach_another_word(word, other):
    assert not fits(word, other)


def terms(text):
    return [term.word for term in query.question(text).terms]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("How do I calibrate the probe's Z offset?", ["calibrate", "probe", "offset"]),
        ("[extruder] max_extrude_cross_section", ["extruder", "max", "extrude", "cross", "section"]),
        ("Must home axis first: 0.000 12.500 5 [0.000]", ["home", "axis", "first"]),
        ("120 ohm on a tmc2209 at M109", ["120", "ohm", "tmc2209", "m109"]),
        ("how do I", ["how", "do", "i"]),
        ("mesh Mesh meshes", ["mesh"]),
    ],
)
def test_a_question_is_its_words_without_stop_words_and_numbers(text, found):
    assert terms(text) == found


def test_identifiers_and_axes_are_special():
    asked = query.question("SET_PRESSURE_ADVANCE, z offset")
    assert [(one.word, one.befores, one.afters) for one in asked.specials] == [
        ("set_pressure_advance", ("",), ("_pressure_advance",)),
        ("offset", ("z_", "z-", "z "), ("",)),
    ]


def test_many_words_are_bounded():
    assert len(terms(" ".join(f"word{number}" for number in range(500)))) == query.MOST_TERMS


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("калибровка z offset датчика", ["calibrate", "offset", "probe"]),
        ("датчик окончания филамента", ["filament_switch_sensor", "sensor", "filament"]),
        ("шина can", ["canbus"]),
        ("сколько шагов на мм у экструдера", ["rotation_distance", "extruder"]),
        ("бурундук", ["бурундук"]),
    ],
)
def test_russian_words_become_the_english_ones(text, found):
    assert terms(text) == found


def test_a_russian_word_is_also_looked_for_as_it_is():
    (term,) = query.question("стола").terms
    assert [phrase[0].text for phrase in term.phrases] == ["bed", "стола"]


def test_a_short_stem_takes_a_short_ending():
    assert glossary.meaning(["тока"]) == (1, [["current"]])
    assert glossary.meaning(["токенизация"]) == (1, [])


def test_the_glossary_has_no_entry_twice_and_no_empty_meaning():
    keys = [tuple(key) for group in glossary._entries().values() for key, _ in group]
    assert len(keys) == len(set(keys))
    assert all(
        value and all(all(word) for word in value) for group in glossary._entries().values() for _, value in group
    )


@pytest.mark.parametrize(
    ("one", "other", "mistakes"),
    [("probe", "probe", 0), ("presure", "pressure", 1), ("advanec", "advance", 1), ("bltuch", "bltouch", 1),
     ("calbraton", "calibration", 2), ("mesh", "bed", 3)],
)  # fmt: skip
def test_mistakes_are_counted(one, other, mistakes):
    assert spelling.distance(one, other, 2) == mistakes


def test_the_pages_spelling_of_a_word():
    texts = ["The pressure advance. Exclude_Object! Probing, probing, probe: OrcaSlicer."]
    wanted = ["presure", "excludeobject", "prboe", "orca", "bedmsh", "xyzzy", "abc"]
    assert spelling.respell(wanted, texts, {"bedmesh": "bed_mesh"}) == {
        "presure": "pressure",
        "excludeobject": "exclude_object",
        "prboe": "probe",
        "orca": "orca*",
        "bedmsh": "bed_mesh",
    }


def test_a_stem_of_four_letters_takes_any_ending_and_one_of_three_a_short_one():
    assert glossary.meaning(["теплового"]) == (1, [["thermal"]])
    assert glossary.meaning(["током"]) == (1, [["current"]])
