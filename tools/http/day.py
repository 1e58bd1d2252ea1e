"""The page of the days on a phone's home screen, at `/day`: an invitation lets in, and a cookie remembers it.

It is the page that clients show (docs/pages.md); in place of a client, the script in day.html answers it. The
cookie is a secret of the ledger beside a row among the tokens, so `token list` shows it and `token revoke`
ends it. It is good for the two calls that the page makes, and for nothing at MCP_HTTP_URL.
"""

import gzip
import re
import sqlite3
from contextlib import suppress
from functools import partial
from pathlib import Path

from tools.core import resources, toolsets
from tools.core.calls import Caller, caller_of_scope
from tools.core.mcp_apps import document
from tools.toolkit import PROJECT, JsonObject

from . import tokens
from .limits import Rate
from .sign_in import (
    DAY_S,
    PAGE_HEADERS,
    Denied,
    FormFields,
    Headers,
    Reply,
    SignIn,
    code_form,
    page_reply,
)

PATH = "/day"
CALL_PATH = "/day/call"  # where the page's calls go
ALLOWED_CALLS = (("tools/call", "get_user_snapshot"), ("tools/call", "tick_by_press"))
COOKIE = "pi_mcp_day"
PAGE_HEAD = Path(__file__).with_name("day.html")


class DayPage:
    """The endpoints of the page, beside those of the sign-in."""

    def __init__(self, sign_in: SignIn, rate: Rate):
        self.sign_in = sign_in
        self.rate = rate
        self.ledger = sign_in.ledger
        if toolsets.offers("onepercent"):
            manifest = PAGE_HEAD.with_suffix(".webmanifest")
            icon = PROJECT / "docs" / "icon.png"
            sign_in.endpoints |= {
                PATH: {"GET": self.show, "POST": self.let_in},
                "/day/app.webmanifest": {
                    "GET": partial(_file_reply, "application/manifest+json", manifest)
                },
                "/day/icon.png": {"GET": partial(_file_reply, "image/png", icon)},
            }

    def caller(self, cookies: str) -> Caller:
        """The caller of a request with these cookies. Raises InvalidToken."""
        _, grant = self._grant(cookies)
        if not grant:
            raise tokens.InvalidToken("no such cookie, or it is over")
        return caller_of_scope(grant["user"], grant["scope"], grant["token_id"])

    async def show(self, fields: FormFields) -> Reply:
        """The page if the cookie is valid, else the form for an invitation's code. The cookie lasts longer
        each day that it is used."""
        cookie, grant = self._grant(fields["cookie"])
        if not grant:
            return _code_form(fields)
        if wait_s := self.rate.wait_s(grant["user"]):
            raise Denied(
                "slow_down", f"too many requests (MCP_HTTP_RATE): try again in {wait_s:.0f} s", 429
            )
        cookie_header = {}
        if not self.ledger.grant_of("cookie", cookie, (2 * grant["days"] - 1) * DAY_S):
            with suppress(sqlite3.OperationalError), self.ledger.writing():  # the disk is full, say
                cookie_header = self._give_cookie(grant, cookie)
        page = resources.page_document("ui://onepercent/days")
        # The page's own policy, which allows no connection, is replaced by one that allows the home screen
        # and the calls.
        page = re.sub("<meta http-equiv[^>]+>", lambda match: document(PAGE_HEAD), page)
        status, headers, body = page_reply(page, 200)
        return status, {**headers, **cookie_header, "content-encoding": "gzip"}, gzip.compress(body)

    async def let_in(self, fields: FormFields) -> Reply:
        """Take the invitation's code, and open the page with a cookie."""
        code, grant = self.sign_in.invitation_of(fields)
        if not grant:
            return _code_form(fields, "wrong")
        if "onepercent" not in grant["scope"]:
            return _code_form(fields, "other")
        with self.ledger.writing():
            if self.ledger.spend("invitation", code) is not None:
                return _code_form(fields, "wrong")
            cookie_header = self._give_cookie({**grant, "label": PATH})
        return 303, {**PAGE_HEADERS, **cookie_header, "location": PATH}, b""

    def _grant(self, header: str) -> tuple[str, JsonObject]:
        """The page's cookie in a header, and its grant, which is empty if it is not valid."""
        # The last one counts: a cookie of another path or host comes first.
        cookies = ["", *re.findall(rf"(?:^|;) *{COOKIE}=([\w-]+)", header)]
        cookie = cookies[-1]
        grant = self.ledger.grant_of("cookie", cookie)
        if grant and not self.ledger.check_use(grant["token_id"]):
            grant = {}
        return cookie, grant

    def _give_cookie(self, grant: JsonObject, cookie: str = "") -> Headers:
        """Make a new cookie, or let `cookie` last longer, and return its header. Unused, it ends after twice
        the days of the invitation, as a sign-in does."""
        lifetime_s = int(2 * grant["days"] * DAY_S)
        self.ledger.add(grant, lifetime_s)
        cookie = self.ledger.make_secret("cookie", lifetime_s, grant, cookie)
        rules = f"Max-Age={lifetime_s}; Path={PATH}; HttpOnly; SameSite=Strict"
        if self.sign_in.issuer.startswith("https"):
            rules += "; Secure"
        return {"set-cookie": f"{COOKIE}={cookie}; {rules}"}


def _code_form(fields: FormFields, problem: str = "") -> Reply:
    """The form for an invitation's code. It can be put on the home screen, too."""
    return code_form(fields, problem, "OnePercent", head=document(PAGE_HEAD))


async def _file_reply(content_type: str, path: Path, fields: FormFields) -> Reply:
    return 200, {"content-type": content_type}, path.read_bytes()
