"""The benchmarks' table, words and plot; what they measure is not a matter of tests."""

import subprocess
import sys
from xml.etree import ElementTree

import pytest

from tests.bench import __main__ as bench
from tests.bench import bench_search, bench_tokens, saving
from tests.bench.bench_resident import COUNTS, sessions
from tests.bench.plot import Panel, svg
from tests.bench.rows import Row
from tests.support.client import PROJECT

SVG = "{http://www.w3.org/2000/svg}"


def test_a_row_says_its_ratio_and_a_promise_that_was_not_kept():
    row = Row("ready", 30, "ms", 20, "a server", "at most 1.15", kept=False)
    assert row.cells() == ("ready", "30.0 ms", "a server: 20.0 ms", "1.50", "at most 1.15, NOT KEPT")
    assert row.sentence() == "ready: **30.0 ms**; a server: 20.0 ms, a ratio of 1.50 (promised: at most 1.15, NOT KEPT)"
    assert "5.0 times as much" in Row("memory", 10, "MiB", 50, "a server").sentence()


def test_one_command_measures_and_prints_a_line_a_figure():
    done = subprocess.run(
        [sys.executable, str(PROJECT / "tests" / "bench"), "listing"], capture_output=True, text=True, timeout=60
    )
    head, _, every, average = done.stdout.splitlines()
    assert head.split() == ["what", "pi-mcp", "anchor", "ratio", "promised"]
    assert every.startswith("tools/list, all ") and average.endswith("at most 900 bytes")
    assert done.returncode == 0


@pytest.mark.parametrize("searching", [bench_search, bench_tokens])
def test_without_the_documentation_what_searches_it_says_that_it_is_left_out(searching, tmp_path, capsys):
    assert list(searching.rows(tmp_path)) == []
    assert capsys.readouterr().out.startswith("left out: there is no documentation")


def test_figures_are_saved_only_of_all_in_one_run(tmp_path):
    done = subprocess.run(
        [sys.executable, str(PROJECT / "tests" / "bench"), "--save", "listing"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 2 and "in one run" in done.stderr


def test_every_bench_is_saved_in_words_and_the_plot_is_of_the_same_figures(tmp_path):
    ready = [Row("ready, cold", 900, "ms", 1000, "one"), Row("ready, through the service", 50, "ms", 1000, "one")]
    memory = [Row(f"memory, each of {sessions(count)}", 8, "MiB", 50, "one") for count in COUNTS]
    tables = {name: [Row(f"of {name}", 1, "", 2, "one")] for name in bench.BENCHES}
    tables["start"] += ready
    tables["resident"] += [Row("memory, the service alone", 40, "MiB", 50, "one"), *memory]

    saving.save(tables, tmp_path)

    words = (tmp_path / "benchmarks.md").read_text(encoding="utf-8")
    assert all(f"- of {name}: **1.00**" in words for name in bench.BENCHES)
    assert words.count("\n## ") == len(bench.BENCHES)
    drawn = ElementTree.parse(tmp_path / "benchmarks.svg")
    texts = [one.text for one in drawn.iter(f"{SVG}text")]
    assert {"50 ms", "800 MiB", "168 MiB"} <= set(texts)


def test_a_bar_is_as_long_as_its_figure():
    drawn = ElementTree.fromstring(svg([Panel("A & B", "ms", [("a", 50, True), ("b", 200, False)])], "about"))
    short, long = (int(one.get("width")) for one in drawn.iter(f"{SVG}rect"))
    assert long == 4 * short


def test_a_small_board_holds_a_sync_a_picture_searches_and_four_sessions_at_once():
    pytest.importorskip("anki.collection", reason="the PyPI package `anki` is not installed")
    pytest.importorskip("PIL", reason="Pillow is not installed")
    words = [sys.executable, str(PROJECT / "tests" / "bench" / "small_board.py")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all at once at most, of 350" in done.stdout
