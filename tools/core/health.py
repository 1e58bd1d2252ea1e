"""The health of the toolsets, for `server.py --check`."""

from collections.abc import Callable
from typing import NamedTuple

from . import registry, toolsets
from .errors import ToolError
from .tool import toolset_of

Check = Callable[[], "Health"]

CHECKS: dict[str, Check] = {}


class Health(NamedTuple):
    """`state` is ok, unset (not set up yet) or broken; `advice` says how to set it up or fix it; `trial` is a
    check that may take time or money: only `--check` runs it, and then shows its result
    in place of the first one."""

    state: str
    summary: str
    advice: str = ""
    trial: Check | None = None


def health_check(function: Check) -> Check:
    """Declare a toolset's health check."""
    CHECKS[toolset_of(function)] = function
    return function


def run_checks(trying: bool = False) -> list[tuple[str, Health]]:
    """Each offered toolset with the result of its check, or of its trial."""
    registry.load()
    results = []
    for name in filter(toolsets.offers, sorted(CHECKS)):
        result = run_check(CHECKS[name])
        if trying and result.trial:
            result = run_check(result.trial)
        results.append((name, result))
    return results


def run_check(function: Check) -> Health:
    """The result of a check; an exception is a finding, not the end of all checks."""
    try:
        return function()
    except ToolError as error:
        return Health("broken", error.message, error.hint)
    except Exception as error:
        return Health("broken", f"the check failed: {error!r}")
