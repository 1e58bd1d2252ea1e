"""The tokens that were given out: to whom, for what, until when, last use; and which of them were revoked.

One JSON file in the state folder, which `python3 -m tools token` writes and the server reads again when it changed. The
server writes the last uses into a file of its own.
"""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tools.core import files, locks
from tools.core.json_types import JsonObject
from tools.service.watched import Watched

SAVED_EVERY_S = 60


class Entry(NamedTuple):
    """A token that was given out. Times are seconds since 1970; `used` is 0 for one that was never used."""

    token_id: str
    user: str
    scope: str
    label: str
    expires: float
    revoked: bool
    used: float


class Ledger:
    """The tokens given out, in the state folder `folder`."""

    def __init__(self, folder: Path):
        self.path = folder / "http-tokens.json"
        self.uses_path = folder / "http-tokens-used.json"
        self._revoked = Watched(self.path, _revoked)
        self._uses: dict[str, float] = {}
        self._saved = 0.0

    def entries(self) -> list[Entry]:
        """Every token that has not expired, the newest last."""
        uses = {**_read(self.uses_path), **self._uses}
        return [Entry(token_id, **fields, used=uses.get(token_id, 0)) for token_id, fields in _read(self.path).items()]

    def add(self, claims: JsonObject, label: str) -> None:
        """Note a token that is given out now. Forgets those that have expired."""
        with self._changing() as tokens:
            tokens[claims["jti"]] = {
                "user": claims["sub"],
                "scope": claims["scope"],
                "label": label,
                "expires": claims["exp"],
                "revoked": False,
            }

    def revoke(self, token_id: str) -> bool:
        """Refuse a token from now on; False where none of that id was given out."""
        with self._changing() as tokens:
            if token_id in tokens:
                tokens[token_id]["revoked"] = True
            return token_id in tokens

    def is_revoked(self, token_id: str) -> bool:
        """Whether a token was revoked, if only a moment ago.

        Raises OSError, ValueError: the file is there and cannot be read, so nobody knows.
        """
        return token_id in self._revoked()

    def note_use(self, token_id: str) -> None:
        """Remember that a token was used now; written at most once a minute, and by `save`."""
        self._uses[token_id] = time.time()
        if time.monotonic() - self._saved > SAVED_EVERY_S:
            self.save()

    def save(self) -> None:
        """Write the last uses."""
        self._saved = time.monotonic()
        if self._uses:
            files.replace_file(self.uses_path, json.dumps({**_read(self.uses_path), **self._uses}))

    @contextmanager
    def _changing(self) -> Iterator[JsonObject]:
        with locks.exclusive("http-tokens", path=self.path.with_suffix(".lock")):
            time_s = time.time()
            tokens = {name: fields for name, fields in _read(self.path).items() if fields["expires"] > time_s}
            yield tokens
            files.replace_file(self.path, json.dumps(tokens, ensure_ascii=False))


def _revoked(path: Path) -> frozenset[str]:
    return frozenset(token_id for token_id, fields in _read(path).items() if fields["revoked"])


def _read(path: Path) -> JsonObject:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
