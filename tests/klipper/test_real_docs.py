"""The real documentation: what holds for every page of it, and how well search_docs finds, with real
questions."""

import json
import re
from pathlib import Path

import pytest

from tests.conftest import DOCS_MISSING, PROJECT, SHARED, documentation
from tests.klipper.asking import call, paths, search
from tests.klipper.test_check_config import look_up
from tests.klipper.test_reading import joined
from tools.klipper import headings, pages
from tools.klipper.config import printer_cfg
from tools.klipper.config.checking import checker
from tools.klipper.search import index, messages
from tools.printer import printer_resonances

if not documentation():
    pytest.skip(DOCS_MISSING, allow_module_level=True)


def test_reading_window_by_window_reproduces_every_real_page(real_docs):
    for page in pages.pages():
        assert joined(page.path) == Path(page.location).read_bytes().decode()


def test_the_map_of_the_real_documentation_fits_into_8_kb(real_docs):
    answer = call("list_docs_map")
    assert len(json.dumps(answer, ensure_ascii=False).encode()) <= 8000
    assert len(answer["pages"]) == len(list(real_docs.glob("*.md")))


def test_every_place_to_read_on_is_in_the_documentation(real_docs):
    places = {place for *_, message in messages.forms() for place in message.read}
    for place in places.union(printer_resonances.READ):
        path, _, heading = place.partition("#")
        text = pages.page_text(pages.resolve(path))
        assert not heading or headings.section_named(text, heading, path), place


def test_every_section_that_people_ask_for_is_in_the_documentation(real_docs):
    places = index.asked_words()
    assert sum(map(len, places.values())) >= 730
    for page, asked in places.items():
        text = pages.page_text(pages.resolve(page))
        assert asked.keys() <= headings.sections(text).keys(), page


def test_a_long_section_is_short_unless_it_is_wanted_in_full(real_docs):
    short, full = look_up(section="bed_mesh"), look_up(section="bed_mesh", full=True)
    assert len(json.dumps(short, ensure_ascii=False, separators=(",", ":"))) / 4 <= 900
    assert len(json.dumps(full)) > 1.5 * len(json.dumps(short))
    assert len(short["options"]) == len(full["options"])


def test_every_section_fits_into_few_tokens(real_docs):
    for section in look_up()["sections"]:
        answer = look_up(section=section)
        assert answer["success"], section
        assert len(json.dumps(answer, ensure_ascii=False)) / 4 <= 1000, section


PLACEHOLDER = re.compile(r"<\w+>")


def as_written(block, option) -> str:
    """A line of a configuration for an option of the reference."""
    return f"{PLACEHOLDER.sub('mine', option.name)}: {option.default}"


def test_every_option_of_the_documentation_is_known_in_its_section(real_docs):
    used = checker()
    reference = used.reference
    for block in reference.blocks:
        head = [f"[printer]\nkinematics: {block.kinematics}"] * bool(
            block.kinematics and block.kind != "printer"
        )
        left_out = [option for option in block.options if "deprecated" in option.text]
        lines = [as_written(block, option) for option in block.options if option not in left_out]
        text = "\n".join([*head, f"[{block.name}]", *lines])
        if not block.name or block.kind == "include":
            continue
        for finding in used.findings(printer_cfg.from_text(text)):
            # An option may be known and go with no other one of its block.
            refusals = re.findall(
                "not valid in (?!.*' beside )|not a valid config", finding.message
            )
            # `stepper_z1` without the stepper before
            assert not refusals or finding.level == "hint", finding


def test_a_letter_more_or_less_in_an_option_is_an_error_and_in_a_section_is_said(real_docs):
    used = checker()
    reference = used.reference
    for block in reference.blocks:
        options = reference.options_of(reference.kind(block.name), block.kinematics)
        for option in block.options[:4] if block.name and block.kind != "include" else ():
            name = option.key + "q"
            text = f"[printer]\nkinematics: {block.kinematics}\n[{block.name}]\n{name}: 1\n"
            errors = [
                f
                for f in used.findings(printer_cfg.from_text(text))
                if f.level == "error" and f.option == name
            ]
            assert len(errors) == 1 or options.option_named(name) or block.open, (block.name, name)
        if block.name and not reference.kind("q" + block.name):
            findings = used.findings(printer_cfg.from_text(f"[q{block.name}]\n"))
            near = [finding.nearest.partition(" ")[0] for finding in findings]
            is_near = near == [block.kind] or near == ["stepper_a"] == [f"{block.kind}_a"]
            assert is_near or len(block.kind) < 4, block.name


