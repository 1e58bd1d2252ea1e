"""search_docs on small pages: what is found, in which order, how it is shown."""

import pytest

from tests.klipper.asking import answer, first, paths, search
from tools.core import registry, settings

FILLER = "The host sends commands to the board and waits for the answer before it goes on. " * 12


def page(title, *sections):
    return "\n\n".join([f"# {title}", FILLER, *sections, FILLER]) + "\n"


def test_a_result_has_path_title_heading_line_and_snippet(small_docs):
    small_docs({"Bed_Mesh.md": page("Bed Mesh", "## Faulty Regions", "Magnets below the bed disturb the probe.")})
    (result,) = search("magnets disturb the probe")
    assert list(result) == ["path", "heading", "line", "offset", "snippet"]
    assert (result["path"], result["heading"], result["line"]) == ("Bed_Mesh.md", "Faulty Regions", 5)
    assert read(result)["text"].startswith("## Faulty Regions")
    assert "Magnets below the bed" in result["snippet"]
    assert 150 <= len(result["snippet"]) <= 200


def read(result):
    """What read_doc gives for a result."""
    tool = registry.find("read_doc", registry.listed(settings.current()).values())
    return tool.call({"path": result["path"], "offset": result["offset"]})


def test_a_title_is_told_where_it_differs_from_the_path(small_docs):
    small_docs({"BLTouch.md": page("BL-Touch", "magnets"), "FAQ.md": page("Frequently Asked", "magnets")})
    assert {result["path"]: result.get("title") for result in search("magnets")} == {
        "BLTouch.md": None,
        "FAQ.md": "Frequently Asked",
    }


def test_what_says_little_beside_the_best_is_left_out(small_docs):
    small_docs({
        "Magnet_Rail.md": page("Magnet rail", "## Magnets disturb the probe", "The magnets disturb the probe."),
        **{f"Page_{number}.md": page(f"Page {number}", "A probe.") for number in range(6)},
    })  # fmt: skip
    assert paths("magnets disturb the probe")[0] == "Magnet_Rail.md"
    assert len(paths("magnets disturb the probe")) == 3


def test_a_large_page_gives_two_results(small_docs):
    sections = ["## One", "The magnets disturb it.", FILLER * 30, "## Two", "The magnets disturb it.", FILLER * 30]
    small_docs({"Large.md": page("Large", *sections)})
    assert [result["heading"] for result in search("magnets disturb")] == ["One", "Two"]
    small_docs({"Large.md": page("Large", *[one[:200] for one in sections])})
    assert [result["heading"] for result in search("magnets disturb")] == ["One"]


def test_of_dated_entries_the_newest_that_says_most_is_shown(small_docs):
    entries = (
        "20250303: The rail.\n\n20250202: The old magnet has been removed.\n\n20250101: The old magnet is deprecated.\n"
    )
    small_docs({"Changes.md": f"# Changes\n\n## All\n\n{entries}"})
    (result,) = search("old magnet")
    assert (result["heading"], result["date"]) == ("2025-02-02", "2025-02-02")
    assert read(result)["text"].startswith("20250202: ")
    assert (
        result["snippet"].startswith("…20250202: The old magnet") or "old magnet has been removed" in result["snippet"]
    )


def test_words_that_stand_nowhere_are_named(small_docs):
    small_docs({"A.md": page("Title", "magnets")})
    assert answer("magnets flibbertigibbet")["absent"] == (
        "these words stand nowhere in the documentation: flibbertigibbet"
    )
    assert "absent" not in answer("magnets")
    assert answer("flibbertigibbet")["result"] == []


def test_a_message_of_klipper_is_explained_and_leads_where_to_read_on(small_docs):
    small_docs({
        "FAQ.md": page("FAQ", '## I keep getting random "Lost communication with MCU" errors', "Noise."),
        "MCU.md": page("MCU", "## Lost", "lost communication with mcu mcu lost communication with mcu"),
    })  # fmt: skip
    found = answer("Klipper says: Lost communication with MCU 'toolboard', why?")
    assert found["known_message"]["message"] == "lost communication with mcu *"
    assert found["known_message"]["read"][0].startswith("FAQ.md#I keep getting random")
    assert found["result"][0]["path"] == "FAQ.md"
    assert found["result"][0]["heading"].startswith("I keep getting random")
    assert "known_message" not in answer("lost steps")


