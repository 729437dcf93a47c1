"""`tls`: a certificate that is not to be trusted, a handshake that does not go on."""

import ssl

import pytest
import trio

from chaosproxy.errors import ScenarioError, UpstreamFault
from chaosproxy.scenario.load import load
from chaosproxy.testing.peers import Ending, RawClient, origin
from chaosproxy.testing.proxied import proxy_on
from chaosproxy.wire import dial, tls

GET = b"GET /s HTTP/1.1\r\nHost: x\r\n\r\n"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def connections(number: object = 1, **fault: object) -> dict[str, object]:
    entry = {"match": {"side": "client", "number": number}, "faults": [{"tls": fault}]}
    return {"version": 1, "connections": [entry]}


def blind() -> ssl.SSLContext:
    """Of a client that trusts everybody."""
    return tls.client_context(None, ("http/1.1",), insecure=True)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ({"expired": True}, "expired"),
        ({"certificate": "expired"}, "expired"),
        ({"wrong_host": True}, "IP address mismatch"),
        ({"unknown_authority": True}, "unable to get local issuer"),
    ],
)
async def test_a_client_that_looks_refuses_it_and_the_next_connection_is_well(certificates, fault, words):
    async with (
        origin([ANSWER]) as served,
        proxy_on(connections(**fault), served.url, server_tls=certificates.server) as proxied,
    ):
        with pytest.raises(UpstreamFault, match=words):
            await dial.connect("127.0.0.1", proxied.port, certificates.client())
        assert not proxied.exchanges
        async with await RawClient.connect("127.0.0.1", proxied.port, certificates.client()) as client:
            await client.send(GET)
            await client.read_until(b"ok")


async def test_one_that_does_not_look_goes_on_and_the_journal_says_what_it_was_shown(certificates):
    scenario = connections(expired=True, wrong_host=True)
    async with origin([ANSWER]) as served, proxy_on(scenario, served.url, server_tls=certificates.server) as proxied:
        async with await RawClient.connect("127.0.0.1", proxied.port, blind()) as client:
            await client.send(GET)
            await client.read_until(b"ok")
        record = await proxied.last()
    said = "a certificate that has expired, a certificate for another host"
    assert [(one.fault, one.detail) for one in record.faults] == [("tls", said)]


async def test_a_certificate_of_one_s_own_is_replaced_by_one_of_nobody(certificates):
    """Nobody but its own authority could sign another."""
    own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    async with proxy_on(connections(expired=True), "http://127.0.0.1:1", server_tls=own) as proxied:
        with pytest.raises(UpstreamFault, match="certificate"):
            await dial.connect("127.0.0.1", proxied.port, certificates.client())


async def test_no_protocol_is_chosen_though_the_client_offers_some(certificates):
    offering = tls.client_context(certificates.ca, ("h2", "http/1.1"), insecure=False)
    async with (
        origin([ANSWER], [ANSWER]) as served,
        proxy_on(connections(alpn=False), served.url, server_tls=certificates.server) as proxied,
    ):
        agreed = []
        for _ in range(2):
            async with await RawClient.connect("127.0.0.1", proxied.port, offering) as client:
                agreed.append(client.transport.alpn)
                if client.transport.alpn is None:
                    await client.send(GET)
                    await client.read_until(b"ok")
        assert agreed == [None, "h2"]
        record = await proxied.last()
    assert (record.client.protocol, [one.detail for one in record.faults]) == ("http/1.1", ["no protocol is chosen"])


async def test_it_is_said_of_a_client_that_has_asked_nothing(certificates, caplog):
    async with proxy_on(connections(expired=True), "http://127.0.0.1:1", server_tls=certificates.server) as proxied:
        with pytest.raises(UpstreamFault):
            await dial.connect("127.0.0.1", proxied.port, certificates.client())
        with trio.fail_after(20):
            while not caplog.messages:
                await trio.sleep(0.01)
    (said,) = caplog.messages
    assert said.startswith("client connection 1: TLS failed: ")
    assert said.endswith("; tls: a certificate that has expired")


async def test_a_handshake_stalls_and_goes_on(certificates):
    scenario = connections(stall="300ms")
    async with origin([ANSWER]) as served, proxy_on(scenario, served.url, server_tls=certificates.server) as proxied:
        began = trio.current_time()
        async with await RawClient.connect("127.0.0.1", proxied.port, certificates.client()) as client:
            assert trio.current_time() - began >= 0.3
            await client.send(GET)
            await client.read_until(b"ok")
        record = await proxied.last()
    assert [(one.fault, one.detail) for one in record.faults] == [("tls", "the handshake stalls for 300ms")]


async def test_a_handshake_that_stalls_for_ever_is_a_silence(certificates):
    scenario = connections(stall="forever")
    async with proxy_on(scenario, "http://127.0.0.1:1", server_tls=certificates.server) as proxied:
        with trio.move_on_after(0.3) as waited:
            await dial.connect("127.0.0.1", proxied.port, certificates.client())
        assert waited.cancelled_caught


async def test_without_tls_nothing_is_wrong():
    async with origin([ANSWER]) as served, proxy_on(connections(expired=True, stall="1s"), served.url) as proxied:
        async with await RawClient.connect("127.0.0.1", proxied.port) as client:
            await client.send(GET)
            await client.read_until(b"ok")
            assert await client.read_all(within=0.05) is Ending.OPEN
        assert (await proxied.last()).faults == []


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("faults: [tls: {}]", "nothing goes wrong"),
        ("faults: [tls: expird]", "did you mean 'expired'"),
        ("match: {side: upstream}\n    faults: [tls: expired]", "connections of clients"),
        ("match: {protocol: h2}\n    faults: [tls: expired]", "match by number"),
        ("match: {protocol: h2}\n    faults: [tls: {alpn: false}]", "match by number"),
        ("match: {sni: x}\n    faults: [tls: {wrong_host: true}]", "match by number"),
    ],
)
def test_what_cannot_be_said(entry, words):
    with pytest.raises(ScenarioError, match=words):
        load(f"version: 1\nconnections:\n  - {entry}\n")


def test_it_stands_in_no_hop():
    with pytest.raises(ScenarioError, match="it stands under `connections:`"):
        load("version: 1\nfaults:\n  - tls: expired\n")
