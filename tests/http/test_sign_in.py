"""Sign-in: a client that knows only the URL, a person with an invitation, and those who try without one."""

import base64
import hashlib
import json
import re
import sqlite3
import time
from contextlib import contextmanager, suppress
from html import unescape
from unittest.mock import Mock
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from tests.support.client import LIST, present
from tests.support.http_memory import InMemory
from tests.support.http_server import StatusOnly
from tools.__main__ import main
from tools.core import http
from tools.http import sign_in, tokens
from tools.http.ledger import Ledger

URL = "https://pi.example/mcp"
ORIGIN = "https://pi.example"
BACK = "https://claude.example/callback"
VERIFIER = "v" * 43
AUTHORIZATION = {
    "issuer": ORIGIN,
    "authorization_endpoint": f"{ORIGIN}/authorize",
    "token_endpoint": f"{ORIGIN}/token",
    "registration_endpoint": f"{ORIGIN}/register",
    "code_challenge_methods_supported": ["S256"],
}


def challenge(verifier):
    return tokens.base64url(hashlib.sha256(verifier.encode()).digest())


def query_of(headers):
    """The query of the address that an answer leads to."""
    return dict(parse_qsl(urlsplit(headers["location"]).query))


class Person(StatusOnly):
    """A client and the person in front of it; the steps of a sign-in, each with changes."""

    def __init__(self, server):
        self.server = server
        self.client_id = self.register()[1]["client_id"]

    def send(self, method, path, body=b"", query="", **headers):
        """The answer to a request; a body that is a dictionary is sent as a form."""
        if isinstance(body, dict):
            body = urlencode(body).encode()
        pairs = {name.replace("_", "-"): value for name, value in headers.items()}
        pairs = {"Host": "pi.example", "Content-Type": None, **pairs}
        return self.server.send(body, method=method, path=f"{path}?{query}", headers=pairs)

    def metadata(self, path):
        return json.loads(self.send("GET", path)[2])

    def register(self, redirects=(BACK,), name="Claude"):
        document = {"redirect_uris": list(redirects), "client_name": name}
        status, _, body = self.send("POST", "/register", json.dumps(document).encode())
        return status, json.loads(body)

    def asked(self, **changes):
        fields = {
            "client_id": self.client_id,
            "redirect_uri": BACK,
            "response_type": "code",
            "state": "s &1",
            "code_challenge": challenge(VERIFIER),
            "code_challenge_method": "S256",
            "resource": URL,
        }
        return present({**fields, **changes})

    def page(self, lang="en", **changes):
        query = urlencode(self.asked(**changes))
        status, headers, body = self.send("GET", "/authorize", query=query, Accept_Language=lang)
        return status, headers, body.decode()

    def type(self, code, **changes):
        return self.send("POST", "/authorize", {**self.asked(**changes), "code": code})

    def code(self, **invitation):
        status, headers, _ = self.type(self.server.invited(**invitation))
        assert status == 303
        return query_of(headers)["code"]

    def token(self, grant="authorization_code", query="", **changes):
        fields = {"grant_type": grant, "client_id": self.client_id}
        if grant == "authorization_code":
            fields |= {"redirect_uri": BACK, "code_verifier": VERIFIER}
        status, _, body = self.send("POST", "/token", present({**fields, **changes}), query)
        return status, json.loads(body)

    def renewed(self, answer, **changes):
        """The answer to a renewal with the refresh token of `answer`."""
        return self.token("refresh_token", refresh_token=answer["refresh_token"], **changes)

    def signed_in(self, **invitation):
        status, answer = self.token(code=self.code(**invitation))
        assert status == 200, answer
        return answer

    def listed(self, answer):
        """The status of tools/list with the access token of `answer`."""
        return self.server.listed(answer["access_token"])


@pytest.fixture
def person(env):
    env(MCP_HTTP_URL=URL)
    with InMemory() as running:
        yield Person(running)


