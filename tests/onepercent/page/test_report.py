"""The report: the page of the days in a file."""

import subprocess
import sys

from tests.onepercent import person
from tests.onepercent.page.test_preview_page import HOSTILE
from tests.support.client import PROJECT
from tools.core.registry import COMMANDS


def write(file):
    command = [sys.executable, "-m", "tools", "onepercent", "report", str(file)]
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=60)


def test_a_browser_shows_the_report_without_a_server(browser, tmp_path):
    person.do(person.act("habit.create", name="Бег</script><script>document.title='run'</script>"))
    person.do(person.act("habit.create", name=HOSTILE[:200]))
    file = tmp_path / "report.html"
    done = write(file)
    assert done.returncode == 0, done.stderr
    tab = browser.open(file.as_uri(), 320)
    tab.wait("document.querySelector('li')", host=True)
    text = tab.run("document.body.innerText", host=True)
    assert "Бег</script>" in text
    assert tab.run("document.title", host=True) == "OnePercent"
    assert tab.run("[...document.querySelectorAll('input')].every(one => one.disabled)", host=True)
    assert tab.run("document.documentElement.scrollWidth", host=True) <= 320
    assert tab.requests == [file.as_uri()]
    assert tab.console == []
    tab.close()


def test_a_file_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").write_text("x")
    done = write(tmp_path / "file" / "report.html")
    assert done.returncode == 1
    assert "cannot be written" in done.stdout


def test_the_report_is_the_owners(tmp_path):
    file = tmp_path / "report.html"
    COMMANDS["onepercent", "report"](str(file))
    assert file.stat().st_mode & 0o777 == 0o600
