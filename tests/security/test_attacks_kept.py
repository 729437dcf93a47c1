"""What attacks have us hold and do, on one connection, and what honest peers may do all the same."""

import gc
import sys
import tracemalloc
from collections.abc import Callable

from chaosproxy.http2 import floods, streams
from chaosproxy.http2.frames import ACK, PREFACE, frame
from chaosproxy.http2.session import Http2Session
from chaosproxy.model import codes
from chaosproxy.model.messages import Abort, Data, End, RequestHead, ResponseHead
from chaosproxy.model.vocabulary import Role
from tests.security.flooded import Made, client_of, until_cut, upstream_of
from tests.security.flooding import BLOCKS, CHEAP, CLIENTS, UPSTREAMS, Attack, opening
from tests.security.h2_frames import DATA, GET, HEADERS, PING, SETTINGS, WINDOW, Said, four

KIB = 1024
KEPT = 1024 * KIB
"""Bytes that one attacker may have us hold at a time."""
COST = 4000
"""Honest requests that cost as much as an attack until it is cut."""
ALL: list[tuple[Made, str, Attack]] = [
    *[(client_of, name, attack) for name, attack in CLIENTS.items()],
    *[(upstream_of, name, attack) for name, attack in UPSTREAMS.items()],
]
LONG, FEW, MANY = 30, 4, 20_000
"""Parts of an attack that are measured, and fewer where they are large: what comes behind them is no different."""


def test_what_is_kept_of_an_attack(shown):
    most, behind = 0, 0
    until_cut(client_of("", CHEAP["PING"]), CHEAP["PING"])  # whatever is made once is there
    tracemalloc.start()
    try:
        for made, name, attack in ALL:
            gc.collect()
            before, _ = tracemalloc.get_traced_memory()
            tracemalloc.reset_peak()
            session = made(name, attack)
            until_cut(session, attack, LONG if len(next(attack.parts())) < KIB else FEW)
            _, peak = tracemalloc.get_traced_memory()
            assert peak - before < KEPT + _own(attack), name
            most = max(most, peak - before)
            del session
            gc.collect()
            left = tracemalloc.get_traced_memory()[0] - before
            assert left < 16 * KIB, name
            behind = max(behind, left)
    finally:
        tracemalloc.stop()
    shown(
        "attacks",
        f"memory that an attack has us hold, in its first {LONG} parts, and behind it",
        tried=len(ALL),
        must=f"at most {KEPT // KIB} KiB, and nothing afterwards",
        happens="so it is",
        figure=f"at most {most / KIB:.0f} KiB; {behind / KIB:.1f} KiB afterwards",
    )


def _own(attack: Attack) -> int:
    """Bytes that the attack itself is made of here, and one part of it."""
    return 4 * (len(attack.first) + len(next(attack.parts())))


def calls(act: Callable[[], object]) -> int:
    """Functions that are called, which no neighbour on the machine disturbs."""
    count = 0

    def note(_: object, what: str, __: object) -> None:
        nonlocal count
        count += what == "call"

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(before)
    return count


def request_cost() -> float:
    """Calls for an honest request and its answer of one event."""
    session, said = client_of("", CHEAP["PING"]), Said()

    def ask(stream: int) -> None:
        session.receive(said.headers(stream, GET, end=True))
        session.send(stream, [ResponseHead(200)])
        session.send(stream, [Data(b"data: 1\n\n"), End()])
        session.outgoing()

    ask(3)
    return calls(lambda: [ask(stream) for stream in range(5, 205, 2)]) / 100


def test_what_an_attack_costs_until_it_is_cut(shown):
    honest = request_cost()
    costs = {}
    for made, name, attack in ALL:
        if attack.within > MANY:
            continue  # its first parts are not as the others
        session = made(name, attack)
        parts = []
        work = calls(lambda session=session, attack=attack, parts=parts: parts.append(until_cut(session, attack, FEW)))
        ((count, _, _),) = parts
        costs[name] = work / count * (attack.within if session.closing is None else count) / honest
        assert costs[name] < COST, name
    dearest = max(costs, key=costs.__getitem__)
    shown(
        "attacks",
        "the processor's work until an attack is cut, in calls of functions",
        tried=len(costs),
        must=f"less than {COST:,} honest requests and their answers",
        happens="less",
        figure=f"at most {max(costs.values()):.0f} ({dearest})",
    )


