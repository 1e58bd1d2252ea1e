"""What every test needs: a home of its own; the real documentation, if setup.sh has fetched it."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from tests.support import browser as chromium
from tests.support import pages, webdriver
from tools.core import settings

PROJECT = Path(__file__).resolve().parent.parent
# Recordings and documents that are not part of a clone may lie in such a folder.
BESIDE = [folder / "shared" for folder in PROJECT.parents]
SHARED = next((folder / "data" for folder in BESIDE if folder.is_dir()), BESIDE[0] / "data")
# Where the real Klipper documentation may be.
DOCS = [SHARED / "klipper", PROJECT / "docs_repo" / "klipper"]
# A checkout of a few pages of our own, for what does not judge the words of the real ones.
SMALL_DOCS = PROJECT / "tests" / "klipper" / "small"
DOCS_MISSING = "the Klipper documentation is not here; ./setup.sh fetches it into docs_repo/"


def documentation():
    """The checkout of the real Klipper documentation; another KLIPPER_DOCS_URL may have brought other
    pages."""
    return next((folder for folder in DOCS if (folder / "docs" / "Overview.md").is_file()), None)


def pytest_terminal_summary(terminalreporter):
    """Write what was skipped into a file that SKIPPED_TO names: who has more runs just that."""
    if (file := os.environ.get("SKIPPED_TO")) and not os.environ.get("PYTEST_XDIST_WORKER"):
        skipped = {f"{report.nodeid}\n": 1 for report in terminalreporter.stats.get("skipped", ())}
        Path(file).write_text("".join(skipped), "utf-8")


# The test that runs, with the fixtures made for it.
running = []


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    running[:] = [item]
    try:
        return (yield)
    finally:
        running.clear()


def starts_only_in_slow_tests(holder, name):
    """Have a function that starts a process fail the test that calls it, unless the test says that it is
    slow.

    Processes were four fifths of what the tests cost; `./setup.sh test` leaves the slow ones out.
    """
    start = getattr(holder, name)

    def guarded(*words, **named):
        if running and not any(running[0].get_closest_marker(mark) for mark in ("slow", "smoke")):
            advice = f"{running[0].nodeid} starts a process: mark it with @pytest.mark.slow"
            pytest.fail(advice, pytrace=False)
        return start(*words, **named)

    setattr(holder, name, guarded)


starts_only_in_slow_tests(subprocess.Popen, "_execute_child")
for name in ("fork", "forkpty", "posix_spawn", "system"):
    starts_only_in_slow_tests(os, name)


@pytest.fixture(scope="session", autouse=True)
def usual_signals():
    """What is started here can be interrupted, also where the tests run in the background (`nohup`, `&`)."""
    for number in (signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            # A handler is not inherited, unlike being ignored.
            signal.signal(number, lambda *_: None)
    yield


@pytest.fixture(autouse=True)
def env(tmp_path, monkeypatch):
    """A fresh home; call it with settings (`env(KLIPPER_DOCS_URL=…)`) to change them. Gives the temporary
    folder."""

    def change(**values):
        for name, value in values.items():
            monkeypatch.setenv(name, str(value))
        settings.forget()
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
    change(HOME=home, LANG="C.UTF-8", **{name: home / folder for name, folder in folders.items()})
    change(KLIPPER_DOCS_DIR=home / "docs_repo" / "klipper", KLIPPER_DOCS_URL=f"file://{home}/none")
    yield change
    settings.forget()


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


@pytest.fixture(
    scope="session",
    params=list(filter(None, (SMALL_DOCS, documentation()))),
    ids=lambda folder: folder.name,
)
def checkout(request):
    """Our own small checkout, and then the real one if it is here."""
    return request.param


@pytest.fixture
def any_docs(env, checkout):
    """The folder of our own small documentation; the test runs on the real one, too, if it is here."""
    env(KLIPPER_DOCS_DIR=checkout)
    return checkout / "docs"


@pytest.fixture
def real_docs(env):
    """The folder of the real Klipper documentation; skips if there is none."""
    checkout = documentation()
    if not checkout:
        pytest.skip(DOCS_MISSING)
    env(KLIPPER_DOCS_DIR=checkout)
    return checkout / "docs"


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """Headless Chromium for whoever looks at a page, or the engine that PI_MCP_BROWSER names; skips if it is not
    installed."""
    if engine := os.environ.get("PI_MCP_BROWSER"):
        other = webdriver.Browser(engine, tmp_path_factory.mktemp(engine))
        yield other
        other.close()
        return
    if chromium.program() is None:
        pytest.skip("Chromium is not installed (apt-get install chromium); no page is looked at")
    running = chromium.Browser(tmp_path_factory.mktemp("chromium"))
    yield running
    running.close()


@pytest.fixture(scope="session")
def axe(tmp_path_factory):
    """What axe-core, the checker of accessibility, finds wrong with the page of a tab, or with what has no
    host around it."""
    modules = pages.installed(tmp_path_factory.mktemp("axe"), pages.AXE)
    source = (modules / "axe-core" / "axe.min.js").read_text("utf-8")

    def violations(tab, host=False):
        tab.run(f"(() => {{ {source} }})()", host)
        found = (
            "({ violations }) => violations.map(one => [one.id, one.nodes.map(node => node.html)])"
        )
        return tab.run(f"axe.run(document, {{ iframes: false }}).then({found})", host)

    return violations
