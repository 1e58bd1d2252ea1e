"""Who is let in over HTTP, what is refused, and whose tools are whose: the application without a socket."""

import json
import time

import pytest

from tests.support.client import HANDSHAKE, LIST, cases
from tests.support.http_memory import InMemory
from tests.support.services import wait_until
from tools.http import guards, tokens


@pytest.fixture
def server(env):
    env(MCP_HTTP_RATE=100_000)
    with InMemory() as running:
        yield running


@pytest.fixture
def token(server):
    return server.token()


def names(server, token):
    return {tool["name"] for tool in server.ask("tools/list", token=token)["result"]["tools"]}


def statuses(server, *tokens):
    """The statuses of the answers to a request with each of these tokens."""
    return [server.listed(token) for token in tokens]


def test_a_token_lists_and_calls_what_its_scope_names(server, token):
    assert {"greet", "get_user_snapshot", "apply_actions"} <= names(server, token)
    assert not {name for name in names(server, token) if name.startswith("anki")}
    assert server.call("greet", token=token, name="Ada")["structuredContent"]
    assert server.content("read_doc", token=token, path="x")["code"] == "UNKNOWN_TOOL"
    handshake = server.ask("initialize", HANDSHAKE, token=token)["result"]
    assert handshake["serverInfo"]["name"] == "pi-mcp"
    assert "Klipper" not in handshake.get("instructions", "")


def test_a_reading_scope_lists_and_calls_no_writer(server):
    token = server.token(scope="onepercent:read")
    assert "get_user_snapshot" in names(server, token)
    assert "apply_actions" not in names(server, token)
    assert server.content("apply_actions", token=token)["code"] == "UNKNOWN_TOOL"


def test_prompts_resources_and_completion_follow_the_scope(server):
    owner = server.token(scope="klipper onepercent")
    guest = server.token(scope="server")
    lists = {"prompts/list": "prompts", "resources/templates/list": "resourceTemplates"}
    for method, name in lists.items():
        assert server.ask(method, token=owner)["result"][name]
        assert not server.ask(method, token=guest)["result"][name]
    page = {"uri": "klipper://docs/Bed_Mesh.md"}
    assert "error" in server.ask("prompts/get", {"name": "klipper_question"}, token=guest)
    assert "error" in server.ask("resources/read", page, token=guest)


def test_a_scope_that_names_nothing_known_is_refused(server):
    for scope in ("", "nothing known", "onepercent:write", "*", "ONEPERCENT"):
        status, headers, _ = server.send(LIST, token=server.token(scope=scope))
        assert (status, "insufficient_scope" in headers["www-authenticate"]) == (403, True), scope


def signed(server, token_id, key):
    """A token that another holder of the key made, such as a backend."""
    grant = {"user": "ben", "scope": "server", "token_id": token_id}
    return tokens.sign(tokens.claims_of(grant, server.url, 60), key)


def refusals(server):
    good = server.token()
    return {
        "no token": {},
        "no token, by GET": {"method": "GET"},
        "another scheme": {"headers": {"Authorization": f"Basic {good}"}},
        "an empty one": {"headers": {"Authorization": "Bearer "}},
        "in the query": {"headers": {"X": f"access_token={good}"}},
        "expired": {"token": server.token(exp=int(time.time()) - 100)},
        "another key": {"token": signed(server, "1", b"f" * 32)},
        "not ASCII": {"headers": {"Authorization": "Bearer \xe9.\xe9.\xe9"}},
    }


WITHOUT = ("no token", "no token, by GET", "an empty one", "in the query")


def test_without_a_good_token_it_is_401_and_the_same_words_however_often(server):
    bodies = set()
    for _ in range(10):
        for name, options in refusals(server).items():
            status, headers, body = server.send(LIST, **options)
            assert status == 401, name
            assert headers["www-authenticate"].startswith("Bearer"), name
            is_invalid = 'error="invalid_token"' in headers["www-authenticate"]
            assert is_invalid == (name not in WITHOUT), "clients renew a token by this word"
            bodies.add(body)
    assert len(bodies) == 1


HEADS = """
Host: evil.example | 421
Host: | 421
Host: 127.0.0.1.evil.example | 421
Host: 127.0.0.1:1 | 200
Host: pi.example:8443 | 200
Origin: https://evil.example | 403
Origin: null | 403
Origin: http://[ | 403
Origin: https://pi.example | 200
Origin: http://127.0.0.1 | 200
Content-Type: text/plain | 400
Content-Type: | 400
Content-Type: application/json; charset=utf-8 | 200
Accept: text/html | 406
Transfer-Encoding: chunked | 400
"""


def test_host_origin_kind_and_framing_are_looked_at(env):
    env(MCP_HTTP_URL="https://Pi.example/mcp")
    with InMemory() as server:
        token = server.token()
        for line, status in cases(HEADS):
            name, _, value = line.partition(":")
            assert server.listed(token, headers={name: value.strip()}) == int(status), line


def test_only_post_to_the_address_with_or_without_a_slash_is_answered(server, token):
    for method in "GET HEAD OPTIONS PUT DELETE".split():
        status, headers, _ = server.send(LIST, token=token, method=method)
        assert (status, headers["allow"]) == (405, "POST")
    assert server.status(LIST, token=token, path="/mcp/") == 200
    for path in ("/", "/other", "/.well-known/openid-configuration", "/register/"):
        assert server.status(LIST, path=path) == 404


