"""A small reference and page of changes, written like Klipper's."""

from pathlib import Path

from tools.klipper.config.checking import Checker

REFERENCE, CHANGES = (
    Path(__file__).with_name(f"sample_{name}.md").read_text("utf-8")
    for name in ("reference", "changes")
)
# With it a configuration is a whole one: nothing can stand in another file.
WHOLE = "[printer]\nkinematics: none\n[mcu]\nserial: /dev/ttyACM0\n"
# What SAVE_CONFIG writes above its lines.
SAVED = (
    "#*# <---------------------- SAVE_CONFIG ---------------------->\n"
    "#*# DO NOT EDIT THIS BLOCK OR BELOW. The contents are auto-generated.\n#*#\n"
)


def checker():
    return Checker(REFERENCE, CHANGES, "# [display_status]")
