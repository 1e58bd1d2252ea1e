"""The HTTP client: whole answers in time, or an error that says what happened."""

import re
import socket
import threading
import time

import pytest

from tools.core import http
from tools.core.http import HttpError, Late, Limits, Misdirected, NotHttp, Request, TooLong

OK = b"HTTP/1.1 200 OK\r\n"
SOON_S = 0.4
FAR_S = 60


class Peer:
    """A listener that hands each connection, with the request read, to `reply(connection, request)`."""

    def __init__(self, listener, reply):
        self.listener, self.reply, self.requests = listener, reply, []
        self.closing = threading.Event()
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self):
        while not self.closing.is_set():
            connection, _ = self.listener.accept()
            with connection:
                try:
                    self._answer(connection)
                except OSError:
                    continue

    def _answer(self, connection):
        request = connection.recv(65536)
        length = re.search(rb"Content-Length: (\d{1,5})\r\n", request)
        while length and len(request.partition(b"\r\n\r\n")[2]) < int(length[1]):
            request += connection.recv(65536)
        self.requests.append(request)
        if not self.closing.is_set():
            self.reply(connection, request)

    def drip(self, connection, byte=b"x"):
        """Send a byte now and then until the other side, or the test, has enough."""
        while not self.closing.wait(0.05):
            connection.sendall(byte)

    def close(self):
        self.closing.set()
        with socket.socket(self.listener.family) as last:
            last.connect(self.listener.getsockname())
        self.thread.join()
        self.listener.close()


@pytest.fixture
def peer():
    """A function that starts a peer on a loopback port and gives its address; `peer.last` is that peer."""
    started = []

    def start(reply, listener=None):
        if isinstance(reply, bytes):
            answer = reply
            reply = lambda connection, _: connection.sendall(answer)  # noqa: E731
        listener = listener or socket.create_server(("127.0.0.1", 0))
        start.last = Peer(listener, reply)
        started.append(start.last)
        return f"http://127.0.0.1:{listener.getsockname()[1]}" if listener.family == socket.AF_INET else ""

    yield start
    for one in started:
        one.close()


def limits(seconds=FAR_S, **more):
    return Limits(time.monotonic() + seconds, **{"body_bytes": 100_000, **more})


def body(text, *headers):
    return b"\r\n".join([OK.rstrip(), b"Content-Length: %d" % len(text), *headers, b"", text])


def test_a_request_goes_out_whole_and_the_answer_comes_back_whole(peer):
    url = peer(body(b'{"a": 1}', b"Content-Type: application/json"))

    response = http.send(Request(f"{url}/ж?q=a b", "POST", b"{}", {"X-One": "1"}), limits())

    assert (response.status, response.body) == (200, b'{"a": 1}')
    assert response.headers.get_content_type() == "application/json"
    [request] = peer.last.requests
    assert request.startswith(b"POST /%D0%B6?q=a%20b HTTP/1.1\r\nHost: 127.0.0.1:")
    assert b"X-One: 1\r\n" in request
    assert b"Connection: close\r\n" in request


def test_a_socket_of_this_machine_is_spoken_to_by_its_path(peer, tmp_path):
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "anki.sock"))
    listener.listen()
    peer(body(b"here"), listener)

    assert http.send(Request(f"unix:{tmp_path}/anki.sock", "POST", b"{}"), limits()).body == b"here"
    assert peer.last.requests[0].startswith(b"POST / HTTP/1.1\r\nHost: localhost\r\n")


@pytest.mark.parametrize("url", ["http://127.0.0.1:{port}", "unix:{folder}/none.sock"])
def test_where_nothing_listens_nothing_is_sent(url, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

    with pytest.raises(HttpError, match="nothing listens there") as caught:
        http.send(Request(url.format(port=port, folder=tmp_path)), limits())
    assert not caught.value.sent


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (OK + b"Content-Length: 500\r\n\r\n" + b"x" * 26, "cut after 26 of 500 bytes"),
        (OK + b"Content-Length: 500\r\n\r\n", "cut after 0 of 500 bytes"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n1a\r\n" + b"x" * 26 + b"\r\n", "the answer was cut"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\nff\r\n" + b"x" * 26, "the answer was cut"),
        (b"", "cut before the whole answer"),
    ],
)
def test_half_an_answer_is_none(peer, answer, reason):
    with pytest.raises(HttpError, match=reason) as caught:
        http.send(Request(peer(answer)), limits())
    assert caught.value.sent


