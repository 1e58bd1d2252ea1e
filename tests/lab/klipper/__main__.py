"""Holds the printer's tools and check_config against a real Klipper, whose sources are fetched and built once
into a cache.

usage: .venv-test/bin/python tests/lab/klipper states [--save]     printer_state and printer_log in each state;
                                                                   --save records Klipper for the tests
       .venv-test/bin/python tests/lab/klipper moonraker [--save]  the same through a real Moonraker beside it: where
                                                                   the answers differ; --save records it, too
       .venv-test/bin/python tests/lab/klipper judge FILE …        Klipper's verdict on configurations beside ours
       .venv-test/bin/python tests/lab/klipper mistakes [--save]   the same on the tests' table of mistakes; --save
                                                                   writes Klipper's words into it

KLIPPER_SOURCE and MOONRAKER_SOURCE name repositories to fetch from instead of GitHub's. Needs git, make, gcc and about 5 minutes.
"""

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from tests.klipper.config import mistakes
from tests.lab.klipper import judge, moonraker, states
from tools.klipper.config import checking, printer_cfg


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("states", "moonraker", "judge", "mistakes"))
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--save", action="store_true")
    options = parser.parse_args()
    if options.what == "states":
        states.record(show, options.save)
        return 0
    if options.what == "moonraker":
        return moonraker.compare(show, options.save)
    if options.what == "mistakes":
        return judge_mistakes(options.save)
    return max(map(compare, options.files), default=0)


def show(name, answer):
    text = json.dumps(answer, ensure_ascii=False, separators=(",", ":"))
    print(f"{name} ({len(text) // 4} tokens)\n  {text}", flush=True)


def judge_mistakes(is_saving):
    """The number of rows whose words are not Klipper's any more; prints them, or writes Klipper's."""
    rows = mistakes.rows()
    lines = []
    changed = 0
    for row in rows:
        words = judge.verdict(mistakes.edited(row), {"mainsail.cfg": ""}).partition(" ({")[0]
        if words != row["klipper"]:
            changed += 1
            print(f"{row['kind']}\n  was: {row['klipper']}\n  is: {words}", flush=True)
        row["klipper"] = words
        lines.append(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n")
    refused = sum(bool(row["klipper"]) for row in rows)
    print(f"{len(rows)} rows, Klipper refuses {refused}")
    if is_saving:
        mistakes.FILE.write_text("".join(lines), "utf-8")
    return 0 if is_saving else changed


def compare(path):
    """0 if both accept a file or both refuse it."""
    text = path.read_text("utf-8", "replace")
    words = judge.verdict(text)
    findings = checking.checker().findings(printer_cfg.from_text(text))
    errors = [finding.message for finding in findings if finding.level == "error"]
    print(
        f"{path}\n  Klipper: {words or 'accepts it'}\n  check_config: {'; '.join(errors) or 'no errors'}"
    )
    return int(bool(words) != bool(errors))


if __name__ == "__main__":
    sys.exit(main())
