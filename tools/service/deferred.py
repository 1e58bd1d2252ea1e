"""Packages that are imported without all that they import themselves.

A library's package often imports most of the library, to export it. What of that nobody asks for costs memory and time.
How it is spared here depends on how the library is built, so every use has a plain import as its way back.
"""

import importlib.util
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType

LOCK = threading.RLock()


class DeferredPackage(ModuleType):
    """A package whose `__init__` runs once something is asked for that only this can give; its modules are importable
    at once."""

    def __getattr__(self, name: str) -> object:
        if name == "__all__" or not name.startswith("__"):
            self._load()
            if name in self.__dict__:
                return self.__dict__[name]
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        self._load()
        return list(super().__dir__())

    def _load(self) -> None:
        with LOCK:
            loader = self.__dict__.pop("_deferred", None)  # first: the package asks for its own names meanwhile
            if loader:
                try:
                    loader.exec_module(self)
                except BaseException:
                    self.__dict__["_deferred"] = loader
                    raise


def defer(*names: str) -> None:
    """Import these packages, each after the one that it lies in, without running their `__init__` before it is needed.

    Raises ModuleNotFoundError.
    """
    for name in names:
        if name not in sys.modules:
            _defer(name)


def _defer(name: str) -> None:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    package = importlib.util.module_from_spec(spec)
    package.__dict__["_deferred"] = spec.loader
    package.__class__ = DeferredPackage
    sys.modules[name] = package
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, package)


@contextmanager
def absent(*names: str) -> Iterator[None]:
    """Let these modules look as if they were not installed, to what imports them if they are there."""
    hidden = [name for name in names if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]


def is_installed(name: str, version: str) -> bool:
    """Whether it is that version of a package that would be imported. Nothing is imported for the answer."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        return False
    packages = os.path.dirname(os.path.dirname(spec.origin))
    return os.path.isdir(os.path.join(packages, f"{name}-{version}.dist-info"))


def import_with_way_back(lean: Callable[[], None], plain: Callable[[], None], *libraries: str) -> str:
    """Import by `lean`; if that fails in any way, forget what it imported of `libraries` and import by `plain`. Gives
    back why it was not lean, or "".

    Raises what `plain` raises.
    """
    try:
        lean()
        return ""
    except Exception as error:  # a new version of a library may break any assumption
        for name in [name for name in sys.modules if name.partition(".")[0] in libraries]:
            del sys.modules[name]
        plain()
        return f"{type(error).__name__}: {error}"