@pytest.mark.parametrize(
    "answer", [b"SSH-2.0-OpenSSH_9.2\r\n", b"secret " * 9000, b"HTTP/1.1 abc\r\n\r\n", OK + b"X: y\r\n" * 200 + b"\r\n"]
)
def test_what_speaks_no_http_is_told_and_not_quoted(peer, answer):
    with pytest.raises(NotHttp) as caught:
        http.send(Request(peer(answer)), limits())
    assert str(caught.value) == "what answers there does not speak HTTP"


@pytest.mark.parametrize(
    "start",
    [b"", b"HTTP/1.1 2", OK + b"X-Long: ", OK + b"\r\n", OK + b"Content-Length: 500\r\n\r\n"],
    ids=["status", "half a status", "headers", "body", "body of a length"],
)
def test_dripping_ends_at_the_deadline_wherever_it_drips(peer, start):
    def drip(connection, _):
        connection.sendall(start)
        peer.last.drip(connection)

    with pytest.raises(Late) as caught:
        http.send(Request(peer(drip)), limits(SOON_S))
    assert caught.value.sent


def test_silence_after_the_request_ends_at_the_deadline(peer):
    with pytest.raises(Late):
        http.send(Request(peer(lambda *_: peer.last.closing.wait())), limits(SOON_S))


def test_a_body_that_nobody_reads_ends_at_the_deadline(peer):
    with pytest.raises(Late):
        http.send(Request(peer(lambda *_: peer.last.closing.wait()), "POST", bytes(50_000_000)), limits(SOON_S))


def test_a_handshake_that_stalls_ends_at_the_deadline_with_nothing_sent(peer):
    url = peer(lambda *_: peer.last.closing.wait())

    with pytest.raises(Late) as caught:
        http.send(Request(url.replace("http:", "https:")), limits(SOON_S))
    assert not caught.value.sent


def test_a_handshake_that_drips_ends_at_the_deadline(peer):
    def drip(connection, _):
        connection.sendall(b"\x16\x03\x03\x40\x00")  # the head of a TLS record of 16 KiB
        peer.last.drip(connection)

    with pytest.raises(Late):
        http.send(Request(peer(drip).replace("http:", "https:")), limits(SOON_S))


def test_plain_text_behind_https_is_told(peer):
    with pytest.raises(HttpError) as caught:
        http.send(Request(peer(body(b"plain")).replace("http:", "https:")), limits())
    assert not caught.value.sent
    assert "TLS" in caught.value.reason


def test_a_name_lookup_that_hangs_ends_at_the_deadline(monkeypatch):
    done = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: done.wait() and [])

    with pytest.raises(Late) as caught:
        http.send(Request("http://slow.example/"), limits(SOON_S))
    done.set()
    assert not caught.value.sent


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://no-such-host.invalid/", "no such host|looked up"),
        ("http://a..b/", "proper|no such host|looked up"),
        ("http://h:x/", "proper"),
    ],
)
def test_a_wrong_address_is_told(url, reason):
    with pytest.raises(HttpError, match=reason) as caught:
        http.send(Request(url), limits())
    assert not caught.value.sent


def test_an_address_that_does_not_answer_leaves_time_for_the_next(peer, monkeypatch):
    url = peer(body(b"second"))
    port = peer.last.listener.getsockname()[1]
    real = socket.getaddrinfo
    with socket.create_server(("127.0.0.2", port), backlog=0) as full, socket.socket() as filler:
        filler.setblocking(False)
        filler.connect_ex(full.getsockname())  # its only place in the queue: later ones get no answer
        both = [one for host in ("127.0.0.2", "127.0.0.1") for one in real(host, port, type=socket.SOCK_STREAM)]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: both)

        assert http.send(Request(url.replace("127.0.0.1", "two.example")), limits(2)).body == b"second"


