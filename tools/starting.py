"""The first steps of every start: the command line, the settings, and one line for what is wrong with
them."""

import sys
from typing import NoReturn

from tools.core import settings

VERSION = "0.2.0"

HELP = """usage: server.py [--standalone | --check | --connect | …]

One MCP server for a Raspberry Pi, over stdio or HTTP.

options:
  -h, --help    show this help message and exit
  --standalone  serve in this process
  --daemon      be the resident service, which others hand sessions to
  --http        serve over HTTP, to clients with a token
  --check       say what works, what is not set up, what is broken
  --connect     print each client's line for this machine
  --version     show program's version number and exit"""


def command_line(words: list[str]) -> str:
    """The way to start: a flag."""
    flag = " ".join(words) or "--standalone"
    texts = {"-h": HELP, "--help": HELP, "--version": f"pi-mcp {VERSION}"}
    if flag in texts:
        print(texts[flag])
        raise SystemExit
    if flag not in ("--standalone", "--daemon", "--http", "--check", "--connect"):
        refuse(f"unrecognized arguments: {flag} (--help shows what there is)")
    return flag


def settings_or_refuse() -> settings.Settings:
    """The settings of this process; a wrong one ends it."""
    try:
        remarks = settings.check_all()
    except settings.SettingsError as error:
        refuse(str(error))
    for line in remarks:
        sys.stderr.write(f"pi-mcp: {line}\n")
    return settings.current()


def refuse(text: str) -> NoReturn:
    """End with one line on stderr and exit status 2: a wrong flag or setting, or a package is missing."""
    sys.stderr.write(f"pi-mcp: {' '.join(text.split())}\n")
    raise SystemExit(2)
