"""Presets of managed hops, seen from elsewhere: what their servers hear, what becomes of connections, what is gathered, what
cannot be said.
"""

import pytest
import trio

from chaosproxy.presets.preset import PRESETS
from chaosproxy.scenario.load import examine, load
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, Origin, Pause, RawClient
from chaosproxy.testing.proxied import linked
from tests.presets.managed import ENDLESS, EVENT, LAST, MUTE, beats
from tests.virtual.shipped import SSE, chunk, complete, unchunked


async def left(preset: str, parameters: dict[str, object]) -> float | None:
    """When the server hears that its client has left, which it does after 2.5 of 10 seconds; None if it does not."""
    served = Origin(beats(1, 10))
    scenario = {"version": 1, "hops": [{"preset": preset, **parameters}]}
    async with linked(scenario, served.serve) as proxied:
        began = trio.current_time()
        async with RawClient(proxied.connect()) as client:
            await client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            with trio.move_on_after(2.5):
                while await client.read():
                    pass
            await client.leave(Ending.FIN)
        (seen,) = served.requests
        await seen.gone.wait()
        return None if seen.left_at is None else round(seen.left_at - began, 3)


RUNS_ON = {
    "aws-apigw-rest": {"integration_type": "AWS_PROXY"},
    "aws-apigw-stream": {"integration_type": "AWS_PROXY"},
    "aws-lambda-url": {},
    "azure-appservice": {},
    "gcp-cloudrun": {},
    "vercel": {},
}
TOLD = {
    "aws-alb": {},
    "aws-apigw-rest": {},
    "aws-apigw-stream": {},
    "aws-cloudfront": {},
    "azure-lb": {},
    "cloudflare": {},
    "fly": {},
    "heroku": {},
    "vercel": {"supports_cancellation": True},
}


@pytest.mark.parametrize("preset", RUNS_ON)
async def test_a_server_that_does_not_hear_of_its_client(preset, autojump_clock):
    assert await left(preset, RUNS_ON[preset]) is None


@pytest.mark.parametrize("preset", TOLD)
async def test_a_server_that_hears_of_its_client_at_once(preset, autojump_clock):
    assert await left(preset, TOLD[preset]) == 2.5


