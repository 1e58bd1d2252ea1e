"""What every test needs: a home of its own; the real documentation where it lies beside the project."""

from pathlib import Path

import pytest

from tools import settings

PROJECT = Path(__file__).resolve().parent.parent
SHARED = PROJECT.parent / "shared" / "data"


@pytest.fixture(autouse=True)
def env(tmp_path, monkeypatch):
    """A fresh home; call it with settings (`env(KLIPPER_DOCS_URL=…)`) to change them. Gives the temporary folder."""

    def change(**values):
        for name, value in values.items():
            monkeypatch.setenv(name, str(value))
        settings.current.cache_clear()
        return tmp_path

    home = tmp_path / "home"
    home.mkdir()
    folders = {
        "XDG_STATE_HOME": "state",
        "XDG_CONFIG_HOME": "config",
        "XDG_RUNTIME_DIR": "run",
        "MCP_STATE_DIR": "state",
        "MCP_SOCKET": "run/socket",
    }
    change(HOME=home, **{name: home / folder for name, folder in folders.items()})
    change(KLIPPER_DOCS_DIR=home / "docs_repo" / "klipper", KLIPPER_DOCS_URL=(home / "no-upstream").as_uri())
    yield change
    settings.current.cache_clear()


@pytest.fixture
def small_docs(tmp_path, env):
    """A small documentation: a function that writes {path: text} and gives back its folder."""
    checkout = tmp_path / "small" / "klipper"
    env(KLIPPER_DOCS_DIR=checkout)

    def write(pages):
        for path, text in pages.items():
            file = checkout / "docs" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return checkout / "docs"

    return write


@pytest.fixture
def real_docs(env):
    """The folder of the real Klipper documentation; skips where it is not beside the project."""
    if not (SHARED / "klipper" / "docs").is_dir():
        pytest.skip("the real documentation is not beside the project (../shared/data)")
    env(KLIPPER_DOCS_DIR=SHARED / "klipper")
    return SHARED / "klipper" / "docs"
