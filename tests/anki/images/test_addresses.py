"""Telling addresses of the public internet from one's own."""

import json
import os
import subprocess
import sys

import pytest

from tools.anki.images import addresses

OWN = "2600:9000:1234::5"
SERVE_AND_FETCH = f"""
import http.server, json, socket, threading
from tools.anki.images import download

class Six(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6

server = Six(("::", 0), http.server.SimpleHTTPRequestHandler)
threading.Thread(target=server.serve_forever, daemon=True).start()
told = {{}}
for host in {json.dumps([OWN, "2600:9000:1234::77", "2600:9000:9999::1", "93.184.216.34", "93.184.217.1"])}:
    url = f"http://[{{host}}]" if ":" in host else f"http://{{host}}"
    try:
        download.TIMEOUT_S = 1
        told[host] = len(download.fetch(f"{{url}}:{{server.server_port}}/"))
    except download.ImageError as error:
        told[host] = error.code
print(json.dumps(told))
"""


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "93.184.216.34", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_public_addresses_are_public(address):
    assert addresses.public(address)
    assert addresses.foreign(address)


def test_a_public_address_of_this_machine_or_its_network_is_not_fetched_from():
    """In a network of its own, with an IPv6 address as every device at home has one, and an IPv4 one as a server has."""
    script = f"ip link set lo up && ip addr add {OWN}/64 dev lo nodad && ip -6 route add 2600:9000:1234::/64 dev lo && ip addr add 93.184.216.34/24 dev lo"
    command = [
        "unshare",
        *([] if os.geteuid() == 0 else ["--map-root-user"]),
        "--net",
        "sh",
        "-c",
        f'{script} || exit 77; exec "$0" -c "$1"',
        sys.executable,
        SERVE_AND_FETCH,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip(f"no network namespaces here: {done.stderr.strip()[:200]}")

    assert json.loads(done.stdout) == {
        OWN: "PRIVATE_ADDRESS",
        "2600:9000:1234::77": "PRIVATE_ADDRESS",
        "2600:9000:9999::1": "DOWNLOAD_FAILED",
        "93.184.216.34": "PRIVATE_ADDRESS",
        "93.184.217.1": "DOWNLOAD_FAILED",
    }, done.stderr


def test_a_tunnel_that_leads_everywhere_is_not_a_network_of_ones_own(tmp_path, monkeypatch):
    head = "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\n"
    everywhere = "tun0 00000000 00000000 0001 0 0 0 00000080 0 0 0\n"  # 0.0.0.0/1
    neighbours = "eth0 00D8B85D 00000000 0001 0 0 0 00FFFFFF 0 0 0\n"  # 93.184.216.0/24
    (tmp_path / "route").write_text(head + everywhere + neighbours)
    monkeypatch.setattr(addresses, "ROUTES", tmp_path)

    assert addresses.foreign("8.8.8.8")
    assert not addresses.foreign("93.184.216.99")