async def test_a_dyno_does_not_hear_that_its_request_took_too_long(autojump_clock):
    served = Origin([Pause(100), SSE, *beats(1, 5)[1:]])
    async with linked("heroku", served.serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        await client.read_until(b"\r\n\r\n", within=ENDLESS)
        assert client.head.startswith(b"HTTP/1.1 503 ")
        (seen,) = served.requests
        await seen.gone.wait()
    assert seen.left is None


@pytest.mark.parametrize(("preset", "done"), [("heroku", True), ("cloudflare", False)])
async def test_a_router_that_takes_what_its_client_does_not_read(preset, done, autojump_clock):
    served = Origin([SSE, *[chunk(b"x" * 10_000)] * 80, LAST])
    async with linked(preset, served.serve) as proxied, RawClient(proxied.connect()) as client:
        await client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        await trio.sleep(1000)
        assert served.requests[0].gone.is_set() is done
        while not complete(client.received) and await client.read():
            pass
    assert complete(client.received)
    assert unchunked(client.body) == b"x" * 800_000


async def test_cloudfront_sends_a_get_again_and_a_post_once(autojump_clock):
    for method, times in ((b"GET", [0, 30, 60]), (b"POST", [0])):
        came: list[float] = []

        async def serve(transport, came=came) -> None:
            served = Origin(MUTE)
            came.append(trio.current_time())
            await served.serve(transport)

        async with linked("aws-cloudfront", serve) as proxied, RawClient(proxied.connect()) as client:
            began = trio.current_time()
            await client.send(b"%s / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n" % method)
            await client.read_until(b"\r\n\r\n", within=ENDLESS)
        assert [time - began for time in came] == times
        assert client.head.startswith(b"HTTP/1.1 504 ")


async def test_a_forgotten_connection_is_reset_where_it_is_told_and_not_where_it_is_not(autojump_clock):
    seen = {}
    for preset in ("aws-nlb", "azure-lb", "azure-lb reset"):
        name, _, reset = preset.partition(" ")
        served = Origin([SSE, EVENT, Ending.OPEN])
        scenario = {"version": 1, "hops": [{"preset": name, **({"enable_tcp_reset": True} if reset else {})}]}
        async with linked(scenario, served.serve) as proxied, RawClient(proxied.connect()) as client:
            began = trio.current_time()
            await client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            with trio.move_on_after(ENDLESS):
                while await client.read():
                    pass
                await served.requests[0].gone.wait()
            (peer,) = served.peers
            seen[preset] = (peer.ending, None if peer.ended_at is None else round(peer.ended_at - began, 3))
    assert seen == {"aws-nlb": (Ending.RST, 350), "azure-lb": (None, None), "azure-lb reset": (Ending.RST, 240)}


async def test_fly_codes_what_its_client_takes_coded_and_gathers_it(autojump_clock):
    plain = SSE.replace(b"\r\n\r\n", b"\r\nContent-Encoding: none\r\n\r\n")
    for head, first in ((SSE, 10), (plain, 0)):
        served = Origin([head, *beats(2, 10)[1:]])
        async with linked("fly", served.serve) as proxied, RawClient(proxied.connect()) as client:
            began = trio.current_time()
            await client.send(b"GET / HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n")
            while not complete(client.received):
                await client.read()
        bodies = [time - began for time, data in client.pieces if data.partition(b"\r\n\r\n")[2] or b"HTTP" not in data]
        assert bodies[0] == pytest.approx(first)
        assert (b"gzip" in client.head) is (head is SSE)


async def test_apim_gathers_eight_kilobytes(autojump_clock):
    served = Origin([SSE, chunk(b"x" * 5000), Pause(5), chunk(b"x" * 5000), Pause(5), LAST])
    async with linked("azure-apim", served.serve) as proxied, RawClient(proxied.connect()) as client:
        began = trio.current_time()
        await client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        while not complete(client.received):
            await client.read()
    assert [round(time - began, 3) for time, data in client.pieces if b"xx" in data] == [5, 10]
    assert client.received.count(b"2000\r\n") == 1


@pytest.mark.parametrize(
    ("preset", "kept"),
    [("aws-alb", 60), ("cloudflare", 400), ("gcp-alb", 610), ("railway", 60), ("kubernetes-ingress", 75)],
)
async def test_a_kept_connection_is_closed_without_a_word(preset, kept, autojump_clock):
    async with linked(preset, Origin(beats(1, 3)).serve) as proxied, RawClient(proxied.connect()) as client:
        began = trio.current_time()
        await client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        while await client.read():
            pass
    assert complete(client.received)
    assert b"connection: close" not in client.head.lower()
    assert client.ended_at - began == pytest.approx(3 + kept)


async def test_an_alb_asks_the_clients_of_an_old_connection_to_leave(autojump_clock):
    async with linked("aws-alb", Origin(beats(50, 3650)).serve) as proxied, h2_client(proxied.connect()) as client:
        await client.request(1)
        await client.until(lambda: client.goaways, within=ENDLESS)
        assert trio.current_time() == pytest.approx(3600)
        await client.until(lambda: client.streams[1].ended, within=ENDLESS)


def faults(text: str) -> list[str]:
    return [one.name for one in load(f"version: 1\nhops: [{text}]").rules[0].hops[-1].faults]


def test_what_only_the_first_hop_can_do_is_left_out_behind_others():
    assert faults("{preset: aws-cloudfront}")[0] == "retry_upstream"
    assert faults("{preset: cloudflare}, {preset: aws-cloudfront}") == ["timeout", "timeout", "headers"]


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_each_may_stand_behind_another_and_in_front_of_one(name):
    scenario, found = examine(f"version: 1\nhops:\n- preset: nginx-1.31\n- preset: {name}\n- preset: aws-alb\n")
    assert [one for one in found if not one.warning] == []
    assert [one.name for one in scenario.rules[0].hops] == ["nginx-1.31", name, "aws-alb"]


def test_what_the_vendors_do_not_say_has_no_default_and_does_nothing():
    assert faults("{preset: akamai}") == ["timeout"]
    assert faults("{preset: akamai, response_buffer: 16KiB}") == ["timeout", "buffer"]
    assert faults("{preset: render}") == ["timeout"]
    assert faults("{preset: render, buffering: true}") == ["timeout", "buffer"]
    assert faults("{preset: fly, compress: false}") == []


@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        ("{preset: aws-alb, idle_timeout: 60}", 34, "expected a duration"),
        ("{preset: aws-alb, idle_timeot: 60s}", 20, "unknown key 'idle_timeot'; did you mean 'idle_timeout'?"),
        ("{preset: aws-apigw-stream, endpoint_type: edge}", 44, "expected one of REGIONAL, PRIVATE, EDGE"),
        (
            "{preset: aws-cloudfront, response_completion_timeout: 20s}",
            56,
            "must not be shorter than `origin_response_timeout`",
        ),
        (
            "{preset: azure-appgw, response_buffer: 4k, enable_response_buffering: false}",
            41,
            "nothing is gathered where `enable_response_buffering` is false",
        ),
        ("{preset: aws-elb}", 11, "unknown preset 'aws-elb'"),
    ],
)
def test_a_mistake_has_its_place(text, column, said):
    scenario, (problem,) = examine(f"version: 1\nhops:\n- {text}\n")
    assert scenario is None
    assert (problem.line, problem.column) == (3, column + 1), problem
    assert said in problem.message
