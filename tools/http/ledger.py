"""The ledger of tokens: who has which, for what and until when, when it was last used, whether it was
revoked. It also has a digest of each secret that becomes a token: invitations, codes, refresh tokens.

One sqlite file in the state folder, for `python3 -m tools token` and the server alike.
"""

import hashlib
import json
import logging
import os
import secrets
import sqlite3
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tools.toolkit import JsonObject, make_folder_of

# Seconds between two notes of a token's use: each is a write to the SD card.
NOTED_EVERY_S = 60
LOST = "If tokens were revoked, they hold again. To end all: python3 -m tools token rotate, twice."
SCHEMA = """
CREATE TABLE IF NOT EXISTS tokens (
    id TEXT PRIMARY KEY, user TEXT NOT NULL, scope TEXT NOT NULL, label TEXT NOT NULL,
    expires REAL NOT NULL, revoked INTEGER NOT NULL DEFAULT 0, used REAL NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS secrets (
    digest BLOB PRIMARY KEY, kind TEXT NOT NULL, expires REAL NOT NULL, grant TEXT NOT NULL, spent REAL
);
"""
# A sign-in is renewed while it is used: it has valid secrets, whose grant has its days.
ENTRIES = """
SELECT tokens.*, (SELECT coalesce(max(json_extract(grant, '$.days')), 0) FROM secrets
    WHERE json_extract(grant, '$.token_id') = tokens.id AND secrets.expires > :now) AS days
FROM tokens WHERE revoked OR expires > :now
"""


class Ledger:
    """The tokens and secrets in the state folder `folder`. Another process's lock is waited for up to
    `patience_s`. Raises OSError if the file cannot be opened; each method raises sqlite3.Error or OSError."""

    def __init__(self, folder: Path, patience_s: float = 5):
        self.path = folder / "http-tokens.sqlite3"
        self.patience_s = patience_s
        self._open()

    def _open(self) -> None:
        path = self.path
        make_folder_of(path)
        path.touch(0o600)
        self._status = path.stat()
        # Keys are made after their ledger.
        if not self._status.st_size and (path.parent / "http-keys").exists():
            logging.getLogger("pi-mcp").warning("%s is new beside older keys. %s", path, LOST)
        # Outside of `writing` each statement is a transaction of its own. The server opens it in one thread
        # and uses it in the event loop's.
        self._db = sqlite3.connect(
            path, timeout=self.patience_s, isolation_level=None, check_same_thread=False
        )
        weakref.finalize(self, self._db.close)
        self._db.row_factory = sqlite3.Row
        try:
            # A commit removes sqlite's journal. With less than EXTRA the folder is not synced after that, and
            # a power cut brings the journal back: what it takes back may be a revocation.
            self._db.execute("PRAGMA synchronous = EXTRA")
            self._db.executescript(SCHEMA)
        except sqlite3.Error as error:
            raise OSError(f"{path}: {error}") from None

    @property
    def db(self) -> sqlite3.Connection:
        """The connection; a new one if the file was replaced, for example by a restored copy."""
        with suppress(FileNotFoundError):
            if self._db.in_transaction or os.path.samestat(self._status, self.path.stat()):
                return self._db
        self._open()
        return self._db

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Write everything inside as one transaction: on a full disk nothing of it is done."""
        self.db.execute("BEGIN IMMEDIATE")
        with self.db:
            yield

    def entries(self) -> list[sqlite3.Row]:
        """Every token that is revoked or has not expired; times are seconds since 1970, 0 for never. `days`
        is how long each use extends a sign-in, 0 for a token that is not renewed."""
        return self.db.execute(ENTRIES, {"now": time.time()}).fetchall()

    def add(self, grant: JsonObject, lifetime_s: float) -> None:
        """Note that the token of a grant is given out now, or renewed. Forgets tokens that have expired
        unless they were revoked: a clock that ran ahead once must not bring those back."""
        self.db.execute("DELETE FROM tokens WHERE expires < ? AND NOT revoked", (time.time(),))
        insertion = """INSERT INTO tokens (id, user, scope, label, expires)
            VALUES (:token_id, :user, :scope, :label, :expires)
            ON CONFLICT (id) DO UPDATE SET expires = excluded.expires"""
        self.db.execute(insertion, {**grant, "expires": time.time() + lifetime_s})

    def revoke(self, token_id: str) -> bool:
        """Refuse the tokens of this id for good. Returns False if none was given out here: perhaps a backend
        signed it."""
        cursor = self.db.execute("UPDATE tokens SET revoked = 1 WHERE id = ?", (token_id,))
        self.db.execute("INSERT OR IGNORE INTO tokens VALUES (?, '', '', '', 0, 1, 0)", (token_id,))
        return bool(cursor.rowcount)

    def check_use(self, token_id: str) -> bool:
        """Note the use of a token. Returns False if it was revoked, even a moment ago."""
        query = "SELECT max(revoked), max(used) FROM tokens WHERE id = ?"  # NULL for an unknown one
        revoked, used = self.db.execute(query, (token_id,)).fetchone()
        if revoked == 0 and time.time() - used > NOTED_EVERY_S:
            # The disk may be full: no request fails for that.
            with suppress(sqlite3.OperationalError):
                self.db.execute("UPDATE tokens SET used = ? WHERE id = ?", (time.time(), token_id))
        return not revoked

    def make_secret(self, kind: str, lifetime_s: float, grant: JsonObject, secret: str = "") -> str:
        """Make a secret for `grant`, or let this `secret` last longer if it is there already. Only its digest
        is kept."""
        secret = secret or secrets.token_urlsafe(32)
        self.db.execute("DELETE FROM secrets WHERE expires < ?", (time.time(),))
        row = (_digest(kind, secret), kind, time.time() + lifetime_s, json.dumps(grant))
        insertion = """INSERT INTO secrets (digest, kind, expires, grant) VALUES (?, ?, ?, ?)
            ON CONFLICT (digest) DO UPDATE SET expires = excluded.expires"""
        self.db.execute(insertion, row)
        return secret

    def grant_of(self, kind: str, secret: str, left_s: float = 0) -> JsonObject:
        """The grant of a secret, spent or not, that is valid for `left_s` more; empty if there is none."""
        query = "SELECT coalesce(max(grant), '{}') FROM secrets WHERE digest = ? AND expires > ?"
        [grant] = self.db.execute(query, (_digest(kind, secret), time.time() + left_s)).fetchone()
        return json.loads(grant)  # type: ignore[no-any-return]

    def spend(self, kind: str, secret: str) -> float | None:
        """Mark a secret as spent. Returns None the first time, in any process; later the time when it was
        spent, or 0 if the secret is unknown."""
        digest = _digest(kind, secret)
        update = "UPDATE secrets SET spent = ? WHERE digest = ? AND spent IS NULL"
        if self.db.execute(update, (time.time(), digest)).rowcount:
            return None
        query = "SELECT coalesce(max(spent), 0) FROM secrets WHERE digest = ?"
        [spent_s] = self.db.execute(query, (digest,)).fetchone()
        return spent_s  # type: ignore[no-any-return]


def _digest(kind: str, secret: str) -> bytes:
    """A digest that holds for this kind only: a code is not a refresh token."""
    return hashlib.sha256(f"{kind} {secret}".encode()).digest()
