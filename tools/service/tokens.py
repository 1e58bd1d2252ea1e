"""Tokens of remote callers: JSON Web Tokens (RFC 7519), signed with HS256, by the standard library alone.

Whoever holds the key can sign: this server's owner, with `python3 -m tools token new`, and the owner's own backend, for
its people. A token names a user, what it may use (`scope`), for which address (`aud`) and until when (`exp`).
"""

import base64
import hashlib
import hmac
import json
import os
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeGuard

from tools.core.files import compact_json, make_file, replace_file
from tools.core.json_types import JsonObject

ISSUER = "pi-mcp"
LEEWAY_S = 60
KEY_BYTES = 32
LONGEST = 8192
"""Characters of a token. Ours have about 300."""
LONGEST_NAME = 200
MOST_KEPT = 256
"""Tokens whose signature is not computed again for each request; time, audience and revocation are always looked at."""
HEADER = {"alg": "HS256", "typ": "JWT"}


class InvalidToken(Exception):
    """A token that is not accepted. The message is for the log; the client is told nothing of it."""


class UnusableKeys(Exception):
    """The file with the keys cannot be used; the message says why, and what to do."""


@dataclass(frozen=True)
class Claims:
    """What a token says: its user, what it may use, when it expires (seconds since 1970), its id ("" if it has none)."""

    user: str
    scope: tuple[str, ...]
    expires: float
    token_id: str


def sign(claims: JsonObject, key: bytes) -> str:
    """A token with these claims."""
    text = f"{_encode(_compact(HEADER))}.{_encode(_compact(claims))}"
    return f"{text}.{_encode(_signature(text.encode(), key))}"


def new_claims(user: str, scope: Sequence[str], audience: str, lifetime_s: int) -> JsonObject:
    """The claims of a token made now."""
    issued_at = int(time.time())
    return {
        "iss": ISSUER,
        "aud": audience,
        "sub": user,
        "scope": " ".join(scope),
        "iat": issued_at,
        "exp": issued_at + lifetime_s,
        "jti": secrets.token_hex(8),
    }


def read(token: str, keys: Iterable[bytes], audience: str) -> Claims:
    """The claims of a token that one of `keys` signed, for `audience`, and that holds now.

    Raises InvalidToken.
    """
    return _checked(_signed_claims(token, tuple(keys)), audience)


@lru_cache(maxsize=MOST_KEPT)
def _signed_claims(token: str, keys: tuple[bytes, ...]) -> JsonObject:
    """The claims of a token that one of `keys` signed. Only those of good signatures are kept; nobody changes them."""
    if len(token) > LONGEST or not token.isascii():
        raise InvalidToken("it is not a token")
    text, _, signature = token.rpartition(".")
    header, dot, payload = text.partition(".")
    if not dot:
        raise InvalidToken("it is not a token")
    _check_header(_read_object(header))
    signed = _decode(signature)
    if not any(hmac.compare_digest(_signature(text.encode(), key), signed) for key in keys):
        raise InvalidToken("the signature is wrong")
    return _read_object(payload)


def _check_header(header: JsonObject) -> None:
    if header.get("alg") != "HS256":
        raise InvalidToken("the algorithm is not HS256")
    if "crit" in header or "b64" in header:  # what must be understood, or changes what is signed
        raise InvalidToken("the header asks for an extension")
    if not isinstance(header.get("kid", ""), str):
        raise InvalidToken("the header's kid is not text")


def _checked(claims: JsonObject, audience: str) -> Claims:
    time_s = time.time()
    if claims.get("iss") != ISSUER:
        raise InvalidToken("another issuer")
    _check_audience(claims.get("aud"), audience)
    expires = _time(claims, "exp")
    if expires is None:
        raise InvalidToken("it never expires")
    if expires <= time_s - LEEWAY_S:
        raise InvalidToken("it expired")
    if any((_time(claims, name) or 0) > time_s + LEEWAY_S for name in ("nbf", "iat")):
        raise InvalidToken("it is not valid yet")
    user, token_id, scope = claims.get("sub"), claims.get("jti", ""), claims.get("scope")
    if not (_is_name(user) and user) or not _is_name(token_id):
        raise InvalidToken("sub or jti is not plain text")
    return Claims(user, tuple(scope.split()) if isinstance(scope, str) else (), expires, token_id)


def _is_name(value: object) -> TypeGuard[str]:
    """Whether this can be a user or an id: they reach a database and a log."""
    return isinstance(value, str) and value.isprintable() and len(value) <= LONGEST_NAME


def _check_audience(claim: object, audience: str) -> None:
    audiences = claim if isinstance(claim, list) else [claim]
    if not all(isinstance(name, str) for name in audiences) or audience not in audiences:
        raise InvalidToken("it is for another address")


def _time(claims: JsonObject, name: str) -> float | None:
    if name not in claims:
        return None
    value = claims[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 2**53:
        raise InvalidToken(f"{name} is not a time")
    return value


def _read_object(part: str) -> JsonObject:
    try:
        members = json.loads(_decode(part))
    except (ValueError, RecursionError):
        raise InvalidToken("a part is not JSON") from None
    if not isinstance(members, dict):
        raise InvalidToken("a part is not an object")
    return members


def _signature(text: bytes, key: bytes) -> bytes:
    return hmac.digest(key, text, hashlib.sha256)


def _compact(value: JsonObject) -> bytes:
    return compact_json(value).encode()


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    """Only the one spelling that encoding gives: no padding, no other alphabet, no bits left over."""
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except ValueError:
        raise InvalidToken("a part is not base64url") from None
    if _encode(data) != text:
        raise InvalidToken("a part is not base64url")
    return data


def read_keys(path: Path) -> list[bytes]:
    """The keys of the file, a line each in hexadecimal: the first one signs, all verify.

    Raises UnusableKeys.
    """
    try:
        with open(path, encoding="ascii") as file:
            status = os.fstat(file.fileno())
            keys = [bytes.fromhex(line) for line in file.read().split()]
    except FileNotFoundError:
        return []
    except (OSError, ValueError) as error:
        raise UnusableKeys(f"{path} cannot be read: {error}") from None
    if status.st_mode & 0o077 or status.st_uid != os.getuid():
        raise UnusableKeys(f"{path} must belong to you and be closed to others (chmod 600)")
    if not keys or min(map(len, keys)) < KEY_BYTES:
        raise UnusableKeys(f"{path} must hold keys of {KEY_BYTES} bytes or more, in hexadecimal, one per line")
    return keys


def keys_at(path: Path) -> list[bytes]:
    """The keys of the file; the first one is made where there is no file yet.

    Raises UnusableKeys.
    """
    keys = read_keys(path)
    if not keys:
        _write(path, [secrets.token_bytes(KEY_BYTES)], make_file)
        keys = read_keys(path)
    return keys


def rotate(path: Path) -> list[bytes]:
    """Put a new key first into the file and keep the one before it, so that its tokens hold until the next rotation.

    Raises UnusableKeys.
    """
    keys = [secrets.token_bytes(KEY_BYTES), *read_keys(path)[:1]]
    _write(path, keys, replace_file)
    return keys


def _write(path: Path, keys: list[bytes], write: Callable[[Path, str], None]) -> None:
    try:
        write(path, "".join(f"{key.hex()}\n" for key in keys))
    except OSError as error:
        raise UnusableKeys(f"{path} cannot be written: {error.strerror}") from None
