"""Failures that invite a second attempt: what is on the wire, and what comes of it."""

import trio

from chaosproxy.testing.peers import Ending, Origin, RawClient
from chaosproxy.testing.proxied import linked
from tests.incidents.asking import Answer, ask, asking
from tests.virtual.shipped import stream


async def test_a_retry_shows_the_beginning_twice(autojump_clock):
    def blindly(answer: Answer) -> float | None:
        return None if answer.whole else 1.0

    def only_if_nothing_was_shown(answer: Answer) -> float | None:
        return None if answer.whole or answer.text else 1.0

    served = Origin(stream(8, 1))
    async with linked("reset-once", served.serve) as proxied:
        blind = await asking(proxied, blindly)
    async with linked("reset-once", Origin(stream(8, 1)).serve) as proxied:
        good = await asking(proxied, only_if_nothing_was_shown)
    assert ([answer.text for answer in blind.answers], blind.shown) == (["123", "12345678"], "12312345678")
    assert len(served.requests) == 2
    assert ([answer.text for answer in good.answers], good.answers[0].whole) == (["123"], False)


async def test_no_fourth_connection_behind_a_204(autojump_clock):
    def stops_at_204(answer: Answer) -> float | None:
        return None if answer.status == 204 else 3.0

    def never_stops(_: Answer) -> float | None:
        return 3.0

    for client, count in ((stops_at_204, 3), (never_stops, 10)):
        served = Origin(stream(8, 1))
        async with linked("eventsource-statuses", served.serve) as proxied:
            asked = await asking(proxied, client)
        statuses = [answer.status for answer in asked.answers]
        assert statuses == [200, 502, 204, *[204] * (count - 3)]
        assert (asked.answers[0].text, asked.answers[0].whole) == ("123", False)
        assert len(served.requests) == 1


async def test_the_second_failure_hides_the_first(autojump_clock):
    def goes_on_elsewhere(answer: Answer) -> float | None:
        return 0.0 if answer.status == 200 and not answer.whole else None

    async with linked("continuation-fails", Origin(stream(8, 1)).serve) as proxied:
        asked = await asking(proxied, goes_on_elsewhere, idle=30)
    first, second = asked.answers
    assert (first.status, first.text, first.whole) == (200, "123", False)
    assert (second.status, second.text, asked.waits) == (400, "", [32.0])
    assert second.status == asked.answers[-1].status, "who reports the last failure reports the wrong one"


async def test_one_request_is_asked_three_times(autojump_clock):
    served = Origin(stream(1, 0))
    async with linked("gateway-asks-again", served.serve) as proxied:
        client = RawClient(proxied.connect())
        began = trio.current_time()
        await client.send(b"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\nprompt")
        await client.read_until(b"\r\n\r\n", within=10_000)
        assert (client.received.split()[1], round(trio.current_time() - began)) == (b"504", 3 * 480)
        await client.leave(Ending.FIN)
        assert [request.body for request in served.requests] == [b"prompt"] * 3
        assert len({request.head for request in served.requests}) == 1, "the same, three times; the client asked once"
        assert [request.left for request in served.requests[:2]] == [None, None], "the first ones are never closed"


async def test_a_part_that_was_cached(autojump_clock):
    served = Origin(stream(8, 1))
    async with linked("cached-part", served.serve) as proxied:
        first, second = await ask(proxied, idle=60), await ask(proxied, idle=60)
    assert [(one.status, one.text, one.whole) for one in (first, second)] == [(200, "123", False), (200, "123", True)]
    assert len(served.requests) == 1
