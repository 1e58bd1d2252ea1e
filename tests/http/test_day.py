"""The page of the days on a phone: who is let in, what a cookie may do, and those who try without one."""

import gzip
import json
import re
from urllib.parse import urlencode

import pytest

from tests.http.test_sign_in import ahead, full_disk, kept_bytes, lose_races
from tests.support.client import LIST, messages, rpc
from tests.support.http_memory import InMemory
from tests.support.http_server import StatusOnly
from tools.__main__ import main
from tools.http.day import ALLOWED_CALLS, CALL_PATH, COOKIE
from tools.http.ledger import Ledger
from tools.http.sign_in import SignIn

URL = "https://pi.example/mcp"
ORIGIN = "https://pi.example"
DAY_S = 86_400
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
HOST = {"Host": "pi.example"}
BROWSER = {**HOST, "Origin": ORIGIN}
TICK = {"action": "habit.mark_completed", "id": 1}


class Phone(StatusOnly):
    """A browser that keeps the cookie of the page."""

    def __init__(self, server):
        self.server = server
        self.cookie = None

    def send(self, method, body=b"", path="/day", **headers):
        pairs = {**BROWSER, "Cookie": self.cookie and f"a=b; {COOKIE}={self.cookie}", **headers}
        return self.server.send(body, method=method, path=path, headers=pairs)

    def open(self, method="GET", body=b"", **headers):
        """Status, headers and text of the page or the form; the cookie is kept."""
        status, headers, body = self.send(method, body, **{"Origin": None, **headers})
        if cookie := re.match(rf"{COOKIE}=([^;]+); (.*)", headers.get("set-cookie", "")):
            self.cookie, self.rules = cookie.groups()
        if headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        return status, headers, body.decode()

    def is_in(self):
        """True if it shows the page."""
        status, _, text = self.open()
        return status == 200 and not is_form(text)

    def is_out(self):
        """True if it shows the form for a code, and the page's calls are refused."""
        return is_form(self.open()[2]) and self.ask()[0] == 401

    def type(self, code, **headers):
        form = urlencode({"code": code}).encode()
        return self.open("POST", form, **{"Origin": ORIGIN, **FORM, **headers})

    def signed_in(self, **invitation):
        assert self.enter(self.server.invited(**invitation)) == 303
        return self

    def ask(self, tool="get_user_snapshot", method="tools/call", **arguments):
        """The status and the result of a call by the page."""
        params = {"name": tool, "arguments": arguments}
        status, headers, body = self.send("POST", rpc(method, params), CALL_PATH)
        return status, messages(headers, body)[-1].get("result")

    def tick(self, **changes):
        """The answer to a press of the first habit's box."""
        key = self.ask()[1]["_meta"].get("pi-mcp/press", "")
        _, result = self.ask("tick_by_press", **{**TICK, "press_key": key, **changes})
        return result["structuredContent"]


@pytest.fixture
def server(env):
    env(MCP_HTTP_URL=URL, ONEPERCENT_TZ="UTC", MCP_HTTP_RATE=100_000)
    with InMemory() as running:
        yield running


@pytest.fixture
def phone(server):
    return Phone(server)


def has_habit(server):
    """Create a habit of the person."""
    server.do(server.token(scope="onepercent"), "habit.create", name="Run")


def is_form(text):
    return 'name="code"' in text


def test_an_invitation_lets_a_phone_in_and_the_cookie_ticks_and_is_listed_among_the_tokens(
    phone, capsys
):
    has_habit(phone.server)
    assert phone.is_out()
    code = phone.server.invited()
    status, headers, _ = phone.type(f" {code[:4].lower()}-{code[4:]} ")
    assert (status, headers["location"]) == (303, "/day")
    assert phone.rules == f"Max-Age={60 * DAY_S}; Path=/day; HttpOnly; SameSite=Strict; Secure"
    assert phone.is_in()
    assert phone.tick()["success"]
    _, snapshot = phone.ask()
    assert snapshot["_meta"]["pi-mcp/days"]["habits"][0]["signs"][-1] == "+"
    assert main(["token", "list"]) == 0
    row = r"anna +onepercent server:read +/day .*, renewed while it is used"
    assert re.search(row, capsys.readouterr().out)


def test_over_plain_http_on_this_machine_the_cookie_is_not_secure(env):
    env(MCP_HTTP_URL="http://127.0.0.1:8422/mcp")
    with InMemory() as server:
        phone = Phone(server)
        here = {"Host": "127.0.0.1:8422", "Origin": "http://127.0.0.1:8422"}
        assert phone.enter(phone.server.invited(), **here) == 303
        assert phone.rules.endswith("SameSite=Strict")


