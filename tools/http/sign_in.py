"""Sign-in for clients that take only a URL (claude.ai, ChatGPT, phones): OAuth 2.1 for one household.

There are no accounts and no passwords: the person's proof is an invitation, eight characters that `python3 -m
tools invite` printed. Nothing is stored about a client: its id is its own description, signed (RFC 7591), or
the address of one. It gets a token like any other, renewed under one id, so `token revoke` ends all of it.
"""

import asyncio
import json
import re
import secrets
import sqlite3
import time
from base64 import b64encode
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from tools.core import http
from tools.core.calls import scopes
from tools.toolkit import JsonObject, filled

from . import tokens
from .ledger import Ledger

LETTERS = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"  # of invitations: no two of them look alike
# They cannot be guessed: ten thousand tries a second find one of 31^8 codes in ten minutes once in 140,000
# attacks. A limit on tries would lock the person out.
INVITATION_S = 600
CODE_S = 60
REUSE_GRACE_S = 60  # for which a refresh token may be sent again
DAY_S = 86_400
CLIENT_ISSUER = "pi-mcp client"  # of client ids, so that they are not access tokens
LOOPBACK = r"http://(?:127\.0\.0\.1|localhost|\[::1\])"
# The address of a client, or one to send the person back to: visible ASCII without # and \, on https or this
# machine; no user, so the host is what it looks like. In any case (i), with ASCII's letters and digits (a).
CLIENT_ADDRESS = rf'(?ai)(?:https://[a-z0-9.-]+|{LOOPBACK})(?::\d+)?(?:[/?][!"$-\[\]-~]*)?'
LOOPBACK_PORT = rf"^({LOOPBACK}):\d+"
PAGE_HEADERS = {"cache-control": "no-store", "referrer-policy": "same-origin"}
CORS = {**PAGE_HEADERS, "access-control-allow-origin": "*", "access-control-allow-headers": "*"}
POLICY = (
    "default-src 'none'; frame-ancestors 'none'; base-uri 'none'"
    "; connect-src 'self'; img-src 'self'; manifest-src 'self'"  # of the page of the days
)
# Each with the field of the secret that is exchanged for a token.
GRANT_TYPES = {"authorization_code": "code", "refresh_token": "refresh_token"}
SECRET_REFUSED = "the secret is unknown, expired, revoked, used twice, or of another client"
PAGES = ("/authorize", "/day")  # with what lies below them; everything else is JSON
PAGE_FILE = Path(__file__).parent / "consent.html"  # consent.json has its texts in each language
PLAIN_TEXT = "text/plain; charset=utf-8"


@dataclass
class Denied(Exception):
    """A request that is refused; `error` is OAuth's word for it."""

    error: str
    reason: str
    status: int = 400


Headers = dict[str, str]
FormFields = dict[str, str]  # of a form or a query
Reply = tuple[int, Headers, bytes]  # status, headers, body


