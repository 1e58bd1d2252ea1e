"""A printer's folder with a log as Klipper writes it, and a socket that answers as API_Server.md says."""

import json
import socketserver
from contextlib import contextmanager
from pathlib import Path

from tests.klipper.asking import call
from tests.support.web import started

STATS = (
    "Stats {0:.1f}: gcodein=0  mcu: mcu_awake=0.003 mcu_task_avg=0.000007 mcu_task_stddev=0.000009 bytes_write=49325"
    " bytes_read=291456 bytes_retransmit=9 bytes_invalid=0 send_seq=5327 receive_seq=5327 retransmit_seq=2 srtt=0.001"
    " rttvar=0.000 rto=0.025 ready_bytes=0 upcoming_bytes=0 freq=180003417  EBBCan: mcu_awake=0.001 bytes_write=3000"
    " bytes_read=9000 bytes_retransmit=842 bytes_invalid=3 freq=64000123  sd_pos=0 heater_bed: target=60 temp=59.8 pwm=0.312"
    " sysload=0.26 cputime=312.700 memavail=523456 print_time=312.1 buffer_time=2.0 print_stall=0 extruder: target=215 temp=214.6 pwm=0.4"
)
CONFIG = """\
[printer]
kinematics = cartesian
max_velocity = 300
max_accel = 3000

[mcu]
serial = /dev/serial/by-id/usb-Klipper_stm32

[stepper_x]
step_pin = PA1
dir_pin = PA2
microsteps = 16
rotation_distance = 0
endstop_pin = PA3
position_endstop = 0
position_max = 200

[fan]
pin = PZ99
"""
TOKEN = "oauth-secret-4711"
TOO_CLOSE = "MCU 'mcu' shutdown: Timer too close"


def start(number, config=CONFIG):
    """The lines of one start, up to its configuration."""
    return (
        "Starting Klippy...\nArgs: ['/home/pi/klipper/klippy/klippy.py', '/home/pi/printer_data/config/printer.cfg']\n"
        f"Git version: 'v0.13.0-2{number}-g84104bbb'\nBranch: master\nCPU: 4 core ARMv7\nPython: '3.11.2'\n"
        f"Start printer at Mon Aug  {number} 10:00:00 2026 (178575120{number}.0 {number * 1000}.0)\n"
        f"===== Config file =====\n{config}\n=======================\n"
        f"mcu 'mcu': Starting serial connect\nLoaded MCU 'mcu' 121 commands (v0.13.0 / gcc: 10.3)\nwebhooks client {TOKEN}\n"
    )


def ran(number, lines=""):
    """The lines of a start that ran for a minute, and what came then."""
    return f"{start(number)}{STATS.format(number * 1000 + 60)}\n{lines}"


def log():
    """A log of three starts, whose last one ends in a shutdown."""
    text = ""
    for number in (1, 2, 3):
        seconds = range(number * 1000, number * 1000 + 66)
        text += start(number) + "".join(f"{STATS.format(second)}\n" for second in seconds)
    sent = "Sent 1 312.1 312.1 20: seq: 1a, queue_step oid=5 interval=100 count=3 add=0\n" * 50
    return (
        f"{text}MCU 'mcu' shutdown: Timer too close\nclocksync state: mcu_freq=180000000 last_clock=1\n{sent}"
        "Transition to shutdown state: MCU shutdown\n"
        "MCU 'mcu' shutdown: Timer too close\nThis often indicates the host computer is overloaded. Check\n"
        "for other processes consuming excessive CPU time, high swap\n"
    )


RESULTS = {
    "info": {
        "state": "ready", "state_message": "Printer is ready", "software_version": "v0.13.0-21-g84104bbb",
    },
    "objects/query": {
        "print_stats": {
            "filename": "benchy.gcode", "state": "printing", "message": "", "print_duration": 1234.5, "filament_used": 1234.5,
            "info": {"total_layer": 100, "current_layer": 42},
        },
        "virtual_sdcard": {"progress": 0.42},
        "toolhead": {"homed_axes": "xyz", "position": [10.0, 20.123, 0.3, 155.0]},
        "heaters": {"available_heaters": ["heater_bed", "extruder"], "available_sensors": ["temperature_sensor chamber"]},
        "configfile": {"warnings": [{"type": "deprecated_option", "message": "Option 'x' is deprecated."}], "save_config_pending": False},
        "extruder": {"temperature": 214.63, "target": 215.0},
        "heater_bed": {"temperature": 59.8, "target": 60.0},
        "temperature_sensor chamber": {"temperature": 31.2},
    },
}  # fmt: skip


def results(**status):
    """What Klipper answers, with other parts of its state."""
    return RESULTS | {"objects/query": RESULTS["objects/query"] | status}


def halted(state, message):
    """What Klipper answers that does not run."""
    info = RESULTS["info"] | {"state": state, "state_message": message}
    return {"info": info, "objects/query": {}}


SHUTDOWN = halted("shutdown", "MCU 'mcu' shutdown: Timer too close\nPrinter is shutdown\n")


@contextmanager
def speaking(path, speak):
    """A server on a unix socket: `speak(connection)` is called for each client."""

    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            speak(self.request)

    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    with started(socketserver.ThreadingUnixStreamServer(str(path), Handler)):
        yield


def status(loaded, objects):
    """The fields that a request wants; as Klipper does, null for those of what is not loaded."""
    return {
        name: {field: loaded.get(name, {}).get(field) for field in fields}
        for name, fields in objects.items()
    }


# What a real Klipper said in each state (tests/lab/klipper), as `results` of the stand-in.
RECORDED = json.loads(Path(__file__).with_name("recorded.json").read_text("utf-8"))


def recorded(state):
    return {"info": RECORDED[state]["info"], "objects/query": RECORDED[state]["status"]}


def klipper(results=RESULTS):
    """What a server says that speaks as Klipper: a notification first, then each answer. Its `methods` are those
    that it was asked for."""

    def speak(connection):
        def send(**message):
            connection.sendall(json.dumps(message).encode() + b"\x03")

        send(params={"eventtime": 1}, key=345)
        request = json.loads(connection.recv(65536).removesuffix(b"\x03"))
        method = request["method"]
        methods.append(method)
        result = results[method]
        if method == "objects/query":
            result = {"status": status(result, request["params"]["objects"])}
        send(id=request["id"], result=result)

    speak.methods = methods = []
    return speak


def running(printer, results=RESULTS):
    """A Klipper of this printer that answers so."""
    return speaking(printer / "comms/klippy.sock", klipper(results))


def state_of(printer, results=RESULTS):
    """What printer_state makes of such a Klipper."""
    with running(printer, results):
        return call("printer_state")
