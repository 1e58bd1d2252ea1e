"""Declaring tools."""

import inspect
import json
from typing import Annotated

import pytest

from tests.support.client import cases
from tools.core import calls, registry, tool
from tools.core.errors import ToolError
from tools.core.schema import Limits
from tools.core.tool import Tool


@pytest.fixture(autouse=True)
def own_registry(monkeypatch):
    """An empty registry; functions of this module belong to the system `testing`."""
    monkeypatch.setattr(tool, "TOOLS", {})
    monkeypatch.setattr(registry, "TOOLS", tool.TOOLS)
    monkeypatch.setattr(registry, "load", lambda: None)
    monkeypatch.setattr(tool, "toolset_of", lambda function: "testing")
    return tool.TOOLS


def declare(act, name="probe", **knobs):
    """Declare a tool that does `act`; return a function that calls it."""

    def function():
        """Do it."""
        return act()

    Tool(name, **knobs)(function)
    return lambda **arguments: tool.TOOLS[name].call(arguments)


def fail(error):
    raise error


def test_the_decorator_hands_back_the_bare_function_and_the_handler_keeps_its_signature(
    own_registry,
):
    def double(number: Annotated[int, Limits(ge=1)], text: str = "x") -> int:
        """Double."""
        return 2 * number

    assert Tool("double")(double) is double
    handler = own_registry["double"].handler
    assert inspect.signature(handler) == inspect.signature(double)
    assert handler.__doc__ == double.__doc__
    assert own_registry["double"].call({"number": "2"}) == 4


ANSWERS = """
null | {"success": true}
{"foo": "bar"} | {"success": true, "foo": "bar"}
[1, 2] | {"success": true, "result": [1, 2]}
"hello" | {"success": true, "result": "hello"}
{"success": false, "error": "x"} | {"success": false, "error": "x"}
"""


@pytest.mark.parametrize("row", cases(ANSWERS))
def test_a_tool_answers_what_it_returns_or_that_in_an_envelope(row):
    returned, answer = map(json.loads, row)
    assert declare(lambda: returned, "bare")() == returned
    assert declare(lambda: returned, "wrapped", envelope=True)() == answer


def test_a_tool_error_becomes_error_hint_code_and_data():
    answer = {"hint": "See the decks", "code": "NO_DECK", "available_decks": ["A"]}
    error = ToolError("No deck", **answer)
    assert declare(lambda: fail(error))() == {"success": False, "error": "No deck", **answer}


@pytest.mark.parametrize("error", [RuntimeError("inside"), SystemExit(3)])
def test_an_unforeseen_error_shows_its_text_on_this_machine_alone(caplog, error):
    breaks = declare(lambda: fail(error), "breaks")
    here = breaks()
    with calls.acting_for(calls.caller_of_scope("anna", "anki", "")):
        over_http = breaks()

    assert here["error"] == f"Internal error in breaks: {type(error).__name__}: {error}"
    assert (over_http["error"], over_http["code"]) == ("Internal error in breaks", "INTERNAL_ERROR")
    assert "breaks failed" in caplog.text


def test_wrappers_stack_errors_outermost_then_requires_locks_responds(monkeypatch):
    order = []

    def traced(wrapper):
        return lambda *words, **named: order.append(wrapper.__name__) or wrapper(*words, **named)

    monkeypatch.setattr(tool, "WRAPPERS", [traced(wrapper) for wrapper in tool.WRAPPERS])
    declare(lambda: order.append("tool"), write=True, requires=lambda: order.append("check"))()
    assert order == ["catching", "requiring", "check", "locking", "responding", "tool"]


def test_the_description_is_the_docstring_down_to_its_source_with_the_note_of_the_moment(
    own_registry,
):
    notes = ["(old)"]

    @Tool("noted", description_suffix=lambda: notes[0])
    def noted():
        """Do one
        thing.

        Then another.

        Source: somewhere.
        """

    assert own_registry["noted"].description == "Do one thing.\n\nThen another. (old)"
    notes[0] = ""
    assert own_registry["noted"].description == "Do one thing.\n\nThen another."
