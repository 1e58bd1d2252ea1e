"""Which toolsets there are: the packages under `tools/` that are neither the core nor the service."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

TOOLS = Path(__file__).resolve().parent.parent
NOT_TOOLSETS = ("core", "service")


@cache
def toolsets() -> tuple[str, ...]:
    """Their names, in alphabetical order. Nothing is imported."""
    names = (path.parent.name for path in TOOLS.glob("*/__init__.py"))
    return tuple(sorted(name for name in names if name not in NOT_TOOLSETS))


def toolset_of(function: Callable[..., object]) -> str:
    """The toolset whose module declares `function`."""
    return function.__module__.split(".")[1]
