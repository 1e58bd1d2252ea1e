"""Images from the web: never from this machine or its network, never endless."""

import socket
import ssl
import threading

import pytest

from tests.anki.anki_images import dripping, endless, png, redirect, serving
from tools.anki.images import download
from tools.anki.images.image_bytes import ImageError
from tools.core.connections import TimedSocket


@pytest.fixture
def web(env):
    with serving() as one:
        yield one


@pytest.fixture
def private_allowed(env):
    env(IMAGE_ALLOW_PRIVATE=1)


@pytest.fixture
def names(monkeypatch):
    """Host names and the addresses they resolve to, in turn."""
    known, asked = {}, []
    real = socket.getaddrinfo

    def look_up(host, port, *args, **more):
        if host not in known:
            return real(host, port, *args, **more)
        asked.append(host)
        addresses = known[host].pop(0) if len(known[host]) > 1 else known[host][0]
        return [one for address in addresses for one in real(address, port, *args, **more)]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    known["asked"] = asked
    return known


def arriving_at(web, monkeypatch):
    """Let every connection end at the web server; gives the list of where they were meant to go."""
    meant, real = [], socket.socket.connect

    def connect(self, address):
        meant.append(address)
        real(self, web.server_address)

    monkeypatch.setattr(TimedSocket, "connect", connect)
    return meant


def test_an_image_is_fetched(web, private_allowed):
    web.pages["/a%20b.png?size=1&x=%C3%A9"] = png()

    assert download.fetch(web.url("/a b.png?size=1&x=é").replace(" ", "%20")) == png()
    assert "Origin" not in web.seen[0][1]


PRIVATE = [
    "127.0.0.1", "localhost", "127.1", "2130706433", "0x7f000001", "0.0.0.0", "[::1]", "[::]", "[::ffff:127.0.0.1]",
    "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "224.0.0.1", "255.255.255.255",
    "[fe80::1]", "[fc00::1]", "[ff02::1]", "[2002:7f00:1::]", "[64:ff9b::7f00:1]", "[2001:db8::1]",
    "[fec0::1]", "[::127.0.0.1]", "[2001:0:4136:e378:8000:63bf:80ff:fffe]",
]  # fmt: skip


@pytest.mark.parametrize("host", PRIVATE)
def test_no_private_address_is_reached(env, monkeypatch, host):
    monkeypatch.setattr(TimedSocket, "connect", lambda *_: pytest.fail("connected"))

    with pytest.raises(ImageError, match="on this machine or its network"):
        download.fetch(f"http://{host}:8765/a.png")


def test_a_name_that_resolves_to_a_private_address_is_refused(names, web):
    names["evil.example"] = [["127.0.0.1"]]

    with pytest.raises(ImageError, match=r"evil\.example is on this machine"):
        download.fetch(web.url("/a.png", "evil.example"))
    assert web.seen == []


def test_one_private_address_among_public_ones_spoils_a_name(names, web):
    names["mixed.example"] = [["93.184.216.34", "127.0.0.1"]]

    with pytest.raises(ImageError, match="on this machine"):
        download.fetch(web.url("/a.png", "mixed.example"))


def test_a_name_is_resolved_once_and_the_checked_address_is_connected_to(names, web, monkeypatch):
    names["rebind.example"] = [["93.184.216.34"], ["127.0.0.1"]]
    connected = arriving_at(web, monkeypatch)
    web.pages["/a.png"] = png()

    assert download.fetch(web.url("/a.png", "rebind.example")) == png()
    port = web.server_address[1]
    assert connected == [("93.184.216.34", port)]
    assert names["asked"] == ["rebind.example"]
    assert web.seen[0][1]["Host"] == f"rebind.example:{port}"


def test_a_redirect_is_checked_like_the_first_address(names, web, monkeypatch):
    names["public.example"] = [["93.184.216.34"]]
    arriving_at(web, monkeypatch)
    web.pages["/a.png"] = redirect("http://169.254.169.254/latest")

    with pytest.raises(ImageError, match=r"169\.254\.169\.254 is on this machine"):
        download.fetch(web.url("/a.png", "public.example"))


