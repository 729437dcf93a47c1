"""`refuse`: which streams are refused, and that nothing of them reaches the upstream."""

import pytest

from chaosproxy.errors import ScenarioError
from chaosproxy.scenario.load import load
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Origin
from chaosproxy.testing.proxied import linked
from tests.faults.sessions import LONG, client_of, whole
from tests.virtual.shipped import stream

REFUSED, CALM = 0x7, 0xB


@pytest.mark.parametrize(
    ("fault", "refused"),
    [
        (0, [1, 3, 5, 7]),
        (2, [5, 7]),
        ({"streams": [2]}, [3]),
        ({"streams": [1, 3]}, [1, 5]),
        ({"times": 2}, [1, 3]),
        ({"over": 1, "times": 1}, [3]),
    ],
)
async def test_those_that_are_meant_and_no_other(autojump_clock, fault, refused):
    async with client_of({"refuse": fault}) as (proxied, client, served):
        numbers = (1, 3, 5, 7)
        for number in numbers:
            await client.request(number, "/sse")
        await client.until(lambda: all(client.streams[number].over for number in numbers), within=LONG)
        assert [number for number in numbers if client.streams[number].reset == REFUSED] == refused
        assert [number for number in numbers if client.streams[number].ended] == sorted({*numbers} - {*refused})
        assert len(served.requests) == len(numbers) - len(refused)
        if len(refused) < len(numbers):
            records = await proxied.finished(len(numbers) - len(refused))
            assert [one.detail for one in records[-1].faults] == [f"refused stream {number}" for number in refused]


async def test_again_and_again_without_end(autojump_clock):
    """A client that retries for ever is refused for ever: no flood guard takes it for an attack."""
    async with client_of({"refuse": {"code": "ENHANCE_YOUR_CALM"}}) as (_, client, _):
        for number in range(1, 801, 2):
            await client.request(number, "/sse")
        await client.until(lambda: client.streams[799].over, within=LONG)
        assert {client.streams[number].reset for number in range(1, 801, 2)} == {CALM}
        assert client.goaways == []


async def test_a_slot_that_is_free_again_is_taken(autojump_clock):
    async with client_of({"refuse": 1}) as (_, client, _):
        for number in (1, 3, 5):
            assert await whole(client, number)


async def test_the_body_of_what_was_refused_goes_nowhere(autojump_clock):
    async with client_of({"refuse": {"streams": [1]}}) as (_, client, served):
        await client.request(1, method="POST", end=False)
        await client.data(1, b"x" * 1000, end=True)
        assert await whole(client, 3)
        assert client.streams[1].reset == REFUSED
        assert len(served.requests) == 1


async def test_the_exchanges_of_a_rule(autojump_clock):
    scenario = {"version": 1, "nth": 2, "faults": [{"refuse": {}}]}
    served = Origin(stream(3, 1))
    async with linked(scenario, served.serve) as proxied, h2_client(proxied.connect()) as client:
        assert [await whole(client, number) for number in (1, 3, 5)] == [True, False, True]
        assert (client.streams[3].reset, len(served.requests)) == (REFUSED, 2)
        ends = [(one.end.how, one.end.cause) for one in await proxied.finished(3)]
    assert ends == [("clean", None), ("stream:REFUSED_STREAM", "refuse"), ("clean", None)]


def test_what_makes_no_sense_is_refused(refused, refused_below):
    refused("refuse: 2", 13, "stands under `connections:`")
    refused("refuse: {streams: 2}", 23, "stands under `connections:`")
    refused_below("refuse: -1", "0")
    with pytest.raises(ScenarioError, match="connections of clients"):
        load({"version": 1, "connections": [{"match": {"side": "upstream"}, "faults": [{"refuse": {}}]}]})
    refused_below("refuse: {streams: [0]}", "1")
