"""What has to be true of every run, whatever the world.

Each check gives lines for a person. Must not know: how the proxy is built.
"""

import zlib
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from chaosproxy.chain.fault import FaultSpec
from chaosproxy.embedded.setup import read
from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.model.vocabulary import Way
from chaosproxy.scenario.schema import Rule, Scenario
from tests.simulation.evidence import disagreements
from tests.simulation.run import Run
from tests.simulation.seen import Got, Served
from tests.simulation.world import SILENT, Answer, Ask, World

OWN = {400, 408, 413, 414, 431, 501, 502, 503, 504}
"""What the proxy, and a `status` of a fault, answer by themselves."""


class Met:
    """The faults that one exchange has met."""

    def __init__(self, scenario: Scenario, record: ExchangeRecord) -> None:
        rule = Rule() if record.rule is None else scenario.rules[record.rule]
        self.faults: list[tuple[int, FaultSpec]] = [
            (number, spec) for number, hop in enumerate(rule.hops) for spec in hop.faults
        ]
        self.below = bool(scenario.connections)
        self.records = rule.records

    def of(self, way: Way) -> list[FaultSpec]:
        """Those that act on this way."""
        return [spec for _, spec in self.faults if spec.way in (way, "both")]

    def answer(self, status: int | None) -> bool:
        """One of them may have answered so."""
        return any(getattr(spec, "status", None) == status for _, spec in self.faults)

    def rewrites(self, way: Way) -> bool:
        """A fault may change or move bytes, and leaves as many."""
        return any(spec.rewrites_body for spec in self.of(way))

    def edits(self, way: Way) -> bool:
        """What comes out is not what went in."""
        return any(spec.edits for spec in self.of(way))

    def may_end(self, way: Way) -> bool:
        """A fault may end this way, so that it looks complete."""
        return any(hasattr(spec, "then") for spec in self.of(way))


def _mentions(document: object, *words: str) -> bool:
    return any(word in repr(document) for word in words)


def lies(world: World) -> bool:
    """A fault says what is not true of a body, or spells it as a strict reader does not read: that reader may stop."""
    return _mentions(world.document, "chunk_syntax", "'framing'", "'garbage'")


def may_wait(world: World) -> bool:
    """Somebody may wait for ever."""
    large = any(len(answer.body) > 2000 for answer in world.answers.values())
    too_small = _mentions(world.document, "'limit'") and _mentions(world.document, "'events'")
    return (
        lies(world)
        or too_small  # a buffer that never holds as many events as it waits for
        or _mentions(world.document, "silence", "forever", "blackhole", "abort_upstream", "connections")
        or any(answer.ending in ("silence", "goaway") for answer in world.answers.values())
        or (large and _mentions(world.document, "bandwidth", "resegment", "slow_reader"))
        or (_mentions(world.document, "pace") and any(len(answer.body) > 100 for answer in world.answers.values()))
        or (large and world.room < 1000 and any(client.nap for client in world.clients))  # who naps behind a small room
    )


def may_linger(world: World) -> bool:
    """An upstream may be kept though nobody is there."""
    return _mentions(
        world.document, "blackhole", "linger", "on_next_write", "ignore", "side", "serve", "connections", "leave"
    )


def complete(answer: Answer, method: bytes) -> bool:
    """As the upstream sends it, it is whole."""
    bodiless = method == b"HEAD" or answer.framing == "none"
    return answer.whole or (bodiless and answer.ending != "garbage")


def events(answer: Answer, size: int) -> int:
    """How many of its records that say something lie in the first `size` bytes."""
    found = at = 0
    for record in answer.records:
        at += len(record)
        found += at <= size and not record.startswith(SILENT)
    return found


def decoded(coding: bytes, body: bytes) -> bytes:
    """As far as it can be decoded."""
    return zlib.decompressobj(31 if coding == b"gzip" else 15).decompress(body)


