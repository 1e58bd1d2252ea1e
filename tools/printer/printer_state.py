"""A printer's current state in Klipper's words, and for `server.py --check` the printers that there are."""

import re
from collections import defaultdict
from contextlib import suppress
from itertools import chain

from tools.core.health import Health, health_check
from tools.klipper import check_config, pages, printer_data, printers, settings
from tools.klipper.config import checking
from tools.klipper.config.machine import cut_between_words
from tools.klipper.page import printer_page
from tools.klipper.printers import FORM_ERRORS, INFO, QUERY, Printer, PrinterName
from tools.klipper.search import messages
from tools.toolkit import JsonObject, Tool, ToolError, filled, one_line

# The fields that are asked for (Status_Reference.md).
STATUS_OBJECTS: JsonObject = {
    "print_stats": "filename state message print_duration filament_used info".split(),
    "virtual_sdcard": ["progress"],
    "display_status": ["progress"],
    "bed_mesh": ["profile_name", "probed_matrix"],
    "toolhead": ["homed_axes", "position"],
    "heaters": ["available_heaters", "available_sensors"],
    "configfile": ["warnings", "save_config_pending"],
}
ENDED = ("error", "shutdown")
# The text in place of a guess at a message's meaning.
UNKNOWN_MESSAGE = messages.Message(
    "",
    "Not one of Klipper's own messages.",
    "Ask whose it is: the printer's maker or a plugin.",
    [],
)


@Tool("printer_state", page=printer_page.PRINTER_PAGE)
def printer_state(printer: PrinterName = "") -> JsonObject:
    """Show what the printer does now: state, job with time left and layer, temperatures, position, mesh,
    warnings; when it stopped, why, what to do first, and the mistakes in its printer.cfg. Of several printers
    a line each. Read only.

    Source: Klipper's socket comms/klippy.sock in KLIPPER_PRINTER_DATA, methods info and objects/query
    (API_Server.md), or the Moonraker of PRINTERS.
    """
    names = printers.printer_names()
    if printer or len(names) < 2:
        return _state(printers.printer_named(printer))
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(len(names)) as threads:  # one that is off does not delay the others
        answers = dict(zip(names, threads.map(_state_or_error, map(printers.printer_named, names))))
    here = answers.pop(printers.HERE, {})
    lines = {}
    for name, answer in answers.items():
        lines[name] = {key: answer[key] for key in ("state", "message", "job") if key in answer}
    return {**here, "printers": lines}


def _state_or_error(printer: Printer) -> JsonObject:
    try:
        return _state(printer)
    except ToolError as error:
        return {"state": error.message}


def _state(printer: Printer) -> JsonObject:
    """Ask one printer for its state. Raises ToolError."""
    info = printer.request(INFO, {})
    try:
        objects = printer.request(QUERY, {"objects": STATUS_OBJECTS})["status"]
        # An object is null if it is not loaded, as the toolhead before the configuration is read.
        status = defaultdict(dict, filled(**objects))
        heaters = status["heaters"]
        names = heaters.get("available_heaters") or []
        names += heaters.get("available_sensors") or []
        fields = {str(name): ["temperature", "target"] for name in names[:6]}
        heater_status = printer.request(QUERY, {"objects": fields})["status"]
        answer = _state_answer(info, status, heater_status)
        bed = printer_page.bed(status["bed_mesh"].get("probed_matrix"))
    except FORM_ERRORS as error:
        raise ToolError(
            f"What answers for the printer {printer.name} is not Klipper ({error})",
            "printer_log shows what happened.",
            "PRINTER_SILENT",
        ) from None
    page_findings = []
    if answer["state"] in ENDED:
        # The meaning of the message that it stopped with; the mistakes in printer.cfg if they are the cause.
        state_message = str(info.get("state_message"))
        message = [*messages.messages_in(state_message), UNKNOWN_MESSAGE][0]
        answer["known_message"] = messages.explanation(message)
        if "Printer is halted" in state_message:
            with suppress(ToolError):  # its message says that the file cannot be read
                config = printer.config("printer.cfg")
                errors = checking.checker().errors(config)
                answer["config"] = check_config.mistake_lines(errors)
                page_findings = printer_page.drawn_findings(config, errors)
    return printer_page.DrawnAnswer(filled(**answer), findings=page_findings, bed=bed)


