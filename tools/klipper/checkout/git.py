"""Running git: without prompts, hooks and programs that a configuration names, in bounded time and space."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from tools.core import processes
from tools.core.errors import ToolError
from tools.klipper.checkout.address import without_secrets

LOCAL_TIMEOUT_S = 180
CONTACT_TIMEOUT_S = 60
"""To ask an upstream for its tip."""
FETCH_TIMEOUT_S = 900
"""To bring everything; a stalled upstream is given up earlier."""
STALL_S = 30
"""An upstream that is busy sends a few bytes now and then; a dead one sends none."""
MAX_FILE_BYTES = 256 * 1024 * 1024
"""The largest file that git may write. With fetch.unpackLimit a fetch writes one pack, not a file per object."""
LIMITED = f'ulimit -f {MAX_FILE_BYTES // 512} 2>/dev/null; exec git "$@"'

ENVIRON = {
    "LC_ALL": "C",
    "LANGUAGE": "",
    "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
    "GIT_ASKPASS": "",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_HTTP_LOW_SPEED_LIMIT": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_PROXY_COMMAND": "",
    "GIT_SSH_COMMAND": "ssh -oBatchMode=yes -oConnectTimeout=15 -oServerAliveInterval=15 -oServerAliveCountMax=2",
    "GIT_TERMINAL_PROMPT": "0",
    "GCM_INTERACTIVE": "never",
    "SSH_ASKPASS": "",
    "SSH_ASKPASS_REQUIRE": "never",
}
"""No prompts, no missing objects fetched one by one, English messages, only known protocols."""
KEPT = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH")
CONFIG = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.logAllRefUpdates": "false",
    "fetch.recurseSubmodules": "false",
    "fetch.unpackLimit": "1",
    "fetch.writeCommitGraph": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.ext.allow": "never",
}
"""Over what the user's own configuration says."""

AGAIN = "The pages that are here stay readable; call sync_docs again later."
HINTS = {
    "DISK_FULL": f"Free some space (a file above {MAX_FILE_BYTES >> 20} MiB is never taken). {AGAIN}",
    "UPSTREAM_REFUSED": "The upstream wants a login. Use an address that needs none, or store the credentials for git.",
    "NOT_WRITABLE": "Make the checkout writable for this user, or point KLIPPER_DOCS_DIR elsewhere.",
    "INVALID_UPSTREAM": "Correct KLIPPER_DOCS_URL, KLIPPER_DOCS_BRANCH or KLIPPER_DOCS_EXTRA.",
    "UPSTREAM_UNREACHABLE": f"Check the network and KLIPPER_DOCS_URL. {AGAIN}",
    "GIT_FAILED": f"Nothing is lost. {AGAIN}",
}
CAUSES = {
    "DISK_FULL": r"No space left|Out of diskspace|signal 25|File too large|Disk quota",
    "UPSTREAM_REFUSED": r"could not read (User|Pass)|Authentication fail|Permission denied \(|Host key verification",
    "NOT_WRITABLE": r"[Pp]ermission denied|Read-only file system|insufficient permission",
    "INVALID_UPSTREAM": r"transport '.*' not allowed|valid .* name|invalid refspec|Unable to find remote helper",
    "UPSTREAM_UNREACHABLE": r"unable to access|[Cc]ould not resolve|Connection|timed out|Could not read from remote|"
    r"[Nn]ot found|not appear to be a git rep|hung up|early EOF|RPC failed|unexpected disconnect|dubious ownership",
    "GIT_FAILED": "",
}
"""What git's last words match in each case; the first that matches is it."""


def run(
    *words: str,
    git_dir: Path,
    folder: Path = Path("/"),
    config: Mapping[str, str] | None = None,
    environ: Mapping[str, str] | None = None,
    lines: Sequence[str] = (),
    stdout: IO[bytes] | None = None,
    heard: Callable[[bytes], None] | None = None,
    timeout_s: float = 0,
    handles: Sequence[int] = (),
) -> bytes:
    """Run git on `git_dir`; `lines` are its stdin, `config` and `environ` come on top of the safe ones. What it writes
    to stdout comes back.

    Raises ToolError: TIMEOUT, or what git says went wrong.
    """
    options = [word for name, value in {**CONFIG, **(config or {})}.items() for word in ("-c", f"{name}={value}")]
    timeout_s = timeout_s or LOCAL_TIMEOUT_S
    with _stdin(lines) as stdin:
        try:
            ended = processes.run(
                ["/bin/sh", "-c", LIMITED, "git", *options, *words],
                environ={**environment(), "GIT_DIR": str(git_dir), **(environ or {})},
                folder=folder,
                timeout_s=timeout_s,
                stdin=stdin,
                stdout=stdout,
                heard=heard,
                handles=handles,
            )
        except TimeoutError:
            hint = f"The upstream or the disk is too slow right now. {AGAIN}"
            raise ToolError(f"git {words[0]} was ended after {timeout_s:g} s", hint, code="TIMEOUT") from None
    if ended.status:
        raise _failed(words[0], ended)
    return ended.output


def require_git() -> None:
    """Raises ToolError GIT_MISSING if there is no git."""
    from shutil import which

    if not which("git"):
        raise ToolError("git is not installed", "Install it: sudo apt install git", code="GIT_MISSING")


def environment() -> dict[str, str]:
    """The environment of every git of ours: no variable of another git, but where its configuration is."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name in KEPT or name.startswith("GIT_SSL_")
    }
    return {**kept, **ENVIRON, "GIT_HTTP_LOW_SPEED_TIME": str(STALL_S)}


@contextmanager
def _stdin(lines: Sequence[str]) -> Iterator[IO[bytes] | None]:
    from tempfile import TemporaryFile

    with TemporaryFile() as file:
        file.writelines(os.fsencode(line) for line in lines)
        file.seek(0)
        yield file


def _failed(command: str, ended: processes.Ended) -> ToolError:
    words = without_secrets(ended.errors.decode("utf-8", "replace"))
    if ended.status < 0:
        words += f"\nended by signal {-ended.status}"
    code = next(code for code, pattern in CAUSES.items() if re.search(pattern, words))
    lines = [line.strip() for line in re.split(r"[\r\n]+", words) if line.strip()]
    telling = [line for line in lines if re.match(r"(fatal|error|ended by|remote: \w*(ERR|err|fatal))", line)]
    reason = " | ".join(dict.fromkeys(telling or lines[-2:]))[:400] or "no word from git"
    return ToolError(f"git {command} failed: {reason}", HINTS[code], code=code)