def test_a_client_that_knows_only_the_url_is_led_to_the_person_and_gets_a_token_of_the_invitation(
    person,
):
    _, headers, _ = person.server.send(LIST)
    metadata_url = re.search(r'resource_metadata="([^"]+)"', headers["www-authenticate"])[1]
    resource = person.metadata(urlsplit(metadata_url).path)
    assert (resource["resource"], resource["authorization_servers"]) == (URL, [ORIGIN])
    assert person.metadata("/.well-known/oauth-protected-resource") == resource
    server = person.metadata("/.well-known/oauth-authorization-server")
    assert AUTHORIZATION.items() <= server.items()
    code = person.server.invited()
    status, headers, _ = person.type(f" {code[:4].lower()}-{code[4:]} ")
    assert (status, headers["location"].split("?")[0]) == (303, BACK)
    back = query_of(headers)
    assert (back["state"], back["iss"]) == ("s &1", ORIGIN)
    status, answer = person.token(code=back["code"])
    assert status == 200
    assert (answer["token_type"], answer["scope"]) == ("Bearer", "onepercent server:read")
    claims = tokens.verify(answer["access_token"], (person.server.key(),), URL)
    assert (claims.user, claims.toolsets) == ("anna", {"onepercent", "server"})
    assert claims.read_only == {"server"}
    assert person.listed(answer) == 200
    [row] = person.server.ledger.entries()
    assert (row["id"], row["user"], row["label"]) == (claims.token_id, "anna", "Claude")


@pytest.mark.parametrize(
    "accepted, lang, word", [("ru-RU,en", "ru", "Разрешить"), ("de", "en", "Allow")]
)
def test_the_page_says_who_asks_and_where_it_leads_and_runs_nothing(person, accepted, lang, word):
    evil = "<script>alert(1)</script>\u202e"
    person.client_id = person.register(name=evil)[1]["client_id"]
    status, headers, page = person.page(accepted, state='"><script>')
    assert status == 200
    assert f'lang="{lang}"' in page
    assert word in page
    assert "<script" not in page
    assert evil[:-1] in unescape(page)
    assert '<p class="host">claude.example' in page
    assert "python3 -m tools invite" in page  # where a code comes from
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "form-action 'self' https://claude.example;" in policy
    style = re.search("<style>(.*)</style>", page, re.DOTALL)[1]
    assert base64.b64encode(hashlib.sha256(style.encode()).digest()).decode() in policy


def test_the_page_shows_a_stranger_nothing_of_open_invitations(person):
    before = person.page()
    person.server.invited(scope="anki klipper:read")
    assert person.page() == before


BAD_REDIRECTS = """http://evil.example/ javascript:alert(1) https://a@evil.example/ https://x.example/#f //x.example/
https://x.example\\@evil/ https://x.example;/ http://127.0.0.1.evil.example/ http://localhost@evil.example/
data:text/html,x cursor://x https:// https:///x""".split()


def test_no_such_redirect_is_registered_and_ten_at_most_nor_a_long_name(person):
    for uri in [*BAD_REDIRECTS, "https://x.example/\n", "", 7, None, {}]:
        status, answer = person.register([uri])
        assert (status, answer["error"]) == (400, "invalid_redirect_uri"), uri
        status, answer = person.register([uri, BACK, uri])
        assert (status, answer["redirect_uris"]) == (201, [BACK]), uri
    assert person.register([f"{BACK}/{number}" for number in range(11)])[0] == 400
    assert person.register(name="n" * 99)[1]["client_name"] == "n" * 60
    for body in (
        b"[" * 200_000,
        b"[" * 10_000,
        b"\xff",
        b'{"redirect_uris":"x"}',
        *b"[] 7 {}".split(),
    ):
        assert person.status("POST", "/register", body) in (400, 413)


CURSOR = """cursor://anysphere.cursor-mcp/oauth/callback http://localhost:8787/callback
https://www.cursor.com/agents/mcp/oauth/callback""".split()


def test_a_client_with_a_redirect_of_its_own_kind_signs_in_by_another_and_by_that_one_never(person):
    _, answer = person.register(CURSOR)
    person.client_id = answer["client_id"]
    for uri in CURSOR[1:]:
        status, _, page = person.page(redirect_uri=uri)
        assert (status, "code" in page) == (200, True)
    assert person.page(redirect_uri=CURSOR[0])[0] == 400


def test_without_its_keys_it_asks_for_patience_and_logs_no_traceback(person, caplog):
    answer = person.signed_in()
    keys = person.server.state / "http-keys"
    before = keys.read_text()
    for spoil in (keys.unlink, lambda: keys.write_text("damaged")):
        spoil()
        assert person.register([BACK])[0] == 503
        assert person.listed(answer) == 503
    assert "Traceback" not in caplog.text
    keys.write_text(before)
    keys.chmod(0o600)
    assert person.listed(answer) == 200


