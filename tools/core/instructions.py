"""How the toolsets are used together: what a client tells its model when it connects.

Each toolset's package brings its sentences, as `INSTRUCTIONS`; they are sent before its modules are imported.
"""

import importlib
from typing import NamedTuple

from tools.core import caller, toolsets
from tools.core.settings import Settings

LAST = "Errors carry a hint: what to do next."


class Instruction(NamedTuple):
    """A sentence for the model; `write`: it is about changes, so read-only mode leaves it out."""

    text: str
    write: bool = False


def instructions(settings: Settings) -> str:
    """The sentences about what these settings offer to the caller of the moment."""
    names = [name for name in settings.toolsets or toolsets.toolsets() if caller.may_use(name)]
    texts = [
        text
        for name in names
        for text, write in _of_toolset(name)
        if not (write and (settings.read_only or caller.may_only_read(name)))
    ]
    return " ".join([*texts, LAST])


def _of_toolset(name: str) -> tuple[Instruction, ...]:
    return getattr(importlib.import_module(f"tools.{name}"), "INSTRUCTIONS", ())
