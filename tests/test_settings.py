"""Settings: from a file and from the environment, which wins."""

from dataclasses import fields
from pathlib import Path

import pytest

from tools import settings
from tools.settings import Repository, SettingsError


def test_defaults_stand_where_nothing_is_set(tmp_path):
    found = settings.load({"XDG_STATE_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "MCP_TOOLSETS": ""})
    assert found.toolsets == ()
    assert found.state_dir == tmp_path / "pi-mcp"
    assert found.klipper_docs_dir == settings.PROJECT / "docs_repo" / "klipper"


def test_the_environment_wins_over_the_file(tmp_path):
    file = tmp_path / "pi-mcp" / "env"
    file.parent.mkdir()
    file.write_text("# mine\n\nexport MCP_TOOLSETS='klipper anki'\nKLIPPER_DOCS_BRANCH = work\n", encoding="utf-8")
    found = settings.load({"XDG_CONFIG_HOME": str(tmp_path), "KLIPPER_DOCS_BRANCH": "dev"})
    assert found.toolsets == ("klipper", "anki")
    assert found.klipper_docs_branch == "dev"


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
        settings.load({name: value})


def test_further_repositories_are_read_whole():
    found = settings.load({"KLIPPER_DOCS_EXTRA": "moonraker=https://example.org/m.git#work/x:docs/en b=/srv/b"})
    assert found.klipper_docs_extra == (
        Repository("moonraker", "https://example.org/m.git", "work/x", "docs/en"),
        Repository("b", "/srv/b", "", "docs"),
    )


def test_a_broken_file_is_an_error_that_names_the_line(tmp_path):
    file = tmp_path / "env"
    file.write_text("MCP_READ_ONLY=1\nnonsense\n", encoding="utf-8")
    with pytest.raises(SettingsError, match="line 2"):
        settings.load({}, file)


def test_every_setting_has_a_name_of_its_own_and_a_meaning():
    names = [one.metadata["name"] for one in fields(settings.Settings)]
    assert len(set(names)) == len(names)
    assert all(one.metadata["meaning"] for one in fields(settings.Settings))


def test_secrets_are_not_shown():
    for one in fields(settings.Settings):
        if one.metadata["secret"]:
            name = one.metadata["name"]
            assert dict(settings.load({name: "s3cret"}).shown())[name] == "set"


def test_a_path_may_start_at_home(tmp_path, env):
    env(HOME=tmp_path)
    assert settings.load({"KLIPPER_DOCS_DIR": "~/docs"}).klipper_docs_dir == Path(tmp_path) / "docs"


def test_what_an_address_keeps_secret_is_not_shown():
    found = settings.load(
        {"SEARCH_API_URL": "https://h/x?token=s3cret", "KLIPPER_DOCS_URL": "https://me:s3cret@host/r.git"}
    )
    shown = dict(found.shown())
    assert shown["SEARCH_API_URL"] == "https://h/x?…"
    assert shown["KLIPPER_DOCS_URL"] == "https://…@host/r.git"


def test_a_refused_address_is_told_without_its_password():
    with pytest.raises(SettingsError) as caught:
        settings.load({"ANKI_CONNECT_URL": "http://me:s3cret@host:8765"})
    assert "s3cret" not in str(caught.value)
