"""The nearest known name to an unknown one, for hints."""

from collections.abc import Iterable


def nearest(name: str, names: Iterable[str], cutoff: float = 0.6) -> str:
    """The one of `names` that is most like `name`, or "". `cutoff`: how alike they must be, from 0 to 1."""
    import difflib

    return next(iter(difflib.get_close_matches(name, list(names), n=1, cutoff=cutoff)), "")


def did_you_mean(name: str, names: Iterable[str], cutoff: float = 0.6) -> str:
    """`Did you mean X?` with the nearest name, or "" if none is near."""
    near = nearest(name, names, cutoff)
    return f"Did you mean {near}?" if near else ""
