"""Child processes that use the tools, to race with and to kill."""

import json
import os
import signal
import sys
import traceback
from contextlib import ExitStack, contextmanager

from tests.onepercent.person import complete, new_entry, new_goal, new_step, ref, rows
from tools.onepercent.database import store
from tools.onepercent.transfer.backup import check_database as health


@contextmanager
def child(work):
    """Fork a child that does `work`, which is given a function that tells the parent something; its process id and the pipe it tells on, which ends when it does."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        status = 1
        try:
            work(lambda told: os.write(writing, json.dumps(told).encode() + b"\n"))
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    os.close(writing)
    try:
        yield pid, reading
    finally:
        os.close(reading)
        os.waitpid(pid, 0)


def told(reading):
    """Everything a child tells until its end."""
    with os.fdopen(os.dup(reading), encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.endswith("\n")]


def interrupted(work, last):
    """Do it in a child that is killed at call of C number `last`; how many calls it made if it came to its
    end."""

    def run(tell):
        calls = iter(range(1, 1_000_000_000))

        def count(frame, event, _):
            if event == "c_call" and next(calls) == last:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.setprofile(count)
        work()
        sys.setprofile(None)
        tell(next(calls))

    store.release()
    with child(run) as (_, reading):
        return told(reading)


def together(count, work):
    """What `count` children tell that start at one moment."""
    gate_out, gate_in = os.pipe()

    def waiting(number):
        def run(tell):
            os.close(gate_in)
            os.read(gate_out, 1)
            work(number, tell)

        return run

    with ExitStack() as stack:
        readings = [stack.enter_context(child(waiting(number)))[1] for number in range(count)]
        os.close(gate_in)
        os.close(gate_out)
        return [told(reading) for reading in readings]


def a_day():
    """A goal with three steps, one of them done, and a diary entry: 35 XP."""
    goal = new_goal("Цель")
    steps = [new_step(f"Шаг {number}") for number in range(3)]
    return [goal, *steps, complete(ref(steps[0])), new_entry(plans="план")]


def check_whole(confirmed):
    """Nothing confirmed is lost, nothing is half done."""
    assert health().state == "ok", health()
    goals = [goal for (goal,) in rows("SELECT id FROM goals")]
    assert set(confirmed) <= set(goals)
    for table, times in {"steps": 3, "diary": 1, "xp_ledger": 2, "goal_progress": 1}.items():
        assert len(rows(f"SELECT 1 FROM {table}")) == times * len(goals), table
    applied = "SELECT 1 FROM previews JOIN audit a ON a.id = audit_id WHERE status = 'applied'"
    assert len(rows(applied)) == len(goals)
