"""Import of the MCP SDK without the half of it that serving does not need.

The SDK's packages import nearly all of it in order to export it: clients, OAuth, cryptography.
requirements.txt leaves the packages that only those need uninstalled (`--no-deps`), so this is the only way
the SDK can be imported there; a plain `import mcp` fails. It relies on the SDK's inner structure, so it
serves the one version that is pinned.
"""

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

# The version that requirements.txt pins.
VERSION = "2.3.0"
# Packages whose `__init__` imports modules that are not installed, so it never runs.
PACKAGES = ("mcp", "mcp.server")
HTTP_ALONE = (
    *(
        "starlette.applications",
        "starlette.middleware",
        "starlette.middleware.authentication",
        "starlette.routing",
    ),
    *(
        "mcp.server.auth.middleware.auth_context",
        "mcp.server.auth.middleware.bearer_auth",
        "mcp.server.auth.provider",
    ),
    *("mcp.server.auth.routes", "mcp.server.auth.settings", "mcp.server.transport_security"),
    *("mcp.server.streamable_http", "mcp.server.streamable_http_manager"),
)
# The models of the protocol's two eras; a client speaks one of them.
ERAS = ("mcp_types._v2025_11_25", "mcp_types._v2026_07_28")
# Modules whose import waits until one of their names is used, by the way of serving.
LAZY = {"stdio": (*HTTP_ALONE, *ERAS), "service": HTTP_ALONE, "http": ()}


@contextmanager
def trimmed_imports(way: str) -> Iterator[None]:
    """Inside, the SDK is imported without what this way of serving ("stdio", "service" or "http") does not
    need.

    Raises ImportError: the SDK is not installed, or is another version.
    """
    if not is_installed("mcp", VERSION):
        raise ImportError(f"mcp {VERSION} is needed")
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")  # it looks for them in all that is installed
    for name in PACKAGES:
        import_bare(name)
    with lazy(*LAZY[way]):
        yield


def is_installed(name: str, version: str) -> bool:
    """True if a package is installed in this version; nothing of it is imported."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        return False
    packages = os.path.dirname(os.path.dirname(spec.origin))
    return os.path.isdir(os.path.join(packages, f"{name}-{version}.dist-info"))


def import_bare(name: str) -> None:
    """Import a package, after the one that it lies in, without running its `__init__`: its modules can be
    imported."""
    spec = importlib.util.find_spec(name) if name not in sys.modules else None
    if spec:
        package = sys.modules[name] = importlib.util.module_from_spec(spec)
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], child, package)


@contextmanager
def lazy(*modules: str) -> Iterator[None]:
    """Inside, names imported from these modules are stand-ins; modules that are imported already stay as they
    are."""
    stand_ins = {name: LazyModule(name) for name in modules if name not in sys.modules}
    sys.modules.update(stand_ins)
    try:
        yield
    finally:
        for name in stand_ins:
            del sys.modules[name]


class LazyName:
    """A stand-in for an object of a module, which is imported once the stand-in is called, asked for an
    attribute, or given to pydantic as a type. The SDK that is pinned does nothing else with what it imports
    from LAZY modules."""

    def __init__(self, find: Callable[[], Any]):
        self._find = find

    def __getattr__(self, name: str) -> object:
        return getattr(self._find(), name)

    def __call__(self, *args: object, **named: object) -> object:
        return self._find()(*args, **named)

    def __get_pydantic_core_schema__(self, source: object, handler: Callable[[object], object]) -> object:
        """Answer pydantic, which asks this of a type."""
        return handler(self._find())


class LazyModule(ModuleType):
    """A stand-in for a module while others import names from it."""

    def __getattr__(self, name: str) -> LazyName:
        if name.startswith("__"):
            raise AttributeError(name)
        return LazyName(lambda: getattr(importlib.import_module(self.__name__), name))
