"""What can go wrong with the documentation, and what to do then."""

from tools.core.errors import ToolError

AGAIN = "The pages that are here stay readable; call sync_docs again later."
HINTS = {
    "DISK_FULL": f"Free some space (a file above 256 MiB is never taken). {AGAIN}",
    "UNSAFE_TREE": "The upstream holds what git refuses. Nothing was changed; do not use it.",
    "UPSTREAM_REFUSED": "The upstream wants a login. Use an address that needs none, or store the credentials for git.",
    "NOT_WRITABLE": "Make the checkout writable for this user, or point KLIPPER_DOCS_DIR elsewhere.",
    "INVALID_UPSTREAM": "Correct KLIPPER_DOCS_URL and KLIPPER_DOCS_BRANCH (or KLIPPER_DOCS_EXTRA); in a password / is "
    "%2F and @ is %40. The pages that are here stay.",
    "UPSTREAM_UNREACHABLE": f"Check the network and KLIPPER_DOCS_URL. {AGAIN}",
    "GIT_FAILED": f"Nothing is lost. {AGAIN}",
    "GIT_MISSING": "Install it: sudo apt install git",
    "NOT_A_CHECKOUT": "Move it away, or let KLIPPER_DOCS_DIR name a folder that does not exist yet; then call sync_docs "
    "again.",
    "NO_DOCS": "The old pages stay. Correct the address, the branch or the folder's path in the settings.",
    "UNSAFE_FOLDER": "Let KLIPPER_DOCS_DIR name a folder of its own, for example ~/klipper-docs.",
    "TIMEOUT": f"The upstream or the disk is too slow right now. {AGAIN}",
}


def failure(code: str, message: str) -> ToolError:
    """The error of one of these cases."""
    return ToolError(message, HINTS[code], code=code)
