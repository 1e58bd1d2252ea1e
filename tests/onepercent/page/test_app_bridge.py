"""The pages in an independent host: the AppBridge of @modelcontextprotocol/ext-apps."""

import subprocess
from pathlib import Path

import pytest

from tests.onepercent.page.test_preview_page import GOAL, act, do, goals, offered, press
from tests.support.pages import installed

pytestmark = pytest.mark.slow

MCP = "@modelcontextprotocol/"
PACKAGES = (f"{MCP}ext-apps@2.0.4", f"{MCP}client@2.4.0", f"{MCP}core@2.4.0", "zod@4.6.7", "esbuild@0.28.2")
ENTRY = Path(__file__).parent / "bridge.js"


@pytest.fixture(scope="session")
def bridge(tmp_path_factory):
    """The script of a host page that speaks through AppBridge."""
    folder = tmp_path_factory.mktemp("bridge")
    modules = installed(folder, *PACKAGES)
    (folder / "bridge.js").write_bytes(ENTRY.read_bytes())
    options = "bridge.js --bundle --format=iife --log-level=error --outfile=out.js".split()
    subprocess.run([modules / ".bin" / "esbuild", *options], check=True, cwd=folder, timeout=60)
    return (folder / "out.js").read_text(encoding="utf-8")


def test_a_preview_is_shown_pressed_applied_and_undone(sit, bridge):
    person, tab = offered(sit(bridge), theme="dark", locale="ru-RU")
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
    person = sit(bridge)
    do(person, act("habit.create", name="Зарядка"))
    tab = person.see("get_user_snapshot", theme="dark", locale="en")
    tab.click("#h1")
    tab.wait("document.getElementById('state').textContent.startsWith('Saved')")
    assert tab.run("document.querySelector('.tick').ariaPressed") == "true"
    assert person.rows("SELECT status FROM habit_marks") == [("completed",)]
    assert tab.run("calls", host=True) == ["tick_by_press"]
