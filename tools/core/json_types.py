"""The types of what goes over JSON."""

from typing import Any

JsonObject = dict[str, Any]
"""An object as `json` reads and writes it; what stands in it is checked where it comes in (`tools/core/values.py`)."""