BEGUN_WRONGLY = {
    "redirect_uri": f"""{BACK}/x {BACK}?x=1 {BACK}/ https://claude.example https://claude.example.evil/callback
    https://CLAUDE.example/callback javascript:alert(1) http://claude.example/callback""".split(),
    "code_challenge": ["x", None],
    "code_challenge_method": ["plain", None],
    "response_type": ["token", None],
    "resource": ["https://other.example/mcp", f"{ORIGIN}/other"],
}


def test_a_sign_in_that_is_begun_wrongly_ends_on_a_page_and_redirects_nobody(person):
    code = person.server.invited()
    foreign = tokens.sign({"iss": "pi-mcp client", "redirect_uris": [BACK]}, b"f" * 32)
    client_ids = ["x.y.z", "http://pi.example/client", None]
    client_ids += [f"{person.client_id}A", foreign, person.server.token()]
    for name, values in [*BEGUN_WRONGLY.items(), ("client_id", client_ids)]:
        expected = 401 if name == "client_id" else 400
        for value in [*values, ""]:
            change = {name: value}
            for status, headers, _ in (person.page(**change), person.type(code, **change)):
                assert (status, "location" in headers) == (expected, False), change
    assert person.enter(code) == 303


def test_on_loopback_the_port_is_free_and_nothing_else_is(person):
    for host in ("127.0.0.1", "localhost", "[::1]"):
        person.client_id = person.register([f"http://{host}/callback"])[1]["client_id"]
        assert person.page(redirect_uri=f"http://{host}:54321/callback")[0] == 200
        for uri in (
            f"http://{host}:1/x",
            f"https://{host}/callback",
            f"http://{host}:1@x/callback",
        ):
            assert person.page(redirect_uri=uri)[0] == 400


def test_an_invitation_holds_once_and_ten_minutes_whatever_strangers_type_and_its_digest_is_kept(
    person, monkeypatch
):
    code = person.server.invited()
    late = person.server.invited()
    for _ in range(100):
        assert person.enter("ABCDEFGH") == 403
    assert [person.enter(code) for _ in range(2)] == [303, 403]
    assert late.encode() not in kept_bytes(person.server)
    ahead(monkeypatch, 601)
    assert person.enter(late) == 403


def kept_bytes(server):
    """What the ledger keeps on the disk."""
    return b"".join(path.read_bytes() for path in server.state.glob("http-tokens.sqlite3*"))


def ahead(monkeypatch, seconds):
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + seconds)


def test_a_code_is_for_its_own_client_verifier_redirect_and_minute(person, monkeypatch):
    code = person.code()
    other = person.register(name="other")[1]["client_id"]
    wrong = [
        {"client_id": other},
        {"redirect_uri": f"{BACK}/x"},
        {"redirect_uri": None},
        {"code": "x"},
    ]
    wrong += [{"code_verifier": verifier} for verifier in ("w" * 43, None, challenge(VERIFIER))]
    for changes in wrong:
        status, answer = person.token(**{"code": code, **changes})
        assert (status, answer["error"]) == (400, "invalid_grant"), changes
    _, answer = person.token(code=code, resource="https://other.example/mcp")
    assert answer["error"] == "invalid_target"
    assert person.token("password", code=code)[1]["error"] == "invalid_grant"
    assert person.token(code=code)[0] == 200
    late = person.code()
    ahead(monkeypatch, 61)
    assert person.token(code=late)[0] == 400


def test_a_code_used_twice_ends_what_came_of_it(person):
    code = person.code()
    answer = person.token(code=code)[1]
    assert person.listed(answer) == 200
    assert person.token(code=code)[1]["error"] == "invalid_grant"
    assert person.listed(answer) == 401
    assert person.renewed(answer)[0] == 400


def test_a_client_that_no_key_knows_is_refused_so_that_it_registers_again(person):
    """Claude does so after a 401 `invalid_client` of the token endpoint."""
    answer = person.signed_in()
    code = person.code()
    for _ in range(2):
        tokens.rotate(person.server.state / "http-keys")
    for status, refusal in (
        person.token(code=code),
        person.renewed(answer),
        person.renewed(answer, client_id=None),
    ):
        assert (status, refusal["error"]) == (401, "invalid_client")


def test_a_browser_shows_why_a_client_cannot_sign_in_and_what_to_do(person):
    """A bookmark, or a client from before the keys were changed; and an address that lacks something."""
    page = "text/html,*/*;q=0.8"
    for changes, word in (({"client_id": "x"}, "add it again"), ({"code_challenge": None}, "PKCE")):
        query = urlencode(person.asked(**changes))
        status, headers, body = person.send("GET", "/authorize", query=query, Accept=page)
        text = body.decode()
        assert status in (400, 401)
        assert headers["content-type"] == "text/plain; charset=utf-8"
        assert word in text and "приложение" in text and "{" not in text


