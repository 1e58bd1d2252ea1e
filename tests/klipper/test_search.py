"""search_docs on small pages: what is found, in which order, how it is shown."""

import pytest

from tests.klipper.asking import answer, call, paths, search

FILLER = "The host sends commands to the board and waits for the answer before it goes on. " * 12


def page(title, *sections):
    return "\n\n".join([f"# {title}", FILLER, *sections, FILLER]) + "\n"


def test_a_result_has_path_title_heading_line_and_snippet(small_docs):
    faulty = (
        "```\n# magnets: 1\n```",
        "## Faulty Regions",
        "Magnets below the bed disturb the probe.",
    )
    small_docs(
        {"Bed_Mesh.md": page("Bed Mesh", *faulty), "FAQ.md": page("Frequently Asked", "rails")}
    )
    (result,) = search("magnets disturb the probe")
    assert list(result) == ["path", "heading", "line", "offset", "snippet"]
    assert list(result.values())[:3] == ["Bed_Mesh.md", "Faulty Regions", 9]
    assert read(result).startswith("## Faulty Regions")
    assert "Magnets below the bed" in result["snippet"]
    assert 150 <= len(result["snippet"]) <= 200
    assert search("rails")[0]["title"] == "Frequently Asked", "where it differs from the path"


def read(result):
    """The text that read_doc gives for a result."""
    return call("read_doc", path=result["path"], offset=result["offset"])["text"]


# A small documentation, then what the search says first to each question.
DRIVERS = {
    "TMC.md": page("Drivers", "## tmc2209", "Calibration of stealthchop with a tmc2209."),
    "Bed_Mesh.md": page("Mesh of the bed", "It is flat."),
    "Other.md": page("Other", "A stealthchop of another driver, and nothing else."),
}
RARE = {
    f"Page_{number}.md": page(f"Page {number}", "printer nozzle printer nozzle")
    for number in range(8)
}
LONG = "\n\n".join(
    f"## Option {number}\n\nThe flange is option {number}. {FILLER}" for number in range(80)
)
TOUCH = page("B", "To touch is another thing.")
ORDER = [
    (DRIVERS, {"2209": "TMC.md", "ed_mes": "Bed_Mesh.md", "libra": "TMC.md", "2209 stealthchop": "TMC.md", "ed_M": "Bed_Mesh.md"}),
    (
        {
            "Mentions.md": page("Other things", "Skew is mentioned here, and skew again. " * 4),
            "Skew_Correction.md": page("Correction", "Squares that are none."),
        },
        {"skew": "Skew_Correction.md"},
    ),
    (
        {"Reference.md": f"# Reference\n\n{LONG}", "Guide.md": page("Guide", "## Mounting the flange", "Do it.")},
        {"mounting the flange": "Guide.md", "flange": "Guide.md"},
    ),
    (RARE | {"Rare.md": page("Rare", "The katapult of a printer.")}, {"printer nozzle katapult": "Rare.md"}),
    (
        {"Pressure_Advance.md": page("Pressure advance", "Tune it."), "Other.md": page("Other", "Pressure.")},
        dict.fromkeys(
            "pressure-advance;pressure_advance;Pressure Advance;PRESSURE ADVANCE;pressureadvance;PressureAdvance;"
            "presure advance;pressure advanec".split(";"), "Pressure_Advance.md"
        ),
    ),
    *(
        ({"A.md": page("A", text), "B.md": TOUCH}, dict.fromkeys("bl touch;BLTouch;bl-touch;BL_TOUCH".split(";"), "A.md"))
        for text in ("The BLTouch is a probe.", "The BL-Touch is a probe.", "A bl_touch is a probe.")
    ),
    (
        {"A.md": page("A", "Calibrating the probe."), "B.md": page("B", "A caliper.")},
        dict.fromkeys("calibrate calibrating calibrated calibration Calibrates".split(), "A.md"),
    ),
    (
        {
            "Config.md": page("Config", "### [extruder]", "```\n[extruder]\n#max_extrude_cross_section:\n#   Area.\n```"),
            "Codes.md": page("Codes", "#### SET_PRESSURE_ADVANCE", "`SET_PRESSURE_ADVANCE [EXTRUDER=<name>]`"),
            "Guide.md": page("Extruder", "Set the pressure of the extruder in advance, at most a cross section."),
        },
        {
            "[extruder] max_extrude_cross_section": "Config.md", "SET_PRESSURE_ADVANCE": "Codes.md",
            "SET_PRESSURE_ADVANCE ADVANCE=0.05": "Codes.md",
        },
    ),
    (
        {"A.md": page("How do I do what I want", "How, why and when."), "B.md": page("B", "Uninstall it.")},
        {"how do I uninstall": "B.md", "как мне uninstall": "B.md"},
    ),
    (
        {"Bed_Mesh.md": page("Bed Mesh", "Probe it."), "Bed.md": page("Bed", "It is flat.")},
        dict.fromkeys(("сетка стола", "как снять карту высот стола?", "Сетки стола", "настройка bed mesh"), "Bed_Mesh.md"),
    ),
    ({"A.md": page("Стол", "Стол выравнивают винтами."), "B.md": page("B", "Nothing.")}, {"выравнивают": "A.md"}),
    (
        {"A.md": page("A", "katapult"), "B.md": b"\xff\xfe katapult", "c.txt": "katapult", ".d.md": "katapult"},
        {"katapult": "A.md"},
    ),
]  # fmt: skip


