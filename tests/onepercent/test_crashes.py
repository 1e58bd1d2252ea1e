"""Killed, out of room, read-only: nothing confirmed is lost, nothing is half done, and the one file is
whole."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.onepercent.children import a_day, check_whole, child, told
from tests.onepercent.examples import EXAMPLES, lived
from tests.onepercent.person import (
    act,
    apply,
    behind_the_tools,
    complete,
    do,
    errand,
    mark,
    preview,
    propose,
    state,
    use,
)
from tests.support.client import PROJECT, finished
from tools.onepercent.database import store
from tools.onepercent.transfer.backup import check_database as health

# A kill before one of so many statements.
EACH = int(os.environ.get("PI_MCP_KILL_EACH", "4"))


def killed_at(statement, previewed):
    """Apply in a process that is killed before a statement of sqlite; the answer if it came to its end by
    then."""
    store.release()

    def work(tell):
        left = [statement]

        def count(_):
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)

        with store.connected() as db:
            db.set_trace_callback(count)
        tell(apply(previewed, key=previewed["preview_id"]))

    with child(work) as (_, reading):
        return told(reading)


PLANS = {
    "a day": a_day(),
    **{name: [act(name, **params)] for name, params in EXAMPLES.items()},
    "a schedule and a mark": [act("habit.update", 1, n=3), mark(1, note="да")],
    "a series": [act("step.update", 1, repeat="daily"), complete(1)],
    "a limit": [act("habit.update", 1, target={"at_most": 0}, until="2026-04-01"), mark(1, amount=2)],
    "places": [act("habit.update", 2, order=1), errand("Билет")],
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("plan", PLANS)
def test_killed_inside_an_apply_all_or_nothing_of_it_is_there(plan):
    lived()
    # So that a new schedule has days before it.
    behind_the_tools("UPDATE habits SET created_on = '2026-02-01'")
    previewed = preview(*PLANS[plan])
    states = [state()]
    statement = 0
    answers = []
    while not answers:
        statement += 1 if plan == "a day" else EACH
        answers = killed_at(statement, previewed)
        assert health().state == "ok"
        states += [] if state() in states else [state()]
    assert answers[0]["success"] and len(states) == 2 and statement >= 12


SMALL_DISK = """
mount -t tmpfs -o size=400k none "$1" && cd "$2" && env ONEPERCENT_DB="$1/life.sqlite3" "$3" -c '
import sys; sys.path.insert(0, ".")
from tests.onepercent.children import a_day, check_whole
from tests.onepercent.person import apply, call, registry
from tools.onepercent.database import store
done, answer = 0, {"success": True}
while answer["success"] and done < 1000:
    answer = call("preview_actions", actions=a_day())
    if answer["success"]:
        answer = apply(answer)
        done += answer["success"]
assert answer["code"] == "DATABASE_ERROR" and answer["error"].startswith("The disk is full"), answer
check_whole(list(range(1, done + 1)))
print("whole", done)' && { rm "$1"/*.part; eval "$5"; } 2>/dev/null; exec env ONEPERCENT_DB="$1/life.sqlite3" "$3" -c '
import os, sys; sys.path.insert(0, ".")
from pathlib import Path
from tests.onepercent.children import a_day
from tests.onepercent.person import call, items, use
from tools.onepercent.transfer.backup import write_backup
file, copy = Path(os.environ["ONEPERCENT_DB"]), Path(sys.argv[1], "copy.sqlite3")
use(file)
goals = len(items("goals"))
answer = call("preview_actions", actions=a_day())
assert answer["code"] == "DATABASE_ERROR" and ("full" in answer["error"] or "read-only" in answer["error"]), answer
write_backup(str(copy))
use(copy)
assert len(items("goals")) == goals > 0
print("read and copied", goals)' "$4"
"""


@pytest.mark.slow
@pytest.mark.parametrize("then", ['cat /dev/zero > "$1/rest"', 'mount -o remount,ro "$1"'])
def test_a_disk_that_fills_up_keeps_all_that_was_confirmed_and_a_new_session_reads_and_copies_it(
    then, tmp_path
):
    """Also one that is read-only from then on, as cards are that near their end."""
    alone = ["unshare", "-rm"]
    if not shutil.which("unshare") or subprocess.run([*alone, "true"]).returncode:
        pytest.skip("no namespace of one's own for a small disk")
    (tmp_path / "disk").mkdir()
    arguments = [str(tmp_path / "disk"), str(PROJECT), sys.executable, str(tmp_path), then]
    done = finished([*alone, "sh", "-c", SMALL_DISK, "sh", *arguments])
    if "mount" in done.stderr:
        pytest.skip("no small disk can be mounted here")
    assert done.stdout.startswith("whole") and "read and copied" in done.stdout, done.stderr


@pytest.mark.slow
def test_a_read_only_file_changes_nothing_and_says_so():
    with tempfile.TemporaryDirectory() as name:  # nobody may enter tmp_path
        folder = Path(name)
        use(folder / "life.sqlite3")
        do(*a_day())
        previewed = preview(*a_day())
        store.release()
        (folder / "life.sqlite3").chmod(0o444)
        folder.chmod(0o555)

        def work(tell):
            if os.getuid() == 0:
                os.setuid(65534)  # nobody
            tell(apply(previewed))
            tell(propose(*a_day()))

        with child(work) as (_, reading):
            answers = told(reading)
        assert [answer["code"] for answer in answers] == ["DATABASE_ERROR"] * 2
        assert all(answer["hint"] for answer in answers)
        assert all("is read-only" in answer["error"] for answer in answers)
        folder.chmod(0o755)
        (folder / "life.sqlite3").chmod(0o644)
        check_whole([])