class SignIn:
    """The endpoints at the root of the address `url`. The keys of `key_file` are read at each use."""

    def __init__(self, url: str, ledger: Ledger, key_file: Path):
        self.url = url
        self.ledger = ledger
        self.key_file = key_file
        parts = urlsplit(url)
        # The origin as browsers write it: without the scheme's default port.
        self.host = parts.netloc.lower().removesuffix(f":{http.DEFAULT_PORTS[parts.scheme]}")
        self.issuer = f"{parts.scheme}://{self.host}"
        metadata = "/.well-known/oauth-protected-resource"
        self.path = parts.path.rstrip("/")
        self.metadata_url = f"{self.issuer}{metadata}{self.path}"
        # Metadata for clients: about the endpoint, and about its sign-in (RFC 9728, RFC 8414).
        resource = {
            "resource": url,
            "authorization_servers": [self.issuer],
            "scopes_supported": scopes(),
        }
        server = {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "registration_endpoint": f"{self.issuer}/register",
            "response_types_supported": ["code"],
            "grant_types_supported": [*GRANT_TYPES],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "client_id_metadata_document_supported": True,
            "authorization_response_iss_parameter_supported": True,
        }
        about_resource = {"GET": lambda fields: resource}
        self.endpoints: dict[str, dict[str, Any]] = {
            metadata: about_resource,
            f"{metadata}{self.path}": about_resource,
            "/.well-known/oauth-authorization-server": {"GET": lambda fields: server},
            "/register": {"POST": self.register},
            "/authorize": {"GET": self.show, "POST": self.let_in},
            "/token": {"POST": self.give_token},
        }

    async def answer(self, scope: JsonObject, headers: Headers, body: bytes) -> Reply:
        """The answer of the endpoint at the request's path."""
        path = scope["path"]
        is_page = path.startswith(PAGES)
        status = 201 if path == "/register" else 200
        try:
            # The handler of this path and method.
            if headers["host"].lower() != self.host:
                raise Denied("invalid_request", f"the host is not that of {self.url}", 421)
            if scope["method"] == "OPTIONS" and not is_page:
                return 204, CORS, b""
            handler = self.endpoints[path].get(scope["method"])
            if not handler:
                raise Denied("invalid_request", "another method", 405)
            # Its fields: those sent, which must be meant for this server, the cookie and the language.
            fields = _json_object(body) if path == "/register" else _form_fields(body)
            if is_page:  # its form is sent to its own address, where the other fields are
                fields = _form_fields(scope["query_string"]) | fields
            if fields.get("resource", self.url) != self.url:
                raise Denied("invalid_target", f"this server is {self.url}")
            fields["cookie"] = headers["cookie"]
            # The one of the two languages that the browser names first, or English.
            languages = f"{headers['accept-language']} en"
            fields["lang"] = re.findall(r"\b(?:ru|en)\b", languages)[0]
            answer = handler(fields)
            if is_page:
                return await answer  # type: ignore[no-any-return]
        except Denied as denied:
            status = denied.status
            answer = {"error": denied.error, "error_description": denied.reason}
        except (sqlite3.Error, OSError) as error:
            status = 503
            answer = {
                "error": "temporarily_unavailable",
                "error_description": f"the Pi cannot write that now: {error}",
            }
        # An error is a text for the person at a page, JSON for a client.
        if is_page:
            text = f"{sentence(answer['error'])}\n\n{answer['error_description']}"
            return status, {**PAGE_HEADERS, "content-type": PLAIN_TEXT}, text.encode()
        return status, {**CORS, "content-type": "application/json"}, json.dumps(answer).encode()

    def register(self, fields: JsonObject) -> JsonObject:
        """Make a client id (RFC 7591). It holds all that is known of the client; nothing is stored."""
        name, redirects = _name_and_addresses(fields)
        description = {"client_name": name, "redirect_uris": redirects}
        key = tokens.read_keys(self.key_file)[0]
        client_id = tokens.sign({"iss": CLIENT_ISSUER, **description}, key)
        return {
            "client_id": client_id,
            **description,
            "grant_types": [*GRANT_TYPES],
            "token_endpoint_auth_method": "none",
        }

    async def show(self, fields: FormFields, problem: str = "") -> Reply:
        """The page that asks the person for the invitation's code. It shows nothing of invitations: strangers
        see it too."""
        name = await self._client_name(fields)
        redirect = urlsplit(fields["redirect_uri"])
        return code_form(fields, problem, name, f"{redirect.scheme}://{redirect.netloc}")

    async def let_in(self, fields: FormFields) -> Reply:
        """Take the invitation's code, and send the person back with a code for the client."""
        invitation, grant = self.invitation_of(fields)
        if not grant:
            return await self.show(fields, "wrong")
        grant["label"] = await self._client_name(fields, is_invited=True)
        grant |= {field: fields[field] for field in ("client_id", "redirect_uri", "code_challenge")}
        with self.ledger.writing():
            code = self.ledger.make_secret("code", CODE_S, grant)
            spent_s = self.ledger.spend("invitation", invitation)
        if spent_s is not None:
            return await self.show(fields, "wrong")
        query = urlencode({"code": code, "iss": self.issuer, **filled(state=fields["state"])})
        redirect = fields["redirect_uri"]
        separator = "&" if "?" in redirect else "?"
        return 303, {**PAGE_HEADERS, "location": f"{redirect}{separator}{query}"}, b""

    def invitation_of(self, fields: FormFields) -> tuple[str, JsonObject]:
        """The code that was typed, and the grant of a token for its invitation; empty if there is none."""
        code = re.sub(r"[\s-]", "", fields["code"]).upper()
        grant = self.ledger.grant_of("invitation", code)
        return code, grant and {**grant, "token_id": secrets.token_hex(8)}

    async def _client_name(self, fields: FormFields, is_invited: bool = False) -> str:
        """Check a request for a code, and return the name of its client. Unless the person has typed an
        invitation's code (`is_invited`), no client's document is fetched, and its host stands for its name.

        Problems go to the person: nobody is sent to an address that only the request names. Raises Denied.
        """
        client_id = fields["client_id"]
        redirect = fields["redirect_uri"]
        if not _is_address(client_id):
            name, uris = self._registered_client(client_id)
        elif is_invited:
            name, uris = _name_and_addresses(await asyncio.to_thread(_fetch_document, client_id))
        else:
            name = urlsplit(client_id).netloc
            uris = [redirect]
        # On loopback the port is free (RFC 8252 7.3).
        redirects = {re.sub(LOOPBACK_PORT, r"\1", uri) for uri in uris}
        if not _is_address(redirect) or re.sub(LOOPBACK_PORT, r"\1", redirect) not in redirects:
            raise Denied("invalid_request", "the client does not name this redirect_uri as its own")
        required = {"response_type": "code", "code_challenge_method": "S256"}
        if not required.items() <= fields.items() or len(fields["code_challenge"]) != 43:
            raise Denied(
                "invalid_request",
                "the client does not ask for a code, with a PKCE challenge (S256)",
            )
        return name

    def _registered_client(self, client_id: str) -> tuple[str, list[str]]:
        """The name and the redirects of a registered client. Raises Denied if no key signed its id; Claude
        registers again after a 401."""
        with suppress(tokens.InvalidToken):
            claims = tokens.signed_claims(client_id, tokens.read_keys(self.key_file))
            if claims.get("iss") == CLIENT_ISSUER:
                return _name_and_addresses(claims)
        raise Denied(
            "invalid_client", "the client is not registered; remove it there and add it again", 401
        )

    def give_token(self, fields: FormFields) -> JsonObject:
        """Exchange a code, or a refresh token, for an access token and the next refresh token."""
        field = GRANT_TYPES.get(fields["grant_type"], "")
        kind = field.removesuffix("_token")
        secret = fields[field]
        # Check that the secret was made for the client that sends it.
        client_id = fields["client_id"]
        if not _is_address(client_id):
            self._registered_client(client_id)
        proof = {"client_id": client_id}
        if kind == "code":
            verifier = fields["code_verifier"]
            proof["code_challenge"] = tokens.base64url(sha256(verifier.encode()).digest())
            proof["redirect_uri"] = fields["redirect_uri"]
        grant = self.ledger.grant_of(kind, secret)
        if not proof.items() <= grant.items():
            raise Denied("invalid_grant", SECRET_REFUSED)
        # Spend it, and make its successor.
        key = tokens.read_keys(self.key_file)[0]
        token_id = grant["token_id"]
        lifetime_s = int(grant["days"] * DAY_S)
        # A secret has one successor, however often it is sent: renewals at the same time are one chain.
        refresh = tokens.signature(f"refresh {secret}", key)
        with self.ledger.writing():
            spent_s = self.ledger.spend(kind, secret)
            # A refresh token is sent twice if two of a client's requests renew at once; later it was stolen.
            if spent_s is not None and (kind == "code" or time.time() - spent_s > REUSE_GRACE_S):
                self.ledger.revoke(token_id)
            is_valid = self.ledger.check_use(token_id)
            if is_valid:
                # The sign-in itself lasts twice as long: a client renews once its token is over.
                self.ledger.add(grant, 2 * lifetime_s)
                self.ledger.make_secret("refresh", 2 * lifetime_s, grant, refresh)
        if not is_valid:
            raise Denied("invalid_grant", SECRET_REFUSED)
        return {
            "access_token": tokens.sign(tokens.claims_of(grant, self.url, lifetime_s), key),
            "token_type": "Bearer",
            "expires_in": lifetime_s,
            "refresh_token": refresh,
            "scope": grant["scope"],
        }


