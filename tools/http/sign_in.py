"""Sign-in for clients that take a URL and nothing else (claude.ai, ChatGPT, phones): OAuth 2.1 for one
household.

There are no accounts and no passwords: the person's proof is an invitation, eight characters that `python3 -m
tools invite` printed. Nothing is kept of a client: its id is its own description, signed (RFC 7591), or the
address of one. What it gets is a token like any other, renewed under one id, so `token revoke` ends all of
it.
"""

import asyncio
import json
import re
import secrets
import time
from base64 import b64encode
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from html import escape
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from tools.core import http
from tools.core.calls import READ_ONLY
from tools.core.json_types import JsonObject
from tools.core.places import toolsets
from tools.http import tokens
from tools.http.ledger import Ledger
from tools.http.limits import Rate

LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"  # of invitations: no two of them look alike
INVITATION_S, CODE_S, GRACE_S, DAY_S = 600, 60, 60, 86_400
CLIENT = "pi-mcp client"  # the issuer of client ids, which makes them no access tokens
LOOPBACK = r"http://(?:127\.0\.0\.1|localhost|\[::1\])"
# Visible ASCII without # and \, on https or this machine; no user, so the host is what it looks like.
REDIRECT = re.compile(
    rf'(?:https://[a-z0-9.-]+|{LOOPBACK})(?::\d+)?(?:[/?][!"$-\[\]-~]*)?', re.IGNORECASE | re.ASCII
)
LOOPBACK_PORT = re.compile(rf"^({LOOPBACK}):\d+")
HEADERS = {"cache-control": "no-store", "referrer-policy": "no-referrer"}
CORS = {**HEADERS, "access-control-allow-origin": "*", "access-control-allow-headers": "*"}
GRANTS = {"authorization_code": ("code", "code"), "refresh_token": ("refresh", "refresh_token")}
PAGE = Path(__file__).parent / "consent.html"  # its words, in each language, lie beside it


class Denied(Exception):
    """A request that is refused: OAuth's word for it, the reason, the status unless it is 400."""


Answer = tuple[int, dict[str, str], str]  # status, headers, body


