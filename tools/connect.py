"""The lines, and the bundle for Claude Desktop, with which clients reach the server over ssh.

Source: the clients' own documentation; https://github.com/anthropics/mcpb, manifest version 0.3.
"""

import getpass
import json
import os
import shlex
import shutil
import socket
import sys
import zipfile
from pathlib import Path

from tools.core import places, registry
from tools.core.files import replacing
from tools.starting import VERSION
from tools.toolkit import PROJECT, JsonObject

# The bundle's manifest as it is on every machine.
MANIFEST = Path(__file__).with_name("manifest.json")
INSTALLED = Path("/usr/local/bin/pi-mcp")  # the command that setup.sh --systemd installs
# Never prompt; notice a dead link within a minute.
SSH_OPTIONS = "-T -o BatchMode=yes -o ServerAliveInterval=15 -o ServerAliveCountMax=3".split()
# An example to begin with, if setup.sh was not run and there is no settings file.
EXAMPLE_TARGET = ("pi@raspberrypi.local", "/home/pi/pi-mcp/server.py", "/home/pi")
EXAMPLE_NOTE = (
    "An example: setup.sh was not run here, so user, host and path are not this machine's.\n\n"
)
# In the home on the Pi, forwarded by ssh to the desktop's AnkiConnect: a name that no other client has.
ANKI_SOCKET = ".anki-claude-desktop.sock"


def ssh_target() -> tuple[str, str, str]:
    """This machine as the home network reaches it: `user@host`, the command that starts the server, and the
    home folder."""
    if not os.path.exists(places.settings_file()):
        return EXAMPLE_TARGET
    hostname = socket.gethostname()
    host = hostname if "." in hostname else f"{hostname}.local"
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        sys.exit(
            f"pi-mcp: the user {os.getuid()} has no name on this machine, so nobody can reach it over ssh"
        )
    # The command that starts the server: the installed one, or server.py, with the Python that runs now
    # unless that is this machine's python3.
    command = [str(PROJECT / "server.py")]
    python = shutil.which("python3") or ""
    if INSTALLED.exists():
        command = [str(INSTALLED)]
    elif os.path.realpath(sys.executable) != os.path.realpath(python):
        command.insert(0, os.path.abspath(sys.executable))
    # ssh joins its words, and the Pi's shell splits them again.
    return f"{user}@{host}", shlex.join(command), str(Path.home())


def clients_text(host: str, command: str) -> str:
    """The text of `server.py --connect`: each client with its line."""
    ssh_arguments = [*SSH_OPTIONS, host, command]
    line = shlex.join(ssh_arguments)
    json_arguments = json.dumps(ssh_arguments)
    example = EXAMPLE_NOTE if host == EXAMPLE_TARGET[0] else ""
    servers = {"pi": {"command": "ssh", "args": ssh_arguments}}
    vs_code = f'{{"name": "pi", "command": "ssh", "args": {json_arguments}}}'
    return f"""{example}Once, on the client's computer: ssh-keygen (if it has no key), then \
 ssh-copy-id {host}
(NAME.local works only in your home network; elsewhere use a name or address that reaches the Pi.)

Claude Code   claude mcp add --scope user pi -- ssh {line}
              for `claude -p` also: export MCP_CONNECTION_NONBLOCKING=0
Gemini CLI    gemini mcp add --scope user pi ssh -- {line}
VS Code       code --add-mcp {shlex.quote(vs_code)}

Codex, in ~/.codex/config.toml:
[mcp_servers.pi]
command = "ssh"
args = {json_arguments}
required = true
startup_timeout_sec = 60

Claude Desktop with a click: python3 -m tools bundle pi.mcpb
By hand, and Cursor in ~/.cursor/mcp.json:
{json.dumps({"mcpServers": servers})}"""


def bundle_command(file: str) -> int:
    """Write the bundle, a zip of its manifest and icon. Exit status 2 if the file cannot be written."""
    path = Path(file).resolve()
    text = json.dumps(manifest(), indent=2, ensure_ascii=False)
    try:
        with (
            replacing(path) as temporary,
            zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as bundle,
        ):
            bundle.writestr("manifest.json", text)
            bundle.write(PROJECT / "docs" / "icon.png", "icon.png")
    except OSError as error:
        print(f"pi-mcp: {file} cannot be written: {error.strerror}", file=sys.stderr)
        return 2
    address = shlex.quote(f"{ssh_target()[0]}:{path}")
    print(f"{file}: fetch it (scp {address} .) and open it with Claude Desktop there")
    return 0


def manifest() -> JsonObject:
    """The bundle's manifest: the ssh line, with this machine's user, host and path as defaults that the
    person can change."""
    # The line that starts the server.
    host, command, home = ssh_target()
    forwarding, start = _anki_of_the_desktop(home)
    arguments = [*SSH_OPTIONS, *forwarding, "${user_config.host}", *start, "${user_config.command}"]
    # The tools, with the first sentence of each.
    tools = []
    for name, tool in registry.listed_tools().items():
        summary = tool.description.partition(". ")[0].rstrip(".")
        tools.append({"name": name, "description": f"{summary}."})
    # The manifest with both, in the form of version 0.3.
    manifest: JsonObject = json.loads(MANIFEST.read_text("utf-8"))
    manifest |= {"version": VERSION, "tools": tools}
    manifest["server"]["mcp_config"]["args"] = arguments
    fields = manifest["user_config"]
    fields["host"]["default"] = host
    fields["command"]["default"] = command
    return manifest


def _anki_of_the_desktop(home: str) -> tuple[list[str], list[str]]:
    """The arguments with which ssh forwards the desktop's AnkiConnect, and the words before the command that
    point the server at it; none if the settings here name another Anki."""
    from tools.anki.settings import AnkiSettings

    default = AnkiSettings.variables()["anki_connect_url"].default
    if AnkiSettings.current().anki_connect_url != default:
        return [], []
    path = f"{home}/{ANKI_SOCKET}"
    return ["-R", f"{path}:127.0.0.1:8765"], ["env", f"ANKI_CONNECT_URL=unix:{path}"]