def test_secrets_in_an_address_are_not_read(person):
    """Proxies write addresses into their logs."""
    code = person.code()
    assert person.token(query=f"code={code}")[0] == 400
    assert person.token(code=code)[0] == 200


def lose_races(server, monkeypatch):
    """Have another process of the same state folder spend each secret between its look-up and its use."""
    look_up = Ledger.grant_of

    def look_up_and_lose(ledger, kind, secret):
        grant = look_up(ledger, kind, secret)
        server.ledger.spend(kind, secret)
        return grant

    monkeypatch.setattr(Ledger, "grant_of", look_up_and_lose)


@contextmanager
def full_disk(server):
    """Keep sqlite's file from growing, with no room left in it."""
    database = server.app.sign_in.ledger
    database.db.execute("PRAGMA max_page_count = 1")
    with suppress(sqlite3.OperationalError):
        while True:
            database.make_secret("filling", 600, {"text": "x" * 100})
    yield
    database.db.execute("PRAGMA max_page_count = 100000")


def test_a_full_disk_uses_up_no_invitation_and_no_code(person, caplog):
    invitation = person.server.invited()
    code = person.code()
    with full_disk(person.server):
        status, _, text = person.type(invitation)
        assert (status, b"disk" in text) == (503, True)
        status, answer = person.token(code=code)
        assert (status, answer["error"]) == (503, "temporarily_unavailable")
    assert "Traceback" not in caplog.text
    assert person.enter(invitation) == 303
    assert person.token(code=code)[0] == 200


def test_what_another_process_takes_in_the_same_moment_is_taken(person, monkeypatch):
    """Two servers of one state folder: both have looked the secret up, then the other one is faster."""
    invitation = person.server.invited()
    code = person.code()
    lose_races(person.server, monkeypatch)
    assert person.enter(invitation) == 403
    assert person.token(code=code)[0] == 400


def test_a_refresh_token_renews_rotates_and_is_forgiven_for_a_minute(person, monkeypatch):
    first = person.signed_in()
    _, second = person.renewed(first)
    _, again = person.renewed(first)
    assert second["refresh_token"] == again["refresh_token"] != first["refresh_token"]
    assert person.listed(second) == person.listed(again) == 200
    database = person.server.app.sign_in.ledger.db
    rows = database.execute("SELECT * FROM secrets WHERE kind = 'refresh'").fetchall()
    assert len(rows) == 2, "renewals at the same time are one chain"
    assert len(person.server.ledger.entries()) == 1
    ahead(monkeypatch, 61)
    assert person.renewed(first)[0] == 400  # stolen: all of it ends
    assert person.renewed(second)[0] == 400
    assert person.listed(second) == 401


def test_a_sign_in_outlives_its_token_by_renewal_and_no_longer(person, monkeypatch):
    first = person.signed_in(days=1)
    ahead(monkeypatch, 86_400 + 3600)
    assert person.listed(first) == 401
    _, second = person.renewed(first)
    assert person.listed(second) == 200
    ahead(monkeypatch, 2 * 86_400 + 60)
    assert person.renewed(second)[0] == 400


def test_revoking_ends_a_sign_in_at_once_and_a_rotation_ends_all_and_signs_new_tokens(person):
    first = person.signed_in()
    second = person.signed_in(user="ben")
    lost = tokens.verify(first["access_token"], (person.server.key(),), URL).token_id
    person.server.ledger.revoke(lost)
    assert [person.listed(first), person.listed(second)] == [401, 200]
    assert person.renewed(first)[0] == 400
    assert main(["token", "rotate"]) == 0
    newer = person.server.token()
    assert person.listed(second) == 200
    assert person.renewed(second)[0] == 400
    assert main(["token", "rotate"]) == 0
    assert [person.listed(second), person.server.listed(newer)] == [401, 200]
    assert person.page()[0] == 401


def test_no_secret_serves_in_anothers_place(person):
    answer = person.signed_in()
    code = person.code()
    invitation = person.server.invited()
    access = answer["access_token"]
    refresh = answer["refresh_token"]
    secrets = {access, refresh, code, person.client_id, invitation}
    for secret in secrets - {access}:
        assert person.server.listed(secret) == 401
    for secret in secrets - {code}:
        assert person.token(code=secret)[0] == 400
    for secret in secrets - {refresh}:
        assert person.token("refresh_token", refresh_token=secret)[0] == 400
    for secret in secrets - {invitation}:
        assert person.enter(secret) == 403
    other = person.register(name="other")[1]["client_id"]
    assert person.renewed(answer, client_id=other)[0] == 400


