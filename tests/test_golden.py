"""The contract: what tools/list says, and what it costs."""

import json

from tests import golden
from tests.support.client import Client

AVERAGE_BYTES = 900


def test_tools_list_is_the_golden_one():
    assert golden.text() == golden.FILE.read_text(encoding="utf-8"), "meant? Then: .venv/bin/python tests/golden.py"


def test_the_wire_says_the_same():
    with Client() as client:
        client.initialize()
        assert client.request("tools/list")["result"]["tools"] == golden.listing()


def test_a_tool_costs_at_most_900_bytes_on_average():
    sizes = [golden.size_bytes(tool) for tool in json.loads(golden.FILE.read_text(encoding="utf-8"))]
    assert sum(sizes) / len(sizes) <= AVERAGE_BYTES, f"{sum(sizes)} bytes for {len(sizes)} tools"
