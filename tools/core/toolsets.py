"""The toolsets that the settings offer, and their sentences for the model.

This imports only packages, not their modules, since every session begins with these sentences.
"""

import importlib
from collections.abc import Callable, Iterator
from typing import Any

from . import calls
from .places import toolsets
from .settings import current

# Called when a tool's description suffix has changed, and with it `tools/list`.
LISTENERS: list[Callable[[], None]] = []


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


def offered_packages() -> Iterator[tuple[str, Any]]:
    """The package of each toolset that the settings offer to the current caller, after its name."""
    for name in filter(offers, toolsets()):
        yield name, importlib.import_module(f"tools.{name}")


def instructions() -> str:
    """The sentences for the model about the offered toolsets: the `INSTRUCTION` of each package and, unless
    the caller only reads, its `WRITE_INSTRUCTION` about changes."""
    texts = []
    for name, package in offered_packages():
        texts.append(getattr(package, "INSTRUCTION", ""))
        if not only_reads(name):
            texts.append(getattr(package, "WRITE_INSTRUCTION", ""))
    texts.append("Errors carry a hint: what to do next.")
    return " ".join(filter(None, texts))
