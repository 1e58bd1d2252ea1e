"""Caps with air: what comes near one warns long before it fails."""

import warnings

# The shares of a cap above which there is a warning, and a failure.
WARNED_SHARE = 0.97
FAILED_SHARE = 1.10


def check_cap(what, size, most):
    """Warn a little below `most`, fail a tenth above it. Whoever sets a cap leaves a twentieth of air."""
    if size > most * WARNED_SHARE:
        warnings.warn(f"a cap is near: {what} has {size} of {most}", stacklevel=2)
    assert size <= most * FAILED_SHARE, f"{what} has {size} of {most}"
