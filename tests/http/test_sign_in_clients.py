"""Sign-in by the SDK's own client against a real server process: by registration, and by a document of the
client."""

import functools
import http.server
import json
import ssl
from contextlib import contextmanager
from urllib.parse import urlsplit

import anyio
import httpx2
import pytest
from mcp.client import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.auth.oauth2 import AuthorizationCodeResult
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata

from tests.http.test_sign_in import query_of
from tests.support.client import SERVE, TIMEOUT_S, finished
from tests.support.http_server import HttpServer
from tests.support.web import started

pytestmark = pytest.mark.slow

BACK = "http://localhost:3030/callback"
OPEN_GUARD = "from tools.core import http\n\nhttp.is_foreign = lambda address: True\n"


class Stored:
    """What a client keeps of a sign-in."""

    tokens = client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


def person(server, url):
    """Open the page and type the code. Returns the query of the address that the person is sent to."""
    parts = urlsplit(url)
    place = f"{parts.path}?{parts.query}"
    assert server.status(b"", method="GET", path=place) == 200
    code = server.invited(scope="onepercent:read server")
    status, headers, page = server.send(f"code={code}".encode(), path=place)
    assert (status, headers["location"].split("?")[0]) == (303, BACK), page
    return query_of(headers)


def session(server, stored, return_query, document=None, mode="auto"):
    """A client's session with the server, signed in as `stored` says, or by the person: `return_query` then
    gets the query of the address that the person came back to."""

    async def redirect(url):
        return_query.update(await anyio.to_thread.run_sync(person, server, url))

    async def callback():
        return AuthorizationCodeResult(
            code=return_query["code"], state=return_query["state"], iss=return_query["iss"]
        )

    metadata = OAuthClientMetadata(
        redirect_uris=[BACK], client_name="SDK", token_endpoint_auth_method="none"
    )
    provider = OAuthClientProvider(
        server.url, metadata, stored, redirect, callback, client_metadata_url=document
    )

    async def run():
        async with httpx2.AsyncClient(auth=provider) as web:
            streams = streamable_http_client(server.url, http_client=web)
            async with Client(streams, mode=mode) as client:
                with anyio.fail_after(TIMEOUT_S):
                    await use(client)

    async def use(client):
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert "get_user_snapshot" in names and "apply_actions" not in names
        old_tokens = stored.tokens
        provider.context.token_expiry_time = 1  # over, as far as the client knows
        greeting = await client.call_tool("greet", {"name": "Ada"})
        assert "Ada" in greeting.content[0].text
        assert stored.tokens.refresh_token != old_tokens.refresh_token, "nothing was renewed"

    anyio.run(run)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_sdks_client_signs_in_renews_and_is_shut_out_at_once(mode):
    with HttpServer() as server:
        stored = Stored()
        return_query = {}
        session(server, stored, return_query, mode=mode)
        server.process.kill()
        server.process.wait(TIMEOUT_S)
        server.start()
        return_query.clear()
        session(server, stored, return_query, mode=mode)
        assert not return_query, "nobody was to be asked again"
        [row] = server.ledger.entries()
        assert (row["user"], row["label"]) == ("anna", "SDK")
        server.ledger.revoke(row["id"])
        assert server.listed(stored.tokens.access_token) == 401
        session(server, stored, return_query, mode=mode)
        assert return_query, "the person was to be asked again"
        assert "Traceback" not in server.log()


@contextmanager
def serving(folder):
    """Serve the files of a folder over https on this machine; yields the origin."""
    command = """openssl req -x509 -days 2 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -subj /CN=localhost
    -addext subjectAltName=DNS:localhost"""
    finished(command.split(), cwd=folder, check=True)
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    files = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    files.socket = context.wrap_socket(files.socket, server_side=True)
    with started(files):
        yield f"https://localhost:{files.server_port}"


def test_a_client_that_is_a_document_signs_in(tmp_path):
    """Only the guard of public addresses is changed for this test."""
    (tmp_path / "open_guard.py").write_text(OPEN_GUARD, "utf-8")
    with serving(tmp_path) as origin:
        document = f"{origin}/client.json"
        back = ["http://localhost/callback"]
        described = {"client_id": document, "client_name": "Far", "redirect_uris": back}
        (tmp_path / "client.json").write_text(json.dumps(described))
        trusted = {"SSL_CERT_FILE": str(tmp_path / "cert.pem")}
        command = [*SERVE, str(tmp_path / "open_guard.py"), "tools.server.open_guard", "--http"]
        with HttpServer(command, **trusted) as server:
            stored = Stored()
            session(server, stored, {}, document)
            assert stored.client.client_id == document
            assert server.ledger.entries()[0]["label"] == "Far"
