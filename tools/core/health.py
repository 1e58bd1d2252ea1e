"""How a toolset is, as `server.py --check` tells it."""

from collections.abc import Callable
from dataclasses import dataclass

from tools.core import registry, settings
from tools.core.errors import ToolError
from tools.core.toolsets import toolset_of

MARKS = {"ok": "ok", "unset": "not set up", "broken": "BROKEN"}
CHECKS: dict[str, Callable[[], "Health"]] = {}


@dataclass(frozen=True)
class Health:
    """`state` is ok, unset (not set up yet) or broken; `advice` says how to set it up or fix it."""

    state: str
    summary: str
    advice: str = ""


def check(function: Callable[[], Health]) -> Callable[[], Health]:
    """Declare how `server.py --check` looks at this toolset."""
    CHECKS[toolset_of(function)] = function
    return function


def every() -> list[tuple[str, Health]]:
    """Each toolset on offer with what its own check says."""
    registry.load()
    return [(name, guarded(look)) for name, look in sorted(CHECKS.items()) if registry.offers(settings.current(), name)]


def guarded(look: Callable[[], Health]) -> Health:
    """What `look` finds; a check that fails is a finding, not the end of the checks."""
    try:
        return look()
    except ToolError as error:
        return Health("broken", error.message, error.hint)
    except Exception as error:
        return Health("broken", f"the check failed: {error!r}")
