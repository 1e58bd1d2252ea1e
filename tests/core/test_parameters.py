"""Reading arguments: the standard library's validator says what pydantic says, in the same words."""

import dataclasses
import functools
import inspect
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, get_args, get_origin

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field, StringConstraints, ValidationError, create_model

from tools.core import schema
from tools.core.errors import ToolError
from tools.core.parameters import Parameters
from tools.core.schema import Alias, Limits


@dataclass
class Image:
    data: str | None = None
    image_url: Annotated[str | None, Alias("url")] = None
    max_side: Annotated[int, Limits(ge=1)] = 768


@dataclass
class Note:
    fields: dict[str, str]
    images: Annotated[list[Image], Alias("attachments")] = field(default_factory=list)


def tool(
    text: Annotated[str, "the text", Limits(min_length=2, max_length=5, strip=True)],
    number: Annotated[int | None, Limits(ge=0, le=10)] = None,
    ids: Annotated[list[int], Limits(min_length=1), Alias("noteIds")] = (1,),
    kind: Literal["a", "b"] = "a",
    flag: bool = False,
    note: Note | None = None,
    notes: Annotated[list[Note], Limits(max_length=2)] = (),
    options: dict[str, Any] | None = None,
    ratio: float = 0.5,
) -> dict:
    """Take everything."""


SIGNATURE = inspect.signature(tool)
PARAMETERS = Parameters("test", SIGNATURE)


def pydantic_type(annotation):
    """The same type as pydantic declares it."""
    kind, markers = schema.unwrap(annotation)
    if dataclasses.is_dataclass(kind):
        kind = pydantic_dataclass(kind)
    elif get_origin(kind) in (list, dict):
        kind = get_origin(kind)[tuple(map(pydantic_type, get_args(kind)))]
    for limits in (marker for marker in markers if isinstance(marker, Limits)):
        names = {"strip": "strip_whitespace"}
        declared = {names.get(name, name): value for name, value in limits.declared().items()}
        kind = Annotated[kind, StringConstraints(**declared) if kind is str else Field(**declared)]
    return kind


@functools.cache
def pydantic_dataclass(kind):
    fields = []
    for name, (annotation, required, default) in schema.members(kind).items():
        given = {} if required else {"default_factory": lambda default=default: default}
        fields.append((name, optional(annotation, required, default), field(**given)))
    return dataclasses.make_dataclass(kind.__name__, fields)


def optional(annotation, required, default):
    return pydantic_type(annotation) if required or default is not None else pydantic_type(annotation) | None


MODEL = create_model(
    "Arguments",
    **{
        name: (optional(annotation, required, default), ... if required else default)
        for name, (annotation, required, default) in PARAMETERS.members.items()
    },
)


def pydantics(sent):
    """What pydantic makes of the canonical arguments: their values, or the text of the error."""
    try:
        model = MODEL.model_validate(PARAMETERS.canonical(sent))
    except ToolError as error:
        return error.message
    except ValidationError as error:
        problems = error.errors(include_url=False, include_context=False, include_input=False)
        return "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in problems[:8])
    return {name: plain(getattr(model, name)) for name in PARAMETERS.members}


def plain(value):
    """Dataclasses as dicts, so that those of both sides compare."""
    if dataclasses.is_dataclass(value):
        return dataclasses.asdict(value)
    return [plain(item) for item in value] if isinstance(value, list) else value


def read(sent):
    """What we make of arguments, having seen that pydantic makes the same of them."""
    try:
        result = PARAMETERS.read(sent)
        ours = {name: plain(value) for name, value in result.items()}
    except ToolError as error:
        result, ours = error.answer(), error.message
    assert ours == pydantics(sent), sent
    return result


def test_values_of_the_declared_types_come_out():
    sent = {"text": " abc ", "note": {"fields": {"F": "x"}, "attachments": [{"url": "http://x"}]}, "noteIds": [3]}
    found = read(sent)
    assert found["text"] == "abc"
    assert found["ids"] == [3]
    assert found["note"] == Note({"F": "x"}, [Image(image_url="http://x")])
    assert found["ratio"] == 0.5


