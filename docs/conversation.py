#!/usr/bin/env python3
"""Draws docs/conversation.svg and conversation.ru.svg: a printer that stopped, the tools a model calls, their answers.

usage: .venv-test/bin/python docs/conversation.py      (needs the Klipper docs; its data goes into a temporary folder)

The sentences of the person and of the model are written here. The answers are those of the run: the server reads a
printer.cfg with two mistakes, and asks a stand-in for Klipper's socket that says what a real Klipper said.
"""

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from textwrap import wrap
from typing import Any

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))

from tests.printer import klippy  # noqa: E402
from tests.support.client import Client  # noqa: E402

PICTURES = {"en": "conversation.svg", "ru": "conversation.ru.svg"}
CONFIG = PROJECT / "tests/klipper/config/printers/ender3_skr_mini_bltouch.cfg"
MISTAKES = {
    "rotation_distance: 40": "rotation_distance: 0",
    "nozzle_diameter: 0.400": "nozzle_diameter: 0.4mm",
}
STOPPED = "Option 'rotation_distance' in section 'stepper_x' must be above 0.0"
QUERY = "rotation_distance pulley teeth"
SENTENCES = {
    "en": (
        "My printer won't start. What's wrong with it?",
        "Two lines of printer.cfg stop Klipper.",
        "Line 9: the X axis has rotation_distance 0. With a GT2 belt and a 20-tooth pulley it is 40 (20 × 2 mm).",
        "Line 78: write 0.4, without a unit.",
        "Klipper itself names only the first. Correct both, then RESTART. I can't see the wiring from here.",
    ),
    "ru": (
        "Принтер не запускается. Что с ним?",
        "Klipper не запускается из-за двух строк в printer.cfg.",
        "Строка 9: у оси X rotation_distance равен 0. С ремнём GT2 и шкивом на 20 зубьев нужно 40 (20 × 2 мм).",
        "Строка 78: напишите 0.4, без единицы измерения.",
        "Сам Klipper называет только первую ошибку. Исправьте обе, потом RESTART. Проводку я отсюда не вижу.",
    ),
}
TITLES = {
    "en": "A conversation: what a person asks, which tools are called, what they answer",
    "ru": "Разговор: что спросил человек, какие инструменты вызваны, что они ответили",
}

WIDTH, MARGIN, LINE = 680, 18, 21
MOST_CHARACTERS = {"person": 60, "point": 70, "model": 78, "call": 84, "answer": 84}
"""What fits on a line, in fonts as wide as DejaVu's."""
BUBBLE_CHARACTER = 9.6
Line = tuple[str, str]
"""Who speaks and the text: person, call, answer; point is the model's first sentence, model the others."""


def main() -> None:
    with tempfile.TemporaryDirectory() as state, stopped_printer() as printer:
        folders = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "MCP_STATE_DIR"), state)
        with Client(
            **folders, KLIPPER_DOCS_DIR=docs(), KLIPPER_PRINTER_DATA=str(printer)
        ) as client:
            client.initialize()

            def call(name: str, **arguments: Any) -> Any:
                return client.call(name, **arguments)["structuredContent"]

            for language, name in PICTURES.items():
                (PROJECT / "docs" / name).write_text(
                    svg(conversation(call, language), language), encoding="utf-8"
                )


def docs() -> str:
    """A checkout of the Klipper documentation."""
    from tests.conftest import DOCS_MISSING, documentation

    return str(documentation() or sys.exit(DOCS_MISSING))


@contextmanager
def stopped_printer() -> Iterator[Path]:
    """The folder of a printer whose configuration has two mistakes; its socket answers as Klipper does then."""
    config = CONFIG.read_text(encoding="utf-8")
    for right, wrong in MISTAKES.items():
        config = config.replace(right, wrong, 1)
    # A socket's path has at most 107 bytes.
    with tempfile.TemporaryDirectory(prefix="printer-") as name:
        folder = Path(name)
        (folder / "config").mkdir()
        (folder / "config/mainsail.cfg").touch()
        (folder / "config/printer.cfg").write_text(config, encoding="utf-8")
        with klippy.speaking(folder / "comms/klippy.sock", klippy.klipper(as_klipper_says())):
            yield folder


def as_klipper_says() -> dict[str, Any]:
    """What a real Klipper answered after a value out of range, with the message that these mistakes bring."""
    results = klippy.recorded("a value is out of range")
    _, _, advice = results["info"]["state_message"].partition("\n")
    info = {**results["info"], "state_message": f"{STOPPED}\n{advice}"}
    return {**results, "info": info}


def conversation(call: Callable[..., Any], language: str) -> list[Line]:
    """The lines of the picture; `call` calls a tool and gives its answer."""
    question, point, *reply = SENTENCES[language]
    state = call("printer_state")
    [page] = call("search_docs", query=QUERY, limit=1)["result"]
    return [
        ("person", question),
        ("call", "→ printer_state {}"),
        ("answer", f"{state['state']}: {state['message']}"),
        *(("answer", finding) for finding in state["config"]),
        ("call", f'→ search_docs {{"query": "{QUERY}", "limit": 1}}'),
        ("answer", f"{page['path']}, line {page['line']}: {page['heading']}"),
        ("point", point),
        *(("model", sentence) for sentence in reply),
    ]


def svg(lines: list[Line], language: str) -> str:
    """The conversation as a picture: the person on the right, calls and answers in a fixed-width font."""
    parts: list[str] = []
    y = MARGIN
    for who, text in lines:
        if who in ("person", "call", "point"):
            y += 10
        for place, row in enumerate(wrap(text, MOST_CHARACTERS[who])):
            y += LINE
            parts += drawn(who, row, place, y)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y + MARGIN}" \
viewBox="0 0 {WIDTH} {y + MARGIN}" role="img">
<title>{TITLES[language]}</title>
<style>
  svg {{ --ground: #ffffff; --ink: #1f2328; --soft: #59636e; --call: #0550ae; --bubble: #ddf4ff; }}
  @media (prefers-color-scheme: dark) {{
    svg {{ --ground: #0d1117; --ink: #f0f6fc; --soft: #9198a1; --call: #79c0ff; --bubble: #12324f; }}
  }}
  text {{ font: 15px system-ui, sans-serif; fill: var(--ink); white-space: pre; }}
  .person {{ text-anchor: middle; font-weight: 600; }}
  .point {{ font-weight: 600; }}
  .call, .answer {{ font: 12px ui-monospace, monospace; fill: var(--soft); }}
  .call {{ fill: var(--call); }}
</style>
<rect width="100%" height="100%" rx="10" fill="var(--ground)"/>
{chr(10).join(parts)}
</svg>
"""


def drawn(who: str, row: str, place: int, y: int) -> Iterator[str]:
    """The elements of one row; a later row of an answer is indented."""
    x = MARGIN
    if who == "person":
        width = round(len(row) * BUBBLE_CHARACTER) + 24
        x = WIDTH - MARGIN - width // 2
        yield (
            f'<rect x="{WIDTH - MARGIN - width}" y="{y - LINE}" width="{width}" height="{LINE + 11}" rx="12"'
            ' fill="var(--bubble)"/>'
        )
    elif who == "answer":
        x += 30 if place else 15
    yield f'<text class="{who}" x="{x}" y="{y}">{escape(row, quote=False)}</text>'


if __name__ == "__main__":
    os.environ.pop("MCP_SOCKET", None)
    main()
