"""Clients that begin and do not go on, five hundred at once, beside one that is honest: it is on time, and they are gone
when their time is over. In virtual time."""

import contextlib
import ssl
from collections import Counter
from dataclasses import dataclass

import trio
import trio.testing

from chaosproxy.http2 import frames
from chaosproxy.http2.frames import ACK, GOAWAY, HEADERS, PREFACE, SETTINGS, frame
from chaosproxy.model.codes import code_name
from chaosproxy.proxy.listener import HANDSHAKE, Listener
from chaosproxy.proxy.patience import BEGUN
from chaosproxy.testing.h2_peers import h2_client
from chaosproxy.testing.peers import Ending, Origin, Pause, RawClient
from chaosproxy.testing.proxied import Linked, linked
from chaosproxy.testing.recorder import Recorder
from chaosproxy.wire import tls
from chaosproxy.wire.links import link

EACH = 50
PLACES = 20
APART = 4.0
"""Seconds from one byte to the next."""
GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
BLOCK = b"\x82\x86\x84\x41\x01a"
GREETING = PREFACE + frame(SETTINGS, 0, 0)
GREETED = GREETING + frame(SETTINGS, ACK, 0)


@dataclass(frozen=True, slots=True)
class Attack:
    at_once: bytes
    slowly: bytes = b""
    """A byte every `APART` seconds, for as long as the connection lasts."""


BEGINNINGS = {
    "a request's head, a byte every 4 s": Attack(b"", b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"x" * 1000),
    "half a request's head, then nothing": Attack(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Le"),
    "a head that may be HTTP/2 for 4 s, a byte every 4 s": Attack(b"", b"POST / HTTP/1.1\r\nHost: x\r\n\r\n"),
    "the first byte of POST or of HTTP/2, then nothing": Attack(b"P"),
    "the preface of HTTP/2, a byte every 4 s": Attack(b"", PREFACE),
    "half of the preface, then nothing": Attack(PREFACE[:12]),
    "the preface, and no SETTINGS": Attack(PREFACE),
    "SETTINGS that are never acknowledged": Attack(GREETING),
    "a frame, a byte every 4 s": Attack(GREETED, frame(SETTINGS, 0, 0, b"\0\1\0\0\0\0" * 100)),
    "a header block without end": Attack(GREETED + frame(HEADERS, 0, 1, BLOCK)),
}


async def heard(peer: Recorder, attack: Attack) -> None:
    """All that it is told until the end."""
    async with trio.open_nursery() as nursery:

        async def say() -> None:
            with contextlib.suppress(ConnectionError):  # they have shut the door
                await peer.send(attack.at_once)
                for byte in attack.slowly:
                    await peer.send(bytes([byte]))
                    await trio.sleep(APART)

        nursery.start_soon(say)
        while await peer.read():
            pass
        nursery.cancel_scope.cancel()
    peer.transport.close()


def told(received: bytes) -> str:
    """In words: a status, the code of a GOAWAY, or nothing."""
    if received.startswith(b"HTTP/1.1 "):
        return received.split(b" ", 2)[1].decode()
    at = 0
    while at < len(received):
        length_kind, _, _ = frames.HEADER.unpack_from(received, at)
        if length_kind & 0xFF == GOAWAY:
            return code_name(frames.number(received[at + 13 :]))
        at += frames.HEADER_SIZE + (length_kind >> 8)
    return "no answer"


async def honest(proxied: Linked, seconds: int) -> list[float]:
    """A request on a connection of its own every second: how long each takes."""
    took: list[float] = []
    for _ in range(seconds):
        began = trio.current_time()
        async with RawClient(proxied.connect()) as client:
            await client.send(GET)
            await client.read_until(OK)
        took.append(round(trio.current_time() - began, 6))
        await trio.sleep(began + 1 - trio.current_time())
    return took


async def until_gone(proxied: Linked) -> None:
    """Nothing of any client is left."""
    with trio.fail_after(20):
        while proxied.proxy._clients or proxied.proxy._exchanges:
            await trio.sleep(0.1)
    await trio.testing.wait_all_tasks_blocked()


def tasks() -> int:
    return trio.lowlevel.current_statistics().tasks_living


async def test_who_does_not_go_on_is_let_go(autojump_clock, shown):
    served = Origin([Pause(0.25), OK])
    peers: dict[str, list[Recorder]] = {name: [] for name in BEGINNINGS}
    async with linked(None, served.serve) as proxied:
        await honest(proxied, 1)  # its connection to the origin is kept
        before, began = tasks(), trio.current_time()
        async with trio.open_nursery() as nursery:
            for name, attack in BEGINNINGS.items():
                for _ in range(EACH):
                    peer = Recorder(proxied.connect())
                    peers[name].append(peer)
                    nursery.start_soon(heard, peer, attack)
            took = await honest(proxied, 35)
        await until_gone(proxied)
        assert tasks() == before
    assert set(took) == {0.25}
    for name, those in peers.items():
        assert {round((peer.ended_at or 0) - began, 3) for peer in those} == {BEGUN}
        seen = Counter(f"{told(peer.received)}, {peer.ending}" for peer in those)
        (how,) = seen
        shown(
            "slow",
            name,
            tried=len(those),
            must="gone after 30 s",
            happens=f"gone after 30 s: {how}",
        )
    assert len([one for one in proxied.exchanges if one.response.status == 408]) == 4 * EACH
    assert {one.end.cause for one in proxied.exchanges if one.response.status == 408} == {"malformed"}
    shown(
        "slow",
        "an honest client beside 500 of these",
        tried=len(took),
        must="every answer on time",
        happens="0 late, in virtual time",
    )


def hello() -> bytes:
    """What a TLS client says first."""
    said = ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), said, server_hostname="localhost")
    with contextlib.suppress(ssl.SSLWantReadError):
        client.do_handshake()
    return said.read()


