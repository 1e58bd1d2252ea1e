"""Packages that are imported without all that they import themselves.

A library's package often imports most of the library, to export it. What of that nobody asks for costs memory and time.
"""

import importlib.util
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

LOCK = threading.RLock()


class PutOff(ModuleType):
    """A package whose `__init__` runs once something is asked for that only this can give; its modules are importable
    at once."""

    def __getattr__(self, name: str) -> object:
        if not name.startswith("__"):
            with LOCK:
                if loader := self.__dict__.pop("_put_off", None):
                    loader.exec_module(self)
            if name in self.__dict__:
                return self.__dict__[name]
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")


def put_off(*names: str) -> None:
    """Import these packages, each after the one that it lies in, without running their `__init__` before it is needed.

    Raises ModuleNotFoundError.
    """
    for name in names:
        if name not in sys.modules:
            _put_off(name)


def _put_off(name: str) -> None:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    package = importlib.util.module_from_spec(spec)
    package.__dict__["_put_off"] = spec.loader
    package.__class__ = PutOff
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