def test_the_page_is_small_cannot_be_framed_and_runs_nothing_but_its_own_scripts(phone):
    for page in ("form", "page"):
        status, headers, body = phone.send("GET", Origin=None)
        assert (status, headers["x-frame-options"]) == (200, "DENY"), page
        assert len(body) <= 20_000
        policy = headers["content-security-policy"]
        for rule in ("frame-ancestors 'none'", "default-src 'none'", "script-src 'sha256-"):
            assert rule in policy and "unsafe" not in policy
        assert headers["cache-control"] == "no-store"
        assert headers["referrer-policy"] == "same-origin", "else browsers hide the form's origin"
        phone.signed_in()
    text = gzip.decompress(body).decode()
    assert text.count("<script>") == 2
    assert "http-equiv" not in text, "the page's own policy allows no connection"


def test_the_home_screen_gets_a_name_and_a_picture(phone):
    _, _, text = phone.open()
    [manifest] = re.findall('rel="manifest" href="([^"]+)"', text)
    _, headers, body = phone.send("GET", path=manifest, Origin=None)
    app = json.loads(body)
    assert headers["content-type"] == "application/manifest+json"
    assert (app["start_url"], app["scope"], app["display"]) == ("/day", "/day", "standalone")
    for icon in [app["icons"][0]["src"], *re.findall('icon" href="([^"]+)"', text)]:
        _, headers, body = phone.send("GET", path=icon, Origin=None)
        assert (headers["content-type"], body[:4]) == ("image/png", b"\x89PNG")


def test_a_wrong_used_or_late_code_lets_nobody_in(phone, monkeypatch):
    used = phone.server.invited()
    late = phone.server.invited()
    assert phone.enter(used) == 303
    phone.cookie = None
    for code in ("ABCDEFGH", "", used, "x" * 9000):
        status, headers, text = phone.type(code)
        assert (status, is_form(text), "set-cookie" in headers) == (403, True, False)
        assert "x" * 21 not in text
    ahead(monkeypatch, 601)
    assert phone.enter(late) == 403
    assert phone.is_out()


def test_an_invitation_to_something_else_says_so_and_is_not_used_up(phone):
    code = phone.server.invited(scope="klipper server")
    status, _, text = phone.type(code)
    assert (status, "not for OnePercent" in text) == (403, True)
    assert phone.server.ledger.grant_of("invitation", code)
    assert phone.server.ledger.spend("invitation", code) is None


def test_the_page_makes_two_calls_and_no_other(phone):
    phone.signed_in(scope="onepercent server klipper anki search")
    tools = "apply_actions preview_actions apply_by_press undo_last greet search_docs".split()
    for name in [*tools, "", [], {}, None, 1, ["get_user_snapshot"]]:
        assert phone.ask(name)[0] == 403, name
    methods = "tools/list prompts/list resources/list initialize notifications/cancelled".split()
    for method in methods:
        assert phone.ask(method=method)[0] == 403, method
    assert {name for _, name in ALLOWED_CALLS} == {"get_user_snapshot", "tick_by_press"}
    assert phone.ask()[0] == 200


def test_a_mark_needs_the_key_of_the_page_and_a_readers_page_has_none(phone):
    has_habit(phone.server)
    phone.signed_in()
    for key in ("", "x", "0" * 64):
        assert phone.tick(press_key=key)["code"] == "NOT_PRESSED"
    phone.signed_in(scope="onepercent:read")
    status, snapshot = phone.ask()
    assert (status, "pi-mcp/press" in snapshot["_meta"]) == (200, False)
    assert phone.tick()["code"] == "UNKNOWN_TOOL"


LOOK = rpc("tools/call", {"name": "get_user_snapshot"})
FOREIGN = """https://evil.example https://pi.example.evil https://pi.example:8443 http://pi.example
http://127.0.0.1:8422 http://[ null""".split()


def test_what_another_page_sends_is_refused_with_the_cookie_and_with_a_code(phone):
    phone.signed_in()
    code = phone.server.invited()
    cookie = phone.cookie
    for origin in [*FOREIGN, None]:
        assert phone.status("POST", LOOK, CALL_PATH, Origin=origin) == 403, origin
        assert phone.enter(code, Origin=origin) == 403, origin
    assert phone.cookie == cookie
    assert phone.enter(code) == 303


def test_another_host_method_or_kind_of_body_is_refused(phone):
    phone.signed_in()
    assert phone.status("POST", LOOK, CALL_PATH, Host="evil.example") == 421
    assert phone.status("GET", path=CALL_PATH) == 405
    assert phone.status("POST", LOOK, CALL_PATH, **FORM) == 400
    assert phone.status("POST", b"x" * (4 * 2**20 + 1), CALL_PATH) == 413
    assert phone.status("POST", LOOK, CALL_PATH) == 200
    for path in "/day/ /day/x /daylight /day/call/ /day/../mcp".split():
        assert phone.status("GET", path=path) == 404, path


