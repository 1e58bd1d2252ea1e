"""Images from the web: never from this machine or its network, never endless."""

import json
import os
import socket
import sys

import pytest

from tests.anki.anki_helpers import png
from tests.support.client import cases, finished
from tests.support.web import dripping, endless, redirect
from tools.anki.images import pictures
from tools.anki.images.image_bytes import ImageError
from tools.core.http import TimedSocket, is_foreign

OWN = "2600:9000:1234::5"
SERVE_AND_FETCH = f"""
import http.server, json, socket, threading
from tools.anki.images import pictures

class Six(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6

server = Six(("::", 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
told = {{}}
for host in {json.dumps([OWN, "2600:9000:1234::77", "2600:9000:9999::1", "93.184.216.34", "93.184.217.1"])}:
    url = f"http://[{{host}}]" if ":" in host else f"http://{{host}}"
    try:
        pictures.DOWNLOAD_TIMEOUT_S = 1
        told[host] = len(pictures.fetch(f"{{url}}:{{server.server_port}}/"))
    except pictures.ImageError as error:
        told[host] = error.code
print(json.dumps(told))
"""


@pytest.fixture
def names(monkeypatch):
    """Host names and the addresses they resolve to, in turn."""
    addresses_of = {}
    real = socket.getaddrinfo

    def look_up(host, port, *args, **more):
        if host not in addresses_of:
            return real(host, port, *args, **more)
        addresses = addresses_of[host].pop(0)
        return [place for address in addresses for place in real(address, port, *args, **more)]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return addresses_of


def test_an_image_is_fetched(web, private_allowed):
    web.pages["/a%20b.png?size=1&x=%C3%A9"] = png()

    assert pictures.fetch(web.url("/a b.png?size=1&x=é").replace(" ", "%20")) == png()
    assert "Origin" not in web.seen[0][1]


PRIVATE = """
127.0.0.1 localhost 127.1 2130706433 0x7f000001 0.0.0.0 [::1] [::] [::ffff:127.0.0.1]
10.0.0.1 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 224.0.0.1 255.255.255.255
[fe80::1] [fc00::1] [ff02::1] [2002:7f00:1::] [64:ff9b::7f00:1] [2001:db8::1]
[fec0::1] [::127.0.0.1] [2001:0:4136:e378:8000:63bf:80ff:fffe]
"""


@pytest.mark.parametrize("host", PRIVATE.split())
def test_no_private_address_is_reached(env, monkeypatch, host):
    monkeypatch.setattr(TimedSocket, "connect", lambda *_: pytest.fail("connected"))

    with pytest.raises(ImageError, match="on this machine or its network"):
        pictures.fetch(f"http://{host}:8765/a.png")


def test_public_addresses_are_public():
    assert all(
        map(is_foreign, ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
    )


def test_a_name_with_one_private_address_is_refused(names, web):
    names["evil.example"] = [["93.184.216.34", "127.0.0.1"]]

    with pytest.raises(ImageError, match=r"evil\.example is on this machine"):
        pictures.fetch(web.url("/a.png", "evil.example"))
    assert web.seen == []


def test_a_name_is_resolved_once_its_checked_address_connected_to_and_a_redirect_checked_alike(
    names, web, monkeypatch
):
    addresses = []
    connect = socket.socket.connect
    monkeypatch.setattr(
        TimedSocket,
        "connect",
        lambda self, address: addresses.append(address) or connect(self, web.server_address),
    )
    names["rebind.example"] = [["93.184.216.34"], ["127.0.0.1"]]
    names["public.example"] = [["93.184.216.34"]]
    web.pages |= {"/a.png": png(), "/b.png": redirect("http://169.254.169.254/latest")}

    assert pictures.fetch(web.url("/a.png", "rebind.example")) == png()
    with pytest.raises(ImageError, match=r"169\.254\.169\.254 is on this machine"):
        pictures.fetch(web.url("/b.png", "public.example"))

    port = web.server_address[1]
    assert addresses == [("93.184.216.34", port)] * 2
    assert names["rebind.example"] == [["127.0.0.1"]]
    assert web.seen[0][1]["Host"] == f"rebind.example:{port}"


FAILED = """
/endless | over the limit of 100000
/dripping | no answer in time
/loop | more than 5 redirects
/none | HTTP 404
"""


@pytest.mark.parametrize("path, words", cases(FAILED))
def test_a_body_without_an_end_is_cut_at_the_limit_or_the_deadline(
    web, private_allowed, env, monkeypatch, path, words
):
    """The limits themselves are held by tests/core/test_http.py, as are redirects and bad addresses."""
    env(IMAGE_MAX_BYTES=100_000)
    if path == "/dripping":
        monkeypatch.setattr(pictures, "DOWNLOAD_TIMEOUT_S", 1)
    web.pages |= {"/endless": endless, "/dripping": dripping, "/loop": redirect("/loop")}

    with pytest.raises(ImageError, match=words):
        pictures.fetch(web.url(path))


@pytest.mark.slow
def test_a_public_address_of_this_machine_or_its_network_is_not_fetched_from():
    """In a network of its own, with an IPv6 address as every device at home has one, and an IPv4 one as a
    server has."""
    script = (
        "ip link set lo up"
        f" && ip addr add {OWN}/64 dev lo nodad"
        " && ip -6 route add 2600:9000:1234::/64 dev lo"
        " && ip addr add 93.184.216.34/24 dev lo"
    )
    root = [] if os.geteuid() == 0 else ["--map-root-user"]
    shell = ["sh", "-c", f'{script} || exit 77; exec "$0" -c "$1"', sys.executable, SERVE_AND_FETCH]
    command = ["unshare", *root, "--net", *shell]
    done = finished(command)
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip(f"no network namespaces here: {done.stderr.strip()[:200]}")

    assert json.loads(done.stdout) == {
        OWN: "PRIVATE_ADDRESS",
        "2600:9000:1234::77": "PRIVATE_ADDRESS",
        "2600:9000:9999::1": "DOWNLOAD_FAILED",
        "93.184.216.34": "PRIVATE_ADDRESS",
        "93.184.217.1": "DOWNLOAD_FAILED",
    }, done.stderr
