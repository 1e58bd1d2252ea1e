"""The processor time that a call may take: what hostile or merely large input would make endless ends in an
error."""

import pytest

from tests.klipper.config.sample import checker
from tools.core import calls
from tools.core.errors import ToolError
from tools.klipper.config import printer_cfg
from tools.search import services

SENSORS = "".join(
    f"[temperature_sensor a{number}]\nsensor_type: x{number}\n" for number in range(100)
)


@pytest.fixture
def no_time(monkeypatch):
    """Every call is over its budget at the first checkpoint."""
    monkeypatch.setattr(calls, "MOST_COMPUTED_S", -1.0)


def calling():
    return calls.calling(calls.RunningCall())


def out_of_time(function, *arguments):
    with calling(), pytest.raises(ToolError) as caught:
        function(*arguments)
    return caught.value.code == "OUT_OF_TIME"


def test_each_loop_over_lines_sections_results_and_files_looks_at_the_budget(no_time, tmp_path):
    (tmp_path / "printer.cfg").write_text("[include *.cfg]\n")
    config = printer_cfg.from_text(SENSORS)
    assert out_of_time(printer_cfg.from_text, SENSORS)
    assert out_of_time(printer_cfg.from_files, tmp_path / "printer.cfg")
    assert out_of_time(checker().findings, config)
    assert out_of_time(services.fitted, [{"title": "a" * services.MOST_RESULT_BYTES}])


def test_the_budget_is_that_of_the_call_and_outside_of_a_call_there_is_none(monkeypatch):
    with calling():
        calls.checkpoint()
        later_s = calls.time.thread_time() + 40
        monkeypatch.setattr(calls.time, "thread_time", lambda: later_s)
        with pytest.raises(ToolError, match="more than 30 seconds"):
            calls.checkpoint()
    calls.checkpoint()
