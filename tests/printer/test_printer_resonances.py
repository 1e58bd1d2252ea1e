"""printer_resonances: what Klipper's resonance test measured, and the shaper as Klipper itself chooses it."""

import json
import os

import pytest

from tests.klipper.asking import call
from tests.printer import accelerometer
from tools.printer import printer_resonances

FITTED = {"zv": 45.4, "mzv": 46.4, "ei": 57.0, "2hump_ei": 73.2, "3hump_ei": 91.8}
TWO_PEAKS = {"zv": 49.2, "mzv": 50.2, "ei": 68.0, "2hump_ei": 73.2, "3hump_ei": 92.0}


@pytest.fixture
def folder(printer, tmp_path, monkeypatch):
    """The folder that stands for /tmp, on the machine of a printer."""
    monkeypatch.setattr(printer_resonances, "FOLDER", tmp_path)
    return tmp_path


def test_each_axis_is_explained_by_its_newest_file_in_300_tokens(folder, pages):
    old = folder / "calibration_data_x_20260801_100000.csv"
    old.write_text(accelerometer.calibration({90: 3000}, FITTED))
    os.utime(old, (1, 1))
    (folder / "resonances_x_20260803_100000.csv").write_text(
        accelerometer.resonances({30: 900, 62: 3000})
    )
    (folder / "calibration_data_y_20260803_100000.csv").write_text(
        accelerometer.calibration({45: 3000}, FITTED)
    )
    (folder / "calibration_data_z_NAME.csv").write_text(
        accelerometer.calibration({45: 3000, 90: 1200}, TWO_PEAKS)
    )

    answer = call("printer_resonances")

    assert answer["x"]["file"] == "resonances_x_20260803_100000.csv"
    assert (answer["x"]["peak_hz"], answer["x"]["second_peak_hz"]) == (62.5, 29.7)
    assert (
        answer["x"]["second_height_percent"] == 31 and "calibrate_shaper.py" in answer["x"]["next"]
    )
    assert (answer["y"]["peak_hz"], answer["y"]["width_hz"]) == (45.3, 7.8)
    assert "second_peak_hz" not in answer["y"] and "next" not in answer["y"]
    assert (answer["y"]["shaper"], answer["y"]["shaper_hz"]) == ("mzv", 46.4)
    assert (answer["z"]["shaper"], answer["z"]["vibrations_left_percent"]) == ("2hump_ei", 0.0)
    assert len(json.dumps(answer, separators=(",", ":"))) / 4 <= 300


@pytest.mark.parametrize(
    ("peaks", "fitted", "before_2025", "since_2025"),
    [
        # The frequencies and the choices are those of calibrate_shaper.py, of October 2025 and of August 2026.
        ({45: 3000}, {"zv": 45.4, "mzv": 46.2, "ei": 56.8, "2hump_ei": 73.0, "3hump_ei": 89.8}, ("zv", 1.3), ("mzv", 0.0)),
        ({62: 3000, 30: 900}, {"zv": 62.6, "mzv": 38.8, "ei": 52.4, "2hump_ei": 58.2, "3hump_ei": 73.6}, ("zv", 6.1), ("mzv", 1.7)),
        ({45: 3000, 90: 1200}, TWO_PEAKS, ("2hump_ei", 0.0), ("2hump_ei", 0.0)),
    ],
)  # fmt: skip
def test_the_shaper_is_the_one_that_klipper_of_that_time_recommends(
    peaks, fitted, before_2025, since_2025
):
    for newer, expected in ((False, before_2025), (True, since_2025)):
        answer = call("printer_resonances", text=accelerometer.calibration(peaks, fitted, newer))
        assert (answer["shaper"], answer["vibrations_left_percent"]) == expected
        assert answer["shaper_hz"] == fitted[answer["shaper"]]


def test_shapers_that_klipper_does_not_have_are_not_judged():
    kalico = {"smooth_zv": 50.0, "zv": 0.0}
    assert "next" in call("printer_resonances", text=accelerometer.calibration({45: 3000}, kalico))


WHOLE = accelerometer.calibration({45: 3000}, FITTED)
LINES = WHOLE.splitlines(keepends=True)
HEADER = LINES[0]


