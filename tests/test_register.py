"""The register of what is derived or remembered: each row names tests that are there."""

import re
from contextlib import closing

from tests.support.client import PROJECT
from tools.onepercent.database import derived, migrations, store

PAGE = (PROJECT / "docs" / "architecture.md").read_text("utf-8")
REGISTER = PAGE.split("## What is derived or remembered")[1].split("\n## ")[0]
ROWS = [line.strip("|").split("|") for line in REGISTER.splitlines() if line.startswith("| ")][2:]


def test_each_row_names_tests_that_are_there():
    assert len(ROWS) >= 11
    for *_, tests in ROWS:
        room = PROJECT / "tests"
        for name in re.findall("`([^`]+)`", tests):
            folder, _, file = name.rpartition("/")
            room = PROJECT / "tests" / folder if folder else room
            assert (room / file).is_file(), name


def test_every_table_that_is_not_of_record_has_a_row():
    with closing(store.connect(":memory:")) as db:
        migrations.migrate(db)
        rows = db.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
        )
        tables = {name for (name,) in rows}
    derived_tables = tables.difference(migrations.STATE_TABLES, migrations.HISTORY_TABLES)
    assert derived_tables == {*derived.DIFFERENT}
    assert all(f"`{name}`" in REGISTER for name in derived_tables)
