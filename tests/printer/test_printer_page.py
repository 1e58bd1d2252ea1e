"""The page of a printer, in a real browser: what stops Klipper, the spectrum, the mesh, what it does now."""

import json
import math
import os
import re

import pytest

from tests.conftest import PROJECT
from tests.onepercent.page.test_screenshots import SCALE, shot, small
from tests.printer.accelerometer import calibration, resonances
from tests.printer.klippy import CONFIG, SHUTDOWN, halted, results, running
from tests.support.pages import Host, capable, shown
from tools.core.mcp_apps import document
from tools.klipper.page import printer_page
from tools.klipper.page.printer_page import DATA

pytestmark = pytest.mark.slow

CALIBRATION = calibration({55: 900, 85: 230}, {"zv": 56.0, "mzv": 55.4, "ei": 66.2})
# Klipper takes all of it but for the options that a test adds.
BASE = "[mcu]\nserial = /dev/serial/by-id/usb-Klipper_x\n[printer]\nkinematics = none\nmax_accel = 3000\n"
MISTAKES = "max_velocity = 0\n[output_pin light]\npin = PB1\nvalue = 0.4mm\n"


def matrix(columns, rows):
    """The heights of a mesh."""
    row = [round(0.1 * math.sin(x / 2), 4) for x in range(columns)]
    return [[height + y / 100 for height in row] for y in range(rows)]


def with_mesh(heights):
    """What Klipper says that has a mesh loaded."""
    return results(bed_mesh={"profile_name": "default", "probed_matrix": heights})


@pytest.fixture
def open_page(browser, printer, pages):
    """See the page of a tool's call; what the console says fails the test."""
    client = capable()
    host = Host(client)
    tabs = []

    def open_tab(tool, width=390, arguments=None, locale="ru-RU", **how):
        tab = shown(browser, host.url, tool, arguments or {}, width, locale=locale, **how)
        tabs.append(tab)
        tab.wait(
            "document.querySelector('h1').textContent && !/Loading|Загрузка/.test(document.body.innerText)"
        )
        return tab

    open_tab.client = client
    yield open_tab
    console = [line for tab in tabs for line in tab.console]
    elsewhere = [url for tab in tabs for url in tab.requests if not url.startswith(host.url)]
    for tab in tabs:
        tab.close()
    host.close()
    client.__exit__()
    assert console == elsewhere == []


@pytest.fixture
def assert_usable(axe, tmp_path):
    """A function that takes a picture of a page, which is no wider than its screen and open to everybody."""

    def check(tab, name, width=390, font=16):
        shot(tab, tmp_path / f"printer-{name}.png", font)
        assert tab.run("document.documentElement.scrollWidth") <= width
        assert axe(tab) == []

    return check


def count(tab, selector):
    return tab.run(f"document.querySelectorAll('{selector}').length")


def test_the_lines_that_stop_klipper_stand_first_with_two_buttons_that_ask_the_chat(
    open_page, assert_usable
):
    for width, theme, locale, font in (
        (320, "dark", "en-GB", 16),
        (320, "light", "ru-RU", 32),
        (720, "light", "ru-RU", 16),
    ):
        tab = open_page("check_config", width, {"config": BASE + MISTAKES}, locale, theme=theme)
        assert_usable(tab, f"mistakes-{width}-{theme}-{font}", width, font)
        text = tab.text()
        assert "max_velocity: 0" in text and "value: 0.4mm" in text and "[output_pin light]" in text
    assert "Klipper не примет этот файл" in text and "должно быть больше 0\n" in text
    assert "нужно число, а не «0.4mm»" in text
    assert count(tab, "button") == 2
    tab.press("Объясни и предложи правку")
    tab.wait("model.length === 1", host=True)
    assert "max_velocity" in tab.run("model[0]", host=True)
    tab.press("Проверь снова")
    tab.wait("model.length === 2", host=True)
    assert tab.run("calls", host=True) == [], "the page itself calls nothing"


def test_any_number_of_mistakes_fits(open_page, tmp_path):
    for pins, lines in ((3, "3"), (400, "[3-9]..")):
        config = BASE + "max_velocity = 300\n"
        for number in range(pins):
            pin = f"pin = PA{number % 16}\nvalue = 0\n"
            config += f"[output_pin p{number}]\n{pin}value{number} = 7\n"
        tab = open_page("check_config", arguments={"config": config})
        height = shot(tab, tmp_path / f"printer-{pins}.png", 16)
        assert tab.run("document.documentElement.scrollWidth") <= 390
        assert height <= 1200
        assert re.search(f"Ошибки в {lines} строк", tab.text())


def test_the_spectrum_of_each_axis_is_drawn_with_its_shaper(open_page, assert_usable):
    for theme, width in (("dark", 320), ("light", 720)):
        tab = open_page("printer_resonances", width, {"text": CALIBRATION}, theme=theme)
        assert_usable(tab, f"resonances-{theme}-{width}", width)
    text = tab.text()
    assert "Резонансы" in text and "вибраций" in text and re.search(r"пик 5\d", text)
    assert count(tab, ".area") == 2
    tab = open_page("printer_resonances", arguments={"text": resonances({38: 700})})
    assert "SHAPER_CALIBRATE" in tab.text()
    assert count(tab, ".area") == 1
    tab.run("(data.spectra = { x: data.spectra.text, y: data.spectra.text }, draw())")
    assert count(tab, ".area") == 2, "each axis is in sight"
    assert "\nX · пик" in tab.text() and "\nY · пик" in tab.text()


