"""The first steps of every start: the command line, the settings, and one line for what is wrong with
them."""

import sys
from typing import NoReturn

from tools.core import settings

VERSION = "0.2.0"


def command_line(words: list[str]) -> str:
    """The way to start: the name of the flag, without its dashes."""
    if words in ([], ["--standalone"]):  # as clients start it; all else has time for argparse
        return "standalone"
    import argparse

    parser = argparse.ArgumentParser(
        "server.py",
        usage="server.py [--standalone | --check | --connect | …]",
        description="One MCP server for a Raspberry Pi, over stdio or HTTP.",
        allow_abbrev=False,
    )
    parser.error = lambda message: refuse(f"{message} (--help shows what there is)")  # type: ignore[method-assign]
    ways = parser.add_mutually_exclusive_group()
    for way, help_text in (
        ("standalone", "serve in this process"),
        ("daemon", "be the resident service, which others hand sessions to"),
        ("http", "serve over HTTP, to clients with a token"),
        ("check", "say what works, what is not set up, what is broken"),
        ("connect", "print each client's line for this machine"),
    ):
        ways.add_argument(f"--{way}", dest="way", action="store_const", const=way, help=help_text)
    parser.set_defaults(way="standalone")
    ways.add_argument("--version", action="version", version=f"pi-mcp {VERSION}")
    return str(parser.parse_args(words).way)


def settings_or_refuse() -> settings.Settings:
    """The settings of this process; a wrong one ends it."""
    try:
        remarks = settings.check()
    except settings.SettingsError as error:
        refuse(str(error))
    for line in remarks:
        sys.stderr.write(f"pi-mcp: {line}\n")
    return settings.current()


def refuse(text: str) -> NoReturn:
    """End with one line on stderr and exit status 2: a wrong flag or setting, or a package is missing."""
    sys.stderr.write(f"pi-mcp: {' '.join(text.split())}\n")
    raise SystemExit(2)