def test_a_heading_in_a_code_block_is_no_heading(small_docs):
    small_docs({"A.md": "# Title\n\n```\n# magnets: 1\n```\n"})
    assert search("magnets")[0]["heading"] == "Title"


def test_a_page_comes_once_and_at_most_limit_pages(small_docs):
    small_docs({f"Page_{number}.md": page(f"Page {number}", "magnets", "magnets again") for number in range(9)})
    assert len(set(paths("magnets"))) == len(paths("magnets")) == 7
    assert len(paths("magnets", limit=2)) == 2


def test_the_exact_phrase_beats_all_words_and_these_most_words(small_docs):
    small_docs({
        "Most.md": page("One", "The rail is loose and the belt is old."),
        "All.md": page("Two", "The belt of the rail is old; it is loose, and tension is all."),
        "Phrase.md": page("Three", "A loose belt tension makes waves on the rail."),
    })  # fmt: skip
    assert paths("loose belt tension rail")[:2] == ["Phrase.md", "All.md"]
    assert paths("loose belt tension")[0] == "Phrase.md"


def test_words_in_the_order_of_the_question_beat_the_same_words_in_another(small_docs):
    small_docs({
        "Another.md": page("One", "The tension belt loose makes waves."),
        "Phrase.md": page("Two", "The loose belt tension makes waves."),
    })  # fmt: skip
    assert paths("loose belt tension") == ["Phrase.md", "Another.md"]


def test_all_words_in_one_section_beat_the_same_words_scattered(small_docs):
    small_docs({
        "Scattered.md": page("One", "## A", "magnets", FILLER * 3, "## B", "warp", FILLER * 3, "## C", "springs"),
        "Together.md": page("Two", "## A", "Springs and magnets warp it."),
    })  # fmt: skip
    assert first("magnets warp springs") == "Together.md"


def test_a_page_or_section_about_the_thing_beats_one_that_mentions_it(small_docs):
    mention = "Skew is mentioned here, and skew again. "
    small_docs({
        "Mentions.md": page("Other things", mention * 4),
        "Skew_Correction.md": page("Correction", "Squares that are none."),
    })  # fmt: skip
    assert first("skew") == "Skew_Correction.md"
    small_docs({"Skew_Correction.md": "# Nothing\n", "Sections.md": page("Other", "## Skew", "It is this.")})
    assert first("skew") == "Sections.md" or first("skew") == "Skew_Correction.md"


def test_a_long_page_has_no_advantage(small_docs):
    long = "\n\n".join(f"## Option {number}\n\nThe flange is option {number}. {FILLER}" for number in range(80))
    small_docs(
        {"Reference.md": f"# Reference\n\n{long}", "Guide.md": page("Guide", "## Mounting the flange", "Do it.")}
    )
    assert first("mounting the flange") == "Guide.md"
    assert first("flange") == "Guide.md"


def test_a_rare_word_counts_more_than_common_ones(small_docs):
    common = {f"Page_{number}.md": page(f"Page {number}", "printer nozzle printer nozzle") for number in range(8)}
    small_docs({**common, "Rare.md": page("Rare", "The katapult of a printer.")})
    assert first("printer nozzle katapult") == "Rare.md"


@pytest.mark.parametrize(
    "query",
    ["pressure-advance", "pressure_advance", "Pressure Advance", "PRESSURE ADVANCE", "pressureadvance", "PressureAdvance",
     "presure advance", "pressure advanec"],
)  # fmt: skip
def test_case_and_marks_do_not_matter_nor_does_a_slip(small_docs, query):
    small_docs({"Pressure_Advance.md": page("Pressure advance", "Tune it."), "Other.md": page("Other", "Pressure.")})
    assert first(query) == "Pressure_Advance.md"


@pytest.mark.parametrize("query", ["bl touch", "BLTouch", "bl-touch", "BL_TOUCH"])
@pytest.mark.parametrize("text", ["The BLTouch is a probe.", "The BL-Touch is a probe.", "A bl_touch is a probe."])
def test_words_run_together_are_found_apart_and_the_other_way(small_docs, query, text):
    small_docs({"A.md": page("A", text), "B.md": page("B", "To touch is another thing.")})
    assert first(query) == "A.md"


