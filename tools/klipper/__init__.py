"""Klipper documentation: search, reading and sync of a local git checkout; a printer's configuration
checked."""

START_MODULES = ("tools.klipper.checkout.freshness",)
INSTRUCTION = (
    "Klipper: search_docs first, then read_doc with path and heading of a result (one section); name it in the answer."
    " For a printer.cfg check_config first, config_reference for its options."
)
WRITE_INSTRUCTION = "If the description of sync_docs says the docs are outdated, offer to run it."
