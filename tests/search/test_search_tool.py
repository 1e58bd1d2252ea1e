"""The search tool, against a real HTTP service."""

import base64
import json
import socket
import threading
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime

import pytest

from tools.core import registry, settings
from tools.core.health import CHECKS
from tools.search.settings import SearchSettings

PAGE = {
    "title": "n8n ChatGPT automation",
    "url": "https://community.n8n.io/t/12345",
    "snippet": "Готово",
    "score": 0.83,
}
KEY = "s3cret-key"


def search(**arguments):
    tool = registry.find("search", registry.listed(settings.current()).values())
    answer = tool.call(arguments)
    assert KEY not in json.dumps(answer)
    return answer


def test_it_posts_json_with_the_key_and_gives_back_the_requirements_shape(upstream):
    upstream.answers({"results": [PAGE], "nextCursor": "opaque-token"})
    assert search(query="  site:n8n.io ChatGPT ", limit=5) == {"results": [PAGE], "nextCursor": "opaque-token"}
    [(method, path, headers, body)] = upstream.seen
    assert (method, path) == ("POST", "/webhook/x")
    assert body == {"query": "site:n8n.io ChatGPT", "limit": 5}
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert headers["Content-Type"] == "application/json"


def test_a_cursor_is_passed_on_as_it_is(upstream):
    upstream.answers([])
    search(query="x", cursor=" opaque=&/ ")
    assert upstream.seen[0][3] == {"query": "x", "limit": 10, "cursor": " opaque=&/ "}


def test_get_sends_query_parameters_beside_those_of_the_address(upstream, env):
    env(SEARCH_API_METHOD="GET", SEARCH_API_URL=f"{upstream.url}/поиск?token=1")
    upstream.answers({"items": []})
    assert search(query="a&b ж", limit=2, cursor="c") == {"results": [], "nextCursor": None}
    method, path, headers, body = upstream.seen[0]
    assert (method, body) == ("GET", None)
    assert path == "/%D0%BF%D0%BE%D0%B8%D1%81%D0%BA?token=1&query=a%26b+%D0%B6&limit=2&cursor=c"
    assert headers["Authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    ("key", "header"),
    [("", None), ("abc", "Bearer abc"), ("Basic dTpw", "Basic dTpw"), ("Bearer t0ken", "Bearer t0ken")],
)
def test_the_key_becomes_a_header_once(upstream, env, key, header):
    env(SEARCH_API_KEY=key)
    upstream.answers([])
    search(query="x")
    assert upstream.seen[0][2]["Authorization"] == header


@pytest.mark.parametrize(
    ("answer", "cursor"),
    [
        ({"results": [PAGE]}, None),
        ({"items": [PAGE], "next_cursor": "n"}, "n"),
        ({"results": [PAGE], "nextCursor": None, "next_cursor": 7}, "7"),
        ([PAGE], None),
        ([{"results": [PAGE], "nextCursor": "n"}], "n"),
        ([{"items": [PAGE], "next_cursor": ""}], None),
    ],
)
def test_every_known_shape_of_answer_is_read(upstream, answer, cursor):
    upstream.answers(answer)
    assert search(query="x") == {"results": [PAGE], "nextCursor": cursor}


def test_known_fields_are_normalised_and_others_kept(upstream):
    sent = {"title": 7, "url": "not a url", "snippet": None, "content": {"a": 1}, "score": "0,5", "lang": ["de"]}
    kept = {"title": "7", "url": None, "snippet": None, "content": '{"a": 1}', "score": 0.5, "lang": ["de"]}
    upstream.answers([sent, "only text", None])
    assert search(query="x")["results"] == [kept, {"snippet": "only text"}]


