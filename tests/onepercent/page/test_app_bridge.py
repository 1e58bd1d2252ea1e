"""The pages in hosts of other makers: the AppBridge of @modelcontextprotocol/ext-apps, and the AppRenderer of
@mcp-ui/client, which puts a sandbox of its own around the page."""

import subprocess
from pathlib import Path

import pytest

from tests.onepercent.page.test_days_page import says
from tests.onepercent.page.test_preview_page import GOAL, ends, goals, offered, press
from tests.onepercent.person import new_habit
from tests.support.pages import installed

pytestmark = pytest.mark.slow

MCP = "@modelcontextprotocol/"
REACT = ("react@19.2.1", "react-dom@19.2.1")
ESBUILD = "esbuild@0.28.2"
PACKAGES = {
    "bridge": (
        f"{MCP}ext-apps@2.0.4",
        f"{MCP}client@2.4.0",
        f"{MCP}core@2.4.0",
        "zod@4.6.7",
        ESBUILD,
    ),
    "renderer": ("@mcp-ui/client@7.1.1", *REACT, ESBUILD),
}
HERE = Path(__file__).parent


@pytest.fixture(scope="session", params=PACKAGES)
def bridge(request, tmp_path_factory):
    """The script of such a host page."""
    folder = tmp_path_factory.mktemp("bridge")
    modules = installed(folder, *PACKAGES[request.param])
    for name in ("asked.js", f"{request.param}.js"):
        (folder / name).write_bytes((HERE / name).read_bytes())
    options = "--bundle --format=iife --log-level=error --outfile=out.js".split()
    react = '--define:process.env.NODE_ENV="production"'
    command = [modules / ".bin" / "esbuild", f"{request.param}.js", *options, react]
    subprocess.run(command, check=True, cwd=folder, timeout=60)
    return (folder / "out.js").read_text("utf-8")


def faulty(tab, **faults):
    """The host answers the page's calls late, refuses them, or loses their replies."""
    tab.run(f"(faults = {faults or '{}'})", host=True)


def test_a_preview_is_shown_pressed_applied_and_undone(sit, bridge):
    person, tab = offered(sit(script=bridge), theme="dark")
    assert GOAL in tab.text()
    assert tab.run("document.documentElement.style.colorScheme") == "dark"
    press(tab, "Применить", "Применено")
    assert goals(person) == [GOAL]
    tab.wait("window.model.length === 1", host=True)
    press(tab, "Вернуть как было", "Вернуть как было?")
    press(tab, "Вернуть", "Возвращено")
    assert goals(person) == []
    assert tab.run("calls", host=True) == ["apply_by_press", "undo_last", "apply_by_press"]


def test_the_days_are_shown_and_ticked_off(sit, bridge):
    person = sit(script=bridge)
    person.do(new_habit("Зарядка"))
    tab = person.days("en", theme="dark")
    tab.click("#h1")
    tab.wait("document.getElementById('state').textContent.startsWith('Saved')")
    assert tab.run("document.querySelector('.tick').ariaPressed") == "true"
    assert person.rows("SELECT status FROM habit_marks") == [("completed",)]
    assert tab.run("calls", host=True) == ["tick_by_press"]


@pytest.mark.parametrize(
    "fault, said, marks",
    [("slow", "Отмечено", 1), ("deny", "Ответа нет", 0), ("lose", "Ответа нет", 1)],
)
def test_slow_refused_and_lost_replies_make_no_page_untrue(sit, bridge, fault, said, marks):
    person, preview = offered(sit(script=bridge))
    faulty(preview, **{fault: 300})
    preview.press("Применить")
    ends(preview, "Применено" if fault == "slow" else "Ответа нет")
    assert len(goals(person)) == (fault != "deny")
    faulty(preview)
    if fault != "slow":
        press(preview, "Проверить", "Применено")
    assert goals(person) == [GOAL]

    person.do(new_habit("Зарядка"))
    days = person.days()
    faulty(days, **{fault: 300})
    days.click("#h1")
    says(days, said)
    faulty(days)
    assert person.rows("SELECT count(*) FROM habit_marks") == [(marks,)]
    if days.run("document.querySelector('.tick').ariaPressed") != "true":
        days.click("#h1")
        says(days, "Отмечено")
    assert person.rows("SELECT count(*) FROM habit_marks") == [(1,)]
