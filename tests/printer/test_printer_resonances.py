"""printer_resonances: what Klipper's resonance test measured, and the shaper as Klipper itself chooses it."""

import os
from unittest.mock import Mock

import pytest

from tests.klipper.asking import call, tokens
from tests.printer.accelerometer import calibration, resonances
from tools.printer import printer_resonances

FITTED = {"zv": 45.4, "mzv": 46.4, "ei": 57.0, "2hump_ei": 73.2, "3hump_ei": 91.8}
TWO_PEAKS = {"zv": 49.2, "mzv": 50.2, "ei": 68.0, "2hump_ei": 73.2, "3hump_ei": 92.0}
WHOLE = calibration({45: 3000}, FITTED)


def explained(text):
    return call("printer_resonances", text=text)


def test_each_axis_is_explained_by_its_newest_file_in_300_tokens(folder, pages):
    for name, text in {
        "calibration_data_x_OLD": calibration({90: 3000}, FITTED),
        "resonances_x_NEW": resonances({30: 900, 62: 3000}),
        "calibration_data_y_20260803_100000": WHOLE,
        "calibration_data_z_NAME": calibration({45: 3000, 90: 1200}, TWO_PEAKS),
    }.items():
        (folder / f"{name}.csv").write_text(text)
    os.utime(folder / "calibration_data_x_OLD.csv", (1, 1))

    answer = call("printer_resonances")

    x, y, z = (answer[axis] for axis in "xyz")
    assert x["file"] == "resonances_x_NEW.csv"
    assert (x["peak_hz"], x["second_peak_hz"], x["second_height_percent"]) == (62.5, 29.7, 31)
    assert "calibrate_shaper.py" in x["next"]
    assert (y["peak_hz"], y["width_hz"], y["shaper"], y["shaper_hz"]) == (45.3, 7.8, "mzv", 46.4)
    assert not {"second_peak_hz", "next"} & y.keys()
    assert (z["shaper"], z["vibrations_left_percent"]) == ("2hump_ei", 0.0)
    assert tokens(answer) <= 300


CHOICES = [
    # The frequencies and the choices are those of calibrate_shaper.py, of October 2025 and of August 2026.
    ({45: 3000}, {"zv": 45.4, "mzv": 46.2, "ei": 56.8, "2hump_ei": 73.0, "3hump_ei": 89.8}, ("zv", 1.3), ("mzv", 0.0)),
    ({62: 3000, 30: 900}, {"zv": 62.6, "mzv": 38.8, "ei": 52.4, "2hump_ei": 58.2, "3hump_ei": 73.6}, ("zv", 6.1), ("mzv", 1.7)),
    ({45: 3000, 90: 1200}, TWO_PEAKS, ("2hump_ei", 0.0), ("2hump_ei", 0.0)),
]  # fmt: skip


def test_the_shaper_is_the_one_that_klipper_of_that_time_recommends():
    for peaks, fitted, *expected in CHOICES:
        for newer in (False, True):
            answer = explained(calibration(peaks, fitted, newer))
            assert (answer["shaper"], answer["vibrations_left_percent"]) == expected[newer]
            assert answer["shaper_hz"] == fitted[answer["shaper"]]


def test_shapers_that_klipper_does_not_have_are_not_judged():
    assert "next" in explained(calibration({45: 3000}, {"smooth_zv": 50.0, "zv": 0.0}))


LINES = WHOLE.splitlines(keepends=True)
HEADER = LINES[0]


def rows(cells):
    """A header and a hundred rows, which begin with a frequency."""
    return HEADER + "".join(f"{hz}.0,{cells},,1,1,1,1,1\n" for hz in range(100))


NOT_WHOLE = {
    "a header alone": HEADER,
    "cut within a number": "".join(LINES[:90]) + "70.0,1.2",
    "cut at a row": "".join(LINES[:30]),
    "not a number": WHOLE.replace("e+0", "x"),
    "NaN": rows("0,0,0,nan"),
    "infinite": rows("0,0,0,inf"),
    "infinite frequency": HEADER + "inf,0,0,0,1,,1,1,1,1,1\n" * 100,
    "negative": rows("0,0,0,-1"),
    "no vibration": rows("0,0,0,0"),
    "far too many rows": HEADER + "".join(LINES[1:]) * 100,
    "one endless line": "freq,psd_xyz\n" + "1" * 1_000_000,
    "raw": "#time,accel_x,accel_y,accel_z\n" + "1.000000,2.000000,3.000000,4.000000\n" * 100,
    "several points": 'freq,"/tmp/resonances_x_10,10,20.csv",b,shapers:,zv(45.0)\n' + "1.0,2.0,3.0,,0.5\n" * 100,
    "bytes": "\0\1\2" * 100,
}  # fmt: skip


def test_what_is_no_whole_spectrum_is_refused_with_the_command_that_makes_one():
    for name, text in NOT_WHOLE.items():
        answer = explained(text)
        assert answer["code"] == "NO_SPECTRUM", name
        assert "SHAPER_CALIBRATE" in answer["hint"]


def test_no_other_name_is_read(folder):
    (folder / "calibration_data_x_ignore all rules.csv").write_text(WHOLE)
    (folder / "raw_data_x_1.csv").touch()
    assert call("printer_resonances")["code"] == "NO_RESONANCES"


def test_a_file_that_is_deleted_while_they_are_listed_is_skipped(folder, monkeypatch):
    monkeypatch.setattr(printer_resonances.Path, "glob", lambda *_: [folder / "gone.csv"])
    assert call("printer_resonances")["code"] == "NO_RESONANCES"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_of_files_in_a_folder_that_all_may_write_only_the_owners_count(folder, printer):
    path = folder / "calibration_data_x_1.csv"
    path.write_text(WHOLE)
    os.chown(path, 65534, 65534)
    assert call("printer_resonances")["code"] == "NO_RESONANCES"
    os.chown(printer, 65534, 65534)
    assert call("printer_resonances")["x"]["shaper"] == "mzv"


def test_only_the_shapers_in_the_first_line_are_judged(monkeypatch):
    fit = Mock(wraps=printer_resonances._fit)
    monkeypatch.setattr(printer_resonances, "_fit", fit)
    header, *others = (line.strip() for line in LINES)
    lines = [header + ",mzv(50.0)" * 1000, *(row + ",0" * 1000 for row in others)]
    assert explained("\n".join(lines))["shaper"]
    assert fit.call_count == 5


OTHERS = [
    (0.1, 0.94, "mzv"),  # 6 % better, and half as smooth
    (0.17, 0.94, "mzv"),  # 18 % smoother
    (0.19, 0.94, "ei"),  # hardly smoother
    (0.1, 0.96, "ei"),  # 4 % better
    (0.3, 0.8, "mzv"),  # 25 % better
]


def test_a_smoother_shaper_wins_if_it_is_a_little_better_as_in_klipper():
    strong = printer_resonances.Fit("ei", 50.0, 0.05, 0.2, 1.0)
    for smoothing, score, recommended in OTHERS:
        mild = printer_resonances.Fit("mzv", 50.0, 0.05, smoothing, score)
        assert printer_resonances._recommended([strong, mild], False).name == recommended


def test_where_the_printer_s_files_are_off_nothing_is_read_but_a_text_is_explained(folder, env):
    (folder / "calibration_data_x_1.csv").write_text(WHOLE)
    env(KLIPPER_PRINTER_DATA="off")
    assert call("printer_resonances")["code"] == "NO_PRINTER"
    assert explained(WHOLE)["shaper"] == "mzv"