def invite(ledger: Ledger, user: str, scope: str, days: float) -> str:
    """Make an invitation, and return its code."""
    code = "".join(secrets.choice(LETTERS) for _ in range(8))
    grant = {"user": user, "scope": scope, "days": days}
    return ledger.make_secret("invitation", INVITATION_S, grant, code)


def code_form(
    fields: FormFields, problem: str, name: str, origin: str = "", head: str = ""
) -> Reply:
    """The form for the code of an invitation, which lets in the client `name`.

    `origin`: where the person returns to; empty for the page at /day. `problem`: the key of the text about
    the code that was typed before.
    """
    texts = _page_texts()[fields["lang"]]
    if not origin:
        texts["asks"] = texts["day"]
    page = Template(PAGE_FILE.read_text("utf-8")).substitute(
        texts,
        lang=fields["lang"],
        head=head,
        note=texts.get(problem, ""),
        name=escape(name),
        host=urlsplit(origin).netloc,
        typed=escape(fields["code"][:20]),
    )
    return page_reply(page, 403 if problem else 200, origin)


def sentence(name: str) -> str:
    """The text that a browser shows in place of JSON, in both languages. `name` may be OAuth's word for a
    refusal."""
    return "\n\n".join(texts.get(name, texts["refused"]) for texts in _page_texts().values())


