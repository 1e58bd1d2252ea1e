"""The tokens that were given out: to whom, for what, until when, last use; and which of them were revoked.
Also the secrets that become a token: invitations, codes, refresh tokens, each as a digest.

One sqlite file in the state folder, for `python3 -m tools token` and the server alike.
"""

import hashlib
import json
import logging
import secrets
import sqlite3
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tools.core.json_types import JsonObject

# Seconds between two notes of a token's use: each is a write to the SD card.
NOTED_EVERY_S = 60
LOST = "If tokens were revoked, they hold again. To end all: python3 -m tools token rotate, twice."
SCHEMA = """
CREATE TABLE IF NOT EXISTS tokens (id TEXT PRIMARY KEY, user TEXT NOT NULL, scope TEXT NOT NULL, label TEXT NOT NULL,
    expires REAL NOT NULL, revoked INTEGER NOT NULL DEFAULT 0, used REAL NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS secrets (digest BLOB PRIMARY KEY, kind TEXT NOT NULL, expires REAL NOT NULL,
    grant TEXT NOT NULL, spent REAL);
"""


class Ledger:
    """The tokens given out, in the state folder `folder`. Raises OSError if that cannot be opened; each
    method sqlite3.Error."""

    def __init__(self, folder: Path):
        path = folder / "http-tokens.sqlite3"
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(0o600)
        if not path.stat().st_size and (folder / "http-keys").exists():  # keys are made after their ledger
            logging.getLogger("pi-mcp").warning("%s is new beside older keys. %s", path, LOST)
        # Outside of `writing` each statement is a transaction of its own. The server opens it in one thread and
        # uses it in the event loop's.
        self.db = sqlite3.connect(path, timeout=5, isolation_level=None, check_same_thread=False)
        weakref.finalize(self, self.db.close)
        self.db.row_factory = sqlite3.Row
        try:
            self.db.executescript(SCHEMA)
        except sqlite3.Error as error:
            raise OSError(f"{path}: {error}") from None

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Make all that is written inside one transaction: on a full disk nothing of it is done."""
        self.db.execute("BEGIN IMMEDIATE")
        with self.db:
            yield

    def entries(self) -> list[sqlite3.Row]:
        """Every token that is revoked or has not expired; times are seconds since 1970, 0 for never."""
        return self.db.execute("SELECT * FROM tokens WHERE revoked OR expires > ?", (time.time(),)).fetchall()

    def add(self, claims: JsonObject, label: str) -> None:
        """Note a token that is given out now, or renewed. Forgets those that have expired, unless they were
        revoked: a clock that ran ahead once must not bring them back."""
        self.db.execute("DELETE FROM tokens WHERE expires < ? AND NOT revoked", (time.time(),))
        new = "INSERT INTO tokens (id, user, scope, label, expires) VALUES (?, ?, ?, ?, ?)"
        row = (claims["jti"], claims["sub"], claims["scope"], label, claims["exp"])
        self.db.execute(f"{new} ON CONFLICT (id) DO UPDATE SET expires = excluded.expires", row)

    def revoke(self, token_id: str) -> bool:
        """Refuse the tokens of this id for good; False if none was given out here: its backend signed it,
        perhaps."""
        changed = self.db.execute("UPDATE tokens SET revoked = 1 WHERE id = ?", (token_id,)).rowcount
        self.db.execute("INSERT OR IGNORE INTO tokens VALUES (?, '', '', '', 0, 1, 0)", (token_id,))
        return bool(changed)

    def is_revoked(self, token_id: str) -> bool:
        """True if a token was revoked, even a moment ago; else its use is noted."""
        row = self.db.execute("SELECT revoked, used FROM tokens WHERE id = ?", (token_id,)).fetchone()
        if row and not row["revoked"] and time.time() - row["used"] > NOTED_EVERY_S:
            with suppress(sqlite3.OperationalError):  # the disk is full, say: no request fails for that
                self.db.execute("UPDATE tokens SET used = ? WHERE id = ?", (time.time(), token_id))
        return bool(row and row["revoked"])

    def make_secret(self, kind: str, lifetime_s: float, grant: JsonObject, text: str = "") -> str:
        """A new secret (or `text`, which may be there already) that is good for `grant`; only its digest is
        kept."""
        secret = text or secrets.token_urlsafe(32)
        self.db.execute("DELETE FROM secrets WHERE expires < ?", (time.time(),))
        row = (_digest(kind, secret), kind, time.time() + lifetime_s, json.dumps(grant))
        self.db.execute(
            "INSERT OR IGNORE INTO secrets (digest, kind, expires, grant) VALUES (?, ?, ?, ?)", row
        )
        return secret

    def grant_of(self, kind: str, secret: str) -> JsonObject:
        """The grant of a secret that holds still, spent or not; empty if there is none."""
        query = "SELECT grant FROM secrets WHERE digest = ? AND expires > ?"
        row = self.db.execute(query, (_digest(kind, secret), time.time())).fetchone()
        return json.loads(row["grant"]) if row else {}

    def grants(self, kind: str) -> list[JsonObject]:
        """The grants of the secrets of a kind that nobody has used yet."""
        query = "SELECT grant FROM secrets WHERE kind = ? AND spent IS NULL AND expires > ?"
        return [json.loads(row["grant"]) for row in self.db.execute(query, (kind, time.time()))]

    def spend(self, kind: str, secret: str) -> float | None:
        """Mark a secret as spent: None the first time, in any process; else the time when it was."""
        digest = _digest(kind, secret)
        update = "UPDATE secrets SET spent = ? WHERE digest = ? AND spent IS NULL"
        if self.db.execute(update, (time.time(), digest)).rowcount:
            return None
        row = self.db.execute("SELECT spent FROM secrets WHERE digest = ?", (digest,)).fetchone()
        return row["spent"] if row else 0


def _digest(kind: str, secret: str) -> bytes:
    """A digest that serves for this kind alone: a code is not a refresh token."""
    return hashlib.sha256(f"{kind} {secret}".encode()).digest()