def test_a_refusal_closes_the_connection_only_where_a_body_may_be_unread(server, token):
    """Bun's clients lost the answer that came behind a refused GET, and began without tools."""
    requests = [{"method": method, "token": token} for method in ("GET", "DELETE", "HEAD")]
    requests += [{"method": "GET"}, {"method": "GET", "path": "/other"}]
    for request in requests:
        for length in (None, "0"):
            _, headers, _ = server.send(b"", **request, headers={"Content-Length": length})
            assert "connection" not in headers, request
        assert server.send(b"{}", **request)[1]["connection"] == "close"
    assert server.send(LIST)[1]["connection"] == "close"
    assert server.send(b"x" * 5_000_000, token=token)[1]["connection"] == "close"
    assert "connection" not in server.send(b"garbage", token=token)[1]


def test_that_clients_try_get_and_delete_is_not_in_the_log(server, token, caplog):
    for method in ("GET", "DELETE", "PUT"):
        server.send(b"", token=token, method=method)
    assert [record.getMessage() for record in caplog.records] == ["HTTP 405: method 'PUT'"]


def test_a_person_who_opens_an_address_reads_a_sentence_in_each_language(server, token):
    accept = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    for expected, request in ((404, {"path": "/"}), (401, {}), (405, {"token": token})):
        status, headers, body = server.send(b"", method="GET", headers=accept, **request)
        text = body.decode()
        assert (status, headers["content-type"]) == (expected, "text/plain; charset=utf-8")
        assert "pi-mcp is running" in text and "pi-mcp работает" in text and "{" not in text
    assert server.send(LIST, headers=accept)[1]["content-type"] == "application/json"


MANY_VALUES = b"{}," * 2**20
BODIES = [
    (b"[" * 100_000, None, -32700),
    (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"x":"\\ud83d"}}', 7, -32700),
    (b'{"jsonrpc":"2.0","id":5,"method":"ping","params":{"x":[%b1]}}' % MANY_VALUES, 5, -32600),
]


def test_a_body_that_is_not_a_message_is_an_error_that_names_its_id(server, token):
    for body, *error in BODIES:
        status, _, answer = server.send(body, token=token)
        answer = json.loads(answer)
        assert (status, answer["id"], answer["error"]["code"]) == (400, *error), body[:40]


# More than is read without a turn.
LONG = b"x" * 20_000
CHUNKED = {"Content-Length": None, "Transfer-Encoding": "chunked"}


def test_a_second_long_body_of_a_person_is_not_read_before_the_first_is_answered(server, token):
    """What a body says is in memory until then; a short one, and somebody else, are served meanwhile."""
    first = server.begin(token=token, parts=[LONG] * 3, hold=True)
    second = server.begin(token=token, parts=[LONG] * 3, headers=CHUNKED)
    wait_until(lambda: first.read == 2)
    assert server.listed(token) == 200
    assert server.listed(server.token(user="ben")) == 200
    assert second.read == 0
    first.hold = False
    assert [first.status(), second.status()] == [400, 400]


def test_two_long_bodies_keep_no_third_out_and_a_long_wait_ends_with_a_retry_after(
    server, monkeypatch
):
    def hold(*users):
        for user in users:
            exchanges.append(
                server.begin(token=server.token(user=user), parts=[LONG] * 2, hold=True)
            )
        wait_until(lambda: all(exchange.read for exchange in exchanges))

    exchanges = []
    try:
        hold("anna", "ben")
        assert server.status(LONG, token=server.token(user="carol")) == 400
        hold("dan", "eve")
        monkeypatch.setattr(guards, "BODY_TURN_S", 0.05)
        status, headers, _ = server.send(LONG, token=server.token(user="carol"))
    finally:
        for exchange in exchanges:
            exchange.hold = False
            exchange.status()
    assert (status, "retry-after" in headers) == (503, True)


def test_the_log_says_why_and_holds_no_token_and_is_not_filled(server, caplog):
    token = server.token(user="carol")
    server.send(LIST, token=token[:-4] + "AAAA")
    server.send(LIST, token=token, headers={"Host": "evil.example"})
    server.call("get_user_snapshot", token=token)
    assert "signature is wrong" in caplog.text
    assert "evil.example" in caplog.text
    assert token.split(".")[1] not in caplog.text
    for number in range(200):
        server.send(LIST, path=f"/{number}")
    assert len(caplog.records) < 60


def test_rates_are_each_persons_own_whatever_the_token_and_say_when_to_come_back(env):
    env(MCP_HTTP_RATE=6)
    with InMemory() as server:
        phone, laptop, calm = (server.token(user=user) for user in ("anna", "anna", "ben"))
        assert statuses(server, phone, laptop, phone, laptop) == [200, 200, 200, 429]
        _, headers, body = server.send(LIST, token=phone)
        error = json.loads(body)["error"]
        assert 1 <= int(headers["retry-after"]) == error["data"]["retry_after"] <= 10
        assert server.listed(calm) == 200


def test_a_revoked_token_is_refused_at_once_and_so_is_one_that_a_backend_signed(server):
    ours = server.token(jti="lost")
    theirs = server.token(jti=None)
    backend = signed(server, "of-a-backend", server.key())
    assert statuses(server, ours, theirs, backend) == [200, 200, 200]
    assert [server.ledger.revoke("lost"), server.ledger.revoke("of-a-backend")] == [True, False]
    assert statuses(server, ours, theirs, backend) == [401, 200, 401]


def test_a_damaged_list_of_tokens_lets_nobody_in_and_is_named_in_the_log(server, token, caplog):
    (server.state / "http-tokens.sqlite3").write_text("damaged" * 100, "ascii")
    assert server.listed(token) == 503
    assert "not a database" in caplog.text
