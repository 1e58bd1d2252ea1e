"""Names of modules that are not imported before something is done with the names.

`from big import thing` usually imports `big` also if nobody ever uses `thing`. Inside `late("big")` it gives a stand-in
that imports `big` once it is called, subclassed, asked for an attribute, or given to pydantic as a type.
"""

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType


class LateName:
    """What `find` gives, found at the first use."""

    def __init__(self, find: Callable[[], object]):
        self._find = find

    def __getattr__(self, name: str) -> object:
        return getattr(self._find(), name)

    def __call__(self, *args: object, **named: object) -> object:
        function = self._find()
        if not callable(function):
            raise TypeError(f"{function!r} is not callable")
        return function(*args, **named)

    def __or__(self, other: object) -> "LateName":
        return LateName(lambda: _union(self, other))

    def __ror__(self, other: object) -> "LateName":
        return LateName(lambda: _union(other, self))

    def __mro_entries__(self, bases: tuple[object, ...]) -> tuple[object, ...]:
        return (self._find(),)

    def __instancecheck__(self, instance: object) -> bool:
        return isinstance(instance, self._find())  # type: ignore[arg-type]

    def __get_pydantic_core_schema__(self, source: object, handler: Callable[[object], object]) -> object:
        """What pydantic asks a type for."""
        return handler(self._find())


def _union(*types: object) -> object:
    left, right = (member._find() if isinstance(member, LateName) else member for member in types)
    return left | right  # type: ignore[operator]


class _LateModule(ModuleType):
    """Stands for a module while others import names from it."""

    def __getattr__(self, name: str) -> LateName:
        if name.startswith("__"):
            raise AttributeError(name)
        return LateName(lambda: getattr(importlib.import_module(self.__name__), name))


@contextmanager
def late(*modules: str) -> Iterator[None]:
    """Inside, what is imported from these modules is late; those that are imported already stay as they are."""
    stand_ins = {name: _LateModule(name) for name in modules if name not in sys.modules}
    sys.modules.update(stand_ins)
    try:
        yield
    finally:
        for name in stand_ins:
            del sys.modules[name]