@pytest.mark.parametrize("query", ["calibrate", "calibrating", "calibrated", "calibration", "Calibrates"])
def test_simple_inflection_does_not_matter(small_docs, query):
    small_docs({"A.md": page("A", "Calibrating the probe."), "B.md": page("B", "A caliper.")})
    assert paths(query) == ["A.md"]


def test_code_is_found_as_it_is_typed(small_docs):
    small_docs({
        "Config.md": page("Config", "### [extruder]", "```\n[extruder]\n#max_extrude_cross_section:\n#   Area.\n```"),
        "Codes.md": page("Codes", "#### SET_PRESSURE_ADVANCE", "`SET_PRESSURE_ADVANCE [EXTRUDER=<name>]`"),
        "Guide.md": page("Extruder", "Set the pressure of the extruder in advance, at most a cross section."),
    })  # fmt: skip
    assert first("[extruder] max_extrude_cross_section") == "Config.md"
    assert first("SET_PRESSURE_ADVANCE") == "Codes.md"
    assert first("SET_PRESSURE_ADVANCE ADVANCE=0.05") == "Codes.md"


def test_an_error_message_is_found_though_names_and_numbers_differ(small_docs):
    small_docs({
        "Faq.md": page("FAQ", "## Why?", 'It says "Lost communication with MCU \'mcu\'" then.'),
        "Other.md": page("MCU", "The MCU, communication and mcu."),
    })  # fmt: skip
    assert first("Lost communication with MCU 'EBBCan' 12.345") == "Faq.md"


def test_stop_words_do_not_count(small_docs):
    small_docs({"A.md": page("How do I do what I want", "How, why and when."), "B.md": page("B", "Uninstall it.")})
    assert first("how do I uninstall") == "B.md"
    assert first("как мне uninstall") == "B.md"


@pytest.mark.parametrize("query", ["сетка стола", "как снять карту высот стола?", "Сетки стола", "настройка bed mesh"])
def test_a_russian_question_finds_the_english_page(small_docs, query):
    small_docs({"Bed_Mesh.md": page("Bed Mesh", "Probe it."), "Bed.md": page("Bed", "It is flat.")})
    assert first(query) == "Bed_Mesh.md"


def test_a_russian_page_is_found_by_its_words(small_docs):
    small_docs({"A.md": page("Стол", "Стол выравнивают винтами."), "B.md": page("B", "Nothing.")})
    assert first("выравнивают") == "A.md"


def test_a_link_speaks_of_the_page_it_leads_to(small_docs):
    small_docs({
        "Overview.md": page("Overview", "- [Skew](Skew.md): adjustments for axes not perpendicular."),
        "Skew.md": page("Skew", "Measure both diagonals."),
        "Axes.md": page("Axes", "There are three axes."),
    })  # fmt: skip
    assert "Skew.md" in paths("axes not perpendicular")[:2]


def test_pages_of_further_repositories_are_searched_too(small_docs, env):
    docs = small_docs({"A.md": page("A", "The katapult.")})
    other = docs.parent.parent / ".klipper.extra" / "moonraker" / "docs"
    other.mkdir(parents=True)
    (other / "install.md").write_text(page("Installation", "## Katapult", "A katapult."), encoding="utf-8")
    env(KLIPPER_DOCS_EXTRA="moonraker=https://example.org/m.git#main:docs")
    assert paths("katapult") == ["moonraker/install.md", "A.md"]


def test_what_is_no_text_or_not_for_readers_is_left_out(small_docs):
    small_docs({"A.md": page("A", "katapult"), "B.md": b"\xff\xfe katapult", "c.txt": "katapult", ".d.md": "katapult"})
    assert paths("katapult") == ["A.md"]


def test_one_letter_of_two_does_not_shift_what_follows(small_docs):
    small_docs({"A.md": "# İİİİ\n\n" + "İ" * 300 + "\n\n## Katapult\n\nThe katapult.\n"})
    assert (search("katapult")[0]["heading"], search("katapult")[0]["line"]) == ("Katapult", 5)
