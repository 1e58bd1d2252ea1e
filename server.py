#!/usr/bin/env python3
"""pi-mcp: one MCP server for a person's Raspberry Pi, over stdio and over HTTP.

A client starts it (`ssh pi /path/to/server.py`), with any python3 and no package: `tools/protocol.py` speaks
MCP. Over HTTP it needs uvicorn, which `./setup.sh --http` installs into `.venv`.
"""

import os
import sys

if __name__ == "__main__":
    sys.path[:0] = [os.path.dirname(os.path.realpath(__file__))]  # `python3 -I` leaves it out
    from tools.resident import handover

    handover.begin_process()  # before anything heavy: with the resident service there this is all that happens

import select
import signal
import threading
from collections.abc import Callable
from typing import NoReturn

from tools import listing, protocol, stdio
from tools.core import leaving, toolsets
from tools.core.leaving import ENDING_SIGNALS, leave
from tools.core.settings import PROJECT, VENV_PACKAGES, Settings
from tools.starting import refuse, settings_or_refuse, start_mode

NICENESS = 10  # of a session beside a printer, as in systemd's units: Klipper comes first


def main(arguments: list[str]) -> int:
    """Start in the mode that the command line names. Exit status: 0 fine, 1 a check found something broken,
    2 wrong usage."""
    # One Ctrl-C is enough, also in the middle of an import.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    mode = start_mode(arguments)
    settings = settings_or_refuse()
    if mode == "--connect":
        from tools import connect

        # The reader may close the pipe early: `… | head -1`.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        print(connect.clients_text(*connect.ssh_target()[:2]))
        return 0
    if mode == "--check":
        from tools import check

        return check.main([sys.executable, __file__, "--standalone"])
    if mode == "--daemon":
        return serve_sessions()
    if mode == "--http":
        return serve_http(settings)
    return serve_stdio()


def serve_stdio() -> NoReturn:
    """Serve the client on stdin and stdout, which are this process's own, or were handed over to a session of
    the resident service."""
    if os.path.isdir(os.path.expanduser("~/printer_data")) and os.nice(0) < NICENESS:
        os.nice(NICENESS)
    threading.Thread(
        target=watch, args=(leaving.signal_pipe(*ENDING_SIGNALS),), daemon=True
    ).start()
    session = protocol.Session(stdio.claim(), start_jobs)
    toolsets.LISTENERS.extend([listing.forget, session.announce])
    session.serve()
    leave()


# Seconds of processor time after which the kernel ends this process if `watch` did not run.
STUCK_S = 40.0


def watch(*descriptors: int) -> NoReturn:
    """End this process on a signal or when its caller is gone, even in the middle of a slow tool.

    `descriptors`: the pipe of signals. The caller is the one that handed this session over.
    """
    caller = leaving.handover_connection
    awaited = [*descriptors, caller.fileno()] if caller else descriptors
    while True:
        # A computation that never lets the interpreter go (one regular expression can) notices no signal, no
        # cancellation and no client that leaves: the kernel ends it. The timer counts processor time, since
        # a stopped process is not stuck.
        signal.setitimer(signal.ITIMER_PROF, STUCK_S)
        if select.select(awaited, [], [], STUCK_S / 4)[0]:
            leave()


def start_jobs(*jobs: Callable[[], object]) -> None:
    """Run `jobs`, then the start-up jobs of the toolsets, in a thread of their own."""

    def run() -> None:
        import logging

        from tools.core import registry

        for job in (*jobs, *registry.start_jobs()):
            try:
                job()
            except Exception:
                logging.getLogger("pi-mcp").exception(f"{job.__module__} failed")

    threading.Thread(target=run, daemon=True).start()


def serve_sessions() -> int:
    """Run the resident service, which reads what every session needs once, before it forks any."""
    from tools.core import registry
    from tools.klipper import search_docs
    from tools.resident import resident

    def serve_session() -> NoReturn:
        settings_or_refuse()
        serve_stdio()

    identity = listing.identity()  # of the sources that are imported now
    registry.load()
    search_docs.preload()
    listing.build()
    return resident.main(serve_session, identity)


def serve_http(settings: Settings) -> NoReturn:
    """Serve everybody who has a token, until a signal, or until nobody has come for long enough."""
    import asyncio

    from tools.core import registry
    from tools.endpoint import Endpoint
    from tools.http import guards, limits
    from tools.resident import listening

    # uvicorn, of the project's own packages or of the system's.
    sys.path.insert(1, str(VENV_PACKAGES))
    try:
        import uvicorn
    except ImportError as error:
        refuse(f"what HTTP needs is not installed ({error}). Run {PROJECT / 'setup.sh'} --http")
    # Until uvicorn has its own handlers, and after it: it sends the signal again.
    for ending_signal in ENDING_SIGNALS:
        signal.signal(ending_signal, lambda *_: leave())
    # The application behind its guards, and the socket: systemd's or one of our own.
    toolsets.LISTENERS.append(listing.forget)
    try:
        guarded = guards.Guards(settings, Endpoint().answer)
        listener, is_kept = listening.listen_for_http(settings.http_listen)
    except OSError as error:
        refuse(error)
    server = uvicorn.Server(uvicorn.Config(guarded, **limits.UVICORN))
    print(f"pi-mcp: serving {settings.http_url} at {settings.http_listen}", file=sys.stderr)

    async def serve() -> None:
        idle_exit_s = settings.idle_exit_s if is_kept else 0
        await asyncio.gather(
            server.serve(sockets=[listener]), limits.watch_connections(server, idle_exit_s)
        )

    threading.Thread(target=watch, daemon=True).start()
    start_jobs(registry.load)
    asyncio.run(serve())
    leave()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
