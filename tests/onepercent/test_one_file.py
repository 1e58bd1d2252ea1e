"""The one file alone is whole: nothing that was applied lives only in the files that sqlite keeps beside it."""

import shutil
import sqlite3
import uuid
from contextlib import closing
from pathlib import Path

from tests.onepercent.children import a_day, child, told
from tests.onepercent.person import act, apply, do, preview
from tests.support.client import SERVER, Client
from tools.onepercent.database import store


def alone(file: Path) -> list[str]:
    """The titles of the goals in a copy of that one file."""
    copy = file.with_name(f"copy-{uuid.uuid4()}")
    shutil.copyfile(file, copy)
    db = sqlite3.connect(copy)
    try:
        return [row[0] for row in db.execute("SELECT title FROM goals ORDER BY id")]
    finally:
        db.close()


def test_after_an_apply_the_one_file_alone_is_whole(file: Path):
    for number in range(3):
        do(act("goal.create", title=f"Цель {number}"))
        assert len(alone(file)) == number + 1


def test_an_apply_while_another_session_reads_is_whole_too(file: Path):
    do(act("goal.create", title="Первая"))
    with store.reading() as db:
        db.execute("SELECT * FROM goals").fetchall()
        do(act("goal.create", title="Вторая"))
    do(act("goal.create", title="Третья"))
    assert len(alone(file)) == 3


def test_an_apply_does_not_wait_long_for_a_reader(file: Path):
    do(act("goal.create", title="Первая"))
    with store.reading() as db:
        db.execute("SELECT * FROM goals").fetchall()
        assert apply(preview(*a_day()))["success"]
        assert len(db.execute("SELECT * FROM goals").fetchall()) == 1


def test_what_a_process_leaves_is_in_the_one_file(file: Path):
    def work(tell) -> None:
        preview(act("goal.create", title="Цель"))
        store.leave()
        tell("left")

    with child(work) as (_, reading):
        assert told(reading) == ["left"]
    assert not Path(f"{file}-wal").exists() or Path(f"{file}-wal").stat().st_size == 0
    with closing(sqlite3.connect(file)) as db:
        assert db.execute("SELECT count(*) FROM previews").fetchone() == (1,)


def test_after_every_session_has_ended_the_one_file_alone_is_whole(file: Path):
    with Client(SERVER) as first, Client(SERVER) as second:
        for number, client in enumerate((first, second, first)):
            client.initialize() if number < 2 else None
            action = act("goal.create", title=f"Цель {number}")
            answer = client.call("preview_actions", actions=[action])["structuredContent"]
            client.call(
                "apply_actions",
                preview_id=answer["preview_id"],
                idempotency_key=str(uuid.uuid4()),
                user_confirmation="да",
            )
            client.call("preview_actions", actions=[act("goal.create", title="Только показано")])
        assert first.end() == 0 and second.end() == 0
    assert alone(file) == ["Цель 0", "Цель 1", "Цель 2"]
    assert not Path(f"{file}-wal").exists() or Path(f"{file}-wal").stat().st_size == 0