@pytest.mark.parametrize("pages, questions", ORDER)
def test_what_comes_first(small_docs, pages, questions):
    small_docs(pages)
    for query, expected in questions.items():
        assert paths(query)[0] == expected, query
        assert pages is not DRIVERS or "absent" not in answer(query)  # it is a part of a word


def test_what_says_little_beside_the_best_is_left_out(small_docs):
    small_docs({f"Page_{number}.md": page(f"Page {number}", "A probe.") for number in range(6)})
    words = "Magnets disturb the probe"
    small_docs({"Magnet_Rail.md": page("Magnet rail", f"## {words}", words)})
    assert set(paths(words)) == {"Magnet_Rail.md"}


def test_a_page_gives_two_results_where_two_sections_say_as_much(small_docs):
    sentences = ("The magnets disturb it.", FILLER * 9)
    small_docs(
        {"Large.md": page("Large", "## One", *sentences, "## Two", *sentences, "## Three", FILLER)}
    )
    assert [result["heading"] for result in search("magnets disturb")] == ["One", "Two"]


def test_of_dated_entries_the_newest_that_says_most_is_shown(small_docs):
    entries = "20250303: The rail.\n\n20250202: The old magnet is removed.\n\n20250101: The old magnet is deprecated.\n"
    small_docs({"Changes.md": f"# Changes\n\n## All\n\n{entries}"})
    result, *_ = search("old magnet")
    assert (result["heading"], result["date"]) == ("2025-02-02", "2025-02-02")
    assert read(result).startswith("20250202: ")
    assert "old magnet is removed" in result["snippet"]


def test_words_that_stand_nowhere_are_named(small_docs):
    small_docs({"A.md": page("Title", "magnets")})
    absent = answer("magnets flibbertigibbet")["absent"]
    assert absent == "not found in the documentation: flibbertigibbet"
    assert "absent" not in answer("magnets")
    assert len(answer("magnets " + "flibber" * 40)["absent"]) < 100


def test_a_message_of_klipper_is_explained_with_where_to_read_on(small_docs):
    heading = '## I keep getting random "Lost communication with MCU" errors'
    small_docs({"FAQ.md": page("FAQ", heading, "Noise.")})
    known = answer("Lost communication with MCU 'toolboard', why?")["known_message"]
    assert known["message"] == "lost communication with mcu *"
    assert known["read"][0].startswith("FAQ.md#I keep getting random")
    assert "known_message" not in answer("lost steps")


def test_a_page_comes_once_and_at_most_limit_pages(small_docs):
    small_docs({f"Page_{number}.md": page("Page", "magnets", "again") for number in range(9)})
    assert len(set(paths("magnets"))) == len(paths("magnets")) == 7
    assert len(paths("magnets", limit=2)) == 2


def test_pages_of_further_repositories_are_searched_and_one_of_two_sources_is_one_result(
    small_docs, further
):
    small_docs({"Bed_Mesh.md": page("Bed Mesh", "Magnets."), "A.md": page("A", "The katapult.")})
    further(
        {
            "install.md": page("Installation", "## Katapult", "A katapult."),
            "Bed_Mesh.md": page("Bed Mesh", "Magnets. Magnets."),
        }
    )
    assert paths("katapult")[0] == "moonraker/install.md"
    (result,) = search("magnets bed mesh")
    assert (result["path"], result["also_in"]) == ("Bed_Mesh.md", ["moonraker/Bed_Mesh.md"])
    assert paths("moonraker magnets bed mesh")[0] == "moonraker/Bed_Mesh.md"


def test_a_heading_that_is_the_whole_question_comes_before_a_page_of_a_longer_name(small_docs):
    sections = ("## Filament sensors", "Switches for filament.", "## Fans")
    small_docs(
        {
            "Hall_Filament_Width_Sensor.md": page("Hall filament width sensor", "It is one."),
            "Config_Reference.md": page("Reference", *sections),
        }
    )
    assert search("filament sensor")[0]["heading"] == "Filament sensors"
    assert paths("hall filament width sensor")[0] == "Hall_Filament_Width_Sensor.md"
