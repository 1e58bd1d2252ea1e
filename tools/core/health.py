"""The health of the toolsets, for `server.py --check`."""

from collections.abc import Callable, Iterator
from typing import NamedTuple

from . import registry, toolsets
from .errors import ToolError
from .tool import toolset_of

Check = Callable[[], "Health"]

CHECKS: dict[str, Check] = {}


class Health(NamedTuple):
    """The result of a check. `state` is ok, unset (not set up yet) or broken; `advice` says how to set it up
    or fix it; `trial` is a check that may take time or money: only `--check` runs it, and then shows its
    result instead."""

    state: str
    summary: str
    advice: str = ""
    trial: Check | None = None


def health_check(check: Check) -> Check:
    """Declare a toolset's health check."""
    CHECKS[toolset_of(check)] = check
    return check


def run_checks(trying: bool = False) -> Iterator[tuple[str, Health]]:
    """Run the check of each offered toolset, or with `trying` its trial; results by the toolset's name."""
    registry.load()
    for name in filter(toolsets.offers, sorted(CHECKS)):
        result = run_check(CHECKS[name])
        if trying and result.trial:
            result = run_check(result.trial)
        yield name, result


def run_check(check: Check) -> Health:
    """The result of a check; an exception makes it a broken one."""
    try:
        return check()
    except ToolError as error:
        return Health("broken", error.message, error.hint)
    except Exception as error:
        return Health("broken", f"the check failed: {error!r}")