class SignIn:
    """The endpoints at the root of the address `url`. `keys` gives the keys of the moment."""

    def __init__(self, url: str, ledger: Ledger, keys: Callable[[], tuple[bytes, ...]]):
        parts = urlsplit(url)
        self.url, self.ledger, self.keys = url, ledger, keys
        self.host, self.issuer = parts.netloc.lower(), f"{parts.scheme}://{parts.netloc}".lower()
        self.metadata_url = f"{self.issuer}/.well-known/oauth-protected-resource{parts.path.rstrip('/')}"
        self.tries, self.fetches = Rate(10, 5), Rate(60, 30)  # a minute, at once
        scopes = [word for name in toolsets() for word in (name, name + READ_ONLY)]
        resource = {"resource": url, "authorization_servers": [self.issuer], "scopes_supported": scopes}
        server = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "registration_endpoint": f"{self.issuer}/register",
            "response_types_supported": ["code"],
            "grant_types_supported": [*GRANTS],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "client_id_metadata_document_supported": True,
            "authorization_response_iss_parameter_supported": True,
        }
        self.endpoints: dict[str, dict[str, Callable[[JsonObject], Any]]] = {
            urlsplit(self.metadata_url).path: {"GET": lambda fields: resource},
            "/.well-known/oauth-protected-resource": {"GET": lambda fields: resource},  # RFC 9728
            "/.well-known/oauth-authorization-server": {"GET": lambda fields: server},  # RFC 8414
            "/register": {"POST": self.register},
            "/authorize": {"GET": self.ask, "POST": self.let_in},
            "/token": {"POST": self.give_token},
        }

    async def answer(
        self, method: str, path: str, headers: dict[str, str], query: bytes, body: bytes
    ) -> Answer:
        """The answer of the endpoint at `path`."""
        is_page, methods = path == "/authorize", self.endpoints[path]
        try:
            if headers.get("host", "").lower() != self.host:
                raise Denied("invalid_request", f"the host is not that of {self.url}", 421)
            if method == "OPTIONS" and not is_page:
                return 204, CORS, ""
            if method not in methods:
                raise Denied("invalid_request", "another method", 405)
            # The page sends what was typed to its own address, where the other fields are.
            fields = _json(body) if path == "/register" else {**_fields(query), **_fields(body)}
            if fields.get("resource", self.url) != self.url:
                raise Denied("invalid_target", f"this server is {self.url}")
            fields["lang"] = re.findall(r"\b(ru|en)\b", headers.get("accept-language", "") + " en")[0]
            status, answer = 201 if path == "/register" else 200, methods[method](fields)
            if is_page:
                return await answer  # type: ignore[no-any-return]
        except Denied as denied:
            error, reason, status = (*denied.args, 400)[:3]
            if is_page:
                return status, {**HEADERS, "content-type": "text/plain; charset=utf-8"}, f"{error}: {reason}"
            answer = {"error": error, "error_description": reason}
        return status, {**CORS, "content-type": "application/json"}, json.dumps(answer)

    def register(self, fields: JsonObject) -> JsonObject:
        """Make a client id (RFC 7591). It says all that is known of the client; nothing is stored."""
        name, redirects = _described(fields)
        known = {"client_name": name, "redirect_uris": redirects}
        client_id = tokens.sign({"iss": CLIENT, **known}, self.keys()[0])
        return {
            "client_id": client_id,
            **known,
            "grant_types": [*GRANTS],
            "token_endpoint_auth_method": "none",
        }

    async def ask(self, fields: dict[str, str], status: int = 200, problem: str = "") -> Answer:
        """The page that asks the person for the invitation's code. It runs nothing, nobody may frame it, and
        it leads here and to the client alone."""
        name, redirect = await self._checked(fields), urlsplit(fields["redirect_uri"])
        scope = {word for grant in self.ledger.open_invitations() for word in grant["scope"].split()}
        page = form(fields["lang"], name, redirect.netloc, scope, problem)
        style = b64encode(sha256(re.split("</?style>", page)[1].encode()).digest()).decode()
        origin = f"{redirect.scheme}://{redirect.netloc}"
        policy = f"default-src 'none'; style-src 'sha256-{style}'; form-action 'self' {origin}; frame-ancestors 'none'"
        kind = {
            "content-type": "text/html; charset=utf-8",
            "content-security-policy": f"{policy}; base-uri 'none'",
        }
        return status, {**HEADERS, **kind}, page

    async def let_in(self, fields: dict[str, str]) -> Answer:
        """Take the invitation's code, and send the person back with a code for the client."""
        name, redirect = await self._checked(fields), fields["redirect_uri"]
        if self.tries.wait_s():
            return await self.ask(fields, 429, "wait")  # the right code too: guessing learns nothing
        invitation = re.sub(r"[\s-]", "", fields.get("code", "")).upper()
        grant = self.ledger.grant_of("invitation", invitation)
        if not grant or self.ledger.spend("invitation", invitation) is not None:
            return await self.ask(fields, 403, "wrong")
        grant |= {name: fields[name] for name in ("client_id", "redirect_uri", "code_challenge")}
        grant |= {"token_id": secrets.token_hex(8), "label": name}
        code = self.ledger.make_secret("code", CODE_S, grant)
        state = {"state": fields["state"]} if "state" in fields else {}
        answer = urlencode({"code": code, **state, "iss": self.issuer})
        return 303, {**HEADERS, "location": f"{redirect}{'&' if '?' in redirect else '?'}{answer}"}, ""

    async def _checked(self, fields: dict[str, str]) -> str:
        """The name of the client of a good request for a code. What is wrong is told to the person: nobody is
        sent to an address that only the request names."""
        (name, uris), redirect = (
            await self._client(fields.get("client_id", "")),
            fields.get("redirect_uri", ""),
        )
        listed = {LOOPBACK_PORT.sub(r"\1", uri) for uri in uris}  # there the port is free (RFC 8252 7.3)
        if not REDIRECT.fullmatch(redirect) or LOOPBACK_PORT.sub(r"\1", redirect) not in listed:
            raise Denied("invalid_request", "the client does not name this redirect_uri as its own")
        if fields.get("response_type") != "code":
            raise Denied("unsupported_response_type", "response_type is not code")
        if fields.get("code_challenge_method") != "S256" or len(fields.get("code_challenge", "")) != 43:
            raise Denied("invalid_request", "the client sends no PKCE challenge (S256)")
        return name

    async def _client(self, client_id: str) -> tuple[str, list[str]]:
        """The name and redirects of a client: its id says them, or the document at that address. Raises
        Denied."""
        if client_id.startswith("https://"):
            if self.fetches.wait_s():
                raise Denied(
                    "temporarily_unavailable", "too many clients at once; try again in a minute", 429
                )
            return _described(await asyncio.to_thread(_fetched, client_id))
        with suppress(tokens.InvalidToken):
            claims = tokens.signed_claims(client_id, self.keys())
            if claims.get("iss") == CLIENT:
                return _described(claims)
        raise Denied("invalid_client", "the client is not registered; remove it there and add it again")

    def give_token(self, fields: dict[str, str]) -> JsonObject:
        """Exchange a code, or a refresh token, for an access token and the next refresh token."""
        kind, field = GRANTS.get(fields.get("grant_type", ""), ("", ""))
        if not kind:
            raise Denied("unsupported_grant_type", f"grant_type is not of {[*GRANTS]}")
        secret, proof = fields.get(field, ""), {"client_id": fields.get("client_id")}
        if kind == "code":
            proof["code_challenge"] = tokens.base64url(
                sha256(fields.get("code_verifier", "").encode()).digest()
            )
            proof["redirect_uri"] = fields.get("redirect_uri")
        grant = self.ledger.grant_of(kind, secret)
        if not grant or not proof.items() <= grant.items():
            raise Denied("invalid_grant", f"the {kind} is unknown, over, or another's")
        spent = self.ledger.spend(kind, secret)
        # A refresh token comes twice where two of a client's requests renew at once; after that it was
        # stolen.
        if spent is not None and (kind == "code" or time.time() - spent > GRACE_S):
            self.ledger.revoke(grant["token_id"])
        if self.ledger.is_revoked(grant["token_id"]):
            raise Denied(
                "invalid_grant", f"the sign-in was revoked, or the {kind} was used twice, which ends it"
            )
        lifetime_s = int(grant["days"] * DAY_S)
        claims = tokens.new_claims(grant["user"], grant["scope"].split(), self.url, lifetime_s)
        claims["jti"] = grant["token_id"]
        # The sign-in itself lasts twice as long: a client renews once its token is over.
        self.ledger.add({**claims, "exp": claims["exp"] + lifetime_s}, grant["label"])
        refresh = self.ledger.make_secret("refresh", 2 * lifetime_s, grant)
        access = {
            "access_token": tokens.sign(claims, self.keys()[0]),
            "token_type": "Bearer",
            "expires_in": lifetime_s,
        }
        return {**access, "refresh_token": refresh, "scope": grant["scope"]}


