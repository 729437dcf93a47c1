"""Bodies of every kind of record: any bytes, any cut, against other readings of the same rules.

Must not know: HTTP, who draws the bytes.
"""

from typing import get_args

from chaosproxy.framing import grpc, lines, sse
from chaosproxy.framing.blocks import Blocks
from chaosproxy.framing.choose import splitter_for
from chaosproxy.framing.saying import says
from chaosproxy.framing.seam import Seam
from chaosproxy.framing.splitter import RecordKind
from chaosproxy.framing.traffic import traffic
from tests.fuzz.draw import Draw, bytewise, cut
from tests.fuzz.targets import Target

KINDS: tuple[RecordKind, ...] = get_args(RecordKind)
LIMIT = 64
BYTEWISE = 1024


def counted(kind: RecordKind, pieces: list[bytes]) -> int:
    """The records, one that the end of the body completes among them."""
    splitter, found = splitter_for(kind), 0
    for piece in pieces:
        ends = splitter.feed(piece)
        assert all(0 <= end <= len(piece) for end in ends)
        assert list(ends) == sorted(set(ends))
        found += len(ends)
    return found + splitter.pending


def expected(kind: RecordKind, body: bytes) -> int | None:
    """The same, told without any code of ours; None where a record is what one read brought."""
    match kind:
        case "sse":
            return _events(body)
        case "lines":
            return sum(bool(line.strip(b" \t\r")) for line in body.split(b"\n"))
        case "grpc":
            return _messages(body)
        case _:
            return None


def _events(body: bytes) -> int:
    """WHATWG HTML section 9.2.6."""
    text = body.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    found, data = 0, False
    for line in text.split(b"\n")[:-1]:
        if line:
            data = data or line == b"data" or line.startswith(b"data:")
        else:
            found, data = found + data, False
    return found


def _messages(body: bytes) -> int:
    found, at = 0, 0
    while len(body) - at >= 5:
        stop = at + 5 + int.from_bytes(body[at + 1 : at + 5], "big")
        found += stop <= len(body) and body[at] < 0x80
        at = stop
    return found


def run(data: bytes) -> None:
    draw = Draw(data)
    kind, places = draw.pick(KINDS), draw.places()
    body = draw.rest()
    wanted = expected(kind, body)
    for pieces in ([body] if body else [], cut(body, places), bytewise(body[:BYTEWISE])):
        if wanted is not None:
            right = wanted if b"".join(pieces) == body else expected(kind, body[:BYTEWISE])
            assert counted(kind, pieces) == right
        _read_in_blocks(kind, pieces)
        _joined(kind, pieces)


def _read_in_blocks(kind: RecordKind, pieces: list[bytes]) -> None:
    """The units, joined, are the body; what is too long is not kept."""
    blocks, short, read = Blocks(kind), Blocks(kind, LIMIT), b""
    for piece in pieces:
        for _, unit in blocks.feed(piece):
            assert unit is not None
            read += unit
            _understood(kind, unit)
        for _, unit in short.feed(piece):
            assert unit is None or len(unit) <= LIMIT
        assert short.held <= LIMIT
    _understood(kind, blocks.unfinished)
    assert read + blocks.unfinished == b"".join(pieces)


def _understood(kind: RecordKind, unit: bytes) -> None:
    """Whatever a unit holds, it is read."""
    assert traffic(kind, unit)
    says(kind, unit)
    sse.parse(unit)
    lines.content(unit)
    grpc.message(unit)


def _joined(kind: RecordKind, pieces: list[bytes]) -> None:
    """A record that is put behind is a record by itself."""
    if kind not in ("sse", "lines"):
        return
    seam = Seam(kind)
    for piece in pieces:
        seam.feed(piece)
    before, record = seam.records, b"data: x\n\n" if kind == "sse" else b"x\n"
    closing = seam.joined(record).payload
    assert closing.endswith(record)
    body = b"".join(pieces) + closing
    assert seam.records - before in (1, 2)
    assert expected(kind, body) == expected(kind, body[: -len(record)]) + 1


TARGETS = {
    "splitters": Target(
        "events, lines, gRPC messages",
        "every record is found, whatever the cut; the pieces joined are the body; nothing too long is kept",
        run,
        lambda: [
            bytes([kind, 1, 0, 7]) + body
            for kind in range(len(KINDS))
            for body in (
                b"data: x\n\n: c\r\n\r\nid: 1\rdata\r\r",
                b"\xef\xbb\xbfevent: a\ndata: b\nretry: 10\n\n",
                b'{"a": 1}\n\n \r\nx',
                b"\0\0\0\0\3abc\0\0\0\0\0\x80\0\0\0\1x",
                b'data: {"choices": [{"delta": {"content": "a"}}]}\n\ndata: [DONE]\n\n',
            )
        ],
        (
            b"data: x",
            b"\n\n",
            b"\r",
            b"\r\n",
            b"\n",
            b": c",
            b"\xef\xbb\xbf",
            b"\0\0\0\0\1",
            b"\x80\0\0\0\0",
            b'{"delta":{}}',
            b"id: \0",
        ),
    )
}
