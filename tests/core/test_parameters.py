"""Reading arguments, and the schema that says how."""

import json
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import pytest

from tests.support.client import cases
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


PARAMETERS = Parameters("test", tool)


def read(sent):
    """What the tool is called with, or an error; its text is there unless it is sent."""
    try:
        return PARAMETERS.parse({"text": "abc", **sent})
    except ToolError as error:
        return error.answer()


MISTAKES = """
{"text": "a"} | text: String should have at least 2 characters, not 1
{"text": "abcdef"} | text: String should have at most 5 characters, not 6
{"ids": []} | ids: List should have at least 1 item after validation, not 0
{"number": -1} | number: Input should be greater than or equal to 0
{"kind": "c"} | kind: Input should be 'a' or 'b'
{"note": {"fields": {"F": 5}}} | note.fields.F: Input should be a valid string
{"ids": [1], "noteIds": [2]} | ids: given twice, also as noteIds
{"noteIds": [1], "note_ids": [2]} | ids: given twice, also as note_ids
"""


@pytest.mark.parametrize("sent, error", cases(MISTAKES))
def test_an_error_names_the_place_and_what_would_fit(sent, error):
    answer = read(json.loads(sent))
    assert answer["error"] == error
    assert answer["hint"].startswith("test takes text (string), ")


def test_what_is_required_may_not_be_left_out():
    with pytest.raises(ToolError, match="text: Field required"):
        PARAMETERS.parse({})


def test_a_name_may_be_an_alias_or_spelled_with_underscores_or_with_capitals():
    images = [{"imageUrl": "http://x", "Max_side": 5, "data": "y"}, {"url": "z"}]
    sent = {
        "note_ids": [3],
        "Note": {"Fields": {"F_g": "x", "fG": "y"}, "attachments": images},
    }
    note = Note({"F_g": "x", "fG": "y"}, [Image("y", "http://x", 5), Image(image_url="z")])
    assert read(sent) == {"text": "abc", "ids": [3], "note": note}
    answer = read({"note": {"fields": {}, "images": [{"maxSide": 5, "max_side": 6}]}})
    assert answer["error"] == "note.images.0.max_side: given twice, also as max_side"


UNKNOWN = """
{"numbr": 1} | Unknown argument: numbr | Did you mean number?
{"note": {"imags": []}} | Unknown argument in note: imags | Did you mean images?
{"noteids": [1]} | Unknown argument: noteids | Did you mean noteIds?
{"note": {"zzz": "k"}} | Unknown argument in note: zzz | It takes fields, images.
{"zzz": 1} | Unknown argument: zzz | test takes
"""


@pytest.mark.parametrize("sent, error, hint", cases(UNKNOWN))
def test_an_unknown_name_is_refused_with_the_nearest_right_one(sent, error, hint):
    answer = read(json.loads(sent))
    assert (answer["error"], answer["code"]) == (error, "UNKNOWN_ARGUMENT")
    assert answer["hint"].startswith(hint)


@pytest.mark.parametrize("absent", [None, "", "null"])
def test_what_clients_send_for_nothing_is_nothing(absent):
    assert read(dict.fromkeys(["number", "ids", "note", "options"], absent)) == {"text": "abc"}


# What a parameter takes, and what it makes of that.
WELL_FORMED = """
number | [0, 10, 5.0, "7", " 7 ", "1.0"] | [0, 10, 5, 7, 7, 1]
ratio | [1, 0.5, "0.5", " 2 ", "1e3"] | [1.0, 0.5, 0.5, 2.0, 1000.0]
flag | [true, 1, 0.0, "true", "False", "0"] | [true, true, false, true, false, false]
kind | ["a", "b"] | ["a", "b"]
ids | [[1, "2", 3.0], "[4]"] | [[1, 2, 3], [4]]
options | [{"x": [1, {}]}, "{}"] | [{"x": [1, {}]}, {}]
text | ["ab", " abc "] | ["ab", "abc"]
"""
MISFITS = """
text | [5, [], {}, true, "a", " a ", "abcdef"]
number | [true, 1.5, "1.5", "x", [], {}, -1, 11, NaN, Infinity, "٣x"]
ratio | [true, "x", [], {}]
flag | [2, 0.5, "maybe", [], {}, NaN]
kind | ["c", 1, true, [], {}]
ids | [5, {}, "x", "5", [], ["x"], [null], [true], [[1]]]
options | [[], 5, "x", "[]"]
note | [5, [], "x", {}, {"fields": 5}, {"fields": {"F": 5}}, {"fields": {}, "images": [{"max_side": 0}]}]
notes | [{}, [5], [{}], [{"fields": {}}, {"fields": {}}, {"fields": {}}]]
"""


@pytest.mark.parametrize("name, sent, values", cases(WELL_FORMED))
def test_a_value_is_taken_in_every_form_that_clients_send(name, sent, values):
    assert [read({name: value})[name] for value in json.loads(sent)] == json.loads(values)


def test_a_list_of_objects_may_hold_json_texts_or_nothing():
    assert read({"notes": [{"fields": "{}"}]})["notes"] == [Note({})]
    assert not read({"notes": []})["notes"]


@pytest.mark.parametrize("name, sent", cases(MISFITS))
def test_a_value_of_another_form_or_beyond_a_limit_is_refused(name, sent):
    for value in [*json.loads(sent), *HUGE.get(name, ())]:
        answer = read({name: value})
        assert answer["code"] == "INVALID_ARGUMENTS", value
        assert answer["error"].startswith(name)


HUGE = {"number": ["9" * 5000], "ratio": [10**400]}


def test_an_id_of_0_is_absent_and_another_0_is_a_number():
    def finds(
        goal_id: int | None = None, noteId: int | None = None, grid: int = 1, id: str = ""
    ): ...

    read = Parameters("finds", finds).parse
    assert read({"goal_id": 0, "noteId": "0", "id": 0, "grid": 0}) == {"grid": 0}
    assert read({"goalId": 7, "id": "00"}) == {"goal_id": 7, "id": "00"}

    def needs(goal_id: int): ...

    assert Parameters("needs", needs).parse({"goal_id": 0}) == {"goal_id": 0}


def test_a_parameter_that_may_be_anything_has_an_empty_schema():
    assert schema.derive(Any) == {}
    assert schema.derive(list[Any]) == {"type": "array", "items": {}}