@pytest.mark.parametrize(
    "location", ["file:///etc/passwd", "ftp://example.com/a", "gopher://127.0.0.1/", "data:image/png,x", "unix:/run/x"]
)
def test_a_redirect_to_another_scheme_is_refused(web, private_allowed, location):
    web.pages["/a.png"] = redirect(location)

    with pytest.raises(ImageError, match="not an http"):
        download.fetch(web.url("/a.png"))


def test_five_redirects_are_followed_and_a_sixth_is_not(web, private_allowed):
    for number in range(5):
        web.pages[f"/{number}"] = redirect(f"/{number + 1}", 301 + number % 3)
    web.pages["/5"] = png()
    web.pages["/loop"] = redirect("/loop")

    assert download.fetch(web.url("/0")) == png()
    with pytest.raises(ImageError, match="more than 5 redirects"):
        download.fetch(web.url("/loop"))
    assert len(web.seen) == 12


def test_an_endless_body_stops_at_the_limit(web, private_allowed, env):
    env(IMAGE_MAX_BYTES=100_000)
    web.pages["/a.png"] = endless

    with pytest.raises(ImageError, match="over the limit of 100000"):
        download.fetch(web.url("/a.png"))


def test_an_announced_size_over_the_limit_is_not_read(web, private_allowed, env):
    def page(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", "999999999")
        handler.end_headers()

    web.pages["/a.png"] = page

    with pytest.raises(ImageError, match="999999999 bytes"):
        download.fetch(web.url("/a.png"))


def test_a_body_that_drips_is_cut_at_the_deadline(web, private_allowed, monkeypatch):
    monkeypatch.setattr(download, "TIMEOUT_S", 0.4)
    web.pages["/a.png"] = dripping

    with pytest.raises(ImageError, match="no answer within"):
        download.fetch(web.url("/a.png"))


def test_garbage_is_not_quoted(private_allowed):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=_answer_garbage, args=(listener,))
        thread.start()
        with pytest.raises(ImageError) as caught:
            download.fetch(f"http://127.0.0.1:{listener.getsockname()[1]}/a.png")
        thread.join()
    assert "does not speak HTTP" in caught.value.message
    assert "secret" not in caught.value.message


def _answer_garbage(listener):
    connection, _ = listener.accept()
    with connection:
        connection.recv(65536)
        connection.sendall(b"secret " * 9000)


def test_a_body_shorter_than_announced_is_refused(web, private_allowed):
    def page(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", "5000")
        handler.end_headers()
        handler.wfile.write(png())

    web.pages["/a.png"] = page

    with pytest.raises(ImageError, match="could not be downloaded"):
        download.fetch(web.url("/a.png"))


@pytest.mark.parametrize(
    "url",
    ["http://", "http:///a", "http://[::1", "http://a:99999/", "http://exa mple.com/", "http://a\r\nb/", "//x/y", ""],
)
def test_what_is_no_address_is_a_clear_error(env, url):
    with pytest.raises(ImageError):
        download.fetch(url)


def test_an_http_error_is_told(web, private_allowed):
    with pytest.raises(ImageError, match="HTTP 404"):
        download.fetch(web.url("/none.png"))


def test_https_checks_the_name_it_was_asked_for(names, private_allowed, tmp_path, monkeypatch):
    certificate, key = _certificate(tmp_path, "pictures.example")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    names["pictures.example"] = names["other.example"] = [["127.0.0.1"]]
    with serving() as web:
        web.pages["/a.png"] = png()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        web.socket = context.wrap_socket(web.socket, server_side=True)
        port = web.server_address[1]

        assert download.fetch(f"https://pictures.example:{port}/a.png") == png()
        with pytest.raises(ImageError, match="certificate"):
            download.fetch(f"https://other.example:{port}/a.png")


def _certificate(folder, name):
    """A certificate for a name that signs itself."""
    import datetime

    x509 = pytest.importorskip("cryptography.x509", reason="cryptography is not installed")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.timezone.utc)
    made = (
        x509.CertificateBuilder(subject, subject, key.public_key(), 1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    (folder / "cert.pem").write_bytes(made.public_bytes(pem))
    (folder / "key.pem").write_bytes(
        key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return folder / "cert.pem", folder / "key.pem"
