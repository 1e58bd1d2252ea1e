"""The real documentation: what holds for every page of it, and how well search_docs finds, with real
questions."""

import json
import operator
import re

import pytest

from tests.conftest import DOCS_MISSING, PROJECT, SHARED, documentation
from tests.klipper.asking import call, search, tokens
from tests.klipper.test_check_config import look_up
from tools.core.json_types import compact_json
from tools.klipper import headings, pages
from tools.klipper.config import printer_cfg
from tools.klipper.config.checking import checker
from tools.klipper.search import index, messages
from tools.printer import printer_resonances

if not documentation():
    pytest.skip(DOCS_MISSING, allow_module_level=True)


def test_the_map_of_the_real_documentation_fits_into_8_kb(real_docs):
    answer = call("list_docs_map")
    assert len(compact_json(answer).encode()) <= 8000
    assert len(answer["pages"]) == len(list(real_docs.glob("*.md")))


def test_every_place_to_read_on_is_in_the_documentation(real_docs):
    places = {place for *_, message in messages.wordings() for place in message.read}
    for place in places.union(printer_resonances.READ_ON):
        path, _, heading = place.partition("#")
        text = pages.page_text(pages.resolve(path))
        assert not heading or headings.section_named(text, heading, path), place


def test_every_section_that_people_ask_for_is_in_the_documentation(real_docs):
    places = index.asked_words()
    assert sum(map(len, places.values())) >= 730
    for page, asked in places.items():
        text = pages.page_text(pages.resolve(page))
        assert asked.keys() <= headings.page_sections(text).keys(), page


def test_a_long_section_is_short_unless_it_is_wanted_in_full(real_docs):
    short, full = look_up(section="bed_mesh"), look_up(section="bed_mesh", full=True)
    assert tokens(short) <= 900
    assert tokens(full) > 1.5 * tokens(short)
    assert len(short["options"]) == len(full["options"])


def test_every_section_fits_into_few_tokens(real_docs):
    for section in look_up()["sections"]:
        answer = look_up(section=section)
        assert answer["success"] and tokens(answer) <= 1000, section


def findings(text):
    return checker().findings(printer_cfg.from_text(text))


@pytest.fixture
def sections(real_docs):
    """The blocks of the reference that describe a section."""
    blocks = checker().reference.blocks
    return [block for block in blocks if block.name and block.kind != "include"]


def test_every_option_of_the_documentation_is_known_in_its_section(sections):
    for block in sections:
        options = [option for option in block.options if "deprecated" not in option.text]
        lines = [f"{option.name}: {option.default}" for option in options]
        text = "\n".join([f"[{block.name}]", *lines])
        if block.kinematics and block.kind != "printer":
            text = f"[printer]\nkinematics: {block.kinematics}\n{text}"
        for finding in findings(re.sub(r"<\w+>", "mine", text)):
            # An option may be known and go with no other one of its block.
            is_refused = re.search("not valid in (?!.*' beside )|not a valid conf", finding.message)
            # `stepper_z1` without the stepper before
            assert not is_refused or finding.level == "hint", finding


def test_a_letter_more_in_an_option_is_an_error(sections):
    for block in sections:
        reference = checker().reference
        options = reference.options_of(reference.kind_of(block.name), block.kinematics)
        for name in [f"{option.key}q" for option in block.options[:4]]:
            head = f"[printer]\nkinematics: {block.kinematics}\n"
            judged = findings(f"{head}[{block.name}]\n{name}: 1\n")
            errors = [finding.option for finding in judged if finding.level == "error"]
            is_named = errors.count(name) == 1
            assert is_named or options.option_named(name) or block.is_open, (block.name, name)


def test_a_letter_more_in_a_section_is_said(sections):
    # `stepper` is described, and written with an axis.
    kinds = [block.kind for block in sections if len(block.kind) > 3 and block.kind != "stepper"]
    for kind in kinds:
        (finding,) = findings(f"[q{kind}]\n")
        assert finding.nearest.partition(" ")[0] == kind


# Questions as people ask them, and the pages that answer. Nothing was tuned on those held out, but that their
# error messages are among the known ones.
QUESTIONS = PROJECT / "tests/klipper/questions.json"


# Questions as in a forum, and what a model makes of them, with the pages and sections that answer.
BOTH_WAYS = PROJECT / "tests/klipper/asked_both_ways.json"


@pytest.mark.parametrize(
    "file, form, floors",
    [
        (QUESTIONS, "query", (0.91, 0.98, 0.94, 0)),
        (SHARED / "klipper_queries_dev.json", "query", (0.95, 1.0, 0.97, 0)),
        (BOTH_WAYS, "query", (0.82, 0.96, 0.88, 0.72)),
        (BOTH_WAYS, "model", (0.88, 1.0, 0.93, 0.72)),
    ],
)
def test_questions_find_their_page_and_section(real_docs, file, form, floors):
    """Floors of hit@1, hit@7, mean reciprocal rank, and of the right section first. Of that 0.75 was measured
    of either form: some name the page's introduction, where a section says it better."""
    if not file.exists():
        pytest.skip("these questions are not in a clone (../shared/data)")
    reciprocal_ranks = []
    sections = 0
    for row in json.loads(file.read_text("utf-8")):
        results = search(row[form])
        result_pages = dict.fromkeys(result["path"] for result in results)
        ranks = [rank for rank, path in enumerate(result_pages, 1) if path in row["gold"]]
        reciprocal_ranks.append(1 / ranks[0] if ranks else 0)
        sections += ranks[:1] == [1] and results[0]["heading"] in row.get("headings", ())
    hits = sum(map(bool, reciprocal_ranks))
    totals = reciprocal_ranks.count(1), hits, sum(reciprocal_ranks), sections
    scores = [total / len(reciprocal_ranks) for total in totals]
    assert all(map(operator.ge, scores, floors)), scores


def test_every_result_is_as_documented(real_docs):
    every = []
    for row in json.loads(QUESTIONS.read_text("utf-8")):
        results = search(row["query"])
        places = {(result["path"], result["offset"]) for result in results}
        assert 1 <= len(places) == len(results) <= 7
        every += results
    for result in every:
        text = (real_docs / result["path"]).read_text("utf-8")
        line = text.split("\n")[result["line"] - 1]
        heading, in_line = (re.sub(r"\W", "", part) for part in (result["heading"], line))
        assert text[result["offset"] :].startswith(line)
        assert result["line"] == 1 or heading in in_line
        assert 150 <= len(result["snippet"]) <= 200 or len(text) < 200
        assert result["snippet"].strip("…") in " ".join(text.split())
