"""The toolsets that the settings offer, and their sentences for the model. Only packages are imported here,
not their modules: every session begins with these sentences.
"""

import importlib
from collections.abc import Callable
from typing import NamedTuple

from . import calls
from .places import toolsets
from .settings import current

# Called when a tool's description suffix changed, so that `tools/list` reads differently.
LISTENERS: list[Callable[[], None]] = []


class Instruction(NamedTuple):
    """A sentence for the model, from the `INSTRUCTIONS` of a toolset's package; `write`: it is about changes,
    so read-only mode leaves it out."""

    text: str
    write: bool = False


def tools_changed() -> None:
    """Notify whoever serves or saves the lists that a tool's description suffix or a resource changed."""
    for listener in LISTENERS:
        listener()


def offers(toolset: str) -> bool:
    """True if the settings offer a toolset to the current caller."""
    remote = calls.remote_caller()
    chosen = current().toolsets
    is_in_settings = not chosen or toolset in chosen
    return is_in_settings and (remote is None or toolset in remote.toolsets)


def only_reads(toolset: str) -> bool:
    """True if the settings offer the current caller only the tools of a toolset that change nothing."""
    remote = calls.remote_caller()
    return current().read_only or (remote is not None and toolset in remote.read_only)


def instructions() -> str:
    """The sentences about what the settings offer to the current caller."""
    texts = []
    for name in filter(offers, toolsets()):
        package = importlib.import_module(f"tools.{name}")
        for instruction in getattr(package, "INSTRUCTIONS", ()):
            if not (instruction.write and only_reads(name)):
                texts.append(instruction.text)
    return " ".join([*texts, "Errors carry a hint: what to do next."])
