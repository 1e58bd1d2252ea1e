"""Every test of the lab is slow."""

from pathlib import Path

import pytest

LAB = Path(__file__).resolve().parent


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.is_relative_to(LAB):
            item.add_marker(pytest.mark.slow)
