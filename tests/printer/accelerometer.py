"""Results of a resonance test as Klipper writes them (klippy/extras/shaper_calibrate.py), about made-up peaks."""

# 3,200 measurements a second in windows of 2,048.
STEP_HZ = 1.5625
NOISE = 10
# Twice the damping of what vibrates.
WIDTH = 0.16


def spectrum(peaks):
    """Frequencies with their power: the peaks are {frequency: power}, each as wide as a damped vibration."""
    rows = []
    for place in range(128):
        hz = place * STEP_HZ
        power = NOISE * hz / 200
        for peak, height in peaks.items():
            ratio = hz / peak
            damped = (WIDTH * ratio) ** 2
            power += height * WIDTH**2 * ratio**2 / ((1 - ratio**2) ** 2 + damped)
        rows.append((hz, power))
    return rows


def calibration(peaks, shapers, since_2025=True):
    """What SHAPER_CALIBRATE writes: `shapers` are {name: frequency}. The values in their columns are none that
    anything can be computed from, as in the newest Klipper."""
    header, cells = (",shapers:", ",") if since_2025 else ("", "")
    header += "".join(f",{name}({hz:.1f})" for name, hz in shapers.items())
    return _text(spectrum(peaks), header, cells + ",0.500" * len(shapers))


def resonances(peaks):
    """What TEST_RESONANCES writes: not weighed yet, so that high frequencies have more power."""
    rows = [(hz, power * (hz + 0.1)) for hz, power in spectrum(peaks)]
    return _text(rows)


def _text(rows, header="", cells=""):
    lines = [f"{hz:.1f},{power:.3e},0.000e+00,0.000e+00,{power:.3e}{cells}" for hz, power in rows]
    return "\n".join([f"freq,psd_x,psd_y,psd_z,psd_xyz{header}", *lines, ""])
