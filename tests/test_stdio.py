"""Lines of JSON-RPC: what is too large to be read, and the id of what is refused."""

import json

import pytest

from tools import stdio
from tools.core.errors import RpcError


def id_of(line):
    """The id in the refusal of a line."""
    with pytest.raises(RpcError) as caught:
        stdio.parse(line)
    return caught.value.request_id


def test_the_id_of_a_line_that_is_too_long_is_looked_for_at_its_beginning_only():
    long = " " * stdio.LONGEST_LINE
    assert id_of(json.dumps({"id": 12, "x": long}).encode()) == 12
    assert id_of(json.dumps({"id": "a b", "x": long}).encode()) == "a b"
    assert id_of(json.dumps({"x": long, "id": 12}).encode()) is None


def dense(piece, count):
    return b'{"jsonrpc":"2.0","id":5,"method":"ping","params":{"x":[' + piece * count + b"1]}}"


def test_a_line_of_very_many_values_is_refused_with_its_id_and_one_of_many_is_not():
    """Each value costs a hundred bytes and more once it is read: 16 MiB of them were a gigabyte."""
    most = stdio.MOST_VALUES
    for piece in rb"""{}, [], 1, "", {"a":1}, "\"", "\\",""".split():
        assert "values" in stdio.refusal(dense(piece, most))
        assert id_of(dense(piece, most)) == 5
        assert not stdio.refusal(dense(piece, most // 5))


def test_a_text_that_ends_in_an_escaped_backslash_hides_no_values_behind_it():
    many = b"{}," * (stdio.MOST_VALUES + 1)
    assert "values" in stdio.refusal(b'{"id":5,"x":"\\\\","y":[' + many + b"1]}")


def test_what_stands_in_one_long_text_counts_as_one_value():
    for piece in ("a, b, ", '{"x": [1, 2]}, ', "\\", '"', "я, "):
        text = piece * (3_000_000 // len(piece))
        for ascii_only in (True, False):
            line = json.dumps({"id": 1, "params": {"text": text}}, ensure_ascii=ascii_only)
            assert not stdio.refusal(line.encode())
