"""Running git: without prompts, hooks and programs that a configuration names, and in bounded time."""

import os
import re
from pathlib import Path

from tools.core import processes
from tools.core.settings import masked
from tools.toolkit import ToolError

# The timeout of asking an upstream for its tip.
CONTACT_TIMEOUT_S = 60
# The variables that our git keeps: only those that say where its configuration is.
INHERITED = r"(?!GIT_)|GIT_CONFIG_(GLOBAL|SYSTEM|NOSYSTEM)$|GIT_EXEC_PATH$|GIT_SSL_"
# No prompts, English messages, only known protocols.
ENVIRON = {
    "LC_ALL": "C",
    "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
    "GIT_ASKPASS": "",
    "GIT_DEFAULT_REF_FORMAT": "files",
    # An upstream that is busy sends a few bytes now and then; a dead one sends none.
    "GIT_HTTP_LOW_SPEED_LIMIT": "1",
    "GIT_HTTP_LOW_SPEED_TIME": "30",
    "GIT_SSH_COMMAND": "ssh -oBatchMode=yes -oConnectTimeout=15 -oServerAliveInterval=15 -oServerAliveCountMax=2",
    "GIT_TERMINAL_PROMPT": "0",
    "GCM_INTERACTIVE": "never",
    "SSH_ASKPASS": "",
}
# Settings that override the user's own configuration.
# fetch.fsckObjects: no paths that lead out of the checkout, or through a link.
GIT_OPTIONS = (
    "-c core.fsmonitor=false -c core.hooksPath=/dev/null -c fetch.fsckObjects=true "
    "-c log.showSignature=false -c maintenance.auto=false -c protocol.ext.allow=never"
).split()
# The lines of git that say what went wrong, and its remedy for a repository of another user.
GIT_ERROR_LINE = r"fatal|error|ended by|git config --global|remote: \w*(ERR|err|fatal)"
# Patterns in git's output by the code of a failure; the first that matches counts.
FAILURE_PATTERNS = {
    # For some of its own files git says only that it could not write them.
    "DISK_FULL": r"No space left|unable to write (file|new index)|failed to write new configuration|"
    r"Out of diskspace|signal 25|File too large|Disk quota",
    "UNSAFE_TREE": r"fsck error|invalid path",
    "UPSTREAM_REFUSED": r"could not read (User|Pass)|Authentication fail|Permission denied \(|"
    r"Host key verification",
    "NOT_WRITABLE": r"[Pp]ermission denied|Read-only file system|insufficient permission",
    "INVALID_UPSTREAM": r"transport '.*' not allowed|valid .* name|invalid refspec|"
    r"Unable to find remote helper|strange (host|path)name",
    "UPSTREAM_UNREACHABLE": r"unable to access|[Cc]ould not resolve|Connection|timed out|"
    r"Could not read from remote|[Nn]ot found|not appear to be a git rep|hung up|early EOF|RPC failed|"
    r"unexpected disconnect",
    "GIT_FAILED": "",
}


RETRY_HINT = "The pages that are here stay readable; call sync_docs again later."
FAILURE_HINTS = {
    "DISK_FULL": f"Free some space. {RETRY_HINT}",
    "UNSAFE_TREE": "The upstream contains objects or paths that git refuses. Nothing was changed; "
    "do not use it.",
    "UPSTREAM_REFUSED": "The upstream wants a login. Use an address that needs none, or store the "
    "credentials for git.",
    "NOT_WRITABLE": "Make the checkout writable for this user, or point KLIPPER_DOCS_DIR elsewhere.",
    "INVALID_UPSTREAM": "Correct KLIPPER_DOCS_URL and KLIPPER_DOCS_BRANCH (or KLIPPER_DOCS_EXTRA). "
    "The pages that are here stay.",
    "UPSTREAM_UNREACHABLE": f"Check the network and KLIPPER_DOCS_URL. {RETRY_HINT}",
    "GIT_FAILED": f"Nothing is lost. {RETRY_HINT}",
    "GIT_MISSING": "Install it: sudo apt install git",
    "NOT_A_CHECKOUT": "Move it away, or let KLIPPER_DOCS_DIR name a folder that does not exist yet; "
    "then call sync_docs again.",
    "NO_DOCS": "The old pages stay. Correct the address, the branch or the folder's path in the settings.",
    "TIMEOUT": f"The upstream or the disk is too slow right now. {RETRY_HINT}",
}


def run(*arguments: str, git_dir: Path = Path(os.devnull), timeout_s: float = 900) -> str:
    """Run git on `git_dir` and return what it writes to stdout. The default timeout is for fetching
    everything; a stalled upstream is given up earlier.

    Raises ToolError: TIMEOUT, or what git says went wrong.
    """
    inherited = {name: value for name, value in os.environ.items() if re.match(INHERITED, name)}
    environ = {**inherited, **ENVIRON, "GIT_DIR": str(git_dir)}
    try:
        ended = processes.run(["git", *GIT_OPTIONS, *arguments], environ, timeout_s)
    except TimeoutError:
        raise failure("TIMEOUT", f"git {arguments[0]} was ended after {timeout_s:g} s") from None
    if ended.returncode:
        raise _failed(arguments[0], ended.returncode, ended.stderr)
    return os.fsdecode(ended.stdout)


def require_git() -> None:
    """Raise ToolError GIT_MISSING if there is no git."""
    from shutil import which

    if not which("git"):
        raise failure("GIT_MISSING", "git is not installed")


def _failed(command: str, status: int, errors: bytes) -> ToolError:
    output = masked(errors.decode("utf-8", "replace"))
    if status < 0:
        output += f"\nended by signal {-status}"
    lines = re.split(r"\s*[\r\n]\s*", output.strip())
    error_lines = [line for line in lines if re.match(GIT_ERROR_LINE, line)]
    reason = " | ".join(dict.fromkeys(error_lines or lines[-2:]))[:400]
    code = next(code for code, pattern in FAILURE_PATTERNS.items() if re.search(pattern, output))
    return failure(code, f"git {command} failed: {reason}")


def failure(code: str, message: str) -> ToolError:
    """Make the error of a case, with its hint."""
    return ToolError(message, FAILURE_HINTS[code], code)
