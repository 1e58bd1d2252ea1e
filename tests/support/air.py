"""Caps with air: what comes near one warns before it fails."""

import warnings

WARNED_AT = 0.95


def check_cap(what: str, size: int, most: int) -> None:
    """Fail above `most`, warn above WARNED_AT of it. Whoever raises a cap leaves a twentieth of air."""
    if size > most * WARNED_AT:
        warnings.warn(f"a cap is near: {what} has {size} of {most}", stacklevel=2)
    assert size <= most, f"{what} has {size} of {most}"
