"""What is coded is unpacked within bounds and with a word where it ends, by the one place that unpacks anything; the proxy
itself never does."""

import os
import tracemalloc
import zlib

import pytest

from chaosproxy.client import body as unpacking
from chaosproxy.client.body import FREE, KEPT, MOST_RATIO, MOST_UNPACKED, Body
from chaosproxy.diagnose.remarks import remarks
from chaosproxy.model.messages import ResponseHead
from chaosproxy.model.vocabulary import Framing
from chaosproxy.testing.peers import Origin, RawClient
from chaosproxy.testing.proxied import linked
from docs.imports import every_import
from tests.diagnose import made
from tests.diagnose.test_telling import SPARSE, UVICORN, report
from tests.virtual.shipped import LAST, unchunked

UNPACK = {"zlib", "gzip", "bz2", "lzma", "brotli", "zipfile", "tarfile", "zstandard", "compression", "backports"}
EVENT = b"data: 1\n\n"
PIECE = 16 * 1024


def packed(text: bytes, coding: str = "gzip") -> bytes:
    coder = zlib.compressobj(9, zlib.DEFLATED, {"gzip": 31, "deflate": 15, "raw": -15}[coding])
    return coder.compress(text) + coder.flush()


def bomb(coding: str, mebibytes: int = 100) -> bytes:
    """So many MiB of blanks."""
    coder = zlib.compressobj(6, zlib.DEFLATED, {"gzip": 31, "deflate": 15}[coding])
    block = b" " * 2**20
    return b"".join([coder.compress(block) for _ in range(mebibytes)]) + coder.flush()


def body(coding: bytes, *more: bytes) -> Body:
    fields = tuple((b"content-encoding", one) for one in (coding, *more))
    return Body(ResponseHead(200, (*fields, (b"content-type", b"text/event-stream")), framing=Framing.CHUNKED))


def fed(unpacked: Body, raw: bytes, piece: int = PIECE) -> int:
    """How much it came to."""
    return sum(unpacked.feed(raw[at : at + piece], 0.0).text for at in range(0, len(raw), piece))


NOTHING, BROKEN, BEHIND, UNKNOWN, WITHOUT_MEASURE, CUT = (
    "", "its coding is broken", "something else stands behind its end", "its coding is not known here", "it unpacks without measure", "its coding ends too soon",
)  # fmt: skip
WHOLE = packed(EVENT * 3)
CODED = {
    "gzip": (b"gzip", WHOLE, 27, NOTHING),
    "deflate": (b"deflate", packed(EVENT * 3, "deflate"), 27, NOTHING),
    "a gzip bomb": (b"gzip", bomb("gzip"), None, WITHOUT_MEASURE),
    "a deflate bomb": (b"deflate", bomb("deflate", 20), None, WITHOUT_MEASURE),
    "a bomb behind an event": (b"gzip", packed(EVENT) + bomb("gzip", 20), None, WITHOUT_MEASURE),
    "members": (b"gzip", WHOLE * 3, 81, NOTHING),
    "ten thousand empty members": (b"gzip", packed(b"") * 10_000, 0, NOTHING),
    "an empty member, then one": (b"x-gzip", packed(b"") + WHOLE, 27, NOTHING),
    "something behind it": (b"gzip", WHOLE + b"GET / HTTP/1.1\r\n\r\n", 27, BEHIND),
    "something behind deflate": (b"deflate", packed(EVENT, "deflate") * 2, 9, BEHIND),
    "zeros behind it": (b"gzip", WHOLE + b"\0" * 100_000, 27, BEHIND),
    "a megabyte behind it": (b"gzip", WHOLE + os.urandom(2**20).replace(b"\x1f", b"\0"), 27, BEHIND),
    "cut off": (b"gzip", WHOLE[:-9], None, CUT),
    "cut off in its header": (b"gzip", WHOLE[:5], 0, CUT),
    "no trailer": (b"gzip", WHOLE[:-8], 27, CUT),
    "a wrong trailer": (b"gzip", WHOLE[:-8] + b"\0" * 8, None, BROKEN),
    "broken in the middle": (b"gzip", WHOLE[:12] + b"\xff\xff\xff" + WHOLE[15:], None, BROKEN),
    "no gzip": (b"gzip", EVENT, 0, BROKEN),
    "raw deflate": (b"deflate", packed(EVENT, "raw"), 0, BROKEN),
    "twice gzip": (b"gzip, gzip", packed(WHOLE), 0, UNKNOWN),
    "a bomb in a bomb": (b"gzip, gzip", packed(bomb("gzip", 8)), 0, UNKNOWN),
    "br": (b"br", b"\x8b\x04\x80data: 1\n\n\x03", 0, UNKNOWN),
    "zstd with a window of 8 EiB": (b"zstd", b"\x28\xb5\x2f\xfd\x00\xff" + b"\0" * 60, 0, UNKNOWN),
    "compress": (b"compress", b"\x1f\x9d\x90data", 0, UNKNOWN),
    "a coding of no name": (b"\x00\xff", EVENT, 0, UNKNOWN),
    "nothing at all": (b"gzip", b"", 0, NOTHING),
}
"""The coding, the bytes, how much is read of them (None: some, within bounds), what hides the rest."""


