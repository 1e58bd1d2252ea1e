"""The dated entries of the page on changes."""

import pytest

from tests.klipper.config.sample import CHANGES
from tools.klipper.config import changes


@pytest.fixture
def entries():
    return changes.entries(CHANGES)


def test_an_entry_has_a_date_a_place_and_its_text_on_one_line(entries):
    assert [entry.date for entry in entries][:2] == ["2025-08-11", "2025-07-21"]
    assert CHANGES[entries[0].offset :].startswith("20250811: ")
    assert "\n" not in entries[0].text
    assert "Use the max_jump parameter instead." in entries[3].text


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("max_hop", ("2025-08-11", False, "max_jump")),
        ("sda_pin", ("2025-07-21", False, "soft_sda_pin")),
        ("whirl", ("2023-11-10", True, "spin")),
        ("spin", None),
        ("soft_sda_pin", None),
        ("default_parameter_x", ("2021-05-03", False, "")),
        ("pin", None),
    ],
)
def test_the_newest_entry_says_what_became_of_an_option(entries, option, expected):
    change = changes.change(entries, "fan" if option in ("whirl", "spin") else "", option)
    assert (change and change[:3]) == expected


def test_entries_about_a_name_are_newest_first(entries):
    assert [entry.date for entry in changes.about(entries, "max_hop")] == ["2025-08-11", "2024-03-13"]
    assert changes.about(entries, "hop") == []
