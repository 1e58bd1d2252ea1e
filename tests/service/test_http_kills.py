"""The service over HTTP is killed in the middle of calls and started again behind its socket, as systemd does it."""

import http.client
import os
import socket
import subprocess
import sys
import threading
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

from tests.onepercent.person import act
from tests.support.client import PROJECT, TIMEOUT_S
from tests.support.http_server import HttpServer
from tools.service import tokens

KILLS, CLIENTS, GOALS = 3, 8, 12
CUT = (ConnectionError, http.client.HTTPException, AssertionError, IndexError)
"""What a client may see of a call that was cut: no answer, or half of one."""


class Kept(HttpServer):
    """The server behind a socket that somebody else keeps, and starts it again for."""

    def __enter__(self):
        tokens.keys_at(self.state / "http-keys")
        self.listener = socket.create_server(("127.0.0.1", self.port), backlog=256)
        self.start()
        return self

    def __exit__(self, *_):
        super().__exit__()
        self.listener.close()

    def start(self):
        handle = self.listener.fileno()
        script = f'exec 3<&{handle} && LISTEN_PID=$$ LISTEN_FDS=1 exec "$@"'
        command = ["bash", "-c", script, "systemd", sys.executable, str(PROJECT / "server.py"), "--http"]
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                command, env={**os.environ, **self.environment}, pass_fds=[handle], stderr=log, stdin=subprocess.DEVNULL
            )

    def kill(self):
        self.process.kill()
        self.process.wait(TIMEOUT_S)
        self.start()


class Client:
    """Creates goals one after another; a call that was cut is made once more, as clients do."""

    def __init__(self, server, name, served):
        self.server, self.name, self.served = server, name, served
        self.token = server.token(user=name, scope="onepercent")
        self.cut = 0

    def call(self, tool, **arguments):
        while True:
            try:
                answer = self.server.call(tool, token=self.token, **arguments)["structuredContent"]
            except CUT:
                self.cut += 1
                continue
            self.served.release()
            return answer

    def create_goals(self):
        titles = [f"{self.name} {number}" for number in range(GOALS)]
        for title in titles:
            preview = self.call("preview_actions", actions=[act("goal.create", title=title)])
            arguments = {"preview_id": preview["preview_id"], "idempotency_key": str(uuid.uuid4())}
            answer = self.call("apply_actions", **arguments, user_confirmation="yes")
            assert answer["success"], answer
        goals = self.call("get_user_snapshot", include=["goals"])["data"].get("goals", {}).get("items", ())
        assert Counter(goal["title"] for goal in goals) == Counter(titles)


def test_killed_in_the_middle_of_calls_nobody_but_these_notices():
    with Kept(ONEPERCENT_RATE_LIMIT="off", ONEPERCENT_TZ="UTC") as server:
        served = threading.Semaphore(0)
        clients = [Client(server, f"user{number}", served) for number in range(CLIENTS)]
        with ThreadPoolExecutor(CLIENTS) as threads:
            sessions = [threads.submit(client.create_goals) for client in clients]
            for _ in range(KILLS):
                for _ in range(CLIENTS * GOALS // 3):
                    assert served.acquire(timeout=TIMEOUT_S)
                server.kill()
            for session in sessions:
                session.result()
        print([client.cut for client in clients])
        assert all(client.cut <= KILLS for client in clients)
        assert sum(client.cut for client in clients) > 0