def test_a_restart_forgets_nothing(person):
    code = person.code()
    invitation = person.server.invited()
    with InMemory() as again:
        person.server = again
        status, answer = person.token(code=code)
        assert (status, person.renewed(answer)[0]) == (200, 200)
        assert person.enter(invitation) == 303


def test_other_hosts_methods_and_long_bodies_are_refused_and_browsers_may_ask(person):
    for path in person.server.app.sign_in.endpoints:
        for host in ("evil.example", "pi.example.evil", "localhost", ""):
            assert person.status("GET", path, Host=host) == 421
        assert person.status("PUT", path) == 405
        is_page = path.startswith(("/authorize", "/day"))
        status, headers, _ = person.send("OPTIONS", path)
        assert status == (405 if is_page else 204)
        for name in ("origin", "headers"):
            assert headers.get(f"access-control-allow-{name}") == (None if is_page else "*")
    assert person.status("POST", "/token", b"x=" + b"y" * 20_000) == 413
    assert "access-control-allow-origin" not in person.server.send(LIST)[1]


def test_fifty_registrations_leave_nothing_behind(person):
    before = sorted(person.server.state.iterdir())
    assert len({person.register()[1]["client_id"] for _ in range(50)}) == 1
    assert sorted(person.server.state.iterdir()) == before


DOCUMENT = "https://client.example/mcp.json"


@pytest.fixture
def documents(monkeypatch):
    """The stand-in for fetching documents: it finds a good one at any address."""
    document = {"client_id": DOCUMENT, "client_name": "Far", "redirect_uris": [BACK]}
    fetch = Mock(return_value=response(document))
    monkeypatch.setattr(sign_in.http, "send", fetch)
    return fetch


def response(document):
    return http.Response(200, {}, json.dumps(document).encode())


def test_a_client_may_be_the_address_of_its_document(person, documents):
    person.client_id = DOCUMENT
    assert "<b>client.example</b>" in person.page()[2]
    assert person.signed_in()["access_token"]
    assert person.server.ledger.entries()[0]["label"] == "Far"
    _, limits = documents.call_args.args
    assert (limits.redirects, limits.body_bytes) == (0, 65_536)
    assert limits.deadline < time.monotonic() + 6
    documents.assert_called_once()
    assert person.enter(person.server.invited(), redirect_uri="https://evil.example/") == 400


def test_a_strangers_documents_are_never_fetched(person, documents):
    """Slow ones would keep people from signing in, also while an invitation is open."""
    code = person.server.invited()
    for number in range(40):
        strange = f"{DOCUMENT}{number}"
        assert person.page(client_id=strange)[0] == 200
        assert person.enter("ABCDEFGH", client_id=strange) == 403
    documents.assert_not_called()
    assert person.enter(code, client_id=DOCUMENT) == 303


OTHER_DOCUMENTS = [
    response({"client_id": "https://client.example/other", "redirect_uris": [BACK]}),
    response({"client_id": DOCUMENT, "redirect_uris": ["javascript:x"]}),
    response({"client_id": DOCUMENT}),
    response([]),
    response({}),
    http.Late("no answer in time"),
    http.TooLong(10**6),
]


def test_another_document_is_refused_and_the_invitation_is_not_spent(person, documents):
    code = person.server.invited()
    documents.side_effect = OTHER_DOCUMENTS
    for answer in OTHER_DOCUMENTS:
        assert person.enter(code, client_id=DOCUMENT) == 400, answer
    documents.side_effect = None
    assert person.enter(code, client_id=DOCUMENT) == 303


PRIVATE = """127.0.0.1/client 192.168.1.1/client localhost/client 169.254.169.254/client client.example
client.example/ x:99999/client""".split()
ODD = "[::1]/client a@b.example/c client.example/#x client.example/\u00e9".split()


def test_no_document_is_fetched_from_this_network_or_an_odd_address(person, monkeypatch):
    monkeypatch.setattr(http.TimedSocket, "connect", lambda *_: pytest.fail("connected"))
    code = person.server.invited()
    assert {person.enter(code, client_id=f"https://{address}") for address in PRIVATE} == {400}
    assert {person.enter(code, client_id=f"https://{address}") for address in ODD} == {401}
