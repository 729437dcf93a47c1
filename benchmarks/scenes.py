"""The scenes: what is looked at, for whom, and how long.

Rules: in a scene everything but what it is about is equal: the load, the protocols, the processor.
"""

import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from functools import partial

from benchmarks import chained, exact, starting
from benchmarks.peers import PAIRS, Peer, Pool
from benchmarks.programs import UnavailableError, need, said, started
from benchmarks.scene import Make, Measure, Scene, Seen, each, plain, read

_PER_WRITE = 10
"""Events in a write of the saturation: each stream is served a hundred times a second."""
_MIB_IN_PIECES = 16
_ENOUGH = 0.75
"""Of the time of a visit, where there are so many events or requests that less will do."""
_TOO_LONG = 300.0
PROXY = "chaosproxy"


def _named(kind: str, pair: str) -> str:
    return kind if pair == PAIRS[0] else f"{kind} {pair}"


def _towards(pair: str) -> str:
    return pair.replace("-", " to ")


def events(pair: str, pool: Pool, measure: Measure, names: list[str]) -> Scene:
    """Many slow streams."""

    def visit(peer: Peer) -> Seen:
        return read(
            pool.origin_cpus,
            "events",
            peer,
            h2=pair.startswith("h2"),
            streams=measure.streams,
            rate=measure.rate,
            seconds=measure.seconds,
            warm_up=measure.warm_up,
        )

    title = f"events, {_towards(pair)}, {measure.streams} streams x {measure.rate:g}/s"
    return Scene(_named("events", pair), title, *each(pool, names, visit, pair))


def saturation(pair: str, pool: Pool, measure: Measure, names: list[str]) -> Scene:
    """More than most can carry."""

    def visit(peer: Peer) -> Seen:
        return read(
            pool.origin_cpus,
            "events",
            peer,
            h2=pair.startswith("h2"),
            streams=measure.streams,
            rate=1000,
            batch=_PER_WRITE,
            opening=0.003 if measure.quick else 0.006,
            seconds=_ENOUGH * measure.seconds,
            warm_up=measure.warm_up,
        )

    title = f"saturation, {_towards(pair)}, {measure.streams} streams x 1000/s offered"
    return Scene(_named("saturation", pair), title, *each(pool, names, visit, pair))


def bulk(pair: str, pool: Pool, measure: Measure, names: list[str]) -> Scene:
    """One large body."""

    def visit(peer: Peer) -> Seen:
        return read(pool.origin_cpus, "bulk", peer, h2=pair.startswith("h2"), pieces=measure.megabytes * _MIB_IN_PIECES)

    title = f"bulk, {_towards(pair)}, {measure.megabytes} MiB in 64 KiB chunks"
    return Scene(_named("bulk", pair), title, *each(pool, names, visit, pair))


def short(pool: Pool, measure: Measure, names: list[str]) -> Scene:
    """Requests of a hundred bytes on connections that stay open."""

    def visit(peer: Peer) -> Seen:
        return read(pool.origin_cpus, "short", peer, seconds=_ENOUGH * measure.seconds, warm_up=measure.warm_up)

    return Scene("short", "short requests, 16 at a time, keep-alive", *each(pool, names, visit))


def idle(pair: str, pool: Pool, measure: Measure, names: list[str]) -> Scene:
    """Streams that are open and say nothing; each visit has processes of its own, which have held nothing yet."""
    steps = [100] if measure.quick else [1000, 5000]
    title = f"idle streams, {_towards(pair)}, {' and '.join(map(str, steps))}"
    scene = Scene(_named("idle", pair), title, {}, rounds=1)  # memory is no matter of luck
    try:
        need(2 * steps[-1] + 200)
    except UnavailableError as reason:
        scene.absent = dict.fromkeys(names, str(reason))
        return scene

    def visit(name: str) -> Seen:
        with pool.fresh(name, pair) as peer:
            return read(pool.origin_cpus, "idle", peer, h2=pair.startswith("h2"), steps=steps)

    for name in names:
        try:
            if pool.peer(name, pair).process is not None:
                scene.rows[name] = partial(visit, name)
        except UnavailableError as reason:
            scene.absent[name] = str(reason)
    return scene


def tls(pool: Pool, measure: Measure, names: list[str]) -> Scene:
    """TLS towards the client, plain towards the upstream, against plain both ways."""

    def visit(peer: Peer) -> Seen:
        return read(
            pool.origin_cpus,
            "events",
            peer,
            tls=peer.name.endswith("TLS"),
            streams=measure.streams,
            rate=measure.rate,
            seconds=measure.seconds,
            warm_up=measure.warm_up,
        )

    return Scene("tls", "events, TLS against plain", *each(pool, [PROXY, f"{PROXY}, TLS"], visit))


