"""What callers over HTTP may take: requests a minute, and work at a time."""

import asyncio
import select
import socket
from contextlib import ExitStack
from unittest.mock import Mock

import pytest
import uvicorn

from tools.http import limits
from tools.http.limits import Rate, Turns


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands still until it is set."""
    hands = Mock(return_value=0)
    monkeypatch.setattr(limits.time, "monotonic", hands)
    return hands


def test_who_was_idle_for_an_hour_may_send_a_burst_and_no_more(clock):
    rate = Rate(per_minute=4)
    assert [rate.wait_s("anna") for _ in range(3)] == [0, 0, 15]
    clock.return_value = 3600
    assert [rate.wait_s("anna") for _ in range(3)] == [0, 0, 15]


def test_who_waits_keeps_no_turn_from_others_and_takes_none_after_that():
    async def waiting():
        turns = Turns(2, 1)
        async with turns.turn("anna"):
            second = asyncio.ensure_future(turns.turn("anna").__aenter__())
            await asyncio.sleep(0)
            await asyncio.wait_for(turns.turn("ben").__aenter__(), 1)
            second.cancel()
        await asyncio.wait_for(turns.turn("anna").__aenter__(), 1)

    asyncio.run(waiting())


BEGINNINGS = [b"", b"POST /token HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"]


async def read_body(scope, receive, send):
    """Waits for a body, as the guards do."""
    while (await receive()).get("more_body"):
        pass


def is_closed(client):
    return bool(select.select([client], [], [], 0)[0])


@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_of_connections_without_a_whole_request_the_oldest_make_room_and_none_stays(
    monkeypatch, beginning
):
    monkeypatch.setattr(limits, "LOOK_S", 0.01)
    monkeypatch.setattr(limits, "MOST_SILENT", 2)
    monkeypatch.setattr(limits, "SILENT_S", 3600)

    async def run():
        server = uvicorn.Server(uvicorn.Config(read_body, **limits.UVICORN))
        with socket.create_server(("127.0.0.1", 0)) as listener, ExitStack() as opened:
            serving = asyncio.ensure_future(server.serve([listener]))
            watching = asyncio.ensure_future(limits.watch_connections(server))
            connections = server.server_state.connections
            clients = []
            for closed in (0, 0, 1, 2):
                client = opened.enter_context(socket.create_connection(listener.getsockname()))
                clients.append(client)
                client.sendall(beginning)
                await asyncio.sleep(3 * limits.LOOK_S)
                while sum(map(is_closed, clients)) < closed:
                    await asyncio.sleep(limits.LOOK_S)
            assert [is_closed(client) for client in clients] == [True, True, False, False]
            monkeypatch.setattr(limits, "SILENT_S", 0)
            await limits.watch_connections(server, 0.05)
            assert not connections
            watching.cancel()
            await serving

    asyncio.run(asyncio.wait_for(run(), 20))


def test_a_connection_that_is_first_seen_is_left_open_however_many_are_silent(monkeypatch):
    monkeypatch.setattr(limits, "MOST_SILENT", 0)
    connection = Mock(cycle=None)
    server = Mock(should_exit=False)
    server.server_state.connections = [connection]

    async def look():
        watching = asyncio.ensure_future(limits.watch_connections(server))
        await asyncio.sleep(0)
        watching.cancel()

    asyncio.run(look())
    connection.transport.close.assert_not_called()
