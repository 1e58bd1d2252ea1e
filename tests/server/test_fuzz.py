"""Thousands of bad inputs over stdio: no crash, no hang, no traceback to the client, and the next request is
answered."""

import json

import pytest

from tests.support.client import ENVELOPE, Client
from tests.support.fuzzer import Fuzzer

pytestmark = pytest.mark.slow

FRAMES, CALLS, BATCH = 600, 700, 50
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
    with Client(**SAFE) as one:
        yield one


def told(client, request_id):
    """Every message up to the answer of a request, which are all JSON-RPC and tell nothing of the inside."""
    found = []
    while True:
        message = client.receive()
        assert message is not None, client.log()[-3000:]
        assert message["jsonrpc"] == "2.0"
        assert "Traceback" not in json.dumps(message)
        if message.get("id") == request_id and "method" not in message:
            return found
        found.append(message)


def schemas(client, **meta):
    tools = client.request("tools/list", **meta)["result"]["tools"]
    return {tool["name"]: tool["inputSchema"] for tool in tools}


@pytest.mark.parametrize("seed", SEEDS)
def test_bad_frames_end_no_session(client, seed):
    client.initialize()
    fuzzer = Fuzzer(seed, schemas(client))
    for batch in range(FRAMES // BATCH):
        client.write(b"".join(fuzzer.frame() for _ in range(BATCH)))
        client.send(id=f"alive {batch}", method="ping")
        told(client, f"alive {batch}")
    assert client.request("ping", _meta={})["result"] == {}


@pytest.mark.parametrize("seed", SEEDS)
def test_wrong_arguments_get_an_answer_each_with_a_hint(client, seed):
    modern = {"_meta": ENVELOPE} if seed % 2 else {}
    if not modern:
        client.initialize()
    fuzzer = Fuzzer(seed, schemas(client, **modern))
    for batch in range(CALLS // BATCH):
        ids = [f"{batch} {number}" for number in range(BATCH)]
        for one in ids:
            name, arguments = fuzzer.call()
            client.send(
                id=one, method="tools/call", params={"name": name, "arguments": arguments, **modern}
            )
        answers = {}
        while len(answers) < len(ids):
            message = client.receive()
            assert message is not None, client.log()[-3000:]
            if "method" not in message:
                answers[message["id"]] = message
        assert set(answers) == set(ids)
        for message in answers.values():
            check(message["result"], client)
    assert "Traceback" not in client.log()


def check(result, client):
    """A tool's answer: text as it stands, or one compact JSON text; an error says what to do next, nothing of
    the inside."""
    block, *_ = result["content"]
    assert "Traceback" not in block["text"]
    if result["isError"]:
        answer = json.loads(block["text"])
        assert answer["code"] != "INTERNAL_ERROR", client.log()[-3000:]
        assert answer["error"]
        assert answer["hint"] or answer["code"] == "RATE_LIMITED"
        assert len(block["text"]) < 20_000