@pytest.mark.parametrize("piece", [4093, 2**20])
def test_each_coded_body_ends_within_bounds(piece):
    for name, (coding, raw, size, hidden) in CODED.items():
        tracemalloc.start()
        try:
            unpacked = body(coding)
            got = fed(unpacked, raw, piece)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert (unpacked.hidden_at("clean"), got if size is not None else size) == (hidden, size), name
        assert got <= max(FREE + KEPT, MOST_RATIO * len(raw) + KEPT), name
        assert len(unpacked.text) <= KEPT
        assert peak < 32 * 2**20, name
        assert unpacked.feed(b"more", 0.0).text == 0, name


def test_what_unpacks_within_measure_ends_some_time_too(monkeypatch):
    most = 2 * 2**20
    monkeypatch.setattr(unpacking, "MOST_UNPACKED", most)
    unpacked = body(b"gzip")
    size = 10_000
    coder = zlib.compressobj(1, zlib.DEFLATED, 31)
    got = 0
    for _ in range(2 * most // size):
        block = os.urandom(2000).ljust(size)
        got += unpacked.feed(coder.compress(block) + coder.flush(zlib.Z_SYNC_FLUSH), 0.0).text
    assert most < got < most + 2 * size
    assert unpacked.hidden == WITHOUT_MEASURE
    assert MOST_UNPACKED == 64 * 2**20


def test_several_fields_are_one_list():
    unpacked = body(b"gzip", b"gzip")
    assert (fed(unpacked, packed(WHOLE)), unpacked.hidden) == (0, UNKNOWN)


async def test_the_proxy_passes_a_bomb_as_it_is(autojump_clock, shown):
    """However much it would come to, and whatever looks for records in it."""
    raw = CODED["a gzip bomb"][1]
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n"
    served = Origin([head % len(raw), raw])
    faults = [
        {"cut": {"at": {"event": 1}, "then": "rst"}},
        {"mutate": {"replace": {"a": "b"}}},
        {"strip": "done"},
        {"timeout": {"first_event": "60s"}},
    ]
    scenario = {"version": 1, "faults": faults, "expect": [{"first_event": {"within": "1s"}}, "unchanged"]}
    async with linked(scenario, served.serve) as proxied, RawClient(proxied.connect()) as client:
        tracemalloc.start()
        try:
            await client.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            await client.read_until(LAST)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        same = unchunked(client.body) == raw
        assert same
        record = await proxied.last()
    assert {one.reason for one in record.not_fired} == {"coded body"}
    assert record.response.events_in is None
    assert peak < 16 * 2**20
    for name, (coding, given, _, _) in CODED.items():
        assert fed(body(coding), given) <= MOST_UNPACKED, name
    who = {(one.package, one.name.partition(".")[0]) for one in every_import() if one.name.partition(".")[0] in UNPACK}
    assert {package for package, _ in who} == {"client", "faults"}
    hidden = sorted({words for _, _, _, words in CODED.values()} - {NOTHING})
    shown(
        "files",
        "coded bodies (gzip, deflate, br, zstd; bombs, members, rubbish behind them, cut off, twice coded), where one is read: diagnose, check --gateway, demo",
        tried=len(CODED),
        must="read within bounds, and a word where it ends",
        happens=f"{'; '.join(hidden)}. The proxy, the judging and the reports unpack nothing",
        figure=f"100 MiB in {len(raw) // 1024} KiB: at most {(MOST_RATIO * len(raw) + KEPT) >> 20} MiB are looked at",
    )


def test_a_hop_that_sends_a_bomb_is_told_so():
    coded = made.answer(SPARSE, headers=[*UVICORN, ("content-encoding", "gzip")])
    coded.hidden = WITHOUT_MEASURE
    (seen,) = report(made.answer(SPARSE, headers=UVICORN), coded=[coded]).seen
    assert f"its gzip body was not read to its end: {WITHOUT_MEASURE}" in [*remarks(seen)]