def _state_answer(info: JsonObject, status: JsonObject, heater_status: JsonObject) -> JsonObject:
    """Make the answer; an entry is empty where Klipper has none."""
    # The fields that every state has.
    # Each message ends with how to restart, and one about the configuration with `Printer is halted`.
    message = re.sub(
        r"(?s)\s*(?:Once the underlying issue is corrected|Printer is (?:ready|halted|shutdown)).*",
        "",
        str(info.get("state_message", "")),
    )
    version = text_field(info, "software_version")
    config = status["configfile"]
    temperatures = {}
    for name, heater in filled(**heater_status).items():
        temperature, target = number_field(heater, "temperature"), number_field(heater, "target")
        if temperature is not None:
            goal = f" of {target:g}" if target else ""
            temperatures[name[:40]] = f"{temperature:.1f}{goal}"
    answer = {
        "state": text_field(info, "state"),
        "message": cut_between_words(one_line(message), 300),
        "version": version,
        "klipper": version_age(version),
        "job": _job(status),
        "temperatures": temperatures,
        "save_config_pending": config.get("save_config_pending") is True,
    }
    if answer["state"] in ENDED:
        return answer
    # The position of a printer that runs.
    toolhead = status["toolhead"]
    homed = toolhead.get("homed_axes")
    axes = dict(zip("xyz", toolhead.get("position") or []))
    position = [number_field(axes, axis) for axis in "xyz"]
    warnings = [text_field(warning, "message") for warning in config.get("warnings") or []]
    return answer | {
        "homed": "" if homed is None else str(homed)[:10] or "none",
        "mesh": _mesh(status["bed_mesh"]),
        "position": [round(mm, 2) for mm in position if mm is not None],
        "warnings": warnings[:3],
    }


def version_age(version: str) -> str:
    """Describe a version's age and whether its files were changed: closed printers run an old one that their
    maker changed; "" for the newest release."""
    release = version.removeprefix("v").partition("-")[0].rpartition(".")[0]
    if version and not release:
        return "its maker's own, of unknown age: messages may be the maker's, too"
    # Without the documentation there are no dates, nor is there one of a release that is newer than it.
    with suppress(ToolError, ValueError, LookupError):
        text = pages.page_text(pages.resolve("Releases.md"))
        # The headings of releases, newest first, with the year and month they are available since.
        releases = re.findall(r"(?m)^## Klipper (\d+\.\d+)\.0\s+Available on (\d{6})", text)
        (newest, _), *older = releases
        date = dict(older)[release]
        is_changed = version.endswith("-dirty")
        changes = ", with files changed by its maker or a plugin" if is_changed else ""
        return f"of {date[:4]}-{date[4:]}{changes}; today's is {newest}"
    return ""


def _mesh(mesh: JsonObject) -> str:
    """Describe the mesh that is in use: its profile, lowest and highest point, size; "" without [bed_mesh]."""
    if mesh.get("profile_name") is None:
        return ""
    matrix = mesh.get("probed_matrix") or []
    heights = list(chain.from_iterable(matrix))
    if not heights:
        return "none loaded"
    name = text_field(mesh, "profile_name") or "unnamed"
    span = f"{min(heights):.2f} to {max(heights):.2f} mm".replace("-", "−")
    return f"{name}, {span}, {len(matrix[0])}×{len(matrix)}"


def _job(status: JsonObject) -> JsonObject:
    """Describe the current or last job: its progress, time, and why it ended."""
    stats = status["print_stats"]
    if not stats.get("filename"):
        return {}
    # The share of the file that was read, or else that of M73.
    by_file = number_field(status["virtual_sdcard"], "progress")
    progress = by_file or number_field(status["display_status"], "progress")
    state = text_field(stats, "state")
    job = filled(
        file=text_field(stats, "filename"), state=state, message=text_field(stats, "message")
    )
    seconds = number_field(stats, "print_duration")
    if seconds is not None:
        job["seconds"] = round(seconds)
    if progress is not None and state in ("printing", "paused"):
        job["percent"] = round(100 * progress)
        if seconds and 0 < progress <= 1:
            job["left_s"] = round(seconds / progress - seconds)
    layers = stats.get("info") or {}
    layer, total = number_field(layers, "current_layer"), number_field(layers, "total_layer")
    if layer is not None:
        job["layer"] = f"{layer:g} of {total:g}" if total else f"{layer:g}"
    if filament := number_field(stats, "filament_used"):
        job["filament_m"] = round(filament / 1000, 2)
    return job


def text_field(fields: JsonObject, name: str) -> str:
    """Cut a field's text, which somebody else wrote, to its first characters on one line."""
    value = fields.get(name)
    return "" if value is None else one_line(value)[:160]


def number_field(fields: JsonObject, name: str) -> float | None:
    """Read a field's number; None for anything else, also for NaN."""
    value = fields.get(name)
    return float(value) if isinstance(value, int | float) and abs(value) < 1e12 else None


@health_check
def health() -> Health:
    """Report the printer's folder and its files, the names of PRINTERS. Klipper is not asked."""
    folder = printer_data.printer_folder()
    names = ("config/printer.cfg", "logs/klippy.log", "comms/klippy.sock")
    present = [name for name in names if (folder / name).exists()]
    lines = []
    if folder.is_dir():
        lines.append(f"{folder}: {', '.join(present) or 'nothing in it yet'}")
    lines += [f"{name}: {url}" for name, url in settings.current().printers.items()]
    if lines:
        return Health("ok", f"{'; '.join(lines)}; only read")
    return Health(
        "unset",
        f"There is no printer folder on this machine: {folder}",
        "Set KLIPPER_PRINTER_DATA if Klipper runs on this machine, or PRINTERS if it runs on another",
    )
