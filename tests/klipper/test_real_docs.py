"""What holds for every page of the real documentation, beside the small ones of the other tests."""

import json

import pytest

from tests.conftest import DOCS_MISSING, documentation
from tests.klipper.config import single_changes
from tests.klipper.test_config_reference import look_up
from tests.klipper.test_reading import call, joined
from tools.klipper import headings, pages
from tools.klipper.config import printer_cfg
from tools.klipper.config.findings import ERROR
from tools.klipper.search import messages

if not documentation():
    pytest.skip(DOCS_MISSING, allow_module_level=True)


def test_reading_window_by_window_reproduces_every_real_page(real_docs):
    for page in pages.pages():
        assert joined(page.path) == page.file.read_bytes().decode()


def test_the_map_of_the_real_documentation_fits_into_8_kb(real_docs):
    answer = call("list_docs_map")
    assert len(json.dumps(answer, ensure_ascii=False).encode()) <= 8000
    assert len(answer["pages"]) == len(list(real_docs.glob("*.md")))


def test_every_place_to_read_on_is_in_the_documentation(real_docs):
    for _, message in messages._table():
        for place in message.read:
            text = pages.read(pages.resolve(place.path))
            if place.heading:
                assert headings.find(text, place.heading, place.path), place


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


@pytest.fixture
def real_checker(real_docs):
    return single_changes.checker(real_docs)


def test_the_documentation_itself_has_no_errors(real_checker):
    for block in single_changes.sections(real_checker.reference):
        text = "\n".join(single_changes.lines(block))
        assert real_checker.findings(printer_cfg.read(text)).kept[ERROR] == [], text


def test_nearly_every_single_change_is_found(real_checker):
    made = dict.fromkeys(single_changes.LEVEL, 0)
    found = dict.fromkeys(single_changes.LEVEL, 0)
    for change in single_changes.changed(real_checker.reference, 700):
        made[change.kind] += 1
        found[change.kind] += single_changes.is_found(real_checker, change)
    assert {kind: found[kind] / made[kind] >= 0.97 for kind in made} == dict.fromkeys(made, True), found
