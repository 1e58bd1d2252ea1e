"""The state of the printer's own files, for `server.py --check`."""

from tools.core.errors import ToolError
from tools.core.health import Health, check
from tools.klipper import printer_data


@check
def health() -> Health:
    """The folder and its parts. Nothing is asked of Klipper."""
    try:
        folder = printer_data.folder()
    except ToolError as error:
        return Health("unset", error.message, "Set KLIPPER_PRINTER_DATA if Klipper runs on this machine")
    names = ("config/printer.cfg", "logs/klippy.log", "comms/klippy.sock")
    parts = [name for name in names if (folder / name).exists()]
    return Health("ok", f"{folder}: {', '.join(parts) or 'nothing in it yet'}; only read")
