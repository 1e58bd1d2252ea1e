"""Caddy and nginx in front, with TLS and the configuration of docs/remote.md; skips where they are not
installed."""

import getpass
import os
import re
import shutil
import socket
import ssl
import subprocess
from contextlib import contextmanager

import pytest

from tests.http.test_day import Phone, has_habit
from tests.support.client import PROJECT, TIMEOUT_S, rpc
from tests.support.http_server import TEST_SERVER, HttpServer
from tests.support.services import free_port, is_listening, wait_until

pytestmark = pytest.mark.slow

PATH = os.environ["PATH"] + ":/usr/sbin"
PROGRAMS = {name: shutil.which(name, path=PATH) for name in ("caddy", "nginx", "openssl")}
NAME = "pi.example"
CADDY_HERE = "{\n admin off\n local_certs\n skip_install_trust\n auto_https disable_redirects\n https_port %d\n}\n"
NGINX_HERE = """daemon off; user %(user)s; pid %(folder)s/pid; error_log stderr; worker_processes 1;
events {}
http {
access_log off;
client_body_temp_path %(folder)s/body; proxy_temp_path %(folder)s/proxy; fastcgi_temp_path %(folder)s/fastcgi;
uwsgi_temp_path %(folder)s/uwsgi; scgi_temp_path %(folder)s/scgi;
%(config)s
}
"""


class Proxied(HttpServer):
    """The server, spoken to through what listens for TLS at `tls_port`; without one directly."""

    tls_port = None

    def connection(self):
        connection = super().connection()
        if self.tls_port:
            context = ssl.create_default_context()
            # Each made its own just now.
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
            raw = socket.create_connection(("127.0.0.1", self.tls_port), timeout=TIMEOUT_S)
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.sock = context.wrap_socket(raw, server_hostname=NAME)
        return connection

    def send(self, *words, headers=(), **options):
        return super().send(*words, headers={"Host": NAME, **dict(headers)}, **options)


def config(language, port):
    """The block of docs/remote.md, with the port that the server has here."""
    text = (PROJECT / "docs" / "remote.md").read_text("utf-8")
    [block] = re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return block.replace("8422", str(port))


def caddy(folder, port, tls_port):
    (folder / "Caddyfile").write_text(
        CADDY_HERE % tls_port + config("caddyfile", port), encoding="utf-8"
    )
    return [PROGRAMS["caddy"], "run"]


def nginx(folder, port, tls_port):
    make = f"openssl req -x509 -newkey rsa:2048 -nodes -subj /CN={NAME} -days 1"
    words = f"{make} -keyout privkey.pem -out fullchain.pem".split()
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    text = config("nginx", port).replace("listen 443", f"listen 127.0.0.1:{tls_port}")
    text = re.sub(r"/etc/\S+/(\w+\.pem)", rf"{folder}/\1", text)
    (folder / "nginx.conf").write_text(
        NGINX_HERE % {"folder": folder, "config": text, "user": getpass.getuser()}, encoding="utf-8"
    )
    return [PROGRAMS["nginx"], "-c", str(folder / "nginx.conf"), "-p", str(folder)]


@contextmanager
def running(command, folder, tls_port):
    with subprocess.Popen(command, cwd=folder) as process:
        try:
            wait_until(lambda: is_listening(tls_port) or process.poll() is not None)
            assert process.poll() is None
            yield
        finally:
            process.terminate()


@pytest.fixture(params=[caddy, nginx])
def server(request, tmp_path, env, small_docs):
    program = request.param.__name__
    for needed in {program, "openssl"}:
        if not PROGRAMS[needed]:
            pytest.skip(f"{needed} is not installed")
    small_docs({"Bed_Mesh.md": "# Bed Mesh\n\nThe mesh.\n"})
    env(XDG_DATA_HOME=tmp_path / "caddy")
    with Proxied(
        TEST_SERVER, MCP_HTTP_URL=f"https://{NAME}/mcp", ONEPERCENT_RATE_LIMIT="off"
    ) as server:
        server.url = f"https://{NAME}/mcp"
        tls_port = free_port()
        with running(request.param(tmp_path, server.port, tls_port), tmp_path, tls_port):
            server.tls_port = tls_port
            yield server


def test_the_page_of_the_days_lets_a_phone_in_and_marks_through_it(server):
    has_habit(server)
    phone = Phone(server).signed_in()
    assert phone.rules.endswith("; Secure")
    assert 'name="code"' not in phone.open()[1]
    assert phone.tick()["success"]


def test_everything_works_through_it(server):
    token = server.token(scope="server onepercent klipper anki")
    assert server.ask("tools/list", token=token)["result"]["tools"]
    assert "Ann" in server.call("greet", token=token, name="Ann")["content"][0]["text"]
    page = server.call("read_doc", token=token, path="Bed_Mesh.md")
    assert page["structuredContent"]["title"] == "Bed Mesh"
    refusal = server.call("greet", token=token, name="x", nam="y" * 3_500_000)
    assert refusal["structuredContent"]["code"]


def test_refusals_come_through(server):
    foreign = {"Origin": "https://evil.example"}
    for status, token, options in ((401, None, {}), (403, server.token(), {"headers": foreign})):
        assert server.send(rpc("tools/list", {}), token=token, **options)[0] == status
