"""The result of Klipper's resonance test: where each axis rings, and the input shaper that Klipper
chooses."""

import cmath
import csv
import math
import os
import re
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from typing import Annotated, NamedTuple

from tools.klipper import printer_data
from tools.klipper.page import printer_page
from tools.toolkit import JsonObject, Limits, Tool, ToolError, checkpoint

# The folder that Klipper writes the files to (klippy/extras/resonance_tester.py).
RESULTS_FOLDER = Path("/tmp")
LARGEST_CSV_BYTES = 4_000_000
# The pulses of each shaper as klippy/extras/shaper_defs.py has them for a damping of 0.1: the time from their
# middle, in periods of the shaper's frequency, and the share of the move.
PULSES = {
    "zv": {-0.211919: 0.578286, 0.290600: 0.421714},
    "mzv": {-0.324974: 0.365128, 0.051915: 0.407489, 0.428804: 0.227383},
    "ei": {-0.422868: 0.354881, 0.084372: 0.452998, 0.582170: 0.192121},
    "2hump_ei": {-0.622638: 0.258535, -0.106732: 0.359936, 0.385568: 0.272764, 0.866288: 0.108765},
    "3hump_ei": {
        -0.817460: 0.220854,
        -0.276958: 0.277211,
        0.210591: 0.259700,
        0.688439: 0.167055,
        1.165467: 0.075179,
    },
}
# The share of the highest peak up to which Klipper ignores a vibration.
NEGLIGIBLE = 1 / 20
# Sections that say what to do with the answer.
READ_ON = [
    "Measuring_Resonances.md#selecting-max_accel",
    "Measuring_Resonances.md#unreliable-measurements-of-resonance-frequencies",
]
CALIBRATE_HINT = "Run SHAPER_CALIBRATE; or, for one file, ~/klipper/scripts/calibrate_shaper.py FILE -o shaper.png"

# The frequencies in Hz, each with the power of the vibration.
Spectrum = list[tuple[float, float]]


@Tool("printer_resonances", page=printer_page.PRINTER_PAGE)
def printer_resonances(
    text: Annotated[
        str, "the CSV; else the newest in /tmp", Limits(max_length=LARGEST_CSV_BYTES)
    ] = "",
) -> JsonObject:
    """Explain the last resonance test (why prints ring): the peaks of each axis, and the input shaper that
    Klipper recommends. Read only.

    Source: calibration_data_*.csv of SHAPER_CALIBRATE, resonances_*.csv of TEST_RESONANCES. Klipper's scripts
    process raw_data_*.csv; this tool does not.
    """
    if text:
        answer, spectrum = _axis_answer("text", text)
        return printer_page.DrawnAnswer(answer, spectra={"text": spectrum})
    # Nothing is read if the printer's files are switched off. Anybody may write into RESULTS_FOLDER: only
    # files of this user or of the owner of the printer's folder count.
    owners = {
        os.geteuid(),
        printer_data.existing_folder("; or send the CSV as `text`").stat().st_uid,
    }
    dated = []
    for path in RESULTS_FOLDER.glob("*.csv"):
        checkpoint()
        name = re.fullmatch(r"(?:calibration_data|resonances)_([xyz])_[\w.-]{1,80}\.csv", path.name)
        with suppress(OSError):  # it was deleted meanwhile
            status = path.lstat()
            if name and status.st_uid in owners:
                dated.append((status.st_mtime, path, name[1]))
    if not dated:
        raise ToolError(
            f"{RESULTS_FOLDER} has no result of a resonance test", CALIBRATE_HINT, "NO_RESONANCES"
        )
    # The newest file of each axis.
    answers = {}
    spectra = {}
    newest = {axis: path for _, path, axis in sorted(dated)}
    for axis, path in newest.items():
        content = printer_data.read_file(path, RESULTS_FOLDER, LARGEST_CSV_BYTES)
        answers[axis], spectra[axis] = _axis_answer(path.name, content.decode("latin-1"))
    return printer_page.DrawnAnswer(answers, spectra=spectra)


