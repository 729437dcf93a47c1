"""Injected against asked time: how late each kind of waiting comes, beside a bare sleep and beside no waiting at all.

Rules: everything is visited in turn; a load, where there is one, is the same for all, and meets no fault.
"""

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial

from benchmarks import own
from benchmarks.chained import ASKED_MS, EXACT
from benchmarks.peers import Peer, Pool
from benchmarks.programs import UnavailableError, started
from benchmarks.scene import Measure, Scene, Seen, read, reader

_STREAMS = 20
_UNTIL_LOADED = 0.3
_LEAST = 3.0
"""Seconds of a visit: a 99th percentile needs some hundred samples."""


def _seconds(measure: Measure) -> float:
    return measure.seconds if measure.quick else max(measure.seconds, _LEAST)


@contextlib.contextmanager
def loading(pool: Pool, port: int, measure: Measure, *, loaded: bool) -> Iterator[None]:
    """A reader that reads the streams of the load beside what is measured, if there is a load."""
    if not loaded:
        yield
        return
    given = {"load": "events", "port": port, "pids": [], "streams": measure.streams, "rate": measure.rate}
    given |= {"seconds": 3600}
    with reader(pool.origin_cpus, given, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            time.sleep(_UNTIL_LOADED + measure.streams * 0.003)
            yield
        finally:
            process.kill()


@contextlib.contextmanager
def sleeper(pool: Pool) -> Iterator[subprocess.Popen[str]]:
    """The process that sleeps on demand."""
    command = [sys.executable, "-m", "benchmarks.sleeper", str(pool.origin)]
    with started(pool.cpus, *command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


@contextlib.contextmanager
def opened(pool: Pool, measure: Measure, *, loaded: bool) -> Iterator[Scene]:
    """The scene, idle or under load."""
    how = f"beside {measure.streams} streams x {measure.rate:g}/s" if loaded else "idle"
    scene = Scene("exact loaded" if loaded else "exact", f"late by, asked for {ASKED_MS:g} ms, {how}", {})
    with sleeper(pool) as process:
        assert process.stdin
        assert process.stdout
        port = int(process.stdout.readline())

        def sleep() -> Seen:
            assert process.stdin
            assert process.stdout
            with loading(pool, port, measure, loaded=loaded):
                process.stdin.write(f"{_STREAMS} {ASKED_MS} {_seconds(measure)}\n")
                process.stdin.flush()
                seen: Seen = json.loads(process.stdout.readline())
            return seen

        scene.rows["trio.sleep"] = sleep
        try:
            peer = pool.peer("chaosproxy, exact")
        except UnavailableError as reason:
            scene.absent["chaosproxy"] = str(reason)
        else:
            scene.rows |= _waiting(pool, peer, measure, loaded=loaded)
        yield scene


def _waiting(pool: Pool, peer: Peer, measure: Measure, *, loaded: bool) -> dict[str, partial[Seen]]:
    def visit(load: str, **arguments) -> Seen:
        assert peer.journal
        journal = own.Journal(peer.journal)
        with loading(pool, peer.port, measure, loaded=loaded):
            seen = read(pool.origin_cpus, load, peer, seconds=_seconds(measure), **arguments)
            exchanges = journal.exchanges(arguments["prefix"], arguments.get("streams", 1))
        return seen | own.lateness(exchanges, arguments["asked_ms"], arguments.get("batch", 0))

    rows = {"no fault": partial(visit, "lateness", prefix="/none", asked_ms=0, batch=1, streams=_STREAMS)}
    for name, (_, batch) in EXACT.items():
        common = {"prefix": f"/exact-{name}", "asked_ms": ASKED_MS}
        if batch:
            rows[name] = partial(visit, "lateness", batch=batch, streams=_STREAMS, **common)
        else:
            rows[name] = partial(visit, "ends", **common)
    return rows
