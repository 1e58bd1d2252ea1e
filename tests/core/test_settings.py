"""Settings: from a file and from the environment, which wins."""

import os
from pathlib import Path

import pytest

from tools.anki.settings import AnkiSettings
from tools.core import settings
from tools.core.settings import SettingsError
from tools.klipper.settings import KlipperSettings, Repository
from tools.search.settings import SearchSettings


def test_defaults_stand_where_nothing_is_set(tmp_path):
    environ = {"XDG_STATE_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "MCP_TOOLSETS": ""}
    found = settings.load(environ)
    assert found.toolsets == ()
    assert found.state_dir == tmp_path / "pi-mcp"
    assert settings.load({}, KlipperSettings).klipper_docs_dir == settings.PROJECT / "docs_repo" / "klipper"


def test_the_environment_wins_over_the_file(tmp_path):
    file = tmp_path / "pi-mcp" / "env"
    file.parent.mkdir()
    file.write_text("# mine\n\nexport MCP_TOOLSETS='klipper anki'\nKLIPPER_DOCS_BRANCH = work\n", encoding="utf-8")
    environ = {"XDG_CONFIG_HOME": str(tmp_path), "KLIPPER_DOCS_BRANCH": "dev"}
    assert settings.load(environ).toolsets == ("klipper", "anki")
    assert settings.load(environ, KlipperSettings).klipper_docs_branch == "dev"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MCP_READ_ONLY", "perhaps"),
        ("MCP_TOOLSETS", "klipper,nothing"),
        ("MCP_TOOLSETS", "."),
        ("MCP_TOOL_NAMES", "camel"),
        ("KLIPPER_DOCS_CHECK_INTERVAL", "-1"),
        ("KLIPPER_DOCS_CHECK_INTERVAL", "1h"),
        ("KLIPPER_DOCS_CHECK_INTERVAL", "٣"),
        ("KLIPPER_DOCS_EXTRA", "moonraker"),
        ("KLIPPER_DOCS_EXTRA", "../x=https://example.org/r"),
        ("KLIPPER_DOCS_EXTRA", "klipper=https://example.org/r"),
        ("KLIPPER_DOCS_EXTRA", "a=--upload-pack=evil"),
        ("KLIPPER_DOCS_EXTRA", "a=https://example.org/r#-b"),
        ("KLIPPER_DOCS_EXTRA", "a=https://example.org/r#b:../.."),
        ("KLIPPER_DOCS_EXTRA", "a=https://example.org/r A=https://example.org/s"),
    ],
)
def test_a_wrong_value_names_its_variable(name, value):
    with pytest.raises(SettingsError, match=name):
        for section in settings.sections():
            settings.load({name: value}, section)


def test_further_repositories_are_read_whole():
    found = settings.load(
        {"KLIPPER_DOCS_EXTRA": "moonraker=https://example.org/m.git#work/x:docs/en b=/srv/b"}, KlipperSettings
    )
    assert found.klipper_docs_extra == (
        Repository("moonraker", "https://example.org/m.git", "work/x", "docs/en"),
        Repository("b", "/srv/b", "", "docs"),
    )


def test_a_broken_file_is_an_error_that_names_the_line(tmp_path):
    file = tmp_path / "env"
    file.write_text("MCP_READ_ONLY=1\nnonsense\n", encoding="utf-8")
    with pytest.raises(SettingsError, match="line 2"):
        settings.load({}, file=file)


def test_every_setting_has_a_name_of_its_own_and_a_meaning():
    every = [variable for section in settings.sections() for variable in section.variables().values()]
    assert len({variable.name for variable in every}) == len(every)
    assert all(variable.meaning for variable in every)
    assert all(variable.name.startswith(settings.PREFIXES) for variable in every)
    assert len(every) >= 25


def test_secrets_are_not_shown():
    secrets = 0
    for section in settings.sections():
        for variable in section.variables().values():
            if variable.secret:
                shown = settings.load({variable.name: "s3cret"}, section).shown()
                assert dict(shown)[variable.name] == "set"
                secrets += 1
    assert secrets >= 2


def test_a_path_may_start_at_home(tmp_path, env):
    env(HOME=tmp_path)
    assert settings.load({"KLIPPER_DOCS_DIR": "~/docs"}, KlipperSettings).klipper_docs_dir == Path(tmp_path) / "docs"


def test_what_an_address_keeps_secret_is_not_shown():
    environ = {"SEARCH_API_URL": "https://h/x?token=s3cret", "KLIPPER_DOCS_URL": "https://me:s3cret@host/r.git"}
    assert dict(settings.load(environ, SearchSettings).shown())["SEARCH_API_URL"] == "https://h/x?…"
    assert dict(settings.load(environ, KlipperSettings).shown())["KLIPPER_DOCS_URL"] == "https://…@host/r.git"


def test_a_refused_address_is_told_without_its_password():
    with pytest.raises(SettingsError) as caught:
        settings.load({"ANKI_CONNECT_URL": "http://me:s3cret@host:8765"}, AnkiSettings)
    assert "s3cret" not in str(caught.value)


def test_a_byte_order_mark_does_not_hide_the_first_setting(tmp_path):
    file = tmp_path / "env"
    file.write_bytes(b"\xef\xbb\xbfMCP_READ_ONLY=1\n")
    assert settings.load({}, file=file).read_only is True


def test_a_misspelt_setting_is_named_with_the_nearest_one(tmp_path):
    environ = {"XDG_CONFIG_HOME": str(tmp_path), "MCP_READONLY": "1", "HOME": "/", "MCP_TIMEOUT": "60"}
    assert settings.misspelt(environ) == [
        "MCP_READONLY is not a setting. Did you mean MCP_READ_ONLY?",
    ]


def test_a_settings_file_that_is_a_pipe_does_not_hang_the_start(tmp_path):
    os.mkfifo(tmp_path / "env")
    with pytest.raises(SettingsError, match="is not a file"):
        settings.load({}, file=tmp_path / "env")
