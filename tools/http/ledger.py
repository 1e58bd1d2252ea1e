"""The tokens that were given out: to whom, for what, until when, last use; and which of them were revoked. Beside them
what becomes a token: invitations, codes, refresh tokens, each as a digest.

One sqlite file in the state folder, for `python3 -m tools token` and the server alike.
"""

import hashlib
import json
import os
import secrets
import sqlite3
import time
import weakref
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from tools.core.json_types import JsonObject

# Seconds between two notes of a token's use: each is a write to the SD card.
NOTED_EVERY_S = 60
SCHEMA = """
CREATE TABLE IF NOT EXISTS tokens (id TEXT PRIMARY KEY, user TEXT NOT NULL, scope TEXT NOT NULL, label TEXT NOT NULL,
    expires REAL NOT NULL, revoked INTEGER NOT NULL DEFAULT 0, used REAL NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS secrets (digest BLOB PRIMARY KEY, kind TEXT NOT NULL, expires REAL NOT NULL,
    grant TEXT NOT NULL, spent REAL);
"""


class Ledger:
    """The tokens given out, in the state folder `folder`. Each method raises sqlite3.Error or OSError if it cannot be
    read or written."""

    def __init__(self, folder: Path):
        self.path = folder / "http-tokens.sqlite3"

    @cached_property
    def db(self) -> sqlite3.Connection:
        """The open file. Each statement is a transaction of its own."""
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        # The server opens it in one thread and uses it in the event loop's, one statement at a time.
        db = sqlite3.connect(self.path, timeout=5, isolation_level=None, check_same_thread=False)
        weakref.finalize(self, db.close)
        db.row_factory = sqlite3.Row
        db.executescript(SCHEMA)
        _take_over(db, self.path.with_suffix(".json"))
        return db

    def entries(self) -> list[sqlite3.Row]:
        """Every token that is revoked or has not expired; times are seconds since 1970, 0 for never."""
        return self.db.execute("SELECT * FROM tokens WHERE revoked OR expires > ?", (time.time(),)).fetchall()

    def add(self, claims: JsonObject, label: str) -> None:
        """Note a token that is given out now, or renewed. Forgets those that have expired, unless they were revoked: a
        clock that ran ahead once must not bring them back."""
        self.db.execute("DELETE FROM tokens WHERE expires < ? AND NOT revoked", (time.time(),))
        new = "INSERT INTO tokens (id, user, scope, label, expires) VALUES (?, ?, ?, ?, ?)"
        row = (claims["jti"], claims["sub"], claims["scope"], label, claims["exp"])
        self.db.execute(f"{new} ON CONFLICT (id) DO UPDATE SET expires = excluded.expires", row)

    def revoke(self, token_id: str) -> bool:
        """Refuse the tokens of this id for good; False if none was given out here: its backend signed it, perhaps."""
        known = self.db.execute("UPDATE tokens SET revoked = 1 WHERE id = ?", (token_id,)).rowcount
        self.db.execute("INSERT OR IGNORE INTO tokens VALUES (?, '', '', '', 0, 1, 0)", (token_id,))
        return bool(known)

    def is_revoked(self, token_id: str) -> bool:
        """True if a token was revoked, even a moment ago; else its use is noted."""
        row = self.db.execute("SELECT revoked, used FROM tokens WHERE id = ?", (token_id,)).fetchone()
        if row and not row["revoked"] and time.time() - row["used"] > NOTED_EVERY_S:
            with suppress(sqlite3.OperationalError):  # the disk is full, say: no request fails for that
                self.db.execute("UPDATE tokens SET used = ? WHERE id = ?", (time.time(), token_id))
        return bool(row and row["revoked"])

    def make_secret(self, kind: str, lifetime_s: float, grant: JsonObject, text: str = "") -> str:
        """A new secret (or `text`) that is good for `grant`; only its digest is kept."""
        secret = text or secrets.token_urlsafe(32)
        self.db.execute("DELETE FROM secrets WHERE expires < ?", (time.time(),))
        row = (_digest(kind, secret), kind, time.time() + lifetime_s, json.dumps(grant))
        self.db.execute("INSERT INTO secrets (digest, kind, expires, grant) VALUES (?, ?, ?, ?)", row)
        return secret

    def grant_of(self, kind: str, secret: str) -> tuple[JsonObject, float | None]:
        """The grant of a secret that holds still, and when it was spent; nothing if there is none."""
        query = "SELECT grant, spent FROM secrets WHERE digest = ? AND expires > ?"
        row = self.db.execute(query, (_digest(kind, secret), time.time())).fetchone()
        return (json.loads(row["grant"]), row["spent"]) if row else ({}, None)

    def spend(self, kind: str, secret: str) -> None:
        """Note that a secret was used now."""
        spent = "UPDATE secrets SET spent = ? WHERE digest = ? AND spent IS NULL"
        self.db.execute(spent, (time.time(), _digest(kind, secret)))

    def open_invitations(self) -> list[JsonObject]:
        """The grants of the invitations that somebody may use now."""
        query = "SELECT grant FROM secrets WHERE kind = 'invitation' AND spent IS NULL AND expires > ?"
        return [json.loads(row["grant"]) for row in self.db.execute(query, (time.time(),))]


def _digest(kind: str, secret: str) -> bytes:
    """A digest that serves for this kind alone: a code is not a refresh token."""
    return hashlib.sha256(f"{kind} {secret}".encode()).digest()


def _take_over(db: sqlite3.Connection, path: Path) -> None:
    """Take over the list of version 0.2, a JSON file."""
    with suppress(FileNotFoundError):
        names = ("user", "scope", "label", "expires", "revoked")
        rows = [(key, *(fields[name] for name in names)) for key, fields in json.loads(path.read_bytes()).items()]
        db.executemany("INSERT OR IGNORE INTO tokens VALUES (?, ?, ?, ?, ?, ?, 0)", rows)
        path.unlink()