def test_what_a_peer_that_does_not_read_has_us_hold(shown):
    """Answers that nobody charges for: a PING behind each byte, both ways honest, and nothing is ever read."""
    session = Http2Session(Role.SERVER)
    session.receive(PREFACE + frame(SETTINGS, 0, 0) + frame(SETTINGS, ACK, 0) + opening(1, end=False))
    session.outgoing()
    part = (frame(DATA, 0, 1, b"x") + frame(PING, 0, 0, b"12345678") + frame(DATA, 0, 1, b"y")) * 100
    tried = 0
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        while session.hungry:
            assert tried < 100_000
            session.receive(part)
            tried += 100
        held = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    answers = len(b"".join(session.outgoing()))
    assert session.closing is None
    assert session.hungry
    assert answers < 65_536 + 17 * 100 + 1000
    assert held < KEPT
    shown(
        "attacks",
        "a peer that has every PING answered and reads nothing",
        tried=tried,
        must="64 KiB of answers wait, then nothing more is read of it",
        happens=f"{answers // KIB} KiB of answers wait, then nothing more is read",
    )


def test_an_upstream_that_offers_a_huge_table(shown, monkeypatch):
    """Fields without number pass, each another, on streams that all end."""
    monkeypatch.setattr(streams, "REMEMBERED", 10)
    early_on, count = 800, 1600  # of so many names is remembered what they are, and of no more
    session = Http2Session(Role.CLIENT)
    session.receive(frame(SETTINGS, 0, 0, b"\0\1" + four(2**32 - 1)) + frame(SETTINGS, ACK, 0))
    tracemalloc.start()
    try:
        sizes = []
        for number in range(count):
            stream = session.open()
            field = (b"x-%d" % number, b"y" * 200)
            session.send(stream, [RequestHead(b"GET", b"/", (field,), authority=b"a", final=True), End()])
            session.outgoing()
            session.receive(frame(HEADERS, 0x5, stream, b"\x88"))
            if number in (early_on, count - 1):
                gc.collect()
                sizes.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    early, late = sizes
    assert late - early < 16 * KIB
    shown(
        "attacks",
        "an upstream that offers a compression table of 4 GiB",
        tried=count,
        must="64 KiB of it are used",
        happens=f"no more is kept for {count:,} requests than for {early_on}",
        figure=f"{(late - early) / KIB:+.1f} KiB",
    )


def test_thousands_of_streams_on_one_connection(shown, monkeypatch):
    monkeypatch.setattr(streams, "REMEMBERED", 10)
    session, said = client_of("", CHEAP["PING"]), Said()
    sizes, count = [], 2500
    tracemalloc.start(1)
    try:
        for number in range(count):
            stream = 2 * number + 3
            session.receive(said.headers(stream, GET, end=True))
            session.send(stream, [ResponseHead(200, final=True), End()])
            session.outgoing()
            if number in (count // 5, count - 1):
                gc.collect()
                sizes.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    early, late = sizes
    assert session.closing is None
    assert late - early < 16 * KIB
    shown(
        "attacks",
        "one connection with thousands of streams, one behind the other",
        tried=count,
        must="nothing is kept of a stream that is over but how the last thousand ended",
        happens=f"no more is kept of {count:,} than of {count // 5:,}",
        figure=f"{(late - early) / KIB:+.1f} KiB",
    )


def test_windows_that_open_as_honest_peers_open_them_are_no_flood(monkeypatch):
    """At the beginning, for each stream, and by what was taken, byte for byte."""
    monkeypatch.setattr(floods, "WIDER", 10)
    session, said = client_of("", CHEAP["PING"]), Said()
    session.receive(frame(WINDOW, 0, 0, four(15 << 20)))
    for stream in range(3, 403, 2):
        session.receive(said.headers(stream, GET, end=True) + frame(WINDOW, 0, stream, four(12 << 20)))
        session.send(stream, [ResponseHead(200), Data(b"x" * 10), Data(b"y" * 10)])
        for _ in range(5):
            session.receive(frame(WINDOW, 0, 0, four(4)) + frame(WINDOW, 0, stream, four(4)))
        session.send(stream, [End()])
        session.outgoing()
    assert session.closing is None


def test_blocks_that_cross_our_resets_are_no_flood():
    """A head and trailers that were under way when nobody wanted the answer any more."""
    session, said = upstream_of("", CHEAP["PING"]), Said()
    for _ in range(1000):
        stream = session.open()
        session.send(stream, [RequestHead(b"GET", b"/", authority=b"a", final=True), End()])
        session.abort(stream, Abort("client:fin", "proxy", code=codes.CANCEL))
        session.receive(said.headers(stream, ((b":status", b"200"), *[(b"x", b"y")] * 20)))
        session.receive(frame(DATA, 0, stream, b"x") + said.headers(stream, ((b"a", b"b"),), end=True))
        session.outgoing()
    assert session.closing is None


def test_what_has_begun_is_not_kept_when_the_connection_has_failed():
    """It may be two seconds until its socket is closed, and many may be closing at once."""
    attack = BLOCKS["a block of 16 KiB and more"]
    tracemalloc.start()
    try:
        session = client_of("", attack)
        before, _ = tracemalloc.get_traced_memory()
        until_cut(session, attack)
        left = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert session.closing is not None
    assert left < 16 * KIB
