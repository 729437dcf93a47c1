"""Gateways of which it is known what they do: one that passes everything on, and those that break a rule each. Most are
proxies of ours with the fault that is meant."""

import contextlib
import json
from functools import partial

import pytest
import trio

from chaosproxy.check.gateway import GatewayExamination
from chaosproxy.check.table.gateway import CASES
from chaosproxy.cli.main import status_of
from chaosproxy.embedded.opened import open_proxy
from chaosproxy.proxy.address import parse_upstream
from tests.ports import free_port

FAULTS = {
    "passes on": ("rules: []", set()),
    "holds": ("faults: [{buffer: {until_end: true}}]", {"gateway-streams"}),
    "does not tell": ("faults: [{client_abort: ignore}]", {"gateway-abort"}),
    "loses errors": ("""faults: [{drop: {at: {match: '"error"'}}}]""", {"gateway-error-event"}),
    "asks again": ("faults: [{retry_upstream: {times: 1, mid_stream: true}}]", {"gateway-again"}),
}
"""The scenario of the gateway, and what it fails."""
BY_HAND = {
    "hides": {"gateway-fin", "gateway-reset", "gateway-again"},
    "says 200": {"gateway-429"},
}


async def small(server, client, *, which):
    """A gateway over bytes, for a request each."""
    async with client, await trio.open_tcp_stream("127.0.0.1", server) as upstream:
        with contextlib.suppress(trio.BrokenResourceError):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(forward, client, upstream, nursery)
                ended = False
                with contextlib.suppress(trio.BrokenResourceError):
                    async for data in upstream:
                        answer = data.replace(b"429 Too Many Requests", b"200 OK") if which == "says 200" else data
                        await client.send_all(answer)
                        ended = ended or data.endswith(b"0\r\n\r\n")
                if which == "hides" and not ended:
                    await client.send_all(b"0\r\n\r\n")
                nursery.cancel_scope.cancel()


async def forward(client, upstream, nursery):
    with contextlib.suppress(trio.BrokenResourceError):
        async for data in client:
            await upstream.send_all(data)
    nursery.cancel_scope.cancel()


async def serve_here(handler, *, task_status):
    await trio.serve_tcp(handler, 0, host="127.0.0.1", task_status=task_status)


async def card_of(url, port):
    card = await GatewayExamination(parse_upstream(url), f"127.0.0.1:{port}", "/v1/chat/completions", CASES).run()
    return {result.case.id: result.judged for result in card.results}


@pytest.fixture(scope="module")
def cards():
    """Of all of them, side by side."""
    made = {}

    async def ours(name, scenario):
        port = free_port()
        async with open_proxy(f"version: 1\n{scenario}", upstream=f"http://127.0.0.1:{port}") as gateway:
            made[name] = await card_of(gateway.url, port)

    async def by_hand(name):
        port = free_port()
        async with trio.open_nursery() as nursery:
            (listener,) = await nursery.start(serve_here, partial(small, port, which=name))
            made[name] = await card_of(f"http://127.0.0.1:{listener.socket.getsockname()[1]}", port)
            nursery.cancel_scope.cancel()

    async def all_of_them():
        async with trio.open_nursery() as nursery:
            for name, (scenario, _) in FAULTS.items():
                nursery.start_soon(ours, name, scenario)
            for name in BY_HAND:
                nursery.start_soon(by_hand, name)

    trio.run(all_of_them)
    return made


@pytest.mark.parametrize("name", [*FAULTS, *BY_HAND])
def test_each_fails_what_it_breaks(cards, name):
    bad = FAULTS[name][1] if name in FAULTS else BY_HAND[name]
    assert {case for case, judged in cards[name].items() if judged.good is False} == bad, cards[name]


def test_what_nobody_listens_at_is_said(capsys):
    assert (
        status_of(["check", "--gateway", f"http://127.0.0.1:{free_port()}", "--listen", f"127.0.0.1:{free_port()}"])
        == 3
    )
    assert "chaosproxy: " in capsys.readouterr().err


def test_whose_certificate_is_not_trusted_is_told_how_it_would_be(capsys):
    async def run():
        async with open_proxy(upstream=f"http://127.0.0.1:{free_port()}", tls="auto") as gateway:
            arguments = ["check", "--gateway", gateway.url, "--listen", "127.0.0.1:0"]
            return await trio.to_thread.run_sync(status_of, arguments)

    assert trio.run(run) == 3
    said = capsys.readouterr().err
    assert "certificate refused" in said
    assert said.endswith("; SSL_CERT_FILE names whom to trust\n")


def test_its_cases_are_listed_and_a_command_beside_it_is_a_mistake(capsys):
    assert status_of(["check", "--gateway", "http://127.0.0.1:1", "--list"]) == 0
    assert "gateway-abort" in capsys.readouterr().out
    assert status_of(["check", "--gateway", "http://127.0.0.1:1", "--", "true"]) == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--skip", "*"], "no case is left"),
        (["--path", "/a b"], "--path: request target '/a b'"),
        (["--path", "no-slash"], "--path: request target 'no-slash'"),
        (["--path", "/\udcff"], "--path: request target '/\\xff'"),
    ],
)
def test_what_cannot_be_asked_is_said(arguments, words, capsys):
    assert status_of(["check", "--gateway", "http://127.0.0.1:1", "--listen", "127.0.0.1:0", *arguments]) == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("scheme", ["http", "h2c"])
def test_by_the_command_line(scheme, capsys):
    port = free_port()

    async def run():
        async with open_proxy(upstream=f"http://127.0.0.1:{port}") as gateway:
            arguments = [
                "check",
                "--gateway",
                gateway.url.replace("http", scheme),
                "--listen",
                f"127.0.0.1:{port}",
                "--only",
                "gateway-streams",
            ]
            status = await trio.to_thread.run_sync(status_of, [*arguments, "--json"])
            return status, {record.client.protocol for record in gateway.exchanges}

    assert trio.run(run) == (0, {"http/1.1" if scheme == "http" else "h2"})
    card = json.loads(capsys.readouterr().out)
    assert [(one["case"], one["verdict"], one["good"]) for one in card["cases"]] == [("gateway-streams", "whole", True)]
