"""The address of an upstream: checked, and without its password where others could see it."""

import re
from typing import NamedTuple

from tools.core.errors import ToolError

SECRET = re.compile(r"(\w://)\S*@")
"""An address up to the last `@` in it: a password may hold `/` and `@` itself."""
PARTS = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?:(?P<login>[^/]*)@)?(?P<rest>[^/]*.*)", re.DOTALL)
BRANCH = re.compile(r"(?!-)(?!.*(\.\.|@\{|//|/\.|\.lock(/|$)))[^\x00-\x20\x7f~^:?*\[\\]+(?<![./])")
"""What `git check-ref-format` allows, so that a branch is never taken for an option or for several refs."""
HELPER = '!f() { test "$1" != get || printf "username=%s\\npassword=%s\\n" "$PI_MCP_USER" "$PI_MCP_PASSWORD"; }; f'
"""A credential helper that answers with the login of the settings. git asks it only for this address's host."""


class Address(NamedTuple):
    """What git is given as an argument, and the variables that give it the login."""

    url: str
    environ: dict[str, str]


def address(url: str) -> Address:
    """An address without its password: that would show in the list of processes and in `.git/config`."""
    from urllib.parse import unquote

    parts = PARTS.fullmatch(url)
    if not parts or not parts["login"]:
        return Address(url, {})
    user, _, password = parts["login"].partition(":")
    if parts["scheme"].lower() not in ("http", "https"):
        return Address(f"{parts['scheme']}://{user}@{parts['rest']}", {})
    host = f"{parts['scheme']}://{parts['rest'].partition('/')[0]}"
    # The empty helper first: the login is that of the settings, and no helper of the user's stores it.
    helpers = {"GIT_CONFIG_KEY_0": f"credential.{host}.helper", "GIT_CONFIG_VALUE_0": ""}
    helpers |= {"GIT_CONFIG_KEY_1": f"credential.{host}.helper", "GIT_CONFIG_VALUE_1": HELPER}
    login = {"PI_MCP_USER": unquote(user), "PI_MCP_PASSWORD": unquote(password)}
    return Address(f"{parts['scheme']}://{parts['rest']}", {"GIT_CONFIG_COUNT": "2", **helpers, **login})


def without_secrets(text: str) -> str:
    """`text` without the login of any address in it."""
    return SECRET.sub(r"\1…@", text)


def validate(label: str, url: str, branch: str) -> None:
    """Raises ToolError INVALID_UPSTREAM if the address or the branch could be taken for something else."""
    parts = PARTS.fullmatch(url)
    port = re.search(r":(?!\d*$)[^]]*$", parts["rest"].partition("/")[0]) if parts else None
    if not url or url.startswith("-") or any(ord(char) < 32 for char in url) or port:
        raise invalid(f"The address of {label} cannot be: {without_secrets(url)!r}")
    if branch and not BRANCH.fullmatch(branch):
        raise invalid(f"The branch of {label} cannot be: {branch!r}")


def invalid(message: str) -> ToolError:
    """What to say of an address or branch that leads nowhere."""
    hint = (
        "Correct KLIPPER_DOCS_URL and KLIPPER_DOCS_BRANCH (or KLIPPER_DOCS_EXTRA); in a password / is %2F and @ is %40. "
        "The pages that are here stay."
    )
    return ToolError(message, hint, code="INVALID_UPSTREAM")