def _axis_answer(name: str, text: str) -> tuple[JsonObject, list[list[float]]]:
    """Explain a file: its peaks and the shaper; with the spectrum as the page draws it."""
    header = text.partition("\n")[0]
    # SHAPER_CALIBRATE adds a column for each shaper, `mzv(41.4)`. Since the end of 2025, when the rule
    # changed, `shapers:` stands before them. Their rows are not read: since then they hold values of other
    # frequencies.
    columns = re.findall(r",(zv|mzv|ei|2hump_ei|3hump_ei)\(([1-9]\d{0,2}\.\d)\)", header)
    fitted = columns[: len(PULSES)]
    try:
        spectrum = []
        for row in csv.DictReader(text.splitlines()):
            checkpoint()
            hz, power = float(row["freq"]), float(row["psd_xyz"])
            if None in row.values() or not 0 <= hz * power < math.inf:
                raise ValueError
            # Klipper does this before it fits: high frequencies weigh less, slow noise nothing.
            if not fitted:
                power *= math.exp(min(0, 1 - (10 / (hz + 0.1)) ** 2)) / (hz + 0.1)
            spectrum.append((hz, power))
        answer = {"file": name, **_peaks(spectrum), "read": READ_ON}
    except (ValueError, TypeError, LookupError, ArithmeticError, csv.Error):
        raise ToolError(
            f"{name} is not a complete resonance test (raw accelerometer data is not read)",
            CALIBRATE_HINT,
            "NO_SPECTRUM",
        ) from None
    if not fitted:
        answer["next"] = CALIBRATE_HINT
        return answer, printer_page.spectrum(spectrum, [])
    fits = [_fit(shaper, float(hz), spectrum) for shaper, hz in fitted]
    best = _recommended(fits, "shapers:" in header)
    answer |= {
        "shaper": best.name,
        "shaper_hz": best.hz,
        "vibrations_left_percent": round(100 * best.vibrations, 1),
    }
    return answer, printer_page.spectrum(spectrum, _shaped(best.name, best.hz, spectrum))


def _peaks(spectrum: Spectrum) -> JsonObject:
    """Find the highest peak, its width at half its height, and the next peak beyond a valley half as high as
    that one. Raises ValueError, ZeroDivisionError if nothing vibrates."""
    if not 40 < len(spectrum) < 5000:  # Klipper writes 60 to 2,000 rows
        raise ValueError
    frequencies, powers = zip(*spectrum)
    height = max(powers)
    top = powers.index(height)
    # The lowest power between each place and the peak.
    before = [*accumulate(powers[top::-1], min)]
    after = [*accumulate(powers[top + 1 :], min)]
    valleys = before[::-1] + after
    rows_wide = sum(valley >= height / 2 for valley in valleys)
    step_hz = frequencies[-1] / len(powers)
    peaks = {"peak_hz": frequencies[top], "width_hz": round(rows_wide * step_hz, 1)}
    others = [power for power, valley in zip(powers, valleys) if power >= 2 * valley]
    second = max(others, default=0)
    if second / height > NEGLIGIBLE:
        peaks["second_peak_hz"] = frequencies[powers.index(second)]
        peaks["second_height_percent"] = round(100 * second / height)
    return peaks


class Fit(NamedTuple):
    """A shaper at the frequency that Klipper fitted to a printer."""

    name: str
    hz: float
    vibrations: float
    smoothing: float
    score: float


def _fit(name: str, hz: float, spectrum: Spectrum) -> Fit:
    """Judge a shaper as klippy/extras/shaper_calibrate.py does: by the vibrations that remain at the damping
    ratio where most remain, and by how far corners and reversals are off at an acceleration of 5000 and a
    square corner velocity of 5."""
    floor = max(power for _, power in spectrum) * NEGLIGIBLE
    strong = [row for row in spectrum if row[1] > floor]
    unshaped = sum(power - floor for _, power in strong)
    vibrations = 0.0
    for damping in (0.075, 0.1, 0.15):
        powers = _shaped(name, hz, strong, damping)
        shaped = sum(max(0.0, power - floor) for power in powers)
        vibrations = max(vibrations, shaped / unshaped)
    pulses = [(share, periods / hz) for periods, share in PULSES[name].items()]
    reversal = sum(share * time**2 * 2500 for share, time in pulses)
    corner = math.sqrt(2) * sum(
        share * time * (time * 2500 + 5) for share, time in pulses if time > 0
    )
    smoothing = max(reversal, corner)
    return Fit(
        name, hz, vibrations, smoothing, smoothing * (vibrations**1.5 + vibrations * 0.2 + 0.01)
    )


def _shaped(name: str, hz: float, spectrum: Spectrum, damping: float = 0.1) -> list[float]:
    """Compute the power that a shaper leaves at each frequency."""
    pulses = PULSES[name]
    end = max(pulses)
    growth = cmath.rect(math.tau, math.acos(damping)) / hz
    shaped = []
    for frequency, power in spectrum:
        wave = sum(
            share * cmath.exp(growth * frequency * (periods - end))
            for periods, share in pulses.items()
        )
        shaped.append(abs(wave) * power)
    return shaped


def _recommended(fits: list[Fit], since_2025: bool) -> Fit:
    """Choose as Klipper does; since 2025 it also takes a shaper that leaves less and smooths less, and rarely
    zv."""
    best = fits[0]
    for fit in fits:
        score_ratio = best.score / fit.score
        smoothing_ratio = best.smoothing / fit.smoothing
        is_milder = since_2025 and smoothing_ratio > 1 and fit.vibrations < best.vibrations
        if score_ratio > 1.2 or (score_ratio > 1.05 and smoothing_ratio > 1.1) or is_milder:
            best = fit
    if since_2025 and best.name == "zv":
        return next((fit for fit in fits if fit.vibrations * 1.1 < best.vibrations), best)
    return best
