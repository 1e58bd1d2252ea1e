"""The health of the toolsets, for `server.py --check`."""

from collections.abc import Callable
from typing import NamedTuple

from . import registry, toolsets
from .errors import ToolError
from .tool import toolset_of

Check = Callable[[], "Health"]

CHECKS: dict[str, Check] = {}
TRIALS: dict[str, Check] = {}


class Health(NamedTuple):
    """`state` is ok, unset (not set up yet) or broken; `advice` says how to set it up or fix it."""

    state: str
    summary: str
    advice: str = ""


def check(function: Check) -> Check:
    """Declare a toolset's health check."""
    CHECKS[toolset_of(function)] = function
    return function


def trial(function: Check) -> Check:
    """Declare a check that may take time or money: only `--check` runs it, in place of the health check."""
    TRIALS[toolset_of(function)] = function
    return function


def every(trying: bool = False) -> list[tuple[str, Health]]:
    """Each offered toolset with the result of its check."""
    registry.load()
    checks = CHECKS | (TRIALS if trying else {})
    return [(name, guarded(checks[name])) for name in sorted(CHECKS) if toolsets.offers(name)]


def guarded(function: Check) -> Health:
    """The result of a check; an exception is a finding, not the end of all checks."""
    try:
        return function()
    except ToolError as error:
        return Health("broken", error.message, error.hint)
    except Exception as error:
        return Health("broken", f"the check failed: {error!r}")
