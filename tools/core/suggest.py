"""The nearest known name to an unknown one, for hints."""

from collections.abc import Iterable


def several(name: str, names: Iterable[str], cutoff: float = 0.6, most: int = 3) -> list[str]:
    """Those of `names` that are most like `name`, best first. `cutoff`: how alike they must be, from 0 to 1."""
    import difflib

    return difflib.get_close_matches(name, list(names), n=most, cutoff=cutoff)


def nearest(name: str, names: Iterable[str], cutoff: float = 0.6) -> str:
    """The one of `names` that is most like `name`, or ""."""
    return next(iter(several(name, names, cutoff, most=1)), "")


def did_you_mean(name: str, names: Iterable[str], cutoff: float = 0.6) -> str:
    """`Did you mean X?` with the nearest name, or "" if none is near."""
    near = nearest(name, names, cutoff)
    return f"Did you mean {near}?" if near else ""
