"""`refuse`: which streams are refused, and that nothing of them reaches the upstream."""

import pytest

from tests.faults.sessions import LONG, client_of, whole

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


def test_what_makes_no_sense_is_refused(refused, refused_below):
    refused("refuse: 2", 5, "stands under `connections:`")
    refused_below("refuse: -1", "0")
    refused_below("refuse: {streams: [0]}", "1")
