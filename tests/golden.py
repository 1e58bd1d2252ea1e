#!/usr/bin/env python3
"""What tools/list answers with everything on, kept in golden_tools.json: a change of it is a change of the
contract.

usage: golden.py            write the file anew
"""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

FILE = Path(__file__).with_name("golden_tools.json")


def listing():
    """The tools as they go over the wire, with default settings."""
    from tools.core import registry, results

    tools = registry.listed_tools()
    return [results.describe(*tool) for tool in tools.items()]


def size_bytes(tool):
    """What a client pays for a tool in every conversation."""
    return len(json.dumps(tool, ensure_ascii=False, separators=(",", ":")).encode())


def text():
    return json.dumps(listing(), ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(text(), "utf-8")