def test_no_secret_serves_in_anothers_place_or_is_written_down(phone, caplog):
    cookie = phone.signed_in().cookie
    invitation = phone.server.invited()
    token = phone.server.token()
    for secret in (cookie, invitation):
        assert phone.server.listed(secret, headers=HOST) == 401
    for secret in (token, invitation, "", "x", cookie[:-1], f"{cookie}x"):
        phone.cookie = secret
        assert phone.is_out()
    phone.cookie = None
    assert phone.status("POST", LIST, CALL_PATH, Authorization=f"Bearer {token}") == 401
    fields = {"grant_type": "refresh_token", "refresh_token": cookie, "client_id": f"{ORIGIN}/x"}
    assert phone.status("POST", urlencode(fields).encode(), "/token", **FORM) == 400
    assert cookie.encode() not in kept_bytes(phone.server)
    assert cookie not in caplog.text


def test_a_revoked_cookie_is_out_at_once_and_a_rotation_ends_all(phone):
    stolen = phone.signed_in().cookie
    other = Phone(phone.server).signed_in(user="ben")
    [row] = [row for row in phone.server.ledger.entries() if row["user"] == "anna"]
    assert main(["token", "revoke", row["id"]]) == 0
    assert phone.is_out() and phone.cookie == stolen
    assert other.ask()[0] == 200
    assert main(["token", "rotate"]) == 0
    assert other.is_out()


def test_a_cookie_lasts_while_it_is_used_and_no_longer(phone, monkeypatch):
    phone.signed_in(days=1)
    for _ in range(3):
        ahead(monkeypatch, DAY_S + 3600)
        phone.rules = ""
        assert phone.is_in()
        assert f"Max-Age={2 * DAY_S}" in phone.rules
    assert len(phone.server.ledger.entries()) == 1
    ahead(monkeypatch, 2 * DAY_S + 1)
    assert phone.is_out()


def test_a_full_disk_uses_up_no_invitation_and_keeps_nobody_from_looking(phone):
    invitation = phone.server.invited()
    phone.signed_in()
    with full_disk(phone.server):
        status, _, text = phone.type(invitation)
        assert (status, "disk" in text) == (503, True)
        status, _, text = phone.open()
        assert (status, is_form(text), "</script>" in text) == (200, False, True)
        assert phone.ask()[0] == 200
    assert phone.enter(invitation) == 303


def test_two_phones_with_one_code_are_one(phone, monkeypatch):
    """Two servers of one state folder: both have looked the code up, then the other one is faster."""
    invitation = phone.server.invited()
    lose_races(phone.server, monkeypatch)
    assert phone.enter(invitation) == 403
    assert not phone.server.ledger.entries()


@pytest.fixture
def limited(env):
    """A phone that is signed in, and may send three requests at once."""
    env(MCP_HTTP_URL=URL, MCP_HTTP_RATE=6)
    with InMemory() as server:
        yield Phone(server).signed_in()


def test_the_rate_is_the_persons_own_with_all_their_devices(limited):
    assert [limited.ask()[0] for _ in range(4)] == [200, 200, 200, 429]
    assert limited.server.listed(limited.server.token(), headers=HOST) == 429


def test_a_port_that_the_scheme_has_anyway_is_not_expected_from_browsers(tmp_path):
    sign_in = SignIn("https://Pi.example:443/mcp", Ledger(tmp_path), tmp_path)
    assert (sign_in.host, sign_in.issuer) == ("pi.example", "https://pi.example")


def test_looking_at_the_page_counts_as_a_request_and_is_kept_once_a_day(limited, monkeypatch):
    limited.rules = ""
    assert [limited.open()[0] for _ in range(4)] == [200, 200, 200, 429]
    assert limited.rules == ""
    other = Phone(limited.server).signed_in(user="ben")
    ahead(monkeypatch, DAY_S + 60)
    other.rules = ""
    assert (other.open()[0], "Max-Age" in other.rules) == (200, True)


def test_where_onepercent_is_not_offered_there_is_no_such_page(env):
    env(MCP_HTTP_URL=URL, MCP_TOOLSETS="klipper")
    with InMemory() as server:
        assert Phone(server).open()[0] == 404


def test_cookies_of_others_beside_it_do_no_harm(phone):
    cookie = phone.signed_in().cookie
    for before in (f"x-{COOKIE}=other; ", f"{COOKIE}=of-another-path; ", "monday=1; ", ""):
        line = f"{before}{COOKIE}={cookie}; x=eA"
        assert not is_form(phone.open(Cookie=line)[2])
    for line in (f"x{COOKIE}={cookie}", COOKIE, ";;;", "\xff" * 100):
        assert is_form(phone.open(Cookie=line)[2])