def _page_texts() -> dict[str, dict[str, str]]:
    """The texts of the page by language and name."""
    return json.loads(PAGE_FILE.with_suffix(".json").read_text("utf-8"))  # type: ignore[no-any-return]


def page_reply(page: str, status: int, leads_to: str = "") -> Reply:
    """An answer that shows `page`: only its own scripts run, nobody may frame it, it speaks to this server
    alone, and its form leads here or to the origin `leads_to`."""
    hashes = ""
    for _, content in re.findall(r"<(style|script)>(.*?)</\1>", page, re.DOTALL):
        digest = b64encode(sha256(content.encode()).digest())
        hashes += f" 'sha256-{digest.decode()}'"
    policy = f"style-src{hashes}; script-src{hashes}; form-action 'self' {leads_to}; {POLICY}"
    headers = {
        **PAGE_HEADERS,
        "content-type": "text/html; charset=utf-8",
        "x-frame-options": "DENY",
        "content-security-policy": policy,
    }
    return status, headers, page.encode()


def _fetch_document(url: str) -> JsonObject:
    """Fetch a client's document from an address of the public web. Raises Denied."""
    bounds = http.Bounds(time.monotonic() + 5, 65_536, foreign_only=True)
    try:
        response = http.send(http.Request(url, headers={"Accept": "application/json"}), bounds)
    except (http.HttpError, ValueError) as error:
        raise Denied("invalid_client", f"the client's document cannot be read: {error}") from None
    document = _json_object(response.body)
    if document.get("client_id") != url:
        raise Denied("invalid_client", "there is no document of this client at its address")
    return document


def _name_and_addresses(document: JsonObject) -> tuple[str, list[str]]:
    """A client's name and the addresses to which the person may be sent back. Raises Denied."""
    uris = document.get("redirect_uris")
    if not isinstance(uris, list) or len(uris) > 10:
        uris = []
    # Those of them that are allowed (RFC 7591 3.2.1): Cursor also names one of its own scheme.
    uris = list(filter(_is_address, uris))
    if not uris:
        raise Denied("invalid_redirect_uri", "redirect_uris: one to ten, on https or on loopback")
    name = str(document.get("client_name", "?"))
    return "".join(filter(str.isprintable, name))[:60], uris


def _is_address(uri: object) -> bool:
    return isinstance(uri, str) and bool(re.fullmatch(CLIENT_ADDRESS, uri))


def _json_object(body: bytes) -> JsonObject:
    with suppress(ValueError, RecursionError):
        document = json.loads(body)
        if isinstance(document, dict):
            return document
    raise Denied("invalid_client_metadata", "that is not a JSON object")


def _form_fields(encoded: bytes) -> FormFields:
    """The fields of a form or a query; one that is missing is empty."""
    return defaultdict(str, parse_qsl(encoded.decode(errors="replace"), keep_blank_values=True))
