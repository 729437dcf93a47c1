"""Names of upstreams: one that changes, one with two families, and resolvers that do not answer."""

import contextlib
import socket
import threading

import pytest
import trio

from chaosproxy.testing.peers import RawClient
from chaosproxy.testing.proxied import Proxied, proxy_on
from chaosproxy.testing.recorder import Recorder
from chaosproxy.wire import listen
from chaosproxy.wire.plain import Plain

GET = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
NAME = "upstream.test"
ASKED = 100
"""Requests whose name nobody resolves."""
THREADS = 40
"""Of Trio's for all that block."""


class Resolver:
    """In place of the system's."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.addresses: dict[str, list[tuple[int, str]]] = {}
        self.silent: set[str] = set()
        self.answering = threading.Event()
        self.waiting = self.most = 0
        self._lock = threading.Lock()
        self._system = socket.getaddrinfo
        monkeypatch.setattr(socket, "getaddrinfo", self._asked)

    def _asked(self, host, port, family=0, kind=0, proto=0, flags=0):
        if isinstance(host, bytes):
            host = host.decode()
        if host not in self.addresses and host not in self.silent:
            return self._system(host, port, family, kind, proto, flags)
        if flags & socket.AI_NUMERICHOST:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        if host in self.silent:
            with self._lock:
                self.waiting += 1
                self.most = max(self.most, self.waiting)
            self.answering.wait(60)
            with self._lock:
                self.waiting -= 1
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        return [(family, socket.SOCK_STREAM, 6, "", (address, port)) for family, address in self.addresses[host]]


@pytest.fixture
def resolver(monkeypatch):
    made = Resolver(monkeypatch)
    yield made
    made.answering.set()


@contextlib.asynccontextmanager
async def origins(*hosts: str):
    """One origin for each address, all on the same port; the port, and by address how often it was asked."""
    asked = dict.fromkeys(hosts, 0)
    sockets = await listen.open_listeners(hosts[0], 0)
    port = sockets[0].getsockname()[1]
    for host in hosts[1:]:
        sockets += await listen.open_listeners(host, port)

    async def serve(host: str, sock: socket.socket) -> None:
        async with trio.open_nursery() as nursery:
            while True:
                nursery.start_soon(answer, host, Plain(await listen.accept(sock)))

    async def answer(host: str, transport: Plain) -> None:
        peer = Recorder(transport)
        if await peer.read():
            asked[host] += 1
            await peer.send(OK)
        transport.close()

    async with trio.open_nursery() as nursery:
        for host, sock in zip(hosts, sockets, strict=True):
            nursery.start_soon(serve, host, sock)
        yield port, asked
        nursery.cancel_scope.cancel()
    for sock in sockets:
        sock.close()


async def status(proxied: Proxied) -> str:
    async with await RawClient.connect("127.0.0.1", proxied.port) as client:
        await client.send(GET)
        await client.read_all(60)
        return client.head[9:12].decode()


async def test_a_name_is_asked_for_each_time(resolver, shown):
    """What it meant before is not remembered: an upstream that moves is found."""
    hosts = ("127.0.0.1", "127.0.0.2", "127.0.0.3")
    async with origins(*hosts) as (port, asked), proxy_on(None, f"http://{NAME}:{port}") as proxied:
        for host in hosts:
            resolver.addresses[NAME] = [(socket.AF_INET, host)]
            assert await status(proxied) == "200"
        resolver.addresses[NAME] = [(socket.AF_INET, "127.0.0.9"), (socket.AF_INET, hosts[0])]  # nobody listens there
        assert await status(proxied) == "200"
    assert asked == {hosts[0]: 2, hosts[1]: 1, hosts[2]: 1}
    shown(
        "slow",
        "a name whose address changes from dial to dial, or has a dead one in front",
        tried=len(hosts) + 1,
        must="each connection goes where the name leads then; the next address is tried",
        happens="each request was answered by the address of that moment",
    )


async def test_localhost_needs_no_resolver(resolver, shown):
    resolver.silent.add("localhost")
    here = ["127.0.0.1", *(["::1"] if socket.has_dualstack_ipv6() else [])]
    for host in here:
        async with origins(host) as (port, asked), proxy_on(None, f"http://localhost:{port}") as proxied:
            assert await status(proxied) == "200"
        assert asked == {host: 1}
    assert resolver.most == 0
    shown(
        "slow",
        "localhost, while no resolver answers",
        tried=2,  # where there is no IPv6 the other is one of none
        must="::1 and 127.0.0.1 are tried, nobody is asked",
        happens="200 from each family that is here",
    )


async def test_a_resolver_that_does_not_answer(resolver, shown):
    """Its callers wait, in a bounded number of threads; others do not notice, and nobody waits for ever."""
    resolver.silent.add(NAME)
    async with origins("127.0.0.1") as (port, _):
        before = threading.active_count()
        async with (
            proxy_on(None, f"http://{NAME}:{port}") as stuck,
            proxy_on(None, f"http://127.0.0.1:{port}") as well,
        ):
            told: list[str] = []

            async def ask() -> None:
                told.append(await status(stuck))

            async with trio.open_nursery() as nursery:
                for _ in range(ASKED):
                    nursery.start_soon(ask)
                with trio.fail_after(20):
                    while resolver.waiting < THREADS:
                        await trio.sleep(0.01)
                for _ in range(10):
                    assert await status(well) == "200"
                assert told == []
                threads = threading.active_count() - before
                resolver.answering.set()
    assert told == ["502"] * ASKED
    assert resolver.most <= THREADS
    assert threads <= THREADS + 1
    assert {record.end.cause for record in stuck.exchanges} == {"upstream:unreachable"}
    shown(
        "slow",
        "a resolver that does not answer",
        tried=ASKED,
        must="at most 40 threads; others on time; 502 in the end",
        happens=f"{resolver.most} threads; upstreams by address are reached meanwhile; 502 (upstream:unreachable)",
    )
