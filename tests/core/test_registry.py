"""Declaring tools."""

import inspect
from dataclasses import replace
from typing import Annotated

import pytest

from tools.core import registry, settings, tool, wrappers
from tools.core.errors import ToolError
from tools.core.schema import Limits
from tools.core.tool import Tool


@pytest.fixture
def own_registry(monkeypatch):
    """An empty registry; functions of this module belong to the system `testing`."""
    monkeypatch.setattr(tool, "TOOLS", {})
    monkeypatch.setattr(registry, "TOOLS", tool.TOOLS)
    monkeypatch.setattr(registry, "load", lambda: None)
    monkeypatch.setattr(tool, "toolset_of", lambda function: "testing")
    return tool.TOOLS


def call(name, **arguments):
    return tool.TOOLS[name].call(arguments)


def test_the_decorator_hands_back_the_bare_function(own_registry):
    def double(number: int) -> int:
        """Double."""
        return 2 * number

    assert Tool("double")(double) is double
    assert double(number=2) == 4
    assert call("double", number=2) == {"success": True, "result": 4}


def test_the_handler_keeps_signature_and_annotations(own_registry):
    @Tool("keep")
    def keep(number: Annotated[int, Limits(ge=1)], text: str = "x") -> dict:
        """Keep."""

    handler = own_registry["keep"].handler
    assert inspect.signature(handler) == inspect.signature(keep)
    assert handler.__annotations__ == keep.__annotations__
    assert handler.__doc__ == keep.__doc__


@pytest.mark.parametrize(
    ("returned", "answer"),
    [
        (None, {"success": True}),
        ({"foo": "bar"}, {"success": True, "foo": "bar"}),
        ([1, 2, 3], {"success": True, "result": [1, 2, 3]}),
        ((1, 2), {"success": True, "result": [1, 2]}),
        ("hello", {"success": True, "result": "hello"}),
        (0, {"success": True, "result": 0}),
        ({"success": False, "error": "x"}, {"success": False, "error": "x"}),
    ],
)
def test_the_table_of_responses(own_registry, returned, answer):
    @Tool("table")
    def table():
        """Give back."""
        return returned

    assert call("table") == answer


def test_a_bare_tool_answers_what_it_returns(own_registry):
    @Tool("bare", raw=True)
    def bare() -> list:
        """Give back a list."""
        return [1]

    assert call("bare") == [1]


def test_a_tool_error_becomes_error_hint_code_and_data(own_registry):
    @Tool("fails")
    def fails():
        """Fail."""
        raise ToolError("No deck", "See the decks", code="NO_DECK", available_decks=["A"])

    assert call("fails") == {
        "success": False, "error": "No deck", "hint": "See the decks", "code": "NO_DECK", "available_decks": ["A"],
    }  # fmt: skip


@pytest.mark.parametrize("error", [RuntimeError("inside"), SystemExit(3), KeyboardInterrupt()])
def test_what_was_not_foreseen_says_nothing_internal(own_registry, caplog, error):
    @Tool("breaks")
    def breaks():
        """Break."""
        raise error

    answer = call("breaks")
    assert answer["code"] == "INTERNAL_ERROR"
    assert "inside" not in str(answer)
    assert "breaks failed" in caplog.text


def test_wrappers_stack_errors_outermost_then_requires_locks_responds(own_registry, monkeypatch):
    order = []

    def traced(wrapper):
        def wrap(function, tool):
            inner = wrapper(function, tool)

            def note(**arguments):
                order.append(wrapper.__name__)
                return inner(**arguments)

            return note

        return wrap

    monkeypatch.setattr(wrappers, "STACK", [traced(wrapper) for wrapper in wrappers.STACK])

    @Tool("order", write=True, requires=lambda: order.append("check"))
    def order_of_calls():
        """Note the order."""
        order.append("tool")

    call("order")
    assert order == ["catching", "requiring", "check", "locking", "responding", "tool"]


def test_a_backend_that_is_not_there_keeps_the_tool_from_running(own_registry):
    def absent():
        raise ToolError("Anki is not running", "Start it", code="NO_ANKI")

    @Tool("needs", requires=absent)
    def needs():
        """Need Anki."""
        raise AssertionError("ran")

    assert call("needs")["code"] == "NO_ANKI"


@pytest.mark.parametrize("name", ["Upper", "two__underscores", "a.b.c", "", "x" * 41, "trailing.", "a._b"])
def test_a_name_that_clients_would_drop_is_refused_at_import(own_registry, name):
    def function():
        """Do."""

    with pytest.raises(TypeError):
        Tool(name)(function)


def test_two_tools_of_one_name_are_refused_in_either_spelling(own_registry):
    def function():
        """Do."""

    Tool("a.b")(function)
    with pytest.raises(TypeError, match="Two tools"):
        Tool("a_b")(function)


def test_a_tool_without_a_docstring_is_refused(own_registry):
    with pytest.raises(TypeError, match="docstring"):
        Tool("mute")(lambda: None)


def test_a_constraint_that_does_not_fit_its_type_is_refused_at_import(own_registry):
    def function(number: Annotated[int, Limits(min_length=1)]):
        """Do."""

    with pytest.raises(TypeError, match="min_length"):
        Tool("misfit")(function)


def test_the_description_is_the_docstring_down_to_its_source_with_the_note_of_the_moment(own_registry):
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


def test_toolsets_and_read_only_list_less(own_registry):
    @Tool("reads")
    def reads():
        """Read."""

    @Tool("writes", write=True)
    def writes():
        """Write."""

    assert set(registry.listed(settings.load({}))) == {"reads", "writes"}
    assert set(registry.listed(settings.load({"MCP_READ_ONLY": "1"}))) == {"reads"}
    assert set(registry.listed(replace(settings.load({}), toolsets=("testing",)))) == {"reads", "writes"}
    assert set(registry.listed(replace(settings.load({}), toolsets=("another",)))) == set()


def test_a_stand_in_takes_the_writers_place_in_read_only_mode(own_registry, monkeypatch):
    monkeypatch.setattr(tool, "READ_ONLY_VARIANTS", {})
    monkeypatch.setattr(registry, "READ_ONLY_VARIANTS", tool.READ_ONLY_VARIANTS)

    @Tool("mixed", write=True)
    def mixed():
        """Do anything."""

    @Tool("mixed", read_only_variant=True)
    def mixed_reading():
        """Only read."""

    assert registry.listed(settings.load({}))["mixed"].description == "Do anything."
    assert registry.listed(settings.load({"MCP_READ_ONLY": "1"}))["mixed"].description == "Only read."
