#!/usr/bin/env python3
"""Draws docs/conversation.svg: what a person asks, the tools a model calls for it, what the server really answers.

usage: .venv-test/bin/python docs/conversation.py      (needs the Klipper docs; its data goes into a temporary folder)

The sentences of the person and of the model are written here; the answers are those of the run, cut to a line each.
"""

import json
import os
import sys
import tempfile
from html import escape
from pathlib import Path
from typing import Any
from uuid import uuid4

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))

from tests.support.client import Client  # noqa: E402

WIDTH, LINE, MARGIN = 860, 22, 14
LONGEST = 104
"""Characters of a line that fit into the picture."""
UNTOLD = ("message", "preview_id", "audit_id", "results", "request_id")
Line = tuple[str, str]
"""Who speaks (person, model, call, answer) and the text."""


def main() -> None:
    with tempfile.TemporaryDirectory() as state:
        folders = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "MCP_STATE_DIR"), state)
        with Client(**folders, KLIPPER_DOCS_DIR=docs(), MCP_LANGUAGE="en") as client:
            client.initialize()
            lines = [*ask_klipper(client), *add_habit(client)]
    (PROJECT / "docs" / "conversation.svg").write_text(svg(lines), encoding="utf-8")


def docs() -> str:
    """A checkout of the Klipper documentation."""
    from tests.conftest import DOCS_MISSING, documentation

    return str(documentation() or sys.exit(DOCS_MISSING))


def ask_klipper(client: Client) -> list[Line]:
    query = "bltouch bed leveling"
    results = client.call("search_docs", query=query, limit=3)["structuredContent"]["result"]
    return [
        ("person", "How do I connect a BLTouch, and what comes after it?"),
        ("call", f'→ search_docs {{"query": "{query}", "limit": 3}}'),
        *(("answer", f"{result['path']}, line {result['line']}: {result['heading']}") for result in results),
        (
            "model",
            "BLTouch.md has the wiring and the [bltouch] section; then Bed_Level.md. Shall I read you the pins?",
        ),
    ]


def add_habit(client: Client) -> list[Line]:
    action = {
        "action": "habit.create",
        "client_action_id": str(uuid4()),
        "params": {"name": "Ten Italian words"},
    }
    preview = client.call("preview_actions", actions=[action])["structuredContent"]
    words = {
        "preview_id": preview["preview_id"],
        "idempotency_key": str(uuid4()),
        "user_confirmation": "Yes.",
    }
    applied = client.call("apply_actions", **words)["structuredContent"]
    assert applied["success"], applied
    return [
        ("person", "I want to learn ten Italian words every day."),
        (
            "call",
            '→ preview_actions {"actions": [{"action": "habit.create", "params": {"name": "Ten Italian words"}}]}',
        ),
        (
            "answer",
            compact(
                {
                    "diff": {"creates": preview["diff"]["creates"]},
                    "expires_in_seconds": preview["expires_in_seconds"],
                }
            ),
        ),
        ("model", "This adds the habit “Ten Italian words” for every day. Shall I?"),
        ("person", "Yes."),
        ("call", '→ apply_actions {"preview_id": "…", "user_confirmation": "Yes."}'),
        ("answer", compact({name: value for name, value in applied.items() if name not in UNTOLD})),
        ("model", "Done: it is on today's list. “Undo that” takes it back."),
    ]


def compact(answer: Any) -> str:
    """As it goes to the model, without the ids."""
    if isinstance(answer, dict) and "creates" in answer.get("diff", {}):
        for change in answer["diff"]["creates"]:
            change.pop("client_action_id")
    return json.dumps(answer, ensure_ascii=False)


def svg(lines: list[Line]) -> str:
    """The conversation as a picture: the person on the right, calls and answers in a fixed-width font."""
    parts, y = [], MARGIN
    for who, text in lines:
        text = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
        y += LINE + (8 if who in ("person", "model") else 0)
        parts.append(
            f'<text class="{who}" x="{WIDTH - MARGIN if who == "person" else MARGIN}" y="{y}">{escape(text)}</text>'
        )
    return f"""<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y + MARGIN}" role="img">
<title>A conversation: what is asked, which tools are called, what they answer</title>
<style>
  text {{ font: 14px sans-serif; fill: #24292f; white-space: pre; }}
  .person {{ text-anchor: end; font-weight: bold; }}
  .call, .answer {{ font: 12px monospace; }}
  .call {{ fill: #0550ae; }}
  .answer {{ fill: #57606a; }}
</style>
<rect width="100%" height="100%" fill="#ffffff"/>
{chr(10).join(parts)}
</svg>
"""


if __name__ == "__main__":
    os.environ.pop("MCP_SOCKET", None)
    main()
