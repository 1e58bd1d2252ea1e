"""Small files: written whole or not at all, and the compact JSON that they and the answers hold."""

import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

Value = TypeVar("Value")


def compact_json(value: object) -> str:
    """JSON without blanks; text stays readable (no \\u escapes)."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def encodable(value: Value) -> tuple[Value, str]:
    """`value` and its compact JSON; half a surrogate pair, which only foreign data brings, becomes `?`."""
    text = compact_json(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-8", "replace").decode()
        value = json.loads(text)
    return value, text


def replace_file(path: Path, data: bytes | str, mode: int = 0o600) -> None:
    """Write `path` whole: whoever reads it, at any moment, finds the old content or the new one.

    Raises OSError; the old file is unchanged then.
    """
    _write(path, data, mode, os.replace)


def make_file(path: Path, data: bytes | str, mode: int = 0o600) -> None:
    """Write `path` whole unless it is there: what another process made first stays.

    Raises OSError; there is no file of ours then.
    """
    _write(path, data, mode, _link)


def _link(new: Path, path: Path) -> None:
    with suppress(FileExistsError):  # unlike a renamed file, a link takes no other's place
        os.link(new, path)


def _write(path: Path, data: bytes | str, mode: int, put: Callable[[Path, Path], None]) -> None:
    content = data.encode() if isinstance(data, str) else data
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        put(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
