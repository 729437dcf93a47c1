"""What every fault, splitter and session must be able to stand: conformance checks, for ours and for users' own.

Each raises AssertionError with what was fed and what came. Rules: no test framework is needed; nothing is random but
what a seed decides. Must not know: which faults exist.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from chaosproxy.chain.fault import FaultSpec
from chaosproxy.framing.splitter import Splitter
from chaosproxy.model.messages import Abort, Data, End, Event, Trailers
from chaosproxy.model.vocabulary import Peer
from chaosproxy.session import Arrived, Session, Signal
from chaosproxy.testing.play import POST, SSE, Step, Upload, play
from chaosproxy.testing.played import Played

_EVENTS = [b"data: %d\n\n" % number for number in range(8)]
_UNREADABLE = replace(SSE, headers=(*SSE.headers, (b"content-encoding", b"gzip")))
_BROKEN = Abort("upstream:fin", Peer.UPSTREAM)

SCRIPTS: dict[str, Sequence[Step]] = {
    "a stream": [*((0.1 * number, event) for number, event in enumerate(_EVENTS, 1)), (1.0, End())],
    "everything in one read": [(0.1, _EVENTS), (0.1, End())],
    "cut anywhere": [
        (0.1, b"da"),
        (0.2, b"ta: 1\r"),
        (0.3, b"\n\r\ndata: 2\n\n: ping\n\ndata"),
        (0.9, b": 3\n\n"),
        (1.0, End()),
    ],
    "trailers": [(0.1, _EVENTS[0]), (0.2, Trailers(((b"a", b"b"),))), (0.2, End())],
    "nothing but a head": [(0.1, End())],
    "broken off": [(0.1, _EVENTS[0]), (0.2, _EVENTS[1] + b"data"), (0.3, _BROKEN)],
    "broken off before the head": [(0.3, _BROKEN)],
    "the client leaves": [(0.1, _EVENTS[0]), (0.15, "hangup"), (0.2, _EVENTS[1]), (0.3, _EVENTS[2]), (0.4, End())],
    "a silence": [(0.1, _EVENTS[0]), (120.0, _EVENTS[1]), (240.0, End())],
    "an upload": [(0.1, Upload(b"abc")), (0.2, Upload(b"def")), (0.3, Upload(End())), (0.4, _EVENTS[0]), (0.5, End())],
}
"""What a fault is played against; `check_fault` takes others too."""


def check_fault(spec: FaultSpec, *, neutral: bool = False, scripts: dict[str, Sequence[Step]] | None = None) -> None:
    """Play `spec` against every script, with a client that takes all and one that takes a few bytes at a time.

    Checked: the order of events and the conservation of bytes at every boundary, `held` truthful, wakes that make
    progress; that the client has left is passed on at once, or the fault says that it keeps it; resting and being kept
    awake are the same; the same seed gives the same again; how the body was cut into pieces does not matter; who acts on
    events alone says so. `neutral`: the spec, with these parameters, changes nothing at all. AssertionError with what was
    played and what came if not.
    """
    _check_cuts(spec)
    _check_reason(spec)
    for name, script in (SCRIPTS if scripts is None else scripts).items():
        request: dict[str, Any] = {"request": POST} if any(isinstance(what, Upload) for _, what in script) else {}
        for slow in (False, True):
            steps = _slowly(script) if slow else script
            options: dict[str, Any] = {**request, **({"room": 0, "window": 16} if slow else {})}
            played = play([spec], steps, **options)
            awake = play([spec], steps, lazy=False, **options)
            again = play([spec], steps, **options)
            where = f"{spec.name} against {name!r}{', a slow client' if slow else ''}"
            assert repr(played) == repr(again), f"{where}: not the same again\n{played}\n{again}"
            assert played.out == awake.out, f"{where}: at rest and awake differ\n{played}\n{awake}"
            assert played.fired == awake.fired, f"{where}: at rest and awake note differently\n{played}\n{awake}"
            assert played.cancelled_at == awake.cancelled_at, f"{where}: at rest and awake leave differently"
            _check_bytes(spec, played, where)
            _check_upload(spec, script, played, where)
            _check_leaving(steps, played, where)
            if neutral:
                plain = play([], steps, **options)
                assert played.out == plain.out, f"{where}: it is not neutral\n{played}\n{plain}"
                assert not played.fired, f"{where}: it says that it acted: {played.fired}"


def _check_bytes(spec: FaultSpec, played: Played, where: str) -> None:
    """An answer that no fault has ended is what the upstream sent. (How many bytes, the guards have counted.)"""
    if played.end_cause is not None or played.end is None or not isinstance(played.end[1], End):
        return
    assert played.cancelled_at is not None or any(isinstance(event, End) for _, event in played.arrived), (
        f"{where}: an End of its own, while the upstream is still asked: who ends an exchange answers Finish"
    )
    if spec.edits or spec.rewrites_body:
        return
    sent = b"".join(event.payload for _, event in played.arrived if isinstance(event, Data))
    assert played.data == sent, (
        f"{where}: a clean end, but {played.data!r} of {sent!r}; a fault that changes or moves bytes says `rewrites_body`"
    )


def _check_leaving(script: Sequence[Step], played: Played, where: str) -> None:
    """A client's leaving goes on to the upstream in the same instant, or the journal tells who keeps it."""
    left = next((time for time, what in script if what == "hangup"), None)
    if left is None or played.unheard or (played.end is not None and played.end[0] <= left):
        return
    told = played.cancelled_at is not None and played.cancelled_at <= left
    assert told or any(time >= left for time, _, _ in played.fired), (
        f"{where}: it keeps from the upstream that the client has left, and does not say so: `hangup` answers with a "
        f"PassOn, or with a Note\n{played}"
    )


