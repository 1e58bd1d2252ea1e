"""Tokens of remote callers: JSON Web Tokens (RFC 7519), signed with HS256, by the standard library alone.

Anybody who holds the key can sign: this server's owner, with `python3 -m tools token new`, and the owner's own
backend, for its people. A token names a user, what it may use (`scope`), for which address (`aud`) and until
when (`exp`).
"""

import base64
import hmac
import json
import secrets
import time
from contextlib import suppress
from pathlib import Path
from typing import TypeGuard

from tools.core.calls import Caller, caller_of_scope
from tools.toolkit import JsonObject, compact_json, plain_file, replace_file

ISSUER = "pi-mcp"
LEEWAY_S = 60
KEY_BYTES = 32
Keys = tuple[bytes, ...]  # the first one signs, all verify
JWT_HEADER = {"alg": "HS256", "typ": "JWT"}


class InvalidToken(Exception):
    """A token that is not accepted. The message is only for the log, not for the client."""


def sign(claims: JsonObject, key: bytes) -> str:
    """A token with these claims."""
    signed = ".".join(base64url(compact_json(part).encode()) for part in (JWT_HEADER, claims))
    return f"{signed}.{signature(signed, key)}"


def signature(text: str, key: bytes) -> str:
    """The signature of a text, which only a holder of the key can make."""
    return base64url(hmac.digest(key, text.encode(), "sha256"))


def claims_of(grant: JsonObject, audience: str, lifetime_s: int) -> JsonObject:
    """The claims of a token made now for a grant: its user, scope and token_id."""
    issued = int(time.time())
    return {
        "iss": ISSUER,
        "aud": audience,
        "sub": grant["user"],
        "scope": grant["scope"],
        "iat": issued,
        "exp": issued + lifetime_s,
        "jti": grant["token_id"],
    }


def verify(token: str, keys: Keys, audience: str) -> Caller:
    """The caller whom a token describes. Raises InvalidToken unless one of `keys` signed it, it is for
    `audience`, and it is valid now."""
    claims = signed_claims(token, keys)
    if claims.get("iss") != ISSUER or claims.get("aud") != audience:
        raise InvalidToken("it is for another address, or of another issuer")
    begins = max(_time_claim(claims, "nbf"), _time_claim(claims, "iat"))
    if not begins - LEEWAY_S <= time.time() < _time_claim(claims, "exp") + LEEWAY_S:
        raise InvalidToken("it expired, never expires, or is not valid yet")
    user = claims.get("sub")
    token_id = claims.get("jti", "")
    if not user or not is_name(user) or not is_name(token_id):
        raise InvalidToken("sub or jti is not plain text")
    scope = claims.get("scope")
    return caller_of_scope(user, scope if isinstance(scope, str) else "", token_id)


def signed_claims(token: str, keys: Keys) -> JsonObject:
    """The claims that one of `keys` signed, whatever they say. Raises InvalidToken."""
    signed, _, code = token.rpartition(".")
    signatures = [signature(signed, key) for key in keys]
    if not code.isascii() or not any(hmac.compare_digest(code, good) for good in signatures):
        raise InvalidToken("the signature is wrong")
    # From here on everything was written by somebody who has the key.
    try:
        header, claims = (
            json.loads(base64.urlsafe_b64decode(f"{part}==")) for part in signed.split(".")
        )
    except (ValueError, RecursionError):
        raise InvalidToken("it is not JSON") from None
    # `crit` names what must be understood, or changes what is signed (RFC 7515 4.1.11).
    is_plain = isinstance(header, dict) and header.get("alg") == "HS256" and "crit" not in header
    if not is_plain or not isinstance(claims, dict):
        raise InvalidToken("it is not a plain HS256 token")
    return claims


def is_name(value: object) -> TypeGuard[str]:
    """True if this may be a user or an id: they reach a database and a log, and two that differ must look
    different."""
    return isinstance(value, str) and value.isprintable() and value == value.strip()


def _time_claim(claims: JsonObject, name: str) -> float:
    value = claims.get(name, 0)
    if not isinstance(value, int | float) or not abs(value) < 2**53:
        raise InvalidToken(f"{name} is not a time")
    return value


def base64url(data: bytes) -> str:
    """Base64 as JWT and PKCE write it: without the padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def read_keys(path: Path) -> Keys:
    """The keys of the file, one per line in hexadecimal: the first one signs, all verify. Raises OSError if
    the file cannot be used; FileNotFoundError if there is none."""
    keys: Keys = ()
    with suppress(ValueError, OSError), plain_file(path, of_this_user=True) as file:
        keys = tuple(map(bytes.fromhex, file.read().decode("ascii").split()))
    if path.stat().st_mode & 0o077 or min(map(len, keys), default=0) < KEY_BYTES:
        needed = f"keys of {KEY_BYTES} bytes or more in hexadecimal, one per line"
        raise OSError(
            f"{path} must belong to you, be closed to others (chmod 600), and hold {needed}"
        )
    return keys


def ensure_keys(path: Path) -> Keys:
    """The keys of the file, which is made with a new key if there is none yet. Raises OSError."""
    if not path.exists():
        replace_file(path, f"{secrets.token_hex(KEY_BYTES)}\n", keeps_existing=True)
    return read_keys(path)


def rotate(path: Path) -> None:
    """Put a new key first into the file and keep the one before it, so that its tokens are valid until the
    next rotation. Raises OSError."""
    keys = (secrets.token_bytes(KEY_BYTES), ensure_keys(path)[0])
    replace_file(path, "".join(f"{key.hex()}\n" for key in keys))
