"""The toolsets that the settings offer, and their sentences for the model. Only packages are imported here,
not their modules: every session begins with these sentences.
"""

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import NamedTuple

from tools.core import calls
from tools.core.places import toolsets
from tools.core.settings import Settings

# Called when a tool's description suffix changed, so that `tools/list` reads differently.
LISTENERS: list[Callable[[], None]] = []
LAST_INSTRUCTION = "Errors carry a hint: what to do next."


class Instruction(NamedTuple):
    """A sentence for the model, from the `INSTRUCTIONS` of a toolset's package; `write`: it is about changes,
    so read-only mode leaves it out."""

    text: str
    write: bool = False


def tools_changed() -> None:
    """Notify whoever serves or saves the lists that a tool's description suffix or a resource changed."""
    for listener in LISTENERS:
        listener()


def package(toolset: str) -> ModuleType:
    """The package of a toolset, without its modules."""
    return importlib.import_module(f"tools.{toolset}")


def offers(settings: Settings, toolset: str) -> bool:
    """True if these settings offer a toolset to the current caller."""
    remote = calls.remote_caller()
    is_in_settings = not settings.toolsets or toolset in settings.toolsets
    return is_in_settings and (remote is None or toolset in remote.toolsets)


def only_reads(settings: Settings, toolset: str) -> bool:
    """True if these settings offer the current caller only the tools of a toolset that change nothing."""
    remote = calls.remote_caller()
    return settings.read_only or (remote is not None and toolset in remote.read_only)


def instructions(settings: Settings) -> str:
    """The sentences about what these settings offer to the current caller."""
    texts = []
    for name in toolsets():
        if not offers(settings, name):
            continue
        reads = only_reads(settings, name)
        for instruction in getattr(package(name), "INSTRUCTIONS", ()):
            if not (instruction.write and reads):
                texts.append(instruction.text)
    return " ".join([*texts, LAST_INSTRUCTION])