def _received(world: World, got: Got, record: ExchangeRecord, met: Met) -> Iterator[str]:
    """What the client got is what the upstream said, up to where it was cut."""
    answer, ask = world.answers[got.number], world.asks[got.number]
    if got.answered_by is None:
        if got.status not in OWN and not met.answer(got.status):
            yield f"status {got.status}, of nobody"
        return
    if got.answered_by != got.number:
        yield f"the answer to {got.answered_by}"
    if got.status != answer.status:
        yield f"status {got.status} of {answer.status}"
    end = record.end
    ended_here = end is not None and (end.by, end.how) == ("proxy", "clean") and end.cause is not None
    if met.edits(Way.RESPONSE):
        coded = all(spec.codes_body for spec in met.of(Way.RESPONSE) if spec.edits)
        if coded and not met.rewrites(Way.RESPONSE):
            coding = got.headers.get(b"content-encoding", [b""])
            if coding in ([b"gzip"], [b"deflate"]):
                body = decoded(coding[0], bytes(got.body))
                if not answer.body.startswith(body):
                    yield f"decoded {body!r} of {answer.body!r}"
        return
    rewritten = met.rewrites(Way.RESPONSE) and len(got.body) <= len(answer.body)
    if not (rewritten or answer.body.startswith(got.body)):
        yield f"{bytes(got.body)!r} of {answer.body!r}"
    bodiless = ask.method == b"HEAD" or answer.framing == "none"
    looks_whole = got.ended and got.framed and not bodiless
    same = len(got.body) == len(answer.body) if rewritten else got.body == answer.body
    is_whole = same and complete(answer, ask.method)
    if looks_whole and not is_whole and not (ended_here and met.may_end(Way.RESPONSE)):
        yield f"{bytes(got.body)!r} of {answer.body!r} looks whole"


def _journalled(world: World, got: Got, record: ExchangeRecord, met: Met, *, reset: bool) -> Iterator[str]:
    """What the journal says is what the client has seen. `reset`: what it had not read when another exchange ended the
    connection is lost."""
    answer, shown = world.answers[got.number], record.response
    assert record.end is not None
    clean = record.end.how == "clean"
    if got.status is not None and got.status != shown.status:
        yield f"status {got.status}, journalled {shown.status}"
    if clean and not got.left and not got.ended and not met.below and not reset:
        yield f"journalled clean, but broken off ({got.broken})"
    # Head and chunk sizes too: else what waits for the socket goes with a reset.
    fits = world.room > 500 + 8 * len(answer.body)
    exact = (clean and got.ended) or (fits and got.protocol == "h1" and not got.left and not met.below)
    if shown.bytes_out < len(got.body) or (exact and shown.bytes_out != len(got.body)):
        yield f"{len(got.body)} bytes, journalled {shown.bytes_out}"
    changed = met.edits(Way.RESPONSE) or met.rewrites(Way.RESPONSE)
    counted = got.answered_by and answer.kind == "sse" and not changed and not met.records
    found = events(answer, len(got.body))
    if counted and shown.bytes_out == len(got.body) and shown.events_out not in (found, None):
        yield f"{found} events, journalled {shown.events_out}"


def _consistent(record: ExchangeRecord) -> Iterator[str]:
    """The journal agrees with itself."""
    if record.end is None:
        yield "no end"
        return
    if record.end.cause == "internal":
        yield f"an internal error: {record.detail}"
    shown, times = record.response, record.times
    whole = (record.end.by, record.end.how) == ("upstream", "clean")  # else some of it may have come for nobody
    marks = [("arrivals", record.arrivals, shown.bytes_in), ("deliveries", record.deliveries, shown.bytes_out)]
    for name, series, total in marks:
        found = list(series)
        size = sum(size for _, size in found)
        if size < total or (size > total and (whole or name == "deliveries")):
            yield f"{name} of {size} bytes, but {total} in all"
        if any(later < earlier for (earlier, _), (later, _) in pairwise(found)):
            yield f"{name} not in order: {found}"
    known = [
        times.head_sent, times.first_event_in, times.first_event_out, times.upstream_head, times.request_end,
        *(seconds for series in (record.arrivals, record.deliveries) for seconds, _ in series),
    ]  # fmt: skip
    if times.end is None or any(time is not None and time < 0 for time in known):
        yield f"times {times}"


def _noted(record: ExchangeRecord, met: Met) -> Iterator[str]:
    """Every fault of the rule has acted, or it stands there why not."""
    told = {(fired.hop, fired.fault) for fired in record.faults}
    told |= {(missed.hop, missed.fault) for missed in record.not_fired}
    for hop, spec in met.faults:
        if (hop, spec.name) not in told:
            yield f"{spec.name} of hop {hop} neither in faults nor in not_fired"


