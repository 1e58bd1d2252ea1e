"""A password in the docs address: given to git, and seen nowhere else."""

import base64
import os
import subprocess

import pytest

from tests.klipper.test_foreign_checkout import state_of
from tests.klipper.test_sync import assert_at_tip, done, sync
from tests.klipper.upstreams import serving, smart_http
from tools.core import settings
from tools.core.settings import masked
from tools.klipper.checkout import freshness
from tools.klipper.checkout.update import address


def asking_for(login: str, root):
    """An upstream that wants a login, and notes every process's arguments while it is asked."""
    arguments = []

    def note():
        listed = subprocess.run(["cat", *commands()], capture_output=True, check=False).stdout
        arguments.append(listed.replace(b"\0", b" ").decode("utf-8", "replace"))

    base = smart_http(root, note)
    wanted = "Basic " + base64.b64encode(login.encode()).decode()

    class Handler(base):
        def _answer(self):
            if self.headers.get("Authorization") == wanted:
                return super()._answer()
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="docs"')
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_GET = do_POST = _answer

    return Handler, arguments


def commands():
    return [f"/proc/{one}/cmdline" for one in os.listdir("/proc") if one.isdigit()]


def test_a_private_upstream_is_synced_and_its_password_is_in_no_argument_and_no_file(env, docs, upstream):
    handler, arguments = asking_for("me:se/cr@et", upstream.folder.parent)
    with serving(handler) as url:
        env(KLIPPER_DOCS_URL=url.replace("//", "//me:se%2Fcr%40et@") + "/upstream/.git", KLIPPER_DOCS_CHECK_INTERVAL=0)
        answer = done()
        freshness.check()

    assert_at_tip(docs, upstream)
    assert len(arguments) >= 3 and any("remote-http" in one for one in arguments)
    for text in (*arguments, str(answer), str(state_of(env()))):
        assert "cr%40et" not in text and "cr@et" not in text


@pytest.mark.parametrize(
    "login", ["user:SECRET", "SECRET", "user:p@SECRET", "user:a/SECRET", "user:a/b@SECRET", ":SECRET"]
)
@pytest.mark.parametrize("host", ["127.0.0.1:9", "nosuch.invalid"])
def test_no_error_shows_it(env, docs, login, host):
    env(KLIPPER_DOCS_URL=f"http://{login}@{host}/klipper.git")

    assert "SECRET" not in str(sync())
    assert "SECRET" not in str([section.shown() for section in map(settings.current, settings.sections())])


@pytest.mark.parametrize(
    ("url", "plain"),
    [
        ("https://user:pass@host/a@b.git", "https://host/a@b.git"),
        ("https://token@host:8443/a.git", "https://host:8443/a.git"),
        ("ssh://git:pass@host/a.git", "ssh://git@host/a.git"),
        ("ssh://git@host/a.git", "ssh://git@host/a.git"),
        ("git@host:a.git", "git@host:a.git"),
        ("https://host/a@b.git", "https://host/a@b.git"),
        ("/srv/a@b", "/srv/a@b"),
    ],
)
def test_git_is_given_the_address_without_the_login(url, plain):
    assert address(url)[0] == plain


def test_every_login_in_a_text_is_hidden():
    text = "fatal: https://a:b@c@host/x and ssh://git:p/q@host"
    assert masked(text) == "fatal: https://…@host/x and ssh://…@host"


def test_a_wrong_entry_of_the_further_repositories_does_not_show_it(env):
    env(KLIPPER_DOCS_EXTRA="klipper=https://user:SECRET@host/x")
    with pytest.raises(settings.SettingsError) as error:
        settings.check()
    assert "SECRET" not in str(error.value)
