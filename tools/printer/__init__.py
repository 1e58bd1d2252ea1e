"""Printers, the one on this machine or others by their Moonraker: log and state, only read; nothing here
acts."""

INSTRUCTION = (
    "What is wrong with a printer: printer_state (cause, what to do first, mistakes in printer.cfg);"
    " printer_log for what happened before, or a pasted log. They only read: no tool moves, heats or restarts it."
)
