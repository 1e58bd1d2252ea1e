"""Give tokens to people and take them back: `python3 -m tools token …`.

new --user NAME --scope "TOOLSET …" [--days N] [--label TEXT]
                 a token, shown once, with what to paste into each client
list             the tokens given out: id, user, scope, label, end, last use
revoke ID        refuse a token from now on
rotate           sign with a new key; tokens of the old one hold until the next rotation, and are not renewed

For example: python3 -m tools token new --user anna --scope "onepercent klipper:read"
"""

import argparse
import secrets
import sqlite3
import sys
import time
from argparse import ArgumentTypeError, Namespace
from urllib.parse import urljoin

from tools.core import calls
from tools.core.places import toolsets
from tools.core.settings import current

from . import sign_in, tokens
from .ledger import Ledger

PROGRAM = "python3 -m tools token"
ONLY_LOCAL = "MCP_HTTP_URL is not set: only clients on this machine can use that. Set it, then do this again."
RENEWED = ", renewed while it is used"
INVITE = """python3 -m tools invite --user NAME --scope "TOOLSET …" [--days N]

Let somebody sign in from a client that takes only a URL: eight characters, which hold for ten minutes, once.
For example: python3 -m tools invite --user anna --scope "onepercent klipper:read"
"""
SNIPPETS = """
curl
  curl {url} -H 'Authorization: Bearer {token}' \\
    -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \\
    -d '{{"jsonrpc":"2.0","id":1,"method":"tools/list"}}'
OpenAI Responses API, in "tools"
  {{"type": "mcp", "server_label": "pi", "server_url": "{url}", "authorization": "{token}",
   "require_approval": {{"never": {{"read_only": true}}}}}}
Claude Code, Codex, Cursor and the others sign in by themselves: python3 -m tools invite, \
and docs/remote.md"""


def main(words: list[str]) -> int:
    """Run one of the commands. Exit status: 0 done, 1 it could not be done, 2 wrong usage."""
    parser = argparse.ArgumentParser(PROGRAM, usage=__doc__)
    commands = parser.add_subparsers(dest="command", required=True, prog=PROGRAM)
    new_parser = commands.add_parser("new")
    new_parser.add_argument("--label", default="")
    invite_parser = commands.add_parser("invite", usage=INVITE)
    for subparser, days in ((new_parser, 90), (invite_parser, 30)):
        subparser.add_argument("--user", type=_checked_user, required=True)
        subparser.add_argument("--scope", type=_checked_scope, required=True)
        subparser.add_argument(
            "--days", type=int, choices=range(1, 3651), metavar="1 to 3650", default=days
        )
    commands.add_parser("list")
    commands.add_parser("revoke").add_argument("id")
    commands.add_parser("rotate")
    options = parser.parse_args(words)
    run = {"new": _new, "invite": _invite, "list": _list, "revoke": _revoke, "rotate": _rotate}
    try:
        run[options.command](options, Ledger(current().state_dir))
    except (OSError, sqlite3.Error) as error:
        print(error, file=sys.stderr)
        return 1
    if "user" in options and "//127.0.0.1" in current().http_url:
        print(f"\n{ONLY_LOCAL}", file=sys.stderr)
    return 0


def _checked_user(name: str) -> str:
    if not name or not tokens.is_name(name):
        raise ArgumentTypeError(f"{name!r} is not a name")
    return name


def _checked_scope(scope: str) -> str:
    words = scope.split() or [scope]
    for word in words:
        if word not in calls.scopes():
            names = ", ".join(toolsets())
            raise ArgumentTypeError(
                f"there is no toolset {word!r}; there are: {names}, or NAME:read"
            )
    return " ".join(words)


def _new(options: Namespace, ledger: Ledger) -> None:
    settings = current()
    lifetime_s = options.days * sign_in.DAY_S
    grant = {**vars(options), "token_id": secrets.token_hex(8)}
    ledger.add(grant, lifetime_s)
    claims = tokens.claims_of(grant, settings.http_url, lifetime_s)
    token = tokens.sign(claims, tokens.ensure_keys(settings.state_dir / settings.http_key_file)[0])
    print(f"For {options.user} ({options.scope}), for {options.days} days, id {grant['token_id']}.")
    print(
        f"It is shown only now:\n\n{token}\n{SNIPPETS.format(url=settings.http_url, token=token)}"
    )


def _invite(options: Namespace, ledger: Ledger) -> None:
    url = current().http_url
    code = sign_in.invite(ledger, options.user, options.scope, options.days)
    print(f"For {options.user} ({options.scope}), {options.days} days{RENEWED}.")
    print(f"Add this address in the client:\n\n  {url}\n")
    print(
        f"or, for the days of OnePercent, open this one on a phone:\n\n  {urljoin(url, '/day')}\n"
    )
    print(f"and type this into the page, within ten minutes:\n\n  {code[:4]}-{code[4:]}")


def _list(options: Namespace, ledger: Ledger) -> None:
    rows = [("id", "user", "scope", "label", "until", "last use")]
    for token in ledger.entries():
        until = _minute_or_never(token["expires"] - token["days"] * sign_in.DAY_S)
        if token["revoked"]:
            until = "revoked"
        elif token["days"]:
            until += RENEWED
        rows.append((*token[:4], until, _minute_or_never(token["used"])))  # id, user, scope, label
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        print("  ".join(map(str.ljust, row, widths)).rstrip())


def _minute_or_never(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds)) if seconds else "never"


def _revoke(options: Namespace, ledger: Ledger) -> None:
    remark = "" if ledger.revoke(options.id) else "; it was not given out here, by `token list`"
    print(f"{options.id} is refused from now on{remark}")


def _rotate(options: Namespace, ledger: Ledger) -> None:
    tokens.rotate(current().state_dir / current().http_key_file)
    ledger.db.execute("DELETE FROM secrets")
    print(
        "New tokens are signed with a new key. Those of the old one hold until the next rotation."
    )
