"""The toolsets that the settings offer, and their sentences for the model.

This imports only packages, not their modules, since every session begins with these sentences.
"""

import importlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from . import calls
from .places import toolsets
from .settings import current

# Called when a tool's description suffix has changed, and with it `tools/list`.
LISTENERS: list[Callable[[], None]] = []


class Instruction(NamedTuple):
    """A sentence for the model in the `INSTRUCTIONS` of a toolset's package; `write`: it is about changes, so
    read-only mode leaves it out."""

    text: str
    write: bool = False


def tools_changed() -> None:
    """Notify the LISTENERS, which serve or save lists, that a tool's description suffix has changed."""
    for listener in LISTENERS:
        listener()


def offers(toolset: str) -> bool:
    """True if the settings offer a toolset to the current caller."""
    caller = calls.remote_caller()
    chosen = current().toolsets
    is_chosen = not chosen or toolset in chosen
    return is_chosen and (caller is None or toolset in caller.toolsets)


def only_reads(toolset: str) -> bool:
    """True if the settings offer the current caller only the readers of a toolset."""
    caller = calls.remote_caller()
    return current().read_only or (caller is not None and toolset in caller.read_only)


def declared_in_packages(constant: str) -> Iterator[tuple[str, Any]]:
    """Each item of this constant in the packages of the offered toolsets, after the toolset's name."""
    for name in filter(offers, toolsets()):
        package = importlib.import_module(f"tools.{name}")
        for item in getattr(package, constant, ()):
            yield name, item


def instructions() -> str:
    """The sentences for the model about the toolsets that the settings offer to the current caller."""
    texts = []
    for name, instruction in declared_in_packages("INSTRUCTIONS"):
        if not (instruction.write and only_reads(name)):
            texts.append(instruction.text)
    return " ".join([*texts, "Errors carry a hint: what to do next."])
