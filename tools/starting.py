"""The first steps of every start: read the command line and the settings, or refuse them in one line."""

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


def start_mode(arguments: list[str]) -> str:
    """The flag that says how to start. Help and version are printed here, and end the process."""
    flag = " ".join(arguments) or "--standalone"
    texts = {"-h": HELP, "--help": HELP, "--version": f"pi-mcp {VERSION}"}
    if flag in texts:
        print(texts[flag])
        raise SystemExit
    if flag not in ("--standalone", "--daemon", "--http", "--check", "--connect"):
        refuse(f"unrecognized arguments: {flag} (--help shows what there is)")
    return flag


def settings_or_refuse() -> settings.Settings:
    """The settings of this process, which ends if one is wrong; misspelt names are reported on stderr."""
    try:
        remarks = settings.check_all()
    except settings.SettingsError as error:
        refuse(error)
    for remark in remarks:
        sys.stderr.write(f"pi-mcp: {remark}\n")
    return settings.current()


def refuse(reason: object) -> NoReturn:
    """End with one line on stderr and exit status 2, because of a wrong flag or setting or a missing
    package."""
    sys.stderr.write(f"pi-mcp: {' '.join(str(reason).split())}\n")
    raise SystemExit(2)
