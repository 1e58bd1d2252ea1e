"""The printer on this machine: its log and its state, only read; nothing here acts on it."""

from tools.core.registry import Instruction

INSTRUCTIONS = (
    Instruction(
        "What is wrong with the printer here: printer_log, then check_config without arguments; printer_state for now."
        " They only read: no tool moves, heats or restarts it."
    ),
)
