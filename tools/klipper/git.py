"""Running git: without prompts, hooks and programs that a configuration names, to its end or its timeout."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from tools import processes
from tools.errors import ToolError

LOCAL_TIMEOUT_S = 180
CONTACT_TIMEOUT_S = 60
"""To ask an upstream where it is."""
FETCH_TIMEOUT_S = 1800
"""To bring everything; a stalled upstream is given up earlier."""
STALL_S = 30
STALL_BYTES_PER_S = 1
"""An upstream that is busy sends a few bytes now and then; a dead one sends none."""

PROTOCOLS = "file:git:http:https:ssh"
KEPT = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_EXEC_PATH")

CONFIG = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.logAllRefUpdates": "false",
    "fetch.recurseSubmodules": "false",
    "fetch.writeCommitGraph": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "log.showSignature": "false",
    "protocol.ext.allow": "never",
}
"""Over what the user's own configuration says."""

DAMAGED = "Move the checkout's folder away and call sync_docs: it fetches a new one."

UNKNOWN = (
    "GIT_FAILED",
    "Nothing is lost. Call sync_docs again; if it stays so, move the checkout's folder away first.",
)
CAUSES = [
    (
        r"No space left|Out of diskspace|SIGXFSZ|died of signal 25|File too large|Disk quota",
        "DISK_FULL",
        "Free some space, then call sync_docs again.",
    ),
    (
        r"could not read (Username|Password)|Authentication failed|Permission denied \(|Host key verification",
        "UPSTREAM_REFUSED",
        "The upstream wants a login. Use an address that needs none, or store the credentials for git.",
    ),
    (
        r"[Pp]ermission denied|Read-only file system|insufficient permission",
        "NOT_WRITABLE",
        "Make the checkout writable for this user, or point KLIPPER_DOCS_DIR elsewhere.",
    ),
    (
        r"transport '.*' not allowed|valid .* name|invalid refspec|Unable to find remote helper",
        "INVALID_UPSTREAM",
        "Correct KLIPPER_DOCS_URL, KLIPPER_DOCS_BRANCH or KLIPPER_DOCS_EXTRA.",
    ),
    (
        r"unable to access|[Cc]ould not resolve|Connection|timed out|Could not read from remote|[Nn]ot found|"
        r"does not appear to be a git repository|hung up|early EOF|RPC failed|unexpected disconnect|dubious ownership",
        "UPSTREAM_UNREACHABLE",
        "Check the network and KLIPPER_DOCS_URL. The pages that are here stay readable; call sync_docs again later.",
    ),
    (
        r"bad object|corrupt|unable to read|not a git repository|bad signature|missing blob|loose object|packfile|"
        r"bad config|unable to resolve reference|bad shallow line|missing object|not a tree object|bad tree",
        "CHECKOUT_DAMAGED",
        DAMAGED,
    ),
]


def run(
    *words: str,
    git_dir: Path,
    folder: Path,
    config: Mapping[str, str] | None = None,
    environ: Mapping[str, str] | None = None,
    lines: Sequence[str] = (),
    stdout: IO[bytes] | None = None,
    heard: Callable[[bytes], None] | None = None,
    timeout_s: float | None = None,
    interruptible: bool = True,
    handles: Sequence[int] = (),
) -> bytes:
    """Run git on `git_dir`; `lines` are its stdin, `config` and `environ` come on top of the safe ones.

    Raises ToolError: GIT_MISSING, TIMEOUT, or what git says went wrong.
    """
    timeout_s = timeout_s or LOCAL_TIMEOUT_S
    settings = [word for name, value in {**CONFIG, **(config or {})}.items() for word in ("-c", f"{name}={value}")]
    with _stdin(lines) as stdin:
        try:
            ended = processes.run(
                ["git", *settings, *words],
                environ={**environment(), "GIT_DIR": str(git_dir), **(environ or {})},
                folder=folder,
                timeout_s=timeout_s,
                stdin=stdin,
                stdout=stdout,
                heard=heard,
                interruptible=interruptible,
                handles=handles,
            )
        except TimeoutError:
            raise ToolError(
                f"git {words[0]} was ended after {timeout_s:g} s",
                "The upstream or the disk is too slow right now. Nothing is lost; call sync_docs again later.",
                code="TIMEOUT",
            ) from None
        except FileNotFoundError as error:
            raise _absent(error) from None
    if ended.status:
        raise _failed(words[0], ended)
    return ended.output


def require_git() -> None:
    """Raises ToolError GIT_MISSING where there is no git."""
    from shutil import which

    if not which("git"):
        raise missing()


def missing() -> ToolError:
    """git is not installed."""
    return ToolError("git is not installed", "Install it: sudo apt install git", code="GIT_MISSING")


def environment() -> dict[str, str]:
    """Our environment for git: no prompts, no other repository, English messages, only known protocols."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    kept = {name: value for name, value in os.environ.items() if name in KEPT or name.startswith("GIT_SSL_")}
    return ours | kept | {
        "LC_ALL": "C",
        "LANGUAGE": "",
        "GIT_ALLOW_PROTOCOL": PROTOCOLS,
        "GIT_ASKPASS": "",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_DEFAULT_HASH": "sha1",
        "GIT_DEFAULT_REF_FORMAT": "files",
        "GIT_HTTP_LOW_SPEED_LIMIT": str(STALL_BYTES_PER_S),
        "GIT_HTTP_LOW_SPEED_TIME": str(STALL_S),
        "GIT_LITERAL_PATHSPECS": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_PROXY_COMMAND": "",
        "GIT_SSH_COMMAND": "ssh -oBatchMode=yes -oConnectTimeout=15 -oServerAliveInterval=15 -oServerAliveCountMax=2",
        "GIT_TERMINAL_PROMPT": "0",
        "GCM_INTERACTIVE": "never",
        "SSH_ASKPASS": "",
        "SSH_ASKPASS_REQUIRE": "never",
    }  # fmt: skip


@contextmanager
def _stdin(lines: Sequence[str]) -> Iterator[IO[bytes] | None]:
    if not lines:
        yield None
        return
    from tempfile import TemporaryFile

    with TemporaryFile() as file:
        file.write(b"".join(os.fsencode(line) for line in lines))
        file.seek(0)
        yield file


def _absent(error: FileNotFoundError) -> Exception:
    return missing() if error.filename == "git" else error


def _failed(what: str, ended: processes.Ended) -> ToolError:
    said = without_secrets(ended.errors.decode("utf-8", "replace"))
    if ended.status < 0:
        said += f"\nended by {_signal_name(-ended.status)}"
    code, hint = next(((code, hint) for pattern, code, hint in CAUSES if re.search(pattern, said)), UNKNOWN)
    return ToolError(f"git {what} failed: {_last_words(said)}", hint, code=code)


def _signal_name(number: int) -> str:
    from signal import Signals

    try:
        return Signals(number).name
    except ValueError:
        return f"signal {number}"


def _last_words(said: str) -> str:
    lines = [line.strip() for line in re.split(r"[\r\n]+", said) if line.strip()]
    telling = [line for line in lines if re.match(r"(fatal|error|ended by|remote: \w*(ERR|err|fatal))", line)]
    return " | ".join(dict.fromkeys(telling or lines[-2:]))[:400] or "no word from git"


def without_secrets(text: str) -> str:
    """`text` without the user and password of any address in it."""
    return re.sub(r"(\w://)[^/@\s]+@", r"\1", text)