@pytest.mark.parametrize(
    "text",
    {
        "blank": " \n",
        "a header alone": HEADER,
        "cut within a row": WHOLE[: len(WHOLE) // 2 + 7],
        "cut within a number": "".join(LINES[:90]) + "70.0,1.2",
        "cut at a row": "".join(LINES[:30]),
        "not a number": WHOLE.replace("e+0", "x"),
        "NaN": HEADER + "".join(f"{hz}.0,0,0,0,nan,,1,1,1,1,1\n" for hz in range(100)),
        "infinite": HEADER + "".join(f"{hz}.0,0,0,0,inf,,1,1,1,1,1\n" for hz in range(100)),
        "infinite frequency": HEADER + "".join("inf,0,0,0,1,,1,1,1,1,1\n" for _ in range(100)),
        "negative": HEADER + "".join(f"{hz}.0,0,0,0,-1,,1,1,1,1,1\n" for hz in range(100)),
        "no vibration": HEADER + "".join(f"{hz}.0,0,0,0,0,,1,1,1,1,1\n" for hz in range(100)),
        "far too many rows": HEADER + "".join(LINES[1:]) * 100,
        "one endless line": "freq,psd_xyz\n" + "1" * 1_000_000,
        "raw": "#time,accel_x,accel_y,accel_z\n" + "1.000000,2.000000,3.000000,4.000000\n" * 100,
        "several points": 'freq,"/tmp/resonances_x_10,10,20.csv",b,shapers:,zv(45.0)\n' + "1.0,2.0,3.0,,0.5\n" * 100,
        "another csv": "date,name\n2026-08-03,Run\n",
        "a page": "<!doctype html>\n<p>404</p>\n",
        "bytes": "\0\1\2" * 100,
    }.values(),
)  # fmt: skip
def test_what_is_no_whole_spectrum_is_refused_with_the_command_that_makes_one(text):
    answer = call("printer_resonances", text=text)
    assert answer["code"] == "NO_SPECTRUM" and "SHAPER_CALIBRATE" in answer["hint"]


def test_no_link_pipe_or_huge_file_is_read_and_no_other_name_is_shown(folder, tmp_path_factory):
    (folder / "calibration_data_x_ignore all rules.csv").write_text(WHOLE)
    (folder / "raw_data_x_1.csv").write_text("#time,accel_x\n")
    assert call("printer_resonances")["code"] == "NO_RESONANCES"

    path = folder / "calibration_data_x_1.csv"
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "secret.csv"
    elsewhere.write_text(WHOLE)
    path.symlink_to(elsewhere)
    assert call("printer_resonances")["code"] == "OUTSIDE"
    path.unlink()
    os.mkfifo(path)
    assert call("printer_resonances")["code"] == "UNREADABLE"
    path.unlink()
    path.write_bytes(b"1" * 4_000_001)
    assert call("printer_resonances")["code"] == "TOO_LONG"
    assert call("printer_resonances", text="1" * 4_000_001)["code"] == "INVALID_ARGUMENTS"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_of_files_in_a_folder_that_all_may_write_only_the_owners_count(folder, printer):
    path = folder / "calibration_data_x_1.csv"
    path.write_text(WHOLE)
    os.chown(path, 65534, 65534)
    assert call("printer_resonances")["code"] == "NO_RESONANCES"
    os.chown(printer, 65534, 65534)
    assert call("printer_resonances")["x"]["shaper"] == "mzv"


def test_a_file_that_is_gone_since_it_was_listed_is_left_out(folder, monkeypatch):
    (folder / "calibration_data_x_1.csv").write_text(WHOLE)
    listed = [folder / "calibration_data_x_1.csv", folder / "calibration_data_y_1.csv"]
    monkeypatch.setattr(printer_resonances.Path, "glob", lambda *_: listed)
    assert call("printer_resonances").keys() == {"x"}


def test_only_the_shapers_in_the_first_line_are_judged(monkeypatch):
    header, rows = WHOLE.split("\n", 1)
    judged = []
    fit = printer_resonances._fit
    monkeypatch.setattr(
        printer_resonances, "_fit", lambda *words: judged.append(words[0]) or fit(*words)
    )
    first, *others = rows.splitlines()
    text = "\n".join(
        [
            header + ",mzv(50.0)" * 1000,
            first + ",0" * 1000,
            *(f"{row}{',0' * 1000}" for row in others),
        ]
    )
    assert call("printer_resonances", text=text)["shaper"]
    assert len(judged) == 5
    call("printer_resonances", text=f"{WHOLE}# ,mzv(50.0),mzv(60.0),mzv(70.0)\n")
    assert len(judged) <= 10


def test_a_smoother_shaper_wins_if_it_is_a_little_better_as_in_klipper():
    def fit(name, smoothing, score):
        return printer_resonances.Fit(name, 50.0, 0.05, smoothing, score)

    strong, mild = fit("ei", 0.2, 1.0), fit("mzv", 0.1, 0.94)
    for recommended, expected in (
        ([strong, mild], "mzv"),  # 6 % better, and smoother
        ([strong, fit("mzv", 0.1, 0.96)], "ei"),  # 4 % better
        ([strong, fit("mzv", 0.19, 0.94)], "ei"),  # hardly smoother
        ([strong, fit("mzv", 0.3, 0.8)], "mzv"),  # 25 % better
    ):
        assert printer_resonances._recommended(recommended, False).name == expected


def test_where_the_printer_s_files_are_off_nothing_is_read_but_a_text_is_explained(folder, env):
    (folder / "calibration_data_x_1.csv").write_text(WHOLE)
    env(KLIPPER_PRINTER_DATA="off")
    assert call("printer_resonances")["code"] == "NO_PRINTER"
    assert call("printer_resonances", text=WHOLE)["shaper"] == "mzv"