@pytest.mark.parametrize(
    ("url", "read"),
    [
        (" https://example.org/a ", "https://example.org/a"),
        ("https://пример.рф/ж", "https://пример.рф/ж"),
        ("javascript:alert(1)", None),
        ("http://", None),
        ("http://[bad", None),
        ("http://host:99999/", None),
        ("http://a b/", None),
        (7, None),
    ],
)
def test_a_bad_url_becomes_null(upstream, url, read):
    upstream.answers([{"url": url}])
    assert search(query="x")["results"] == [{"url": read}]


@pytest.mark.parametrize(("score", "read"), [("0.5", 0.5), (1, 1.0), (True, None), ("high", None), ([], None)])
def test_a_score_is_a_number_or_null(upstream, score, read):
    upstream.answers([{"score": score}])
    assert search(query="x")["results"] == [{"score": read}]


def test_numbers_json_cannot_tell_become_null(upstream):
    upstream.answers('[{"score": NaN, "other": [1e999, -Infinity]}]')
    assert search(query="x")["results"] == [{"score": None, "other": [None, None]}]


def test_a_service_that_ignores_the_limit_is_cut_to_it(upstream):
    upstream.answers([PAGE] * 10)
    answer = search(query="x", limit=3)
    assert len(answer["results"]) == 3
    assert answer["omitted"] == 7


def test_ten_results_are_asked_for_and_shown_unless_told_otherwise(upstream):
    upstream.answers([PAGE] * 30)
    assert len(search(query="x")["results"]) == 10
    assert upstream.seen[0][3]["limit"] == 10
    assert len(search(query="x", limit=30)["results"]) == 30


def test_an_answer_of_megabytes_is_cut_to_what_a_model_can_read(upstream):
    upstream.answers([{**PAGE, "content": "ж" * 90_000, "more": ["y" * 50_000]} for _ in range(6)])
    answer = search(query="x")
    assert len(json.dumps(answer["results"], ensure_ascii=False).encode()) <= 100_000
    assert len(answer["results"]) == 6
    assert all(result["content"].endswith("ж…") and len(result["content"]) > 1000 for result in answer["results"])
    assert all(result["url"] == PAGE["url"] for result in answer["results"])


def test_a_long_page_that_fits_stays_whole(upstream):
    upstream.answers([{"content": "x" * 90_000}, PAGE])
    assert search(query="x")["results"] == [{"content": "x" * 90_000}, PAGE]


def test_what_cannot_be_cut_is_left_out_and_counted(upstream):
    upstream.answers([PAGE, {"title": "b", "vector": [0.123456789] * 20_000}])
    assert search(query="x") == {"results": [PAGE], "nextCursor": None, "omitted": 1}


def test_without_an_address_it_says_how_to_set_one_up(env):
    env(SEARCH_API_URL="")
    answer = search(query="x")
    assert answer["code"] == "SEARCH_NOT_CONFIGURED"
    assert "SEARCH_API_URL" in answer["hint"]


def test_a_blank_query_never_leaves(upstream):
    assert search(query="  ")["code"] == "INVALID_ARGUMENTS"
    assert upstream.seen == []


def test_nothing_that_listens_is_unreachable(env):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        env(SEARCH_API_URL=f"http://127.0.0.1:{free.getsockname()[1]}/", SEARCH_API_KEY=KEY)
        assert search(query="x")["code"] == "SEARCH_UNREACHABLE"


@pytest.mark.parametrize(
    ("status", "body", "code", "words"),
    [
        (401, "{}", "SEARCH_UNAUTHORIZED", "401"),
        (403, '{"message": "no s3cret-key"}', "SEARCH_UNAUTHORIZED", "no ***"),
        (404, '{"error": {"message": "not registered"}}', "SEARCH_REFUSED", "not registered"),
        (429, "", "RATE_LIMITED", "429"),
        (500, "<html>s3cret-key</html>", "SEARCH_FAILED", "500"),
        (304, "", "SEARCH_REFUSED", "304"),
    ],
)
def test_a_refusal_is_told_by_its_status(upstream, status, body, code, words):
    upstream.answers(body, status)
    answer = search(query="x")
    assert (answer["code"], answer["success"]) == (code, False)
    assert words in answer["error"]
    assert answer["hint"]


