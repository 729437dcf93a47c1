"""A chain whose places rest behaves as one whose places are all awake: same output, same times, same notes, same
credit. The awake one is watched by guards, so grammar, time and conservation hold at every boundary too."""

import zlib
from dataclasses import dataclass
from typing import ClassVar

from hypothesis import given, settings
from hypothesis import strategies as st

from chaosproxy.chain.actions import At, Floor
from chaosproxy.chain.endings import ABORT, Ending
from chaosproxy.chain.fault import Condition, Fault, FaultSpec
from chaosproxy.chain.trigger import Trigger
from chaosproxy.chain.triggered import Triggered
from chaosproxy.faults import Buffer, ClientAbort, Cut, Respond, Timeout
from chaosproxy.model.messages import Abort, Data, End
from chaosproxy.model.vocabulary import Moment, Peer, Way
from chaosproxy.testing.play import GET, POST, Upload, play


@dataclass(frozen=True, slots=True, kw_only=True)
class Late(FaultSpec):
    """A line of some length: never at rest while it applies."""

    name: ClassVar[str] = "late"
    seconds: float
    room: int = 1000

    def start(self, context):
        return RunningLate(self)


class RunningLate(Fault):
    def __init__(self, spec):
        self._seconds = spec.seconds
        self.capacity = spec.room
        self.delays = spec.seconds

    def data(self, data, now):
        return (At(now + self._seconds, data),)

    def control(self, event, now):
        return (At(now + self._seconds, event),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop(FaultSpec):
    """Nothing leaves for a while."""

    name: ClassVar[str] = "stop"
    seconds: float
    room: int = 0

    def start(self, context):
        return RunningStop(self, context)


class RunningStop(Triggered):
    def __init__(self, spec, context):
        super().__init__(spec.at, context)
        self._seconds = spec.seconds
        self.capacity = spec.room

    def fire(self, now):
        return (Floor(now + self._seconds),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Insert(FaultSpec):
    """Puts a comment in, again and again: wakes and goes back to rest."""

    name: ClassVar[str] = "insert"
    edits_body: ClassVar[bool] = True

    def start(self, context):
        return RunningInsert(self.at, context)


class RunningInsert(Triggered):
    def fire(self, now):
        return (Data(b": inserted\n\n"),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Twice(FaultSpec):
    name: ClassVar[str] = "twice"
    edits_body: ClassVar[bool] = True

    def start(self, context):
        return RunningTwice()


class RunningTwice(Fault):
    def data(self, data, now):
        return (data, Data(b": again\n\n"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Code(FaultSpec):
    """A coder: what leaves depends on all that came, some of it stays inside until the end."""

    name: ClassVar[str] = "code"
    edits_body: ClassVar[bool] = True
    sync: bool

    def start(self, context):
        return RunningCode(self)


class RunningCode(Fault):
    capacity = 64

    def __init__(self, spec):
        self._coder, self._sync = zlib.compressobj(), spec.sync

    def data(self, data, now):
        coded = self._coder.compress(data.payload)
        return (Data(coded + self._coder.flush(zlib.Z_SYNC_FLUSH) if self._sync else coded),)

    def control(self, event, now):
        return (Data(self._coder.flush()), event) if isinstance(event, End) else (event,)


small = st.integers(1, 12)
times = st.sampled_from([0.25, 0.5, 1.0, 2.0, 3.0, 4.5])
repeats = st.one_of(st.just({}), st.fixed_dictionaries({"every": st.integers(1, 4), "times": st.integers(1, 3)}))


@st.composite
def triggers(draw):
    repeat = draw(repeats)
    match draw(st.integers(0, 8)):
        case 0 | 1:
            return Trigger(event=draw(small), **repeat)
        case 2:
            return Trigger(bytes=draw(st.integers(1, 120)), **repeat)
        case 3:
            return Trigger(chunk=draw(small), **repeat)
        case 4:
            return Trigger(time=draw(times), **repeat)
        case 5:
            return Trigger(idle=draw(times), **repeat)
        case 6:
            return Trigger(moment=draw(st.sampled_from([Moment.HEADERS, Moment.BODY, Moment.END, Moment.REQUEST_END])))
        case 7:
            return Trigger(match=draw(st.sampled_from(["a", "b+", "^data: a"])), **repeat)
        case _:
            return Trigger(terminal=draw(st.sampled_from(["before", "inside", "after"])))


endings = st.lists(
    st.sampled_from([ABORT, Ending("rst"), Ending("clean"), Ending("fin_mid_chunk"), Ending("status", body=b"late")]),
    min_size=1,
    max_size=2,
).map(tuple)
conditions = st.sampled_from(
    [None, None, None, Condition(status=200), Condition(status="5??"), Condition(content_type="text/*")]
)


@st.composite
def specs(draw):
    if_ = draw(conditions)
    match draw(st.integers(0, 10)):
        case 0 | 1 | 2:
            return Cut(
                at=draw(triggers()), then=draw(endings), side=draw(st.sampled_from([None, None, "client"])), if_=if_
            )
        case 3:
            sizes = draw(st.lists(st.integers(1, 60), min_size=1, max_size=3))
            return Buffer(bytes=tuple(sizes), every=draw(st.sampled_from([None, 1.5])), if_=if_)
        case 4:
            return Buffer(events=draw(small), limit=draw(st.sampled_from([None, 40])), on_abort="drop", if_=if_)
        case 5:
            return Buffer(until_end=True, limit=draw(st.integers(1, 100)), if_=if_)
        case 6:
            return Timeout(
                idle=draw(times),
                total=draw(st.sampled_from([None, 9.0])),
                first_event=draw(st.sampled_from([None, 2.0])),
                ignore=draw(st.sampled_from([(), (), ("comments",)])),
                if_=if_,
            )
        case 7:
            return ClientAbort(
                mode=draw(st.sampled_from(["propagate", "on_next_write", "ignore"])),
                delay=draw(st.sampled_from([0.0, 1.0])),
            )
        case 8:
            return draw(
                st.sampled_from(
                    [
                        Late(seconds=0.5),
                        Late(seconds=2.0, room=1),
                        Late(seconds=0.0, room=0),
                        Twice(),
                        Code(sync=True),
                        Code(sync=False),
                        Respond(status=503, if_=Condition(status="5??")),
                        Cut(at=Trigger(bytes=5), way=Way.REQUEST),
                        Buffer(bytes=8, way=Way.REQUEST),
                        Timeout(idle=1.0, way=Way.REQUEST),
                    ]
                )
            )
        case 9:
            return Stop(at=draw(triggers()), seconds=draw(times), room=draw(st.sampled_from([0, 50])), if_=if_)
        case _:
            return Insert(at=draw(triggers()), if_=if_)


pieces = st.sampled_from(
    [
        b"data: a\n\n",
        b"data: bb\n\n",
        b": c\n\n",
        b"data",
        b": a",
        b"\n",
        b"\n\n",
        b"\r",
        b"data: [DONE]\n\n",
        b"x" * 30,
    ]
)
reads = st.lists(pieces, min_size=1, max_size=6)
rooms = st.integers(1, 200)
others = st.sampled_from(["end", "end", "end", "abort", "hangup", "upload", "request end"])
steps = st.integers(0, 11).flatmap(lambda die: reads if die < 8 else rooms if die < 10 else others)
scripts = st.lists(st.tuples(st.sampled_from([0.0, 0.0, 0.25, 0.5, 1.0, 3.0]), steps), min_size=4, max_size=24)


def script_of(gaps):
    """Times from gaps; nothing of a way behind its terminal."""
    now, script, over, uploaded = 0.0, [], False, False
    for gap, what in gaps:
        now += gap
        if what in ("upload", "request end"):
            if not uploaded:
                script.append((now, Upload(b"uploaded" if what == "upload" else End())))
            uploaded = uploaded or what == "request end"
            continue
        if isinstance(what, int) or what == "hangup":
            script.append((now, what))
            continue
        if not over:
            over = isinstance(what, str)
            script.append(
                (now, {"end": End(), "abort": Abort("upstream:rst", Peer.UPSTREAM)}.get(what, what))
                if over
                else (now, what)
            )
    return script


def outcome(played):
    return {
        "out": played.out,
        "request": played.request,
        "notes": played.notes,
        "cancelled": (played.cancelled_at, played.cancel_cause, played.end_cause),
        "counts": (played.bytes_in, played.records_in, played.bytes_out, played.records_out, played.admitted),
    }


@settings(max_examples=200)
@given(
    hops=st.lists(st.lists(specs(), max_size=3), min_size=1, max_size=3),
    gaps=scripts,
    posted=st.booleans(),
    room=st.sampled_from([None, None, 0, 50]),
    window=st.sampled_from([20, 100, 65536]),
    split=st.booleans(),
)
def test_resting_and_awake_chains_are_the_same(hops, gaps, posted, room, window, split):
    script = script_of([gap for gap in gaps if posted or gap[1] not in ("upload", "request end")])
    options = {"request": POST if posted else GET, "room": room, "window": window, "split": split, "until": 60.0}
    lazy = play(hops, script, lazy=True, **options)
    awake = play(hops, script, lazy=False, **options)
    for fact, value in outcome(lazy).items():
        assert (fact, value) == (fact, outcome(awake)[fact])


@settings(max_examples=100)
@given(hops=st.lists(st.lists(specs(), max_size=3), min_size=1, max_size=2), gaps=scripts)
def test_the_same_script_plays_the_same_twice(hops, gaps):
    script = script_of([gap for gap in gaps if gap[1] not in ("upload", "request end")])
    assert outcome(play(hops, script, until=60.0)) == outcome(play(hops, script, until=60.0))


def test_the_faults_of_this_test_do_something():
    late = play([Late(seconds=0.5)], [(1.0, b"data: a\n\n"), (2.0, End())])
    assert late.body == [(1.5, b"data: a\n\n")]
    two = [(1.0, b"data: a\n\n"), (1.5, b"data: b\n\n"), (5.0, End())]
    stopped = play([Stop(at=Trigger(event=1), seconds=2.0)], two)
    assert stopped.body == [(1.0, b"data: a\n\n"), (3.0, b"data: b\n\n")]
    inserted = play([Insert(at=Trigger(event=1, every=1, times=2))], [(1.0, b"data: a\n\ndata: b\n\n"), (5.0, End())])
    assert inserted.data == b"data: a\n\n: inserted\n\ndata: b\n\n: inserted\n\n"
    assert play([Twice()], [(1.0, b"data: a\n\n")]).data == b"data: a\n\n: again\n\n"
    assert zlib.decompress(play([Code(sync=False)], two).data) == b"data: a\n\ndata: b\n\n"
