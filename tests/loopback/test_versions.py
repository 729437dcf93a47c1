"""Which version of HTTP goes to an upstream that speaks both, and how many connections that takes."""

import contextlib
from collections.abc import AsyncIterator

import pytest
import trio

from chaosproxy.testing.h2_origin import serve_h2
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.listening import listening
from chaosproxy.testing.peers import Origin, RawClient
from chaosproxy.testing.proxied import proxy_on
from chaosproxy.wire import dial

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Both:
    """An origin behind TLS; `spoken` lists what each of its connections agreed on."""

    def __init__(self) -> None:
        self.spoken: list[str | None] = []
        self.http1 = Origin([OK])
        self.hold = trio.Event()
        self.hold.set()

    async def answer(self, peer, stream) -> None:
        await self.hold.wait()
        await peer.headers(stream, [(b":status", b"200")])
        await peer.data(stream, b"ok", end=True)

    async def serve(self, transport) -> None:
        self.spoken.append(transport.alpn)
        if transport.alpn == "h2":
            await serve_h2(transport, self.answer)
        else:
            await self.http1.serve(transport)


@contextlib.asynccontextmanager
async def origin_of_both(context) -> AsyncIterator[tuple[Both, str]]:
    both = Both()
    async with listening(both.serve, context) as port:
        yield both, f"https://127.0.0.1:{port}"


async def over_h1(proxied) -> None:
    async with await RawClient.connect("127.0.0.1", proxied.port) as client:
        await client.send(GET)
        await client.read_until(b"ok")


async def over_h2(proxied) -> None:
    async with h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as client:
        await client.request(1)
        await client.until(lambda: client.streams[1].ended)


@pytest.mark.parametrize("first", [over_h1, over_h2])
async def test_each_client_has_its_own_version(first, certificates):
    second = over_h2 if first is over_h1 else over_h1
    async with (
        origin_of_both(certificates.server) as (both, url),
        proxy_on({"version": 1, "upstream": {"protocol": "auto"}}, url, upstream_ca=certificates.ca) as proxied,
    ):
        for _ in range(2):
            await first(proxied)
            await second(proxied)
        records = await proxied.finished(4)
    assert [record.upstream.protocol for record in records] == [record.client.protocol for record in records]
    assert sorted(both.spoken) == ["h2", "http/1.1"]


@pytest.mark.parametrize(("wanted", "client"), [("http/1.1", over_h2), ("h2", over_h1)])
async def test_a_version_that_is_asked_for_is_used_for_all(wanted, client, certificates):
    async with (
        origin_of_both(certificates.server) as (both, url),
        proxy_on({"version": 1, "upstream": {"protocol": wanted}}, url, upstream_ca=certificates.ca) as proxied,
    ):
        await client(proxied)
        record = await proxied.last()
    assert (record.upstream.protocol, both.spoken) == (wanted, [wanted])


@pytest.mark.parametrize("protocol", ["h2", "auto"])
async def test_many_requests_at_once_share_one_h2_connection(protocol, certificates):
    async with (
        origin_of_both(certificates.server) as (both, url),
        proxy_on({"version": 1, "upstream": {"protocol": protocol}}, url, upstream_ca=certificates.ca) as proxied,
        h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as client,
    ):
        numbers = range(1, 41, 2)
        for number in numbers:
            await client.request(number)
        await client.until(lambda: all(client.streams[number].ended for number in numbers))
        assert both.spoken == ["h2"]


async def test_an_upstream_without_h2_takes_an_h2_clients_requests_all_at_once(certificates):
    context = certificates.server
    async with origin_of_both(context) as (both, url):
        context.set_alpn_protocols(["http/1.1"])
        try:
            async with (
                proxy_on(None, url, upstream_ca=certificates.ca) as proxied,
                h2_client(await dial.connect("127.0.0.1", proxied.port, None)) as client,
            ):
                numbers = range(1, 9, 2)
                for number in numbers:
                    await client.request(number)
                await client.until(lambda: all(client.streams[number].ended for number in numbers))
        finally:
            context.set_alpn_protocols(["h2", "http/1.1"])
    assert set(both.spoken) == {"http/1.1"}


async def test_at_the_limit_another_version_is_better_than_none(certificates):
    scenario = {"version": 1, "upstream": {"protocol": "auto", "max_connections": 1}}
    async with (
        origin_of_both(certificates.server) as (both, url),
        proxy_on(scenario, url, upstream_ca=certificates.ca) as proxied,
    ):
        for client in (over_h1, over_h2, over_h1):
            with trio.fail_after(20):
                await client(proxied)
        assert len(await proxied.finished(3)) == 3
        assert both.spoken[:1] == ["http/1.1"]


async def test_an_upgrade_finds_an_upstream_that_can_though_others_speak_h2(certificates):
    async with (
        origin_of_both(certificates.server) as (both, url),
        proxy_on({"version": 1, "upstream": {"protocol": "auto"}}, url, upstream_ca=certificates.ca) as proxied,
    ):
        await over_h2(proxied)
        async with await RawClient.connect("127.0.0.1", proxied.port) as client:
            await client.send(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n")
            await client.read_until(b"ok")
            assert client.head.startswith(b"HTTP/1.1 200 "), "refused by the origin, not by us"
    assert both.spoken == ["h2", "http/1.1"]


async def test_an_authority_whose_file_has_gone_since_is_said(certificates, tmp_path):
    """It is read once for each offer of versions; who asks for a further one is told, and not kept waiting."""
    ca = tmp_path / "ca.pem"
    ca.write_bytes(certificates.ca.read_bytes())
    async with (
        origin_of_both(certificates.server) as (_, url),
        proxy_on({"version": 1, "upstream": {"protocol": "auto"}}, url, upstream_ca=ca) as proxied,
    ):
        ca.unlink()
        await over_h2(proxied)
        record = await proxied.last()
        await over_h1(proxied)
    assert (record.response.status, record.end.cause) == (502, "upstream:unreachable")
    assert f"no such file: {ca}" in record.detail
