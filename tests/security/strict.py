"""An origin that forgives nothing, and writes down what it was asked, over HTTP/1.1 and HTTP/2.

Over HTTP/1.1 it reads by RFC 9112 and regular expressions, with nothing of the product's; what is not to the letter a
request is `wrong`. Must not know: the proxy.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from chaosproxy.testing.h2_origin import serve_h2
from chaosproxy.testing.h2_peers import H2Peer
from chaosproxy.testing.recorder import Recorder
from chaosproxy.wire.transport import Transport

_TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_FIELD = rb"(?:" + _TOKEN + rb":[\t \x21-\xff\x01-\x08\x0b\x0c\x0e-\x1f]*\r\n)"
_HEAD = re.compile(rb"(" + _TOKEN + rb") ([\x21-\x7e]+) HTTP/1\.[01]\r\n(" + _FIELD + rb"*)\r\n")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,16})\r\n")
_TRAILERS = re.compile(_FIELD + rb"*\r\n")
_PATH = re.compile(rb"/[\x21-\x7e]*|\*")
_AUTHORITY = re.compile(rb"(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2}|\[[0-9A-Fa-f:.]+\])+(?::[0-9]*)?")
NO_BODY = (b"content-length", b"transfer-encoding")


@dataclass(frozen=True, slots=True)
class Asked:
    """One whole request."""

    method: bytes
    target: bytes
    body: bytes


class StrictReader:
    """Of one connection: the requests in what it is fed."""

    def __init__(self) -> None:
        self.buffer = b""
        """The request that is not whole."""
        self.wrong = ""
        """What has made it stop."""

    def feed(self, data: bytes) -> list[Asked]:
        """The requests that are whole now."""
        self.buffer += data
        found = []
        while not self.wrong and (asked := self._request()) is not None:
            found.append(asked)
        return found

    def _request(self) -> Asked | None:
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return None
        match = _HEAD.match(self.buffer)
        if match is None or match.end() != end + 4:
            return self._stop("no request head")
        fields = [(name.lower(), value.strip(b" \t")) for name, _, value in _pairs(match[3])]
        if [name for name, _ in fields].count(b"host") != 1:
            return self._stop("not one Host")
        framing = [pair for pair in fields if pair[0] in NO_BODY]
        if len(framing) > 1:
            return self._stop("more than one framing")
        body = b""
        if framing:
            name, value = framing[0]
            taken = self._chunks(match.end(), value) if name == b"transfer-encoding" else self._length(end + 4, value)
            if taken is None:
                return None
            body, end = taken
        else:
            end += 4
        self.buffer = self.buffer[end:]
        return Asked(match[1], match[2], body)

    def _stop(self, why: str) -> None:
        self.wrong = f"{why}: {self.buffer!r}"

    def _length(self, start: int, value: bytes) -> tuple[bytes, int] | None:
        if not value.isdigit():
            return self._stop("Content-Length is no number")
        stop = start + int(value)
        return (self.buffer[start:stop], stop) if len(self.buffer) >= stop else None

    def _chunks(self, at: int, value: bytes) -> tuple[bytes, int] | None:
        if value.lower() != b"chunked":
            return self._stop("not chunked")
        body = b""
        while True:
            match = _CHUNK.match(self.buffer, at)
            if match is None:
                return self._stop("no chunk") if b"\r\n" in self.buffer[at:] else None
            size, at = int(match[1], 16), match.end()
            if not size:
                trailers = _TRAILERS.match(self.buffer, at)
                return (body, trailers.end()) if trailers is not None else None
            if len(self.buffer) < at + size + 2:
                return None
            if self.buffer[at + size : at + size + 2] != b"\r\n":
                return self._stop("no CRLF behind a chunk")
            body, at = body + self.buffer[at : at + size], at + size + 2


def _pairs(lines: bytes) -> list[tuple[bytes, bytes, bytes]]:
    return [one.partition(b":") for one in lines.split(b"\r\n") if one]


def ok(asked: Asked) -> bytes:
    """Says whose answer it is. CONNECT gets no tunnel."""
    said = asked.method + b" " + asked.target
    status = b"405 No" if asked.method == b"CONNECT" else b"200 OK"
    body = b"" if asked.method == b"HEAD" else said
    return b"HTTP/1.1 %b\r\nContent-Length: %d\r\n\r\n%b" % (status, len(said), body)


@dataclass
class StrictOrigin:
    """`seen` what it was asked whole, `begun` what it was asked in part, `wrong` what it could not read."""

    answer: Callable[[Asked], bytes] = ok
    seen: list[Asked] = field(default_factory=list)
    begun: int = 0
    wrong: list[str] = field(default_factory=list)
    connections: int = 0

    async def serve(self, transport: Transport) -> None:
        """One connection of HTTP/1.1."""
        self.connections += 1
        recorder, reader = Recorder(transport), StrictReader()
        try:
            while data := await recorder.read():
                for asked in reader.feed(data):
                    self.seen.append(asked)
                    await recorder.send(self.answer(asked))
                if reader.wrong:
                    break
        except ConnectionError:
            pass  # it has left, and what it was told is nothing to it
        finally:
            self.begun += bool(reader.buffer)
            if reader.wrong:
                self.wrong.append(reader.wrong)
            transport.close()

    async def serve_h2(self, transport: Transport) -> None:
        """One connection of HTTP/2."""
        self.connections += 1
        await serve_h2(transport, self._answer)

    async def _answer(self, peer: H2Peer, number: int) -> None:
        stream = peer.streams[number]
        self.begun += 1
        await peer.until(lambda: stream.over)
        if not stream.ended:
            return
        self.begun -= 1
        fields = dict(stream.heads[0])
        self.wrong += [f"{field!r}" for head in stream.heads for field in head if _unfit(*field)]
        if not _PATH.fullmatch(fields[b":path"]) or not _AUTHORITY.fullmatch(fields.get(b":authority", b"")):
            self.wrong.append(f"{fields!r}")
        asked = Asked(fields[b":method"], fields[b":path"], stream.body)
        self.seen.append(asked)
        said = asked.method + b" " + asked.target
        bare = asked.method == b"HEAD"
        await peer.headers(number, [(b":status", b"200"), (b"content-length", b"%d" % len(said))], end=bare)
        if not bare:
            await peer.data(number, said, end=True)

    def take(self) -> tuple[list[Asked], int]:
        """What was asked since the last time, whole and in part."""
        taken = self.seen, self.begun
        self.seen, self.begun = [], 0
        return taken


def _unfit(name: bytes, value: bytes) -> bool:
    """A field that RFC 9113 section 8.2.1 does not know."""
    return bool(re.search(rb"[\x00-\x20A-Z\x7f-\xff]", name) or re.search(rb"[\0\r\n]|^[ \t]|[ \t]$", value))