def _sent(world: World, got: Got, served: list[Served], record: ExchangeRecord, met: Met) -> Iterator[str]:
    """What the upstream got is what the client said."""
    ask, answer = world.asks[got.number], world.answers[got.number]
    if record.request.bytes > len(ask.body):
        yield f"an upload of {len(ask.body)} bytes, journalled {record.request.bytes}"
    for one in served:
        if one.method != ask.method:
            yield f"asked by {one.method!r}"
        if met.edits(Way.REQUEST):
            continue
        rewritten = met.rewrites(Way.REQUEST) and len(one.body) <= len(ask.body)
        if not (rewritten or ask.body.startswith(one.body)):
            yield f"uploaded {bytes(one.body)!r} of {ask.body!r}"
        same = len(one.body) == len(ask.body) if rewritten else one.body == ask.body
        if one.complete.is_set() and not same and not met.may_end(Way.REQUEST):
            yield f"an upload of {bytes(one.body)!r} of {ask.body!r} looks whole"
        if one.complete.is_set() and one.body == ask.body and record.request.bytes != len(ask.body):
            yield f"an upload of {len(ask.body)} bytes, journalled {record.request.bytes}"
        if one.complete.is_set() and ask.broken == "body":
            yield "an upload that broke HTTP looks whole"
    clean = all(
        end is not None and (end.by, end.how) == ("upstream", "clean") for end in (record.end, record.upstream.end)
    )
    if served and served[-1].answered and clean:
        expected = 0 if ask.method == b"HEAD" else len(answer.body)
        if record.response.bytes_in != expected:
            yield f"{expected} bytes of the upstream, journalled {record.response.bytes_in}"


def _ended(world: World, ran: Run) -> Iterator[str]:
    """Nobody waits for what does not come, and nothing is left."""
    if not may_wait(world):
        for got in ran.seen.got.values():
            if got.waited and got.asked:
                yield f"request {got.number}: waited in vain"
    if ran.begun != len(ran.records):
        yield f"{ran.begun} exchanges, {len(ran.records)} in the journal"
    if not may_linger(world):
        if ran.before.exchanges or ran.before.clients or ran.before.tasks or ran.before.alarms:
            yield f"with everybody gone: {ran.before}"
        if ran.unwanted:
            yield f"requests {ran.unwanted}: the upstream was not told that nobody wants them"
    after = ran.after
    if _mentions(world.document, "connections"):  # one that a machine has swallowed is there as long as the proxy
        after = replace(after, clients=0, tasks=0, alarms=0)
    if after.exchanges or after.clients or after.tasks or after.alarms:
        yield f"after the shutdown: {after}"


def _first_asked(world: World, records: dict[int, ExchangeRecord], ran: Run) -> Iterator[str]:
    """What was asked is in the journal."""
    for client in world.clients:
        if client.protocol == "h2" and client.together:
            continue  # which is the first is a matter of pauses, and its end may be that of the others
        first: Ask = client.asks[0]
        got = ran.seen.got.get(first.number)
        asked = got is not None and got.asked and not first.broken and not _mentions(world.document, "connections")
        if asked and first.number not in records:
            yield f"request {first.number}: not journalled"


def _true(world: World, line: str) -> bool:
    """Whether it says of an upstream that it broke HTTP, and one did."""
    breaks = any(answer.ending in ("garbage", "stray") for answer in world.answers.values())
    return breaks and line.startswith("upstream connection ") and " broke HTTP: " in line


def problems(world: World, ran: Run) -> list[str]:
    """Everything that is wrong with a run."""
    wrong = [] if lies(world) else ran.seen.wrong
    found = [*wrong, *(f"logged: {line}" for line in ran.logged if not _true(world, line)), *_ended(world, ran)]
    scenario, records = read(world.document), dict[int, ExchangeRecord]()
    reset = {record.client.connection for record in ran.records if record.end is not None and record.end.how == "rst"}
    for record in ran.records:
        tail = record.request.path.rpartition("/")[2]
        if tail.isdigit():
            if int(tail) in records:
                found.append(f"request {tail}: twice in the journal")
            records[int(tail)] = record
        found += [f"exchange {record.id}: {line}" for line in (*_consistent(record), *disagreements(record))]
    found += _first_asked(world, records, ran)
    for number, got in sorted(ran.seen.got.items()):
        record = records.get(number)
        if record is None:
            if got.status is not None and not world.asks[number].broken:
                found.append(f"request {number}: answered, not journalled")
            continue
        met = Met(scenario, record)
        served = [one for one in ran.seen.served if one.number == number]
        lines = [*_noted(record, met), *_sent(world, got, served, record, met)]
        if record.end is not None and not lies(world):
            lines += _journalled(world, got, record, met, reset=record.client.connection in reset)
            if got.status is not None:
                lines += _received(world, got, record, met)
        found += [f"request {number}: {line}" for line in lines]
    return found