IN_AN_HOUR = format_datetime(datetime.now(timezone.utc) + timedelta(hours=1))


@pytest.mark.parametrize("wait", ["30", IN_AN_HOUR, "soon"], ids=["seconds", "a date", "a word"])
def test_retry_after_is_passed_on(upstream, wait):
    upstream.answers("", 429, Retry_After=wait)
    answer = search(query="x")
    assert answer["code"] == "RATE_LIMITED"
    assert {"30": answer.get("retry_after") == 30, "soon": "retry_after" not in answer}.get(
        wait, 0 < answer.get("retry_after", 0) <= 3600
    )


@pytest.mark.parametrize("body", ["<!doctype html><title>Login</title>", "", "{", "[" * 100_000, "1" * 5000])
def test_what_is_no_json_is_told(upstream, body):
    upstream.answers(body)
    assert search(query="x")["code"] == "SEARCH_NOT_JSON"


@pytest.mark.parametrize("body", [{"message": "Workflow was started"}, {}, 7, {"results": {"a": 1}}, None])
def test_json_without_results_is_told(upstream, body):
    upstream.answers(body)
    answer = search(query="x")
    assert answer["code"] == "SEARCH_NO_RESULTS"
    assert "started" in answer["error"] or not isinstance(body, dict) or "message" not in body


def test_an_echoed_key_is_hidden_everywhere(upstream):
    upstream.answers({"results": [{"title": f"Bearer {KEY}", f"x-{KEY}": [KEY]}], "nextCursor": KEY})
    assert search(query="x")["results"] == [{"title": "Bearer ***", "x-***": ["***"]}]


