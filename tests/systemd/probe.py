"""What this process may do, as JSON: {attempt: "yes" or the name of the error}. Arguments: state and docs folders."""

import ctypes
import errno
import json
import mmap
import os
import socket
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
CLONE_NEWUSER = 0x10000000
PER_LINUX32 = 8
libc = ctypes.CDLL(None, use_errno=True)


def write(folder):
    path = os.path.join(folder, ".probe")
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o666))
    os.unlink(path)


def call(function, *arguments):
    if function(*arguments) == -1:
        raise OSError(ctypes.get_errno(), "")


def become_root():
    subprocess.run(["sudo", "-n", "true"], check=True, capture_output=True)


def set_user_id_bit(folder):
    path = os.path.join(folder, ".probe")
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o700))
    try:
        os.chmod(path, 0o4700)
    finally:
        os.unlink(path)


def connect_by_loopback(family, address):
    with socket.socket(family) as listener, socket.socket(family) as client:
        listener.bind((address, 0))
        listener.listen()
        client.connect(listener.getsockname())


def attempts(state, docs):
    """Whatever a directive forbids, or must not forbid."""
    home = os.path.expanduser("~")
    yield "write state", write, state
    yield "write docs", write, docs
    yield "write /tmp", write, "/tmp"
    yield "write home", write, home
    yield "write project", write, str(PROJECT / "tools")
    yield "write /etc", write, "/etc"
    yield "write /dev", write, "/dev"
    yield "read home", os.listdir, home
    yield "see others' processes", os.stat, "/proc/1/status"
    yield "see the kernel's state", os.stat, "/proc/meminfo"
    yield "become root", become_root
    yield "set-user-id bit", set_user_id_bit, state
    yield "raise or lower priority", os.nice, 1
    yield "connect by IPv4", connect_by_loopback, socket.AF_INET, "127.0.0.1"
    yield "unix socket", lambda: socket.socket(socket.AF_UNIX).close()
    yield "netlink socket", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).close()
    yield "memory to write and run", lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_WRITE | mmap.PROT_EXEC).close()
    yield "another personality", call, libc.personality, PER_LINUX32
    yield "a namespace of its own", call, libc.unshare, CLONE_NEWUSER


def outcome(attempt, *arguments):
    try:
        attempt(*arguments)
    except OSError as error:
        return errno.errorcode[error.errno]
    except subprocess.CalledProcessError:
        return "failed"
    return "yes"


def main(state, docs):
    """Print the outcomes, and which namespaces, capabilities and mode of new files this process has."""
    found = {name: outcome(*words) for name, *words in attempts(state, docs)}
    for name in ("mnt", "user", "ipc", "uts"):
        found[f"namespace {name}"] = os.readlink(f"/proc/self/ns/{name}")
    status = dict(line.split(":\t", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":\t" in line)
    found |= {name: status[name].strip() for name in ("NoNewPrivs", "Seccomp", "CapBnd", "Umask")}
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