def test_an_option_that_klipper_had_is_said_to_be_gone_with_its_date(real_docs):
    gone = "printer max_accel_to_decel; stepper_x step_distance; extruder pid_integral_max; neopixel color_order_grb"
    for section, option in map(str.split, gone.split(";")):
        findings = checker().findings(printer_cfg.from_text(f"[{section}]\n{option}: 1\n"))
        assert any(
            f.option == option and "is gone" in f.message and f.level == "error" for f in findings
        ), option


# Questions as people ask them, and the pages that answer. Nothing was tuned on those held out, but that their
# error messages are among the known ones.
ASKED = json.loads((PROJECT / "tests/klipper/questions.json").read_text(encoding="utf-8"))


def assert_at_least(floors, questions):
    """Floors of hit@1, hit@7 and mean reciprocal rank, over questions with the pages that answer each."""
    found = []
    for query, gold in questions:
        ranks = [rank for rank, path in enumerate(dict.fromkeys(paths(query)), 1) if path in gold]
        found.append(1 / ranks[0] if ranks else 0)
    scores = (found.count(1), sum(map(bool, found)), sum(found))
    assert [score / len(found) >= floor for score, floor in zip(scores, floors, strict=True)] == [
        True
    ] * 3, scores


@pytest.mark.parametrize(
    ("part", "floors"),
    [("first set", (0.91, 0.98, 0.94)), ("beside", (0.95, 1.0, 0.97))],
)
def test_questions_find_their_page(real_docs, part, floors):
    file = SHARED / "klipper_queries_dev.json"
    if part == "beside" and not file.exists():
        pytest.skip("these questions are not in a clone (../shared/data)")
    asked = json.loads(file.read_text(encoding="utf-8")) if part == "beside" else ASKED
    assert_at_least(floors, ((one["query"], one["gold"]) for one in asked))


# Questions as in a forum, and what a model makes of them, with the pages and sections that answer.
BOTH_WAYS = json.loads((PROJECT / "tests/klipper/asked_both_ways.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("form", "floors"), [("query", (0.82, 0.96, 0.88)), ("model", (0.88, 1.0, 0.93))]
)
def test_questions_find_their_page_as_people_ask_and_as_a_model_does(real_docs, form, floors):
    assert_at_least(floors, ((row[form], row["gold"]) for row in BOTH_WAYS))


@pytest.mark.parametrize("form", ["query", "model"])
def test_of_the_page_the_section_that_answers_comes_first(real_docs, form):
    """Measured: 0.75 of either form. Some name the page's introduction, where a section says it better."""
    right = 0
    for row in BOTH_WAYS:
        first = search(row[form])[0]
        right += first["path"] in row["gold"] and first["heading"] in row["headings"]
    assert right / len(BOTH_WAYS) >= 0.72


@pytest.mark.parametrize("query", [one["query"] for one in ASKED if one["set"] == "first"])
def test_every_result_is_as_documented(real_docs, query):
    results = search(query)
    assert 1 <= len({(result["path"], result["offset"]) for result in results}) == len(results) <= 7
    for result in results:
        text = (real_docs / result["path"]).read_text(encoding="utf-8")
        line = text.split("\n")[result["line"] - 1]
        assert line.startswith("#") or result["line"] == 1 or "date" in result
        assert text[result["offset"] :].startswith(line)
        assert (
            re.sub(r"\W", "", result["heading"]) in re.sub(r"\W", "", line) or result["line"] == 1
        )
        assert 150 <= len(result["snippet"]) <= 200 or len(text) < 200
        assert result["snippet"].strip("…") in " ".join(text.split())
