"""`python3 -m tools bundle FILE.mcpb`: a bundle for Claude Desktop, which starts the server over ssh.

A click installs it; Claude Desktop asks for the Pi's address and the command there. Nothing of pi-mcp is in it.

Source: https://github.com/anthropics/mcpb, manifest version 0.3.
"""

import json
import sys
import zipfile
from pathlib import Path

from tools.core.json_types import JsonObject
from tools.service.ssh_check import OPTIONS
from tools.service.starting import VERSION

USAGE = "python3 -m tools bundle FILE.mcpb"
WINDOWS_SSH = "C:\\Windows\\System32\\OpenSSH\\ssh.exe"
NOTE = "pi-mcp runs on the Raspberry Pi; this bundle only starts it there, over ssh with a key.\n"


def main(words: list[str]) -> int:
    """Write the bundle. Exit status 2: wrong usage, or the file cannot be written."""
    if len(words) != 1 or words[0].startswith("-"):
        print(USAGE, file=sys.stderr)
        return 2
    try:
        write(Path(words[0]))
    except OSError as error:
        print(f"pi-mcp: {words[0]} cannot be written: {error.strerror}", file=sys.stderr)
        return 2
    print(f"{words[0]}: open it with Claude Desktop on your computer")
    return 0


def write(path: Path) -> None:
    """Write the bundle: a zip with its manifest. Raises OSError."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.writestr("manifest.json", json.dumps(manifest(), indent=2, ensure_ascii=False))
        bundle.writestr("README.txt", NOTE)


def manifest() -> JsonObject:
    """The manifest: the ssh line of the README, with host and command to be filled in."""
    options = [word for option in OPTIONS for word in ("-o", option)]
    return {
        "manifest_version": "0.3",
        "name": "pi-mcp",
        "display_name": "Raspberry Pi (pi-mcp)",
        "version": VERSION,
        "description": "Anki, goals and habits, the Klipper documentation and search, on your Raspberry Pi over ssh.",
        "author": {"name": "pi-mcp"},
        "license": "MIT",
        "server": {
            "type": "binary",
            "entry_point": "README.txt",
            "mcp_config": {
                "command": "ssh",
                "args": ["-T", *options, "${user_config.host}", "${user_config.command}"],
                "platform_overrides": {"win32": {"command": WINDOWS_SSH}},
            },
        },
        "user_config": {
            "host": {
                "type": "string",
                "title": "User and address of the Pi",
                "description": "As ssh takes it; your key must be there (ssh-copy-id).",
                "default": "pi@raspberrypi.local",
                "required": True,
            },
            "command": {
                "type": "string",
                "title": "Command on the Pi",
                "description": "The server's absolute path, or /usr/local/bin/pi-mcp after ./setup.sh --systemd.",
                "default": "/home/pi/pi-mcp/server.py",
                "required": True,
            },
        },
        "compatibility": {"platforms": ["darwin", "win32", "linux"]},
    }