@pytest.mark.parametrize("around", ["", "a", "ab", "abc"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_a_key_echoed_in_base64_is_hidden(upstream, env, around, encode):
    env(SEARCH_API_KEY="k+/3y?>~k=")
    echo = encode(f"{around}k+/3y?>~k={around}".encode()).decode()
    upstream.answers([{"title": f"Authorization: {echo}"}])
    [result] = search(query="x")["results"]
    shown = result["title"].removeprefix("Authorization: ")
    assert "***" in shown
    assert len(shown.replace("***", "")) <= 2 * len(around) + 4


@pytest.mark.parametrize("echo", ["k%2B%2F3y%3F%3E~k%3D", "k%2b/3y%3f%3e~k%3d", "%6B%2B%2F%33%79%3F%3E%7E%6B%3D"])
def test_a_key_echoed_percent_encoded_is_hidden(upstream, env, echo):
    env(SEARCH_API_KEY="Bearer k+/3y?>~k=")
    upstream.answers([{"url": f"https://example.org/?key={echo}&x=1"}])
    assert search(query="x")["results"] == [{"url": "https://example.org/?key=***&x=1"}]


def test_a_key_is_hidden_as_often_as_it_is_echoed(upstream):
    upstream.answers([{"title": f"{KEY} and {KEY}"}])
    assert search(query="x")["results"] == [{"title": "*** and ***"}]


@pytest.mark.parametrize(("size", "code"), [(4 * 2**20 + 1, "SEARCH_ANSWER_TOO_LONG"), (4 * 2**20, "SEARCH_NOT_JSON")])
def test_four_mebibytes_are_read_and_not_a_byte_more(upstream, size, code):
    upstream.answers(" " * size)
    assert search(query="x")["code"] == code


def test_an_endless_body_is_given_up(upstream):
    def endless(handler):
        handler.send_response(200)
        handler.end_headers()
        while True:
            handler.wfile.write(b" " * 65536)

    upstream.reply = endless
    assert search(query="x")["code"] == "SEARCH_ANSWER_TOO_LONG"


@pytest.mark.parametrize("start", [b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\n\r\n["])
def test_a_service_that_drips_is_cut_at_the_deadline(upstream, env, start):
    env(SEARCH_API_TIMEOUT="1")
    gone = threading.Event()

    def drip(handler):
        handler.wfile.write(start)
        while not gone.wait(0.1):
            handler.wfile.write(b"X" if start.count(b"\r\n") == 1 else b" " if start else b"")

    upstream.reply = drip
    assert search(query="x")["code"] == "SEARCH_TIMEOUT"
    gone.set()


def test_a_connection_that_is_cut_is_told(upstream):
    upstream.reply = lambda handler: handler.connection.shutdown(socket.SHUT_RDWR)
    assert search(query="x")["code"] == "SEARCH_CUT"


def test_a_body_that_is_cut_is_not_the_address_s_fault(upstream):
    def cut(handler):
        handler.send(200, b'{"results": [{"title": "a"', {"Content-Length": 500})
        handler.close_connection = True

    upstream.reply = cut
    answer = search(query="x")
    assert answer["code"] == "SEARCH_CUT"
    assert "cut after 26 of 500 bytes" in answer["error"]
    assert "SEARCH_API_URL" not in answer["hint"]


def test_what_speaks_no_http_is_unreachable(upstream):
    upstream.reply = lambda handler: handler.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n")
    assert search(query="x")["code"] == "SEARCH_UNREACHABLE"


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_on_the_same_host_repeats_the_request_with_the_key(upstream, status):
    def reply(handler):
        moved = handler.path != "/moved"
        handler.send(status if moved else 200, b"[]", {"Location": "/moved"} if moved else {})

    upstream.reply = reply
    assert search(query="x") == {"results": [], "nextCursor": None}
    method, path, headers, body = upstream.seen[1]
    assert (method, path, body) == ("POST", "/moved", {"query": "x", "limit": 10})
    assert headers["Authorization"] == f"Bearer {KEY}"


def test_303_is_followed_by_a_get(upstream):
    upstream.reply = lambda handler: handler.send(303 if handler.command == "POST" else 200, b"[]", {"Location": "/r"})
    assert search(query="x")["results"] == []
    assert upstream.seen[1][0] == "GET"


def test_a_redirect_never_carries_the_key_to_another_host_nor_back(upstream, service):
    other = service()
    other.reply = lambda handler: handler.send(307, b"", {"Location": f"{upstream.url}/back"})

    def reply(handler):
        back = handler.path == "/back"
        handler.send(200 if back else 307, b"[]", {} if back else {"Location": f"{other.url}/x"})

    upstream.reply = reply
    search(query="x")
    assert other.seen[0][2]["Authorization"] is None
    assert upstream.seen[1][2]["Authorization"] is None


def test_a_401_after_losing_the_key_says_why(upstream, service):
    other = service()
    other.answers("", 401)
    upstream.answers("", 302, Location=f"{other.url}/x")
    assert "redirect" in search(query="x")["hint"]


@pytest.mark.parametrize("location", ["file:///etc/passwd", "ftp://127.0.0.1/", "/webhook/x", "http://"])
def test_redirects_that_lead_nowhere_end(upstream, location):
    upstream.answers("", 302, Location=location)
    assert search(query="x")["code"] == "SEARCH_REDIRECT"


@pytest.mark.parametrize("key", ["ключ", "a\r\nX-Evil: 1"])
def test_a_key_that_fits_no_header_is_refused_without_showing_it(key):
    with pytest.raises(settings.SettingsError, match="SEARCH_API_KEY") as caught:
        settings.load({"SEARCH_API_KEY": key}, SearchSettings)
    assert key not in str(caught.value)


def test_the_check_names_host_and_method_and_no_secret(upstream):
    health = CHECKS["search"]()
    assert health.state == "ok"
    assert KEY not in health.summary
    assert "webhook" not in health.summary


def test_the_check_says_when_nothing_is_set_up():
    assert CHECKS["search"]().state == "unset"
