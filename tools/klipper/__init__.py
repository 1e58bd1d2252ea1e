"""Klipper documentation: search, reading and sync of a local git checkout; a printer's configuration
checked."""

from tools.core.toolsets import Instruction

START_MODULES = ("tools.klipper.checkout.freshness",)
INSTRUCTIONS = (
    Instruction(
        "Klipper: search_docs first, then read_doc with path and heading of a result (one section); name it in the answer."
        " For a printer.cfg check_config first, config_reference for its options."
    ),
    Instruction(
        "If the description of sync_docs says the docs are outdated, offer to run it.", write=True
    ),
)
