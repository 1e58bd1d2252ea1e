"""Settings: from a file and from the environment, which wins."""

import pytest

from tests.support.client import cases
from tools.anki.settings import AnkiSettings
from tools.core import places, settings
from tools.core.settings import Settings, SettingsError
from tools.klipper.settings import KlipperSettings, Repository
from tools.search.settings import SearchSettings
from tools.server.resources import printable_settings


def settings_file(folder, lines):
    """Write a settings file; return the environment that it is the file of."""
    (folder / "pi-mcp").mkdir()
    (folder / "pi-mcp" / "env").write_bytes(lines)
    return {"XDG_CONFIG_HOME": str(folder)}


RUSSIAN = ["", *"C C.UTF-8 POSIX ru_RU.UTF-8 ru".split()]
ENGLISH = "en_GB.UTF-8 de_DE.UTF-8 fr_FR@euro de rue_UA.UTF-8".split()


def test_the_persons_language_is_that_of_the_machine_unless_it_is_set():
    assert {Settings({"LANG": lang}).language for lang in RUSSIAN} == {"ru"}
    assert {Settings({"LANG": lang}).language for lang in ENGLISH} == {"en"}
    assert Settings({"LANG": "en_US.UTF-8", "MCP_LANGUAGE": "ru"}).language == "ru"


def test_defaults_stand_where_nothing_is_set(tmp_path):
    folders = dict.fromkeys(["XDG_STATE_HOME", "XDG_CONFIG_HOME"], str(tmp_path))
    values = Settings({**folders, "MCP_TOOLSETS": ""})
    assert values.toolsets == ()
    assert values.state_dir == tmp_path / "pi-mcp"
    docs = KlipperSettings({}).klipper_docs_dir
    assert docs == settings.PROJECT / "docs_repo" / "klipper"


def test_the_environment_wins_over_the_file(tmp_path):
    lines = (
        b"\xef\xbb\xbf# mine\n\nexport MCP_TOOLSETS='klipper anki'\nKLIPPER_DOCS_BRANCH = work\n"
        b'SEARCH_API_KEY="\n'
    )
    environ = settings_file(tmp_path, lines) | {"KLIPPER_DOCS_BRANCH": "dev"}
    assert Settings(environ).toolsets == ("klipper", "anki")
    assert KlipperSettings(environ).klipper_docs_branch == "dev"
    assert SearchSettings(environ).search_api_key == '"'


WRONG = """
MCP_READ_ONLY | perhaps
MCP_TOOLSETS | klipper,nothing
MCP_TOOL_NAMES | camel
MCP_STATE_DIR | ~nobody-of-this-name/state
KLIPPER_DOCS_CHECK_INTERVAL | -1
KLIPPER_DOCS_CHECK_INTERVAL | ٣
KLIPPER_DOCS_EXTRA | ../x=https://example.org/r
KLIPPER_DOCS_EXTRA | a=--upload-pack=evil
KLIPPER_DOCS_EXTRA | a=https://example.org/r#-b
KLIPPER_DOCS_EXTRA | a=https://example.org/r#b:../..
KLIPPER_DOCS_EXTRA | a=https://example.org/r A=https://example.org/s
PRINTERS | k1
PRINTERS | k1=ftp://x
PRINTERS | k1=http://a k1=http://b
PRINTERS | here=http://a
PRINTERS | =http://a
PRINTERS | k1=http://u:p@h
"""


@pytest.mark.parametrize("name, value", cases(WRONG))
def test_a_wrong_value_names_its_variable(name, value):
    with pytest.raises(SettingsError, match=name):
        for section in settings.sections():
            section({name: value})


def test_further_repositories_are_read_whole():
    values = KlipperSettings(
        {"KLIPPER_DOCS_EXTRA": "moonraker=https://example.org/m.git#work/x:docs/en b=/srv/b"}
    )
    assert values.klipper_docs_extra == (
        Repository("moonraker", "https://example.org/m.git", "work/x", "docs/en"),
        Repository("b", "/srv/b", "", "docs"),
    )


def test_a_path_may_begin_with_the_home_folder_as_a_shell_writes_it(monkeypatch):
    monkeypatch.setenv("HOME", "/home/pi")
    for value in ("~/state", "$HOME/state", "${HOME}/state"):
        environ = {"MCP_STATE_DIR": value, "MCP_SOCKET": value}
        values = Settings(environ)
        assert str(values.state_dir) == str(values.socket) == "/home/pi/state"
        assert places.sockets(environ) == ["/home/pi/state"]


def test_a_broken_file_is_an_error_that_names_the_line(tmp_path):
    with pytest.raises(SettingsError, match="line 2"):
        Settings(settings_file(tmp_path, b"MCP_READ_ONLY=1\nnonsense\n"))


def test_secrets_are_not_shown():
    secrets = [
        (section, variable.name)
        for section in settings.sections()
        for variable in section.variables().values()
        if variable.secret
    ]
    assert len(secrets) >= 2
    for section, name in secrets:
        value = "k1=s3cret" if name == "PRINTER_KEYS" else "http://s3cret"
        assert printable_settings(section({name: value}))[name] == "set"
        assert printable_settings(section({}))[name] != "set"


def test_the_secrets_of_an_address_are_shown_neither_in_the_status_nor_when_it_is_refused():
    environ = {
        "SEARCH_API_URL": "https://h/x?token=s3cret",
        "KLIPPER_DOCS_URL": "https://me:s3cret@host/r.git",
    }
    addresses = {}
    for section in (SearchSettings, KlipperSettings):
        addresses |= printable_settings(section(environ))
    assert addresses["SEARCH_API_URL"] == "https://h/x?…"
    assert addresses["KLIPPER_DOCS_URL"] == "https://…@host/r.git"
    with pytest.raises(SettingsError) as caught:
        AnkiSettings({"ANKI_CONNECT_URL": "http://me:s3cret@host:8765"})
    assert "s3cret" not in str(caught.value)


def test_a_misspelt_setting_is_named_with_the_nearest_one(env):
    env(MCP_READONLY="1", MCP_TIMEOUT="60")
    assert settings.check_all() == ["MCP_READONLY is not a setting. Did you mean MCP_READ_ONLY?"]


def test_a_session_of_the_service_reads_its_settings_again(env):
    env(MCP_READ_ONLY="1")
    assert settings.current().read_only is True
    of_the_service = settings.fingerprint()
    env(XDG_RUNTIME_DIR="/run/7", MCP_SOCKET="/run/7/s", MCP_IDLE_EXIT=3600, MCP_MAX_SESSIONS=3)
    assert settings.fingerprint() == of_the_service
    env(MCP_READ_ONLY="0")
    assert settings.current().read_only is False
    assert settings.fingerprint() != of_the_service
