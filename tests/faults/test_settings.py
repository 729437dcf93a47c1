"""`settings`: what the client is allowed, when it hears of it, and what happens to one that has not heard."""

import pytest
import trio

from chaosproxy.testing.h2_origin import serve_h2
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending
from chaosproxy.testing.proxied import linked
from tests.faults.sessions import LONG, client_of, on_session, since, whole

TABLE, STREAMS, WINDOW, FRAME = 1, 3, 4, 5
REFUSED = 0x7
UPLOAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 0\r\n\r\n"


async def test_the_first_settings_are_those(autojump_clock):
    fault = {
        "settings": {
            "max_concurrent_streams": 2,
            "initial_window_size": "1KiB",
            "max_frame_size": "32KiB",
            "header_table_size": 0,
        }
    }
    async with client_of(fault) as (_, client, _):
        assert await whole(client, 1)
        found = {key: client.settings[0][key] for key in (TABLE, STREAMS, WINDOW, FRAME)}
        assert found == {TABLE: 0, STREAMS: 2, WINDOW: 1024, FRAME: 32768}


async def test_a_burst_before_the_settings_is_refused_beyond_the_limit(autojump_clock):
    """golang/go #20985"""
    began = trio.current_time()
    async with client_of({"settings": {"max_concurrent_streams": 2, "delay": "300ms"}}) as (proxied, client, _):
        for number in (1, 3, 5, 7):
            await client.request(number, "/sse")
        await client.until(lambda: client.settings, within=LONG)
        assert since(began) == 0.3
        await client.until(lambda: client.streams[1].over and client.streams[3].over, within=LONG)
        assert [client.streams[number].reset for number in (1, 3, 5, 7)] == [None, None, REFUSED, REFUSED]
        assert await whole(client, 9), "what was refused leaves no trace"
        assert len(await proxied.finished(3)) == 3


async def test_an_upload_stops_at_the_window_that_it_was_given(autojump_clock):
    async with client_of({"settings": {"initial_window_size": 10}}, script=[UPLOAD]) as (_, client, _):
        await client.until(lambda: client.settings, within=LONG)
        await client.request(1, method="POST", end=False)
        await client.data(1, b"0123456789")
        await client.data(1, b"one more", end=True)
        assert client.credited[1], "it has waited for that"
        await client.until(lambda: client.streams[1].over, within=LONG)


async def test_lowered_in_mid_stream(autojump_clock):
    fault = {"settings": {"max_concurrent_streams": 1, "initial_window_size": 0, "at": {"time": "1500ms"}}}
    async with client_of(fault) as (_, client, _):
        await client.request(1, "/sse")
        await client.request(3, "/sse")
        await client.until(lambda: len(client.settings) == 2, within=LONG)
        assert client.settings[1] == {STREAMS: 1, WINDOW: 0}
        await client.request(5, "/sse")
        await client.until(lambda: client.streams[1].over and client.streams[3].over, within=LONG)
        assert (client.streams[1].ended, client.streams[3].ended) == (True, True)
        assert client.streams[5].reset == REFUSED
        assert await whole(client, 7)


async def test_a_larger_frame_is_taken_where_it_was_allowed(autojump_clock):
    async with client_of({"settings": {"max_frame_size": "32KiB"}}, script=[UPLOAD]) as (_, client, served):
        await client.until(lambda: client.settings, within=LONG)
        await client.request(1, method="POST", end=False)
        await client.data(1, b"x" * 20_000, end=True)
        await client.until(lambda: client.streams[1].over, within=LONG)
        assert (client.streams[1].status, client.goaways) == (200, [])
        assert b"x" * 20_000 in (await served.request(1)).body


@pytest.mark.parametrize(("after", "acknowledged"), [("2s", 1), ("forever", 0)])
async def test_the_clients_settings_wait_for_their_acknowledgement(autojump_clock, after, acknowledged):
    async with client_of({"settings": {"acknowledge": after}}) as (proxied, client, _):
        assert await whole(client, 1)
        assert client.acknowledged == acknowledged
        record = await proxied.last()
    words = "SETTINGS are acknowledged after 2s" if acknowledged else "SETTINGS are acknowledged never"
    assert [fired.detail for fired in record.faults] == [words]


async def test_a_connection_that_is_left_while_its_settings_wait(autojump_clock):
    async with client_of({"settings": {"delay": "5s", "acknowledge": "1h"}}) as (proxied, client, _):
        await client.request(1, "/sse")
        await trio.sleep(1)
        await client.leave(Ending.FIN)
        record = await proxied.last()
        assert record.end.by == "client"
        await trio.sleep(10)
        assert not any(time == who.armed for time, _, who in proxied.proxy.alarm._heap)


async def test_an_upstream_has_to_wait_for_a_small_window(autojump_clock):
    allowed = []

    async def answer(peer, number):
        await peer.until(lambda: peer.settings)
        allowed.append(peer.settings[0][WINDOW])
        await peer.headers(number, [(b":status", b"200"), (b"content-type", b"text/event-stream")])
        for _ in range(3):
            await peer.data(number, b"x" * 100)
            await peer.until(lambda: peer.credited[number] == 100)
            peer.credited[number] = 0
        await peer.data(number, b"", end=True)

    async def upstream(transport):
        await serve_h2(transport, answer)

    scenario = on_session({"settings": {"initial_window_size": 100}}, side="upstream")
    async with (
        linked(scenario, upstream, upstream="h2c://origin") as proxied,
        h2_client(proxied.connect()) as client,
    ):
        await client.request(1)
        await client.until(lambda: client.streams[1].ended, within=LONG)
        assert (allowed, len(client.streams[1].body)) == ([100], 300)


def test_what_makes_no_sense_is_refused(refused, refused_below):
    refused("settings: 2", 5, "stands under `connections:`")
    refused_below("settings: {max_frame_size: 1KiB}", "at least 16384")
    refused_below("settings: {initial_window_size: 4GiB}", "at most 2147483647")
    refused_below("settings: {header_table_size: 2m}", "at most 1048576")
    refused_below("settings: {at: {time: 1s}}", "nothing is said there")
    refused_below("settings: {delay: 1s, if: {status: 200}}", "narrow it by `match`")
