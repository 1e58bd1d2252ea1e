"""Thousands of bad inputs over stdio: no crash, no hang, no traceback to the client, and the next request is
answered."""

import json

import pytest

from tests.support.client import ENVELOPE, Client
from tests.support.fuzzer import Fuzzer

pytestmark = pytest.mark.slow

FRAMES = 600
CALLS = 700
BATCH = 50
# One seed for each era.
SEEDS = [1, 2]
SAFE = {
    "ANKI_CONNECT_URL": "http://127.0.0.1:9",  # discard: nothing listens
    "ONEPERCENT_RATE_LIMIT": "off",
    "SEARCH_API_URL": "http://127.0.0.1:9",
}


@pytest.fixture
def client(small_docs):
    small_docs({"Bed_Mesh.md": "# Bed Mesh\n\nThe mesh.\n"})
    with Client(**SAFE) as session:
        yield session


def answers(client, ids):
    """The next answers, up to those of these ids; all that comes is JSON-RPC and tells nothing of the inside."""
    by_id = {}
    while not ids <= by_id.keys():
        message = client.receive()
        assert message is not None, client.log()[-3000:]
        assert message["jsonrpc"] == "2.0"
        assert "Traceback" not in json.dumps(message)
        if "method" not in message:
            by_id[message["id"]] = message
    return by_id


def fuzzer(seed, client, **meta):
    """Lines for the tools that a client has."""
    tools = client.request("tools/list", **meta)["result"]["tools"]
    return Fuzzer(seed, {tool["name"]: tool["inputSchema"] for tool in tools})


@pytest.mark.parametrize("seed", SEEDS)
def test_bad_frames_end_no_session(client, seed):
    client.initialize()
    lines = fuzzer(seed, client)
    for batch in range(FRAMES // BATCH):
        client.write(b"".join(lines.frame() for _ in range(BATCH)))
        client.send(id=f"alive {batch}", method="ping")
        answers(client, {f"alive {batch}"})


@pytest.mark.parametrize("seed", SEEDS)
def test_wrong_arguments_get_an_answer_each_with_a_hint(client, seed):
    meta = ENVELOPE if seed % 2 else {}
    if not meta:
        client.initialize()
    lines = fuzzer(seed, client, _meta=meta)
    for batch in range(CALLS // BATCH):
        ids = {f"{batch} {number}" for number in range(BATCH)}
        for request_id in ids:
            name, arguments = lines.call()
            params = {"name": name, "arguments": arguments, "_meta": meta}
            client.send(id=request_id, method="tools/call", params=params)
        for message in answers(client, ids).values():
            check(message["result"], client)
    assert "Traceback" not in client.log()


def check(result, client):
    """A tool's answer: text as it stands, or one compact JSON text; an error says what to do next, nothing of
    the inside."""
    block, *_ = result["content"]
    if result["isError"]:
        answer = json.loads(block["text"])
        assert answer["code"] != "INTERNAL_ERROR", client.log()[-3000:]
        assert answer["error"] and answer["hint"]
        assert len(block["text"]) < 20_000
