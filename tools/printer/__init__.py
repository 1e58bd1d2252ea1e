"""The printer on this machine: its log and its state, only read; nothing here acts on it."""

from tools.core.toolsets import Instruction

INSTRUCTIONS = (
    Instruction(
        "What is wrong with the printer here: printer_state (the cause, what to do first, mistakes in printer.cfg);"
        " printer_log for what happened before. They only read: no tool moves, heats or restarts it."
    ),
)
