"""Screenshots of both pages, for whoever looks at them after a run; the README's are made here too.

They lie in pytest's temporary folder. With PI_MCP_SCREENSHOTS=docs the README's pictures are written anew.
"""

import io
import os
from pathlib import Path

import pytest

from tests.onepercent.page.test_days_page import today
from tests.onepercent.page.test_preview_page import act, do
from tests.support.client import PROJECT

LOOKS = [("light", 320), ("light", 720), ("dark", 320), ("dark", 720)]
COLOURS = 32
"""Of the README's pictures, to keep them small."""
MOST_BYTES = 40_000


@pytest.fixture
def person(sit):
    """Somebody in the middle of it."""
    someone = sit()
    do(
        someone,
        act("goal.create", title="Выучить Python"),
        act("step.create", goal_id=None, title="Пройти тест", dt=today(-1)),
        act("step.create", goal_id=None, title="Написать бота", dt=today()),
        act("step.create", goal_id=None, title="Прочитать главу 3", dt=today()),
        act("habit.create", name="Зарядка"),
        act("habit.create", name="Бег", frequency_type="weekly", xp_reward=20),
        act("habit.create", name="Английский", xp_reward=15),
    )
    marks = [
        act("habit.mark_completed", habit_id=one, date=today(-day))
        for one in (1, 3)
        for day in range(1, 8)
        if day * one != 6
    ]
    do(
        someone,
        *marks,
        act("habit.mark_missed", habit_id=3, date=today(-2), excuse_reason="болел"),
        act("step.complete", step_id=3),
    )
    return someone


PREVIEW = {
    "actions": [
        act(
            "goal.create",
            title="Пробежать полумарафон",
            category="health_sport",
            why_important="Бежать летом с друзьями",
        ),
        act(
            "step.create",
            goal_id=None,
            title="Купить кроссовки",
            dt=today(3),
            time_duration="one",
            priority="important",
        ),
        act("step.update", step_id=1, dt=today(2), priority="critical"),
        act("step.complete", step_id=2),
        act("habit.mark_completed", habit_id=1),
        act("habit.delete", habit_id=2),
        act("step.complete", step_id=77),
    ]
}


@pytest.mark.parametrize(
    ("page", "tool", "arguments"), [("preview", "preview_actions", PREVIEW), ("days", "get_user_snapshot", {})]
)
def test_a_picture_of_each_look(person, tmp_path, page, tool, arguments):
    for theme, width in LOOKS:
        tab = person.see(tool, width=width, theme=theme, locale="ru-RU", arguments=arguments)
        tab.wait("document.querySelectorAll('li').length > 2")
        tab.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))", host=True)
        file = tmp_path / f"{page}-{theme}-{width}.png"
        tab.picture(file)
        assert file.stat().st_size > 5_000
    if folder := os.environ.get("PI_MCP_SCREENSHOTS"):
        small(tmp_path / f"{page}-light-720.png", PROJECT / folder / f"page_{page}.png")


def small(source: Path, target: Path) -> None:
    from PIL import Image

    buffer = io.BytesIO()
    Image.open(source).convert("RGB").quantize(COLOURS).save(buffer, "PNG", optimize=True)
    assert len(buffer.getvalue()) <= MOST_BYTES
    target.write_bytes(buffer.getvalue())
