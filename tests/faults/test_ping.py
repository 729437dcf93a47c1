"""`ping`: when a PING is answered, and how many may come."""

import pytest
import trio

from chaosproxy.testing.peers import Ending
from tests.faults.sessions import LONG, client_of, since, whole

CALM = 0xB


@pytest.mark.parametrize(("answer", "pongs"), [("forever", 0), ("3s", 2), ("0s", 2)])
async def test_the_answer_waits_and_the_streams_do_not(autojump_clock, answer, pongs):
    async with client_of({"ping": answer}) as (proxied, client, _):
        await client.request(1, "/sse")
        await client.ping()
        await client.ping()
        await client.until(lambda: client.streams[1].over, within=LONG)
        assert (client.streams[1].ended, client.pongs) == (True, pongs)
        record = await proxied.last()
    words = {"forever": ["no PING is answered"], "3s": ["PING is answered after 3s"], "0s": []}
    assert [fired.detail for fired in record.faults] == words[answer]


async def test_exactly_as_late_as_asked(autojump_clock):
    async with client_of({"ping": "1500ms"}) as (_, client, _):
        began = trio.current_time()
        await client.ping()
        await client.until(lambda: client.pongs, within=LONG)
        assert since(began) == 1.5


async def test_the_third_strike_ends_it_with_too_many_pings(autojump_clock):
    fault = {"ping": {"min_interval": "300s", "strikes": 2}}
    async with client_of(fault, script=[b"HTTP/1.1 200 OK\r\n\r\n", Ending.OPEN]) as (proxied, client, _):
        await client.request(1, "/quiet")
        await client.until(lambda: client.streams[1].status, within=LONG)
        for pings in range(1, 5):
            await trio.sleep(10)
            await client.ping()
            await client.until(lambda pings=pings: client.pongs == pings, within=LONG)
        assert await client.until_ended(LONG) is Ending.FIN
        assert (client.goaways, client.debug, client.pongs) == ([(CALM, 1)], [b"too_many_pings"], 4)
        record = await proxied.last()
    assert (record.end.by, record.end.how, record.end.cause) == ("proxy", "fin", "ping")
    assert [fired.detail for fired in record.faults] == ["the PING before came 10s ago, once too often"]


async def test_bytes_between_them_forgive(autojump_clock):
    async with client_of({"ping": {"min_interval": "300s", "strikes": 0}}, events=8) as (_, client, _):
        await client.request(1, "/sse")
        for _ in range(5):
            await trio.sleep(1.3)
            await client.ping()
        await client.until(lambda: client.streams[1].over, within=LONG)
        assert (client.streams[1].ended, client.goaways) == (True, [])


async def test_who_asks_seldom_is_left_alone(autojump_clock):
    async with client_of({"ping": {"min_interval": "10s", "strikes": 0}}) as (_, client, _):
        for _ in range(5):
            await client.ping()
            await trio.sleep(10)
        assert (client.pongs, client.goaways) == (5, [])
        assert await whole(client, 1)


def test_what_makes_no_sense_is_refused(refused, refused_below):
    refused("ping: forever", 5, "stands under `connections:`")
    refused_below("ping: {strikes: -1}", "0")
    refused_below("ping: {if: {status: 200}}", "narrow it by `match`")