@pytest.mark.parametrize(
    ("sent", "error"),
    [
        ({}, "text: Field required"),
        ({"text": "a"}, "text: String should have at least 2 characters"),
        ({"text": "abcdef"}, "text: String should have at most 5 characters"),
        ({"text": 5}, "text: Input should be a valid string"),
        ({"text": None}, "text: Input should be a valid string"),
        ({"text": "abc", "ids": []}, "ids: List should have at least 1 item after validation, not 0"),
        ({"text": "abc", "ids": 5}, "ids: Input should be a valid list"),
        ({"text": "abc", "ids": ["x"]}, "ids.0: Input should be a valid integer, unable to parse string as an integer"),
        ({"text": "abc", "ids": [True]}, "ids.0: Input should be a valid integer"),
        ({"text": "abc", "number": -1}, "number: Input should be greater than or equal to 0"),
        ({"text": "abc", "number": 11}, "number: Input should be less than or equal to 10"),
        (
            {"text": "abc", "number": 1.5},
            "number: Input should be a valid integer, got a number with a fractional part",
        ),
        ({"text": "abc", "kind": "c"}, "kind: Input should be 'a' or 'b'"),
        ({"text": "abc", "flag": "maybe"}, "flag: Input should be a valid boolean, unable to interpret input"),
        ({"text": "abc", "note": 5}, "note: Input should be a dictionary or an instance of Note"),
        ({"text": "abc", "note": {}}, "note.fields: Field required"),
        ({"text": "abc", "note": {"fields": {"F": 5}}}, "note.fields.F: Input should be a valid string"),
        ({"text": "abc", "options": []}, "options: Input should be a valid dictionary"),
        ({"text": "abc", "ratio": "x"}, "ratio: Input should be a valid number, unable to parse string as a number"),
        ({"text": "abc", "ids": [1], "noteIds": [2]}, "ids: given twice, also as noteIds"),
    ],
)
def test_what_does_not_fit_is_said_in_pydantics_words(sent, error):
    answer = read(sent)
    assert answer["error"] == error
    assert answer["hint"].startswith("test takes text (string), ")


@pytest.mark.parametrize(
    ("sent", "error", "hint"),
    [
        ({"text": "abc", "numbr": 1}, "Unknown argument: numbr", "Did you mean number?"),
        (
            {"text": "abc", "note": {"fields": {}, "imags": []}},
            "Unknown argument in note: imags",
            "Did you mean images?",
        ),
        ({"text": "abc", "noteids": [1]}, "Unknown argument: noteids", "Did you mean noteIds?"),
        (
            {"text": "abc", "note": {"fields": {}, "zzz": "k"}},
            "Unknown argument in note: zzz",
            "It takes fields, images.",
        ),
        ({"text": "abc", "zzz": 1}, "Unknown argument: zzz", "test takes"),
    ],
)
def test_an_unknown_name_is_told_the_nearest_right_one(sent, error, hint):
    answer = read(sent)
    assert (answer["error"], answer["code"]) == (error, "UNKNOWN_ARGUMENT")
    assert answer["hint"].startswith(hint)


@pytest.mark.parametrize("absent", [None, "", "null"])
def test_what_clients_send_for_nothing_is_nothing(absent):
    found = read({"text": "abc", "number": absent, "ids": absent, "note": absent, "options": absent})
    assert (found["number"], found["note"], found["options"]) == (None, None, None)


def test_json_in_a_string_is_read_where_a_list_or_object_is_wanted():
    found = read({"text": "abc", "ids": "[1, 2]", "note": '{"fields": {"F": "[1]"}}'})
    assert found["ids"] == [1, 2]
    assert found["note"].fields == {"F": "[1]"}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-20, 20) | st.floats(allow_nan=False, allow_infinity=False, width=16)
    | st.sampled_from(["", "a", "abc", "abcdef", "5", " 7 ", "1.0", "-3", "true", "off", "null", "[1]", "{}", "b"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["fields", "images", "data", "url", "max_side", "F"]), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


@given(
    st.fixed_dictionaries({"text": VALUES}, optional={name: VALUES for name in SIGNATURE.parameters if name != "text"})
)
def test_pydantic_agrees_on_any_arguments(sent):
    read(sent)


def test_the_schema_says_what_validation_asks():
    assert PARAMETERS.schema == {
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "the text", "minLength": 2, "maxLength": 5},
            "number": {"type": "integer", "minimum": 0, "maximum": 10},
            "ids": {"type": "array", "items": {"type": "integer"}, "minItems": 1, "default": (1,)},
            "kind": {"type": "string", "enum": ["a", "b"], "default": "a"},
            "flag": {"type": "boolean", "default": False},
            "note": schema.of_dataclass(Note),
            "notes": {"type": "array", "items": schema.of_dataclass(Note), "maxItems": 2},
            "options": {"type": "object"},
            "ratio": {"type": "number", "default": 0.5},
        },
        "required": ["text"],
        "additionalProperties": False,
    }
