"""Fixtures for every test: an environment of its own, and the real documentation where it lies beside the project."""

from pathlib import Path

import pytest

from tools import settings

PROJECT = Path(__file__).resolve().parent.parent
SHARED = PROJECT.parent / "shared" / "data"


@pytest.fixture(autouse=True)
def own_environment(tmp_path_factory, monkeypatch):
    """No test reads or writes the user's own settings, state or documentation."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "KLIPPER_DOCS_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MCP_STATE_DIR", str(home / "state"))
    monkeypatch.setenv("KLIPPER_DOCS_DIR", str(home / "docs_repo" / "klipper"))
    monkeypatch.setenv("KLIPPER_DOCS_URL", (home / "no-upstream").as_uri())
    settings.current.cache_clear()
    yield home
    settings.current.cache_clear()


@pytest.fixture
def set_env(monkeypatch):
    """Set environment variables and read the settings anew."""

    def change(**variables):
        for name, value in variables.items():
            monkeypatch.setenv(name, str(value))
        settings.current.cache_clear()

    return change


@pytest.fixture
def docs(tmp_path, set_env):
    """A small documentation: a function that writes {path: text} and gives back its folder."""
    checkout = tmp_path / "klipper"
    set_env(KLIPPER_DOCS_DIR=checkout)

    def write(pages):
        for path, text in pages.items():
            file = checkout / "docs" / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return checkout / "docs"

    return write


@pytest.fixture
def real_docs(set_env):
    """The real Klipper documentation; skips where it is not beside the project."""
    if not (SHARED / "klipper" / "docs").is_dir():
        pytest.skip("the real documentation is not beside the project (../shared/data)")
    set_env(KLIPPER_DOCS_DIR=SHARED / "klipper")
    return SHARED / "klipper" / "docs"