def test_an_announced_size_over_the_limit_is_not_read(peer):
    with pytest.raises(TooLong) as caught:
        http.send(Request(peer(OK + b"Content-Length: 999999999\r\n\r\n")), limits())
    assert caught.value.size_bytes == 999999999


@pytest.mark.parametrize("head", [b"", b"Content-Length: 100000\r\n"])
def test_a_body_of_just_the_limit_is_whole(peer, head):
    assert len(http.send(Request(peer(OK + head + b"\r\n" + bytes(100_000))), limits()).body) == 100_000


def test_a_byte_more_than_the_limit_is_too_much(peer):
    with pytest.raises(TooLong):
        http.send(Request(peer(OK + b"\r\n" + bytes(100_001))), limits())


def test_an_endless_body_stops_at_the_limit(peer):
    def pour(connection, _):
        connection.sendall(OK + b"\r\n")
        while True:
            connection.sendall(bytes(65536))

    with pytest.raises(TooLong) as caught:
        http.send(Request(peer(pour)), limits())
    assert caught.value.size_bytes < 200_000


@pytest.mark.parametrize(
    ("head", "said"),
    [(b"\r\n" + b"x" * 70_000, 70_000), (b"Content-Length: 500\r\n\r\ncut", 0), (b"Content-Length: 2\r\n\r\nno", 2)],
)
def test_a_refusal_is_an_answer_however_its_body_ends(peer, head, said):
    response = http.send(Request(peer(b"HTTP/1.1 503 Busy\r\n" + head)), limits())

    assert response.status == 503
    assert min(said, http.REFUSAL_BYTES) <= len(response.body) <= said


def moving(peer, locations):
    """A peer that answers `/` and every `/N` with the redirects of `locations`, and then with its last request."""

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

    response = http.send(Request(f"{url}/0", "POST", b"{}"), limits(redirects=5))

    assert response.body.startswith(b"POST /5 ")
    assert response.request.url == f"{url}/5"
    with pytest.raises(Misdirected, match="more than 4 redirects"):
        http.send(Request(f"{url}/0"), limits(redirects=4))


def test_a_redirect_is_an_answer_to_who_follows_none(peer):
    url = moving(peer, {"/": (302, "/1")})

    assert http.send(Request(f"{url}/"), limits()).status == 302


def test_303_is_followed_by_a_get(peer):
    url = moving(peer, {"/": (303, "/1")})

    found = http.send(Request(f"{url}/", "POST", b"{}", {"Content-Type": "application/json"}), limits(redirects=1)).body

    assert found.startswith(b"GET /1 ")
    assert b"Content-Type" not in found


@pytest.mark.parametrize(
    "location", ["file:///etc/passwd", "ftp://127.0.0.1:21/", "http://", "http://[::1", "unix:/run/x", "http://h:x/"]
)
def test_a_redirect_to_what_is_no_web_address_is_refused(peer, location):
    with pytest.raises(Misdirected):
        http.send(Request(f"{moving(peer, {'/': (302, location)})}/"), limits(redirects=5))


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        ("http://h/", "https://h/", True),
        ("https://h/", "http://h/", False),
        ("https://h/", "https://sub.h/", False),
        ("https://h/", "https://h:444/", False),
        ("https://h/", "https://h:443/", True),
        ("http://h:8080/", "https://h/", False),
    ],
)
def test_the_authorization_stays_on_its_origin(before, after, kept):
    moved = Request(before, "POST", b"{}", {"Authorization": "Bearer x"}).moved(307, after)

    assert ("Authorization" in moved.headers) is kept
    assert moved.body == b"{}"


def test_no_address_of_a_host_is_connected_to_before_all_are_admitted(peer):
    asked = []

    def admit(host, addresses):
        asked.append((host, addresses))
        raise PermissionError("not there")

    url = peer(body(b"x"))
    with pytest.raises(HttpError):
        http.send(Request(url), limits(admit=admit))
    assert asked == [("127.0.0.1", ["127.0.0.1"])]
    assert peer.last.requests == []