def _check_upload(spec: FaultSpec, script: Sequence[Step], played: Played, where: str) -> None:
    """A request that has ended came to the upstream as the client sent it."""
    if spec.edits or spec.rewrites_body or not any(isinstance(event, End) for _, event in played.request):
        return
    sent = b"".join(what.what for _, what in script if isinstance(what, Upload) and isinstance(what.what, bytes))
    got = b"".join(event.payload for _, event in played.request if isinstance(event, Data))
    assert got == sent, f"{where}: of the upload {sent!r} came {got!r}; who changes or moves bytes says `rewrites_body`"


def _check_cuts(spec: FaultSpec) -> None:
    """Where a piece ends is chance, unless it is cut by chunks: the same body at the same moment gives the same body."""
    if spec.codes_body or (spec.at is not None and spec.at.chunk is not None):
        return
    whole = play([spec], [(0.1, _EVENTS), (0.1, End())])
    body = b"".join(_EVENTS)
    for how, pieces in {"in one piece": [body], "byte by byte": [body[at : at + 1] for at in range(len(body))]}.items():
        cut = play([spec], [(0.1, pieces), (0.1, End())])
        assert cut.data == whole.data, (
            f"{spec.name} against events {how}: not what it makes of the same events one by one; a Data is a piece of body, "
            f"and holds many events, or a part of one\n{cut}\n{whole}"
        )


def _check_reason(spec: FaultSpec) -> None:
    """Who acts on events alone says so, else the journal cannot tell why it does nothing in a body that has none."""
    script = SCRIPTS["a stream"]
    unread = play([spec], script, head=_UNREADABLE)
    assert unread.fired or (spec.name, "not reached") not in unread.not_fired or not play([spec], script).fired, (
        f"{spec.name} acts on events, and not where they cannot be read: it has to say `reads_records`"
    )


def _slowly(script: Sequence[Step]) -> list[Step]:
    """The script with a client that takes ten bytes after each step, and everything in the end."""
    steps: list[Step] = []
    for time, what in script:
        steps += [(time, what), (time, 10)]
    return [*steps, (max((time for time, _ in script), default=0.0) + 1000.0, 1_000_000)]


def check_splitter(make: Callable[[], Splitter], body: bytes, records: int) -> None:
    """The records of `body` are `records`, however it is cut; offsets ascend and lie within their payload. AssertionError
    with the pieces if not."""
    cuts = [[body], [body[at : at + 1] for at in range(len(body))]]
    cuts += [[body[:at], body[at:]] for at in range(1, len(body))]
    for pieces in cuts:
        splitter = make()
        found = 0
        for piece in pieces:
            if not piece:
                continue
            ends = splitter.feed(piece)
            assert list(ends) == sorted(set(ends)), f"{ends} do not ascend in {piece!r}"
            assert all(0 < end <= len(piece) for end in ends), f"{ends} lie outside {piece!r}"
            found += len(ends)
        found += splitter.pending
        assert found == records, f"{found} records instead of {records} in {pieces!r}"


def check_session(make: Callable[[], Session], data: bytes) -> None:
    """Any bytes give signals, never an exception; and the same events however they are cut into reads. AssertionError with
    both if not."""
    whole = _fed(make(), [data])
    for size in (1, 7):
        cut = _fed(make(), [data[at : at + size] for at in range(0, len(data), size)])
        assert cut == whole, f"in reads of {size}: {cut}\nin one: {whole}"


def _essence(event: Event) -> Event:
    """Without what may depend on the reads: the pieces of a chunk, a count in the words for a person."""
    match event:
        case Data(payload):
            return Data(payload)
        case Abort():
            return replace(event, detail="")
        case _:
            return event


def _fed(session: Session, pieces: Sequence[bytes]) -> list[tuple[int, Event] | Signal]:
    """Everything the session says, bodies joined, since pieces of them follow the reads."""
    told: list[tuple[int, Event] | Signal] = []
    for piece in (*pieces, b""):
        for signal in session.receive(piece):
            if not isinstance(signal, Arrived):
                told.append(signal)
                continue
            for event in signal.events:
                last = told[-1] if told else None
                if (
                    isinstance(event, Data)
                    and isinstance(last, tuple)
                    and last[0] == signal.stream
                    and isinstance(last[1], Data)
                ):
                    told[-1] = (signal.stream, Data(last[1].payload + event.payload))
                else:
                    told.append((signal.stream, _essence(event)))
        session.outgoing()
    return told