@pytest.mark.parametrize("columns, rows, holes", [(25, 25, 0), (3, 5, 2), (2, 2, 0)])
def test_the_mesh_is_drawn_as_one_stands_before_the_printer(
    open_page, printer, assert_usable, columns, rows, holes
):
    heights = matrix(columns, rows)
    for hole in range(holes):
        heights[hole][0] = math.nan
    heights[-1][-1] = -0.002
    for width, theme, locale, unit in (
        (320, "dark", "en-GB", "in 0.01 mm"),
        (720, "light", "en-GB", "in 0.01 mm"),
        (390, "light", "ru-RU", ""),
    ):
        with running(printer, with_mesh(heights)):
            tab = open_page("printer_state", width, locale=locale, theme=theme)
        assert_usable(tab, f"mesh-{columns}-{width}", width)
        assert unit in tab.text()
    assert "−0\n" not in tab.text(".mesh") + "\n"
    lines = tab.run(
        "[...document.querySelectorAll('.tiles > *')].map(it => it.getBoundingClientRect().height)"
    )
    assert max(lines) < 50, "a heater has a line for what is and one for what it is for"
    lefts = tab.run(
        "[...document.querySelectorAll('.card > :first-child')].map(it => it.getBoundingClientRect().left)"
    )
    assert len(set(lefts)) == 1, "all of them begin at one margin"
    assert tab.text(".mesh").count("–") == holes
    text = tab.text().replace("\xa0", " ")
    assert "Печатает benchy.gcode" in text and "сопло" in text and "42 %" in text
    lowest = "getComputedStyle([...document.querySelectorAll('.mesh span')].find(it => it.style.background)).backgroundColor"
    red = tab.run(
        f"(data.bed.rows = [[0, 1]], data.bed.low = 0, data.bed.high = 1, draw(), {lowest})"
    )
    assert float(re.search(r"srgb ([\d.]+)", red)[1]) < 0.9, "a low cell stands out from its ground"
    tab.run("document.documentElement.style.fontSize = '32px'")
    assert tab.run("document.querySelector('h1').getBoundingClientRect().width") >= 8 * 32


@pytest.mark.skipif(
    "PI_MCP_SCREENSHOTS" not in os.environ, reason="writes the documentation's pictures"
)
@pytest.mark.parametrize("language", ["ru", "en"])
def test_the_pictures_of_the_documentation(open_page, printer, tmp_path, language):
    folder = PROJECT / os.environ["PI_MCP_SCREENSHOTS"]
    for theme, end in (("light", ""), ("dark", ".dark")):
        with running(printer, with_mesh(matrix(7, 7))):
            tab = open_page("printer_state", locale=language, theme=theme)
        tab.resize(390, SCALE)
        shot(tab, tmp_path / "picture.png", 16)
        of_language = ".ru" if language == "ru" else ""
        small(tmp_path / "picture.png", folder / f"page_printer{end}{of_language}.png")


def test_a_flat_mesh_is_drawn_and_one_without_a_point_left_out(open_page, printer):
    for heights, cells in (
        ([[0.1, 0.1], [0.1, 0.1]], 4),
        ([[math.nan] * 2] * 2, 0),
        ([], 0),
        (None, 0),
        ([[1, 2], [3]], 0),
    ):
        with running(printer, with_mesh(heights)):
            tab = open_page("printer_state")
        assert count(tab, ".mesh span") == cells
        assert not re.search("NaN|Infinity", tab.text())


def test_a_printer_that_stopped_says_why_and_one_that_is_silent_what_to_do(open_page, printer):
    tab = open_page("printer_state")
    assert "Klipper не отвечает" in tab.text() and "Попробовать снова" not in tab.text()
    with running(printer, SHUTDOWN):
        tab = open_page("printer_state")
    assert "Принтер остановился" in tab.text() and "Timer too close" in tab.text()
    assert "Объясни" in tab.text()
    message = "Option 'rotation_distance' in section 'stepper_x' must be above 0.0\nOnce the underlying issue is corrected, use the \"RESTART\" command\nPrinter is halted\n"
    with running(printer, halted("error", message)):
        tab = open_page("printer_state")
    assert "Принтер не запускается" in tab.text() and "rotation_distance: 0" in tab.text()


def test_the_log_shows_what_happened(open_page, assert_usable):
    tab = open_page("printer_log")
    assert_usable(tab, "log")
    assert "Принтер остановился" in tab.text() and "Timer too close" in tab.text()


def test_a_model_reads_nothing_of_the_data_of_the_page(open_page, printer):
    calls = {
        "check_config": {"config": CONFIG},
        "printer_log": {},
        "printer_resonances": {"text": CALIBRATION},
        "printer_state": {},
    }
    with capable({}) as plain, running(printer, with_mesh(matrix(25, 25))):
        for tool, arguments in calls.items():
            result = open_page.client.call(tool, **arguments)
            other = plain.call(tool, **arguments)
            assert DATA in result["_meta"] and "_meta" not in other, tool
            assert result["content"] == other["content"], "not a token more"
            assert len(json.dumps(result["_meta"])) < 40_000


def test_the_page_has_no_button_that_calls_a_tool():
    text = document(printer_page.Path(printer_page.__file__).with_name("printer.html"))
    own = text[text.index("error|Принтер не запускается") :]
    assert "call(" not in own and "setInterval" not in text and "setTimeout" not in own