def faults(pool: Pool, measure: Measure, names: list[str]) -> Scene:
    """Each fault alone, and six in a row; a proxy's own scene, with half the streams' time."""
    rows = {
        row: {"prefix": prefix, "gzip": gzip, "streams": measure.streams, "rate": measure.rate}
        for row, (prefix, gzip) in chained.variants().items()
    }
    title = f"faults, {measure.streams} streams x {measure.rate:g}/s"
    return _of_every_fault(Scene("faults", title, {}, beside="none"), pool, measure, "events", rows)


def endings(pool: Pool, measure: Measure, names: list[str]) -> Scene:
    """Short streams with a fault at their end or in their place."""
    rows = {
        row: {"path": path, "events": chained.TALE if leaves else 0}
        for row, (path, leaves) in chained.endings().items()
    }
    title = f"streams of {chained.TALE} events, a connection each"
    return _of_every_fault(Scene("endings", title, {}), pool, measure, "tales", rows)


def _of_every_fault(scene: Scene, pool: Pool, measure: Measure, load: str, rows: dict[str, dict]) -> Scene:
    """With a row for each set of arguments, for half of a visit's time, all of the one process that has every fault."""
    try:
        peer = pool.peer(f"{PROXY}, every fault")
    except UnavailableError as reason:
        scene.absent[PROXY] = str(reason)
        return scene
    times = {"seconds": measure.seconds / 2, "warm_up": measure.warm_up / 2}
    for row, given in rows.items():
        scene.rows[row] = partial(read, pool.origin_cpus, load, peer, **given, **times)
    return scene


GROWTH_RATE = 2000
"""Events a second in all: equal load, or the numbers could not be compared."""


def growth(pool: Pool, measure: Measure, names: list[str]) -> Scene:
    """The same events on more and more streams."""
    scene = Scene("growth", f"growth, {GROWTH_RATE} events/s in all", {})
    most = 100 if measure.quick else 1000
    for name, steps in ((PROXY, sorted({1, 10, 100, most})), ("splice", [10, most])):
        for streams in steps if name in names else ():

            def visit(peer: Peer, streams: int = streams) -> Seen:
                return read(
                    pool.origin_cpus,
                    "events",
                    peer,
                    streams=streams,
                    rate=GROWTH_RATE / streams,
                    seconds=measure.seconds,
                    warm_up=measure.warm_up,
                )

            rows, scene.absent = each(pool, [name], visit)
            scene.rows |= {f"{name}, {streams}": visit for visit in rows.values()}
    return scene


def length(pool: Pool, measure: Measure, names: list[str]) -> Scene:
    """One stream of a million events."""
    pieces, window = (400, 50_000) if measure.quick else (2100, 100_000)

    def visit(peer: Peer) -> Seen:
        return read(pool.origin_cpus, "length", peer, pieces=pieces, window=window)

    title = f"length, {pieces * 500:,} events on one stream"
    return Scene("length", title, *each(pool, [one for one in names if one == PROXY], visit))


def further(pool: Pool, measure: Measure, names: list[str]) -> Scene:
    """A further proxy in a test session; all rows come from one process, which visits them in turn itself."""
    rows: dict[str, Seen] = {}

    def visit(name: str) -> Seen:
        if name not in rows:
            rows.update(_further(pool, 3 if measure.quick else 100))
        return rows.pop(name)

    acts = ["empty run", "proxy", "proxy and origin"]
    return Scene("further", "a further proxy in a test session", {name: partial(visit, name) for name in acts})


def _further(pool: Pool, times: int) -> dict[str, Seen]:
    command = [sys.executable, "-m", "benchmarks.further", str(times)]
    process = started(pool.cpus, *command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    seen: dict[str, Seen] = json.loads(said(process, _TOO_LONG))
    return seen


@contextlib.contextmanager
def exactness(loaded: bool, pool: Pool, measure: Measure, names: list[str]) -> Iterator[Scene]:
    """Injected against asked time."""
    with exact.opened(pool, measure, loaded=loaded) as scene:
        yield scene


ALL: dict[str, Make] = {
    **{_named("events", pair): plain(partial(events, pair)) for pair in PAIRS},
    **{_named("saturation", pair): plain(partial(saturation, pair)) for pair in PAIRS},
    **{_named("bulk", pair): plain(partial(bulk, pair)) for pair in PAIRS},
    "short": plain(short),
    "faults": plain(faults),
    "endings": plain(endings),
    "tls": plain(tls),
    **{_named("idle", pair): plain(partial(idle, pair)) for pair in PAIRS},
    "growth": plain(growth),
    "length": plain(length),
    "exact": partial(exactness, False),
    "exact loaded": partial(exactness, True),
    "further": plain(further),
    "start": plain(starting.scene),
}
