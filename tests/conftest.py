"""What every test needs: a home of its own."""

import pytest

from tools import settings


@pytest.fixture
def env(tmp_path, monkeypatch):
    """A fresh home; call it with settings (`env(KLIPPER_DOCS_URL=…)`) to change them. Gives the temporary folder."""

    def change(**values):
        for name, value in values.items():
            monkeypatch.setenv(name, str(value))
        settings.current.cache_clear()
        return tmp_path

    home = {"XDG_STATE_HOME": "state", "XDG_CONFIG_HOME": "config", "XDG_RUNTIME_DIR": "run", "MCP_STATE_DIR": "state"}
    change(HOME=tmp_path / "home", **{name: tmp_path / "home" / folder for name, folder in home.items()})
    (tmp_path / "home").mkdir()
    yield change
    settings.current.cache_clear()
