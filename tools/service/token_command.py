"""`python3 -m tools token …`: give tokens to people and take them back.

new --user NAME --scope "TOOLSET …" [--days N] [--label TEXT]
                 a token, shown once, with what to paste into each client
list             the tokens given out: id, user, scope, label, end, last use
revoke ID        refuse a token from now on
rotate           sign with a new key; tokens of the old one hold until the next rotation
"""

import argparse
import json
import sys
import time
from typing import NoReturn

from tools.core import caller, settings
from tools.core.errors import ToolError
from tools.core.toolsets import toolsets
from tools.service import ledger, tokens

DAY_S = 86_400
MOST_DAYS = 3650
SNIPPETS = """
curl
  curl {url} -H 'Authorization: Bearer {token}' \\
    -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \\
    -d '{{"jsonrpc":"2.0","id":1,"method":"tools/list"}}'
OpenAI Responses API, in "tools"
  {responses}
Claude Code
  claude mcp add --transport http pi {url} --header "Authorization: Bearer {token}"
Codex, in ~/.codex/config.toml, with PI_TOKEN in the environment
  [mcp_servers.pi]
  url = "{url}"
  bearer_token_env_var = "PI_TOKEN"
Cursor, in ~/.cursor/mcp.json; VS Code takes the same under "servers"
  {cursor}
"""


def main(words: list[str]) -> int:
    """Run one of the commands. Exit status: 0 done, 1 it could not be done, 2 wrong usage."""
    options = _parser().parse_args(words)
    try:
        return options.run(options)
    except (tokens.UnusableKeys, settings.SettingsError, OSError, ValueError) as error:
        return _fail(str(error))
    except ToolError as error:
        return _fail(f"{error.message}. {error.hint}")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser("python3 -m tools token", usage=__doc__.partition("\n\n")[2].rstrip())
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=_Parser)
    new = commands.add_parser("new")
    new.add_argument("--user", required=True)
    new.add_argument("--scope", required=True)
    new.add_argument("--days", type=int, default=90)
    new.add_argument("--label", default="")
    new.set_defaults(run=_new)
    commands.add_parser("list").set_defaults(run=_list)
    revoke = commands.add_parser("revoke")
    revoke.add_argument("id")
    revoke.set_defaults(run=_revoke)
    commands.add_parser("rotate").set_defaults(run=_rotate)
    return parser


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"{message}\n\n{__doc__}")
        raise SystemExit(2)


def _new(options: argparse.Namespace) -> int:
    scope = options.scope.replace(",", " ").split()
    known = {word for name in toolsets() for word in (name, name + caller.READ_ONLY)}
    unknown = [word for word in scope if word not in known]
    if unknown or not scope:
        named = f"there is no toolset {unknown[0]!r}" if scope else "a token needs a scope"
        return _fail(f"{named}; there are: {', '.join(toolsets())}, each alone or with :read", 2)
    if not 1 <= options.days <= MOST_DAYS or not options.user.isprintable() or not options.user.strip():
        return _fail(f"--user is a name, --days from 1 to {MOST_DAYS}", 2)
    own = settings.current()
    claims = tokens.new_claims(options.user, scope, own.http_url, options.days * DAY_S)
    token = tokens.sign(claims, tokens.keys_at(own.state_dir / own.http_key_file)[0])
    ledger.Ledger(own.state_dir).add(claims, options.label)
    print(
        f"For {options.user} ({' '.join(scope)}), for {options.days} days, id {claims['jti']}. It is shown only now:\n"
    )
    print(token)
    print(_snippets(own.http_url, token))
    return 0


def _snippets(url: str, token: str) -> str:
    responses = {
        "type": "mcp",
        "server_label": "pi",
        "server_url": url,
        "authorization": token,
        "require_approval": {"never": {"read_only": True}},
    }
    cursor = {"mcpServers": {"pi": {"url": url, "headers": {"Authorization": "Bearer ${env:PI_TOKEN}"}}}}
    return SNIPPETS.format(url=url, token=token, responses=json.dumps(responses), cursor=json.dumps(cursor)).rstrip()


def _list(options: argparse.Namespace) -> int:
    rows = [("id", "user", "scope", "label", "until", "last use")]
    for entry in ledger.Ledger(settings.current().state_dir).entries():
        until = "revoked" if entry.revoked else _day(entry.expires)
        rows.append((entry.token_id, entry.user, entry.scope, entry.label, until, _day(entry.used)))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())
    return 0


def _day(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds)) if seconds else "never"


def _revoke(options: argparse.Namespace) -> int:
    if not ledger.Ledger(settings.current().state_dir).revoke(options.id):
        return _fail(f"no token {options.id!r} was given out here; `token list` shows their ids")
    print(f"{options.id} is refused from now on")
    return 0


def _rotate(options: argparse.Namespace) -> int:
    own = settings.current()
    keys = tokens.rotate(own.state_dir / own.http_key_file)
    print(
        "New tokens are signed with a new key."
        + (" Those of the old one hold until the next rotation." * (len(keys) > 1))
    )
    return 0


def _fail(text: str, status: int = 1) -> int:
    print(text, file=sys.stderr)
    return status
