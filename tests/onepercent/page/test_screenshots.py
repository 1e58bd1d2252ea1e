"""Screenshots of both pages, for whoever looks at them after a run, and their measures; the documentation's
are made here.

They lie in pytest's temporary folder. With PI_MCP_SCREENSHOTS=docs those of the documentation are written
anew.
"""

import os
import re
from itertools import product

import pytest

from tests.onepercent.page.test_days_page import today
from tests.onepercent.page.test_preview_page import MANY, lively
from tests.onepercent.person import act, complete, mark, miss, new_goal, new_habit, new_step
from tests.support.client import PROJECT

pytestmark = pytest.mark.slow

# Theme, width, and the size of the font: 32 is the default twice as large.
LOOKS = [*product(("light", "dark"), (320, 390, 720, 1200), [16]), ("light", 320, 32)]
MOST_BYTES = 100_000
# Of a picture in the documentation: GitHub's ground is as white as a page's.
BORDERS = {"light": "#d0d0ca", "dark": "#4a4a46"}
# Pixels of a phone in one of CSS.
SCALE = 2

# Goals, steps, habits of every day and of every week.
WORDS = {
    "ru": (
        ("Пробежать полумарафон", "Выучить Python и написать бота для друзей", "Собрать Voron 2.4"),
        (
            "Выложить бота на сервер",
            "Пробежать 15 км",
            "Прочитать главу 3",
            "Настроить input shaper",
        ),
        (
            "Зарядка",
            "Читать 20 минут",
            "Английский: 15 новых слов и упражнение",
            "Лечь до 23:30",
            "Пить воду",
        ),
        ("Разбор недели", "Позвонить родителям", "Медитация"),
    ),
    "en": (
        ("Run a half marathon", "Learn Python and write a bot for my friends", "Build a Voron 2.4"),
        ("Put the bot on the server", "Run 15 km", "Read chapter 3", "Tune the input shaper"),
        (
            "Exercise",
            "Read 20 minutes",
            "Spanish: 15 new words and one exercise",
            "In bed by 23:30",
            "Drink water",
        ),
        ("Weekly review", "Call my parents", "Meditate"),
    ),
}


def live(someone, language="ru"):
    """Weeks of somebody's life: three goals, four steps, eight habits."""
    goals, steps, habits, weekly = WORDS[language]
    someone.do(
        *(new_goal(goal) for goal in goals),
        *(new_step(f"{steps[2]} ({place})", 2, dt=today(-place)) for place in (2, 9)),
        new_step(steps[0], 2, dt=today(-3), priority="critical"),
        new_step(steps[1], 1, dt=today(), time_duration="two"),
        new_step(steps[2], 2, dt=today()),
        new_step(steps[3], 3, dt=today()),
        *(new_habit(name) for name in habits),
        *(new_habit(name, frequency_type="weekly", xp_reward=30) for name in weekly),
    )
    for habit in range(1, 6):
        days = [today(-day) for day in range(1, 27) if (day * 7 + habit * 5) % (habit + 4) > 0]
        someone.do(mark(habit, dates=days))
    someone.do(
        mark(1),
        miss(3, date=today(-4), excuse_reason="x"),
        miss(4, date=today(-2)),
        mark(7, date=today(-3)),
        *(complete(step, date=today(-step)) for step in (1, 2)),
    )
    return {}


COOKING = {
    "ru": ("Научиться готовить", "Купить нож", "поезд опоздал"),
    "en": ("Learn to cook", "Buy a knife", "a late train"),
}


def changes(language):
    """A few changes of every kind for the documentation."""
    goal, step, excuse = COOKING[language]
    actions = [
        act("habit.delete", 5),
        new_goal(goal, category="hobby"),
        new_step(step, dt=today(2), time_duration="one", priority="important"),
        act("step.update", 5, dt=today(3), priority="critical"),
        complete(4),
        mark(2),
        miss(4, excuse_reason=excuse),
    ]
    return {"actions": actions}


def shot(tab, file, font):
    tab.run(f"document.documentElement.style.fontSize = '{font}px'")
    tab.run(
        "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))", host=True
    )
    tab.picture(file)
    return tab.run("document.documentElement.scrollHeight")


def small(source, target):
    """Write a picture with a border, in its most frequent colours: none of a large area is changed, so that a
    card stands out from its ground."""
    from PIL import Image, ImageOps

    border = BORDERS["dark" if ".dark" in target.name else "light"]
    picture = ImageOps.expand(Image.open(source).convert("RGB"), SCALE, border)
    frequent = sorted(picture.getcolors(picture.width * picture.height), reverse=True)[:96]
    palette = Image.new("P", (1, 1))
    palette.putpalette([channel for _, colour in frequent for channel in colour])
    picture.quantize(palette=palette, dither=Image.Dither.NONE).save(target, "PNG", optimize=True)
    assert target.stat().st_size <= MOST_BYTES


def documented(tab, folder, page, theme, language):
    """Write the picture of a page in the documentation."""
    tab.resize(390, SCALE)
    shot(tab, folder / "picture.png", 16)
    of_theme = ".dark" if theme == "dark" else ""
    of_language = ".ru" if language == "ru" else ""
    pictures = PROJECT / os.environ["PI_MCP_SCREENSHOTS"]
    small(folder / "picture.png", pictures / f"page_{page}{of_theme}{of_language}.png")


def looks(person, folder, tool, question):
    """Each look of a page, of which a picture is taken: its tab, width, size of the font and height."""
    for theme, width, font in LOOKS:
        tab = person.see(tool, width=width, theme=theme, locale="ru-RU", arguments=question)
        tab.wait("document.querySelectorAll('li').length > 6")
        height = shot(tab, folder / f"{tool}-{theme}-{width}-{font}.png", font)
        assert tab.run("document.documentElement.scrollWidth") <= width
        yield tab, width, font, height


def test_no_look_of_a_preview_is_long_or_has_a_title_as_a_column_of_single_letters(sit, tmp_path):
    question = {"actions": MANY, "partial": True}
    narrowest = "Math.min(...[...document.querySelectorAll('.text')].map(it => it.clientWidth))"
    for tab, width, font, height in looks(lively(sit), tmp_path, "preview_actions", question):
        assert tab.run(narrowest) >= 6 * font
        assert height <= 1320 or (width, font) != (390, 16)


def test_each_look_of_the_days_has_its_calendar_near_and_one_language(sit, tmp_path):
    person = sit()
    top = "document.querySelector('.cal').getBoundingClientRect().top"
    for tab, width, _, _ in looks(person, tmp_path, "get_user_snapshot", live(person)):
        assert width != 390 or tab.run(top) <= 1000
    titles = tab.run("[...document.querySelectorAll('[title]')].map(it => it.title)")
    # The person's own words.
    own = {"Python", "Voron", "input", "shaper", "XP"}
    assert set(re.findall("[A-Za-z]{2,}", " ".join([tab.text(), *titles]))) <= own


@pytest.mark.skipif(
    "PI_MCP_SCREENSHOTS" not in os.environ, reason="writes the documentation's pictures"
)
@pytest.mark.parametrize("language", ["ru", "en"])
def test_the_pictures_of_the_documentation(sit, tmp_path, language):
    person = sit()
    pages = {"days": ("get_user_snapshot", live(person, language))}
    pages["preview"] = ("preview_actions", changes(language))
    for page, theme in product(pages, ("light", "dark")):
        tool, arguments = pages[page]
        tab = person.see(tool, width=390, theme=theme, locale=language, arguments=arguments)
        tab.wait("document.querySelectorAll('li').length > 3")
        documented(tab, tmp_path, page, theme, language)
