"""The contract: what tools/list says, and what it costs."""

import json

import pytest

from tests import golden
from tests.support.client import Client
from tools.core import registry
from tools.core.tool import TOOLS

LISTED = json.loads(golden.FILE.read_text("utf-8"))


def test_tools_list_is_the_golden_one():
    assert golden.text() == golden.FILE.read_text("utf-8"), (
        "if meant: .venv-test/bin/python tests/golden.py"
    )


@pytest.mark.slow
def test_the_wire_says_the_same():
    with Client() as client:
        client.initialize()
        assert client.request("tools/list")["result"]["tools"] == golden.listing()


def test_a_tool_costs_at_most_900_bytes_on_average():
    sizes = [golden.size_bytes(tool) for tool in LISTED]
    assert sum(sizes) / len(sizes) <= 900, f"{sum(sizes)} bytes for {len(sizes)} tools"


def test_the_tools_of_the_documentation_answer_with_success():
    """The others answer what their requirements show."""
    registry.load()
    wrapped = {name for name, tool in TOOLS.items() if tool.envelope}
    docs = "read_doc search_docs list_docs_map sync_docs check_config config_reference"
    assert wrapped == {*docs.split()}
