"""The HTTP client: whole answers in time, or an error that says what happened."""

import re
import socket
import socketserver
import threading
import time
from contextlib import ExitStack, nullcontext
from unittest.mock import Mock

import pytest

from tests.support.client import cases
from tests.support.web import started
from tools.core import http
from tools.core.http import Bounds, HttpError, Late, Misdirected, NotHttp, Request, TooLong

OK = b"HTTP/1.1 200 OK\r\n"
SOON_S = 0.2
FAR_S = 60


class Peer(socketserver.ThreadingTCPServer):
    """Answers each request with `reply`: bytes, or a function of the connection and the request."""

    daemon_threads = True

    def __init__(self, reply, address=("127.0.0.1", 0)):
        if isinstance(address, str):
            self.address_family = socket.AF_UNIX
        super().__init__(address, None)
        self.reply = reply
        self.requests = []
        self.closing = threading.Event()

    def finish_request(self, connection, _):
        request = connection.recv(65536)
        length = re.search(rb"Content-Length: (\d{1,5})\r\n", request)
        while length and len(request.partition(b"\r\n\r\n")[2]) < int(length[1]):
            request += connection.recv(65536)
        if request:
            self.requests.append(request)
            if isinstance(self.reply, bytes):
                connection.sendall(self.reply)
            else:
                self.reply(connection, request)

    def handle_error(self, *_):
        """A client that hangs up."""


@pytest.fixture
def peer():
    """A function that starts a peer on the loopback, or at a path, and returns its address; `peer.last` is
    that peer."""
    with ExitStack() as peers:

        def start(*arguments):
            start.last = Peer(*arguments)
            peers.enter_context(started(start.last))
            peers.callback(start.last.closing.set)
            return f"http://127.0.0.1:{start.last.server_address[1]}"

        yield start


def bounds(seconds=FAR_S, **others):
    return Bounds(time.monotonic() + seconds, body_bytes=100_000, **others)


def fails(error, *request, match=None, **bounded):
    """The error that a request ends with."""
    with pytest.raises(error, match=match) as caught:
        http.send(Request(*request), bounds(**bounded))
    return caught.value


def body(text, *headers):
    return b"\r\n".join([OK.rstrip(), b"Content-Length: %d" % len(text), *headers, b"", text])


def test_a_request_goes_out_whole_and_the_answer_comes_back_whole(peer):
    url = peer(body(b'{"a": 1}', b"Content-Type: application/json"))

    response = http.send(Request(f"{url}/ж?q=a b", "POST", b"{}", {"X-One": "1"}), bounds())

    assert (response.status, response.body) == (200, b'{"a": 1}')
    assert response.headers.get_content_type() == "application/json"
    [request] = peer.last.requests
    assert request.startswith(b"POST /%D0%B6?q=a%20b HTTP/1.1\r\nHost: 127.0.0.1:")
    assert b"X-One: 1\r\n" in request
    assert b"Connection: close\r\n" in request


def test_a_socket_of_this_machine_is_spoken_to_by_its_path(peer, tmp_path):
    peer(body(b"here"), f"{tmp_path}/anki.sock")

    assert http.send(Request(f"unix:{tmp_path}/anki.sock", "POST", b"{}"), bounds()).body == b"here"
    assert peer.last.requests[0].startswith(b"POST / HTTP/1.1\r\nHost: localhost\r\n")


@pytest.mark.parametrize("url", ["http://127.0.0.1:{port}", "unix:{folder}/none.sock"])
def test_where_nothing_listens_nothing_is_sent(url, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

    address = url.format(port=port, folder=tmp_path)
    assert not fails(HttpError, address, match="nothing listens there").was_sent


@pytest.mark.parametrize(
    "answer",
    [
        OK + b"Content-Length: 500\r\n\r\n" + b"x" * 26,
        OK + b"Content-Length: 500\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n1a\r\n" + b"x" * 26 + b"\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\nff\r\n" + b"x" * 26,
        b"",
    ],
)
def test_half_an_answer_is_an_error(peer, answer):
    assert fails(HttpError, peer(answer), match="cut before the whole answer").was_sent


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"secret " * 9000,
        b"HTTP/1.1 abc\r\n\r\n",
        OK + b"X: y\r\n" * 200 + b"\r\n",
    ],
)
def test_what_does_not_speak_http_is_reported_and_not_quoted(peer, answer):
    assert str(fails(NotHttp, peer(answer))) == "what answers there does not speak HTTP"


@pytest.mark.parametrize("start", [b"", OK + b"X-Long: ", OK + b"Content-Length: 500\r\n\r\n"])
def test_dripping_ends_at_the_deadline_wherever_it_drips(peer, start):
    def drip(connection, _):
        connection.sendall(start)
        while not peer.last.closing.wait(0.05):
            connection.sendall(b"x")

    assert fails(Late, peer(drip), seconds=SOON_S).was_sent


