"""Cuts the power under a process that writes, and looks for what it had acknowledged.

usage: sudo .venv-test/bin/python tests/lab/power [CUTS]

The state folder lies on ext4 in an image on a loop device. A child revokes tokens, rotates keys, records the
way back of Anki changes and applies goals, and names each once it is done. At random moments (20 of them,
unless CUTS says more) the child is stopped and the image is copied: what a Pi's card has at that moment, without
what the file system still keeps in memory. Each copy is then mounted and read. Exit status 1 if anything is lost.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[3]
IMAGE_MIB = 64

BETWEEN_S = (0.2, 1.5)

# Writes until it is ended. Prints a line of JSON for each thing that is done: its kind and its name.
WRITER = """
import json, random, time
from itertools import count
from pathlib import Path
from tests.onepercent import person
from tools.anki import journal
from tools.core.settings import current
from tools.http import tokens
from tools.http.ledger import Ledger

state = current().state_dir
ledger = Ledger(state)
keys = state / "http-keys"
tokens.ensure_keys(keys)


def revocation(name):
    ledger.revoke(name)
    return name


def way_back(name):
    journal.write("lab", name, "it", journal.JournalEntry(""))
    return journal.newest_entries()[0][0]


def key(name):
    tokens.rotate(keys)
    return tokens.read_keys(keys)[0].hex()


def goal(name):
    person.do(person.act("goal.create", title=name))
    return name


# Each is left alone for a moment: what the next one syncs would be no proof of it.
for number in count():
    kind = random.choice((revocation, way_back, key, goal))
    print(json.dumps([kind.__name__, kind(f"number {number}")]), flush=True)
    time.sleep(random.uniform(0, 0.3))
"""
# Reads such lines; prints those that are not there.
READER = """
import json, sys
from tools.anki import journal
from tools.core.settings import current
from tools.http import tokens
from tools.http.ledger import Ledger
from tools.onepercent.database import store

state = current().state_dir
ledger = Ledger(state)
with store.reading() as db:
    goals = {row[0] for row in db.execute("SELECT title FROM goals")}
done = [json.loads(line) for line in sys.stdin]
last_key = [name for kind, name in done if kind == "key"][-1:]
found = {
    "revocation": lambda token_id: not ledger.check_use(token_id),
    "way_back": journal.entry_of,
    "key": lambda name: [name] != last_key or name in {key.hex() for key in tokens.read_keys(state / "http-keys")},
    "goal": goals.__contains__,
}
for kind, name in done:
    if not found[kind](name):
        print(json.dumps([kind, name]))
"""


def main(cuts):
    with tempfile.TemporaryDirectory() as folder:
        image = Path(folder) / "card"
        with image.open("wb") as file:
            file.truncate(IMAGE_MIB << 20)
        subprocess.run(["mkfs.ext4", "-q", image], check=True)
        with mounted(image) as card:
            snapshots = cut(image, card, cuts)
        lost = Counter()
        for copy, lines in snapshots:
            with mounted(copy) as card:
                command = [sys.executable, "-c", READER]
                text = "\n".join(lines)
                missing = subprocess.check_output(command, input=text, **on(card))
            copy.unlink()
            lost.update({json.loads(line)[0] for line in missing.splitlines()})
        acknowledged = Counter(json.loads(line)[0] for line in snapshots[-1][1])
    for kind in acknowledged:
        print(f"{kind}: {acknowledged[kind]} acknowledged, lost in {lost[kind]} of {cuts} cuts")
    return 1 if lost else 0


def cut(image, card, cuts):
    """Make a copy of the image at each cut, with the lines that the writer had printed by then."""
    snapshots = []
    printed = image.with_name("printed")
    command = [sys.executable, "-c", WRITER]
    with printed.open("w") as file:
        writer = subprocess.Popen(command, stdout=file, **on(card))
    try:
        while not printed.read_text() and writer.poll() is None:
            time.sleep(0.1)  # the files are being made
        for number in range(cuts):
            time.sleep(random.uniform(*BETWEEN_S))
            writer.send_signal(signal.SIGSTOP)
            copy = image.with_name(f"copy-{number}")
            lines = printed.read_text().splitlines()
            shutil.copyfile(image, copy)
            writer.send_signal(signal.SIGCONT)
            snapshots.append((copy, lines))
    finally:
        writer.kill()
        writer.wait()
    return snapshots


@contextmanager
def mounted(image):
    """Mount an image; yields the folder."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["mount", "-o", "loop", image, folder], check=True)
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", folder], check=True)


def on(card):
    """The options of a process whose state lies there."""
    settings = {"MCP_STATE_DIR": str(card / "state"), "ONEPERCENT_RATE_LIMIT": "off"}
    return {"env": {**os.environ, "HOME": str(card), **settings}, "cwd": PROJECT, "text": True}


if __name__ == "__main__":
    if os.geteuid():
        sys.exit("skipped: only root can mount an image")
    sys.exit(main(int(sys.argv[1]) if sys.argv[1:] else 20))
