"""A peer's leaving is noticed though nobody reads."""

import select
import socket

import pytest
import trio
import trio.testing

from chaosproxy.wire.close import reset_on_close
from chaosproxy.wire.hangup import HangupWatch

pytestmark = pytest.mark.skipif(not hasattr(select, "EPOLLRDHUP"), reason="only Linux tells without reading")


def connected() -> tuple[socket.socket, socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = socket.create_connection(server.getsockname())
        accepted, _ = server.accept()
    return client, accepted


@pytest.mark.parametrize("reset", [False, True])
async def test_leaving_behind_unread_bytes_is_told_once(reset, nursery):
    watch = HangupWatch()
    nursery.start_soon(watch.run)
    client, accepted = connected()
    told: list[bool] = []
    noticed = trio.Event()

    def left(was_reset: bool) -> None:
        told.append(was_reset)
        noticed.set()

    with accepted:
        watch.add(accepted.fileno(), left)
        client.send(b"unread")
        if reset:
            reset_on_close(client)
        client.close()
        with trio.fail_after(20):
            await noticed.wait()
        await trio.testing.wait_all_tasks_blocked()
    assert told == [reset]
    nursery.cancel_scope.cancel()


async def test_what_is_removed_is_not_told_and_its_number_can_be_watched_again(nursery):
    watch = HangupWatch()
    nursery.start_soon(watch.run)
    client, accepted = connected()
    other, second = connected()
    noticed = trio.Event()
    with accepted, second:
        watch.add(accepted.fileno(), lambda _: pytest.fail("it was removed"))
        watch.remove(accepted.fileno())
        watch.add(second.fileno(), lambda _: noticed.set())
        client.close()
        other.close()
        with trio.fail_after(20):
            await noticed.wait()
        noticed = trio.Event()
        watch.add(accepted.fileno(), lambda _: noticed.set())
        with trio.fail_after(20):
            await noticed.wait()
    nursery.cancel_scope.cancel()


async def test_adding_and_removing_after_the_watch_has_ended_is_nothing():
    watch = HangupWatch()
    client, accepted = connected()
    with client, accepted:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(watch.run)
            watch.add(accepted.fileno(), lambda _: None)
            await trio.testing.wait_all_tasks_blocked()
            nursery.cancel_scope.cancel()
        watch.remove(accepted.fileno())
        watch.add(accepted.fileno(), lambda _: None)
        watch.remove(accepted.fileno())


async def test_where_only_a_reset_is_news_a_fin_is_none(nursery):
    watch = HangupWatch()
    nursery.start_soon(watch.run)
    client, accepted = connected()
    told: list[bool] = []
    noticed = trio.Event()

    def left(was_reset: bool) -> None:
        told.append(was_reset)
        noticed.set()

    with accepted:
        watch.add(accepted.fileno(), left, resets_only=True)
        client.shutdown(socket.SHUT_WR)
        assert accepted.recv(1) == b""
        await trio.testing.wait_all_tasks_blocked()
        assert told == []
        reset_on_close(client)
        client.close()
        with trio.fail_after(20):
            await noticed.wait()
    assert told == [True]
    nursery.cancel_scope.cancel()