async def test_a_handshake_has_ten_seconds(autojump_clock, tmp_path, shown):
    """The listener's own task for each, over links."""
    context, _ = tls.server_context("auto", ["localhost"], tmp_path / "ca.pem")
    said = hello()
    handshakes = (Attack(b"", said), Attack(said[:100]), Attack(said), Attack(b""))
    peers: list[Recorder] = []
    async with linked(None, Origin([OK]).serve) as proxied, trio.open_nursery() as nursery:
        before = tasks()
        for number in range(EACH):
            near, far = link()
            peers.append(Recorder(near))
            nursery.start_soon(heard, peers[-1], handshakes[number % len(handshakes)])
            count, below, wire = proxied.proxy.admit(far, tls=True)
            nursery.start_soon(Listener._shake, count, below, wire, context, proxied.proxy.accept)
        await trio.sleep(HANDSHAKE + 1)
        await trio.testing.wait_all_tasks_blocked()
        assert tasks() == before
    assert {round(peer.ended_at or 0, 3) for peer in peers} == {HANDSHAKE}
    endings = Counter(peer.ending for peer in peers)
    shown(
        "slow",
        "a TLS handshake: byte by byte, cut short, not answered, none",
        tried=len(peers),
        must="gone after 10 s",
        happens=f"gone after 10 s: {', '.join(sorted(endings))}",
    )


async def test_a_body_may_be_slow_and_is_counted(autojump_clock, shown):
    """Streams are slow by trade; who wants a limit says so."""
    served = Origin([OK])
    places = {
        "version": 1,
        "connections": [{"match": {"side": "client"}, "faults": [{"accept": {"max": PLACES, "queue": 0}}]}],
    }
    total = {"version": 1, "faults": [{"timeout": {"total": "60s"}}]}
    upload = Attack(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n", b"x" * 1000)
    endings: dict[str, Counter[str]] = {}
    for name, scenario in {"places": places, "total": total}.items():
        async with linked(scenario, served.serve) as proxied, trio.open_nursery() as nursery:
            began = trio.current_time()
            peers = [Recorder(proxied.connect()) for _ in range(PLACES)]
            for peer in peers:
                nursery.start_soon(heard, peer, upload)
            await trio.sleep(300)
            if name == "places":
                late = RawClient(proxied.connect())
                assert await late.read_all() is Ending.RST
                late.transport.close()
            endings[name] = Counter(
                f"{told(peer.received)} at {round((peer.ended_at or began) - began)} s" for peer in peers
            )
            nursery.cancel_scope.cancel()
            for peer in peers:
                peer.transport.close()
            await until_gone(proxied)
    assert endings["places"] == {"no answer at 0 s": PLACES}
    assert endings["total"] == {"504 at 60 s": PLACES}
    shown(
        "slow",
        "a request's body, a byte every 4 s",
        tried=2 * PLACES,
        must="as slow as it likes, unless a scenario says otherwise",
        happens="open after 300 s; the next is reset where `accept` has no place; 504 at 60 s under `timeout: {total: 60s}`",
    )


async def test_who_is_silent_or_streams_is_left_alone(autojump_clock, shown):
    """Half a frame, an acknowledgement that never comes, beside a stream that runs; and connections that say nothing."""
    script = [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", *[Pause(10), b"1\r\nx\r\n"] * 12, b"0\r\n\r\n"]
    async with linked(None, Origin(script).serve) as proxied:
        silent = [RawClient(proxied.connect()) for _ in range(EACH)]
        busy = Recorder(proxied.connect())
        await busy.send(GREETING + frame(HEADERS, frames.END_HEADERS | frames.END_STREAM, 1, BLOCK) + b"\0\0")
        kept = RawClient(proxied.connect())
        await kept.send(GET)
        await kept.read_until(b"0\r\n\r\n", within=200)
        with trio.fail_after(10):
            while frame(frames.DATA, frames.END_STREAM, 1) not in busy.received:
                await busy.read()
        await kept.send(b"\r\n")  # which begins nothing
        await trio.sleep(10 * BEGUN)
        for client in (kept, *silent):
            await client.send(GET)
        for client in (kept, *silent):
            await client.read_until(b"0\r\n\r\n", within=200)
        async with h2_client(proxied.connect()) as other:
            await trio.sleep(10 * BEGUN)
            await other.request(1)
            await other.until(lambda: other.streams[1].ended, within=200)
        for client in (kept, *silent, busy):
            client.transport.close()
        await until_gone(proxied)
    assert {record.end.how for record in proxied.exchanges} == {"clean"}
    shown(
        "slow",
        "connections that say nothing, or have a stream",
        tried=EACH + 3,
        must="kept, and served later",
        happens="kept for 5 minutes, and served",
    )
