"""Answers over HTTP/2 that would be two, or another one, over HTTP/1.1: no client sees anything of a second one."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from chaosproxy.testing.h2_origin import serve_h2
from chaosproxy.testing.h2_peers import H2Peer
from chaosproxy.testing.proxied import linked
from tests.security.asking import CLIENTS, Told, ask
from tests.security.h2_requests import Fields
from tests.security.twins import EVIL

OK = (b":status", b"200")


@dataclass(frozen=True, slots=True)
class Sent:
    """One answer: a head, payloads of DATA, trailers; without either the head ends the stream."""

    fields: Fields
    data: Sequence[bytes] = (b"EVIL",)
    trailers: Fields = ()


NONE = {
    **{
        f"status {value!r}": Sent([(b":status", value)])
        for value in (
            *(b"", b"2x0", b"099", b"600", b"1000", b"101", b"20", b"+20", b"200 OK", b"200 ", b"\xb2\xb2\xb2"),
            b"200 OK\r\nContent-Length: 0\r\n\r\n" + EVIL,
        )
    },
    "no status": Sent([(b"x", b"y")]),
    "status twice": Sent([OK, OK]),
    "status behind a field": Sent([(b"x", b"y"), OK]),
    "a method": Sent([OK, (b":method", b"GET")]),
    **{f"value {mark!r}": Sent([OK, (b"x", b"y" + mark + mark + EVIL)]) for mark in (b"\r\n", b"\n", b"\r", b"\0")},
    **{f"name {name!r}": Sent([OK, (name, b"y")]) for name in (b"x: y\r\nz", b"x\0", b"x ", b"", b"X", b"x:", b"\xe9")},
    **{
        f"field {name.decode()}": Sent([OK, (name, b"chunked")])
        for name in (b"transfer-encoding", b"connection", b"upgrade", b"keep-alive", b"proxy-connection")
    },
    **{f"length {value!r}": Sent([OK, (b"content-length", value)]) for value in (b"+4", b"0x4", b"", b"4 4", b"0, 4")},
    "two lengths": Sent([OK, (b"content-length", b"4"), (b"content-length", b"0")]),
}
"""Heads that are none: 502."""
BROKEN = {
    "more than its length": Sent([OK, (b"content-length", b"2")], (b"ok", b"EVIL")),
    "less than its length": Sent([OK, (b"content-length", b"20")], (b"ok",)),
    "trailers short of its length": Sent([OK, (b"content-length", b"20")], (b"ok",), [(b"x", b"y")]),
    **{
        f"trailer {value!r}": Sent([OK], (b"ok",), [(b"x", value)]) for value in (b"y\r\n\r\n" + EVIL, b"a\nb", b"a\0b")
    },
    "a trailer that is none": Sent([OK], (b"ok",), [(b"x y", b"EVIL")]),
    "a pseudo field as a trailer": Sent([OK], (b"ok",), [(b":status", b"200")]),
    "DATA behind 204": Sent([(b":status", b"204")]),
    "DATA behind 304": Sent([(b":status", b"304")]),
}
"""What came before the mistake is given, and nothing of what comes behind it."""


class Scripted:
    """Answers /mine with its name, and every other request with `sent`."""

    sent = Sent([OK])

    async def serve(self, transport) -> None:
        await serve_h2(transport, self._answer)

    async def _answer(self, peer: H2Peer, number: int) -> None:
        if dict(peer.streams[number].heads[0])[b":path"] == b"/mine":
            await peer.headers(number, [OK, (b"content-length", b"5")])
            await peer.data(number, b"/mine", end=True)
            return
        sent = self.sent
        await peer.headers(number, list(sent.fields), end=not sent.data and not sent.trailers)
        for at, payload in enumerate(sent.data):
            await peer.data(number, payload, end=at + 1 == len(sent.data) and not sent.trailers)
        if sent.trailers and peer.streams[number].reset is None:
            await peer.headers(number, list(sent.trailers), end=True)


def _right(told: Told, *, none: bool) -> bool:
    if none:
        return told.statuses == (502,) and told.whole and told.body.startswith(b"chaosproxy: ")
    return len(told.statuses) == 1 and told.body in (b"", b"ok") and b"EVIL" not in told.received


@pytest.mark.parametrize("kind", ["none", "broken"])
async def test_nobody_sees_a_second_answer(kind, shown, autojump_clock):
    origin, tried, found = Scripted(), 0, []
    async with linked(None, origin.serve, upstream="h2c://origin") as proxied:
        for client in CLIENTS:
            for name, origin.sent in (NONE if kind == "none" else BROKEN).items():
                told = await ask(proxied, client, "GET")
                (record,) = (await proxied.finished(2 * tried + 1))[-1:]
                mine = await ask(proxied, client, "GET", "/mine")
                if not _right(told, none=kind == "none") or record.upstream.end.cause != "malformed":
                    found.append(f"{client}, {name}: {told} {record.upstream.end}")
                if (mine.statuses, mine.body, mine.whole) != ((200,), b"/mine", True):
                    found.append(f"{client}, {name}: the next request got {mine}")
                tried += 1
    assert found == []
    shown(
        "framing",
        "answers over HTTP/2 that are none"
        if kind == "none"
        else "answers over HTTP/2 that break off within their body",
        tried=tried,
        must="502; other streams are served"
        if kind == "none"
        else "nothing behind the mistake; other streams are served",
        happens="502" if kind == "none" else "cut there",
    )