def test_a_peer_that_only_listens_is_given_up_at_the_deadline(peer):
    url = peer(lambda *_: peer.last.closing.wait())
    assert fails(Late, url, "POST", bytes(50_000_000), seconds=SOON_S).was_sent
    secure = peer(peer.last.reply).replace("http:", "https:")
    assert not fails(Late, secure, seconds=SOON_S).was_sent


def test_a_name_lookup_that_hangs_ends_at_the_deadline(monkeypatch):
    done = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: done.wait() and [])

    error = fails(Late, "http://slow.example/", seconds=SOON_S)
    done.set()
    assert not error.was_sent


def test_a_wrong_address_is_reported():
    for url in ("http://no-such-host.invalid/", "http://a..b/", "http://h:x/"):
        assert not fails(HttpError, url, match=r"proper|no such host|looked up").was_sent


def test_a_body_beyond_the_limit_is_given_up_as_soon_as_that_is_known(peer):
    def pour(connection, _):
        connection.sendall(OK + b"\r\n")
        while True:
            connection.sendall(bytes(65536))

    for head in (b"", b"Content-Length: 100000\r\n"):
        answer = OK + head + b"\r\n" + bytes(100_000)
        assert len(http.send(Request(peer(answer)), bounds()).body) == 100_000
    for answer in (OK + b"Content-Length: 999999999\r\n\r\n", OK + b"\r\n" + bytes(100_001)):
        fails(TooLong, peer(answer))
    assert fails(TooLong, peer(pour)).size_bytes < 200_000


def moving(peer, locations):
    """A peer that answers `/` and every `/N` with the redirects of `locations`, and then with its last
    request."""

    def reply(connection, request):
        path = request.split(b" ")[1].decode()
        if path in locations:
            status, location = locations[path]
            connection.sendall(f"HTTP/1.1 {status} Moved\r\nLocation: {location}\r\n\r\n".encode())
        else:
            connection.sendall(body(request))

    return peer(reply)


def test_redirects_are_followed_as_far_as_allowed(peer):
    url = moving(peer, {f"/{number}": (301 + number % 2, f"/{number + 1}") for number in range(5)})

    response = http.send(Request(f"{url}/0", "POST", b"{}"), bounds(redirects=5))

    assert response.body.startswith(b"POST /5 ")
    fails(Misdirected, f"{url}/0", match="more than 4 redirects", redirects=4)
    assert http.send(Request(f"{url}/0"), bounds()).status == 301


def test_a_redirect_to_what_is_not_a_web_address_is_refused(peer):
    locations = "file:///etc/passwd ftp://127.0.0.1:21/ http:// http://[::1 unix:/run/x".split()
    for location in locations:
        fails(Misdirected, f"{moving(peer, {'/': (302, location)})}/", redirects=5)


MOVES = """
http://h/ | https://h/ | stay
https://h/ | http://h/ | go
https://h/ | https://sub.h/ | go
https://h/ | https://h:444/ | go
https://h/ | https://h:443/ | stay
http://h:8080/ | https://h/ | go
"""


@pytest.mark.parametrize("before, after, keys", cases(MOVES))
def test_a_key_in_whatever_header_stays_on_its_origin(before, after, keys):
    headers = {"Authorization": "Bearer x", "X-Subscription-Token": "x", "Accept": "text/plain"}
    moved = Request(before, "POST", b"{}", headers).moved(307, after)
    assert len(moved.headers) == (3 if keys == "stay" else 1)
    assert moved.body == b"{}"


def test_a_host_outside_cannot_lead_to_a_machine_of_this_network(peer, monkeypatch):
    to_here = b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.2:1/\r\nContent-Length: 0\r\n\r\n"
    outside = peer(to_here)
    monkeypatch.setattr(http, "is_foreign", lambda address: address == "127.0.0.1")
    inside = "127.0.0.2 is on this machine or its network"
    fails(http.NotForeign, outside, match=inside, redirects=2)


def test_a_device_of_the_same_home_is_not_foreign_though_its_address_is_public(monkeypatch):
    """The first half of an IPv6 address is that of the home."""
    probe = Mock(getsockname=lambda: ("2a00:1:2:3::5", 0))
    monkeypatch.setattr(socket, "socket", lambda *_: nullcontext(probe))
    assert not http.is_foreign("2a00:1:2:3:9::9")
    assert http.is_foreign("2a00:1:2:4::5")


def test_no_address_of_a_host_is_connected_to_before_all_are_found_foreign(peer, monkeypatch):
    checked = []
    monkeypatch.setattr(http, "is_foreign", checked.append)
    inside = "127.0.0.1 is on this machine or its network"
    fails(http.NotForeign, peer(body(b"x")), match=inside, foreign_only=True)
    assert (checked, peer.last.requests) == (["127.0.0.1"], [])