def invite(ledger: Ledger, user: str, scope: str, days: float) -> str:
    """The code of a new invitation."""
    code = "".join(secrets.choice(LETTERS) for _ in range(8))
    return ledger.make_secret("invitation", INVITATION_S, {"user": user, "scope": scope, "days": days}, code)


def form(lang: str, name: str, host: str, scope: set[str], problem: str = "") -> str:
    """The page for a client `name` that the person will be sent back to at `host`; `problem` is one of the
    words."""
    words = {"": "", **json.loads(PAGE.with_suffix(".json").read_text(encoding="utf-8"))[lang]}
    items = (word.partition(":") for word in sorted(scope))
    allowed = "".join(f"<li>{words[toolset]} {words[colon + read]}" for toolset, colon, read in items)
    may = (
        f"{words['may']}<ul>{allowed}</ul>"
        if scope
        else f"{words['invite']} <code>python3 -m tools invite</code>"
    )
    values = {"lang": lang, "name": escape(name), "host": escape(host), "may": may, "note": words[problem]}
    return Template(PAGE.read_text(encoding="utf-8")).substitute(words, **values)


def _fetched(url: str) -> JsonObject:
    """The client's document at an address of the public web. Raises Denied."""
    if not REDIRECT.fullmatch(url) or not urlsplit(url).path.strip("/"):
        raise Denied("invalid_client", "the client id is not the address of a document")
    limits = http.Limits(time.monotonic() + 5, 65_536, admit=_admit)
    try:
        response = http.send(http.Request(url, headers={"Accept": "application/json"}), limits)
    except (http.HttpError, ValueError) as error:
        raise Denied("invalid_client", f"the client's document cannot be read: {error}") from None
    document = _json(response.body) if response.status == 200 else {}
    if document.get("client_id") != url:
        raise Denied("invalid_client", "there is no document of this client at its address")
    return document


def _admit(host: str, addresses: list[str]) -> None:
    if not all(map(http.is_foreign, addresses)):
        raise http.HttpError(f"{host} is on this machine or its network", sent=False)


def _described(document: JsonObject) -> tuple[str, list[str]]:
    """A client's own name for itself, and where the person may be sent back to. Raises Denied."""
    redirects, name = document.get("redirect_uris"), document.get("client_name")
    uris = redirects if isinstance(redirects, list) else []
    if not 1 <= len(uris) <= 10 or not all(isinstance(uri, str) and REDIRECT.fullmatch(uri) for uri in uris):
        raise Denied("invalid_redirect_uri", "redirect_uris: one to ten, on https or on loopback")
    return "".join(filter(str.isprintable, name))[:60] if isinstance(name, str) else "?", uris


def _json(body: bytes) -> JsonObject:
    with suppress(ValueError, RecursionError):
        if isinstance(document := json.loads(body), dict):
            return document
    raise Denied("invalid_client_metadata", "that is not a JSON object")


def _fields(text: bytes) -> dict[str, str]:
    """The fields of a form, or of a query. Raises Denied."""
    with suppress(ValueError):
        pairs = parse_qsl(text.decode("ascii"), keep_blank_values=True, max_num_fields=30, errors="strict")
        if len(dict(pairs)) == len(pairs):
            return dict(pairs)
    raise Denied("invalid_request", "that is not a form, or a field is there twice")
