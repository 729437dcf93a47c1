"""The faults of time in any company: at rest and awake they are the same, nothing is lost, added or out of order."""

from hypothesis import given, settings
from hypothesis import strategies as st

from chaosproxy.chain.fault import FaultSpec
from chaosproxy.chain.trigger import Trigger
from chaosproxy.faults import Bandwidth, Buffer, Cut, HoldHead, Latency, Stall, Timeout
from chaosproxy.faults.stall import Meanwhile
from chaosproxy.model.messages import Abort, Data, End, Interim, RequestHead, Trailers
from chaosproxy.model.vocabulary import Moment, Peer, Way
from chaosproxy.testing.play import POST, SSE, Upload, play

SAID = b": keep-alive\n\n"

durations = st.sampled_from([0.0, 0.05, 0.1, 0.35, 1.0, 7.0])
rooms = st.sampled_from([1, 20, 1024])
places = st.one_of(
    st.sampled_from([Trigger(moment=moment) for moment in Moment if moment is not Moment.AFTER_END]),
    st.builds(lambda n, every: Trigger(event=n, every=every), st.integers(1, 4), st.sampled_from([None, 1, 2])),
    st.builds(lambda n, every: Trigger(bytes=n, every=every), st.integers(1, 40), st.sampled_from([None, 9, 10])),
    st.builds(lambda n: Trigger(chunk=n), st.integers(1, 4)),
    st.builds(lambda n: Trigger(time=n / 10, every=0.4, times=3), st.integers(0, 20)),
    st.builds(lambda n: Trigger(idle=n / 10, every=0.3, times=2), st.integers(1, 8)),
    st.builds(lambda n: Trigger(match=str(n)), st.integers(0, 6)),
)
speaking = places.filter(lambda at: at.moment not in (Moment.REQUEST, Moment.REQUEST_END))
beats = st.builds(Meanwhile, comments=st.sampled_from([0.03, 0.1, 0.5]))


def on(way: Way) -> st.SearchStrategy[FaultSpec]:
    """The faults that there are on both ways."""
    return st.one_of(
        st.builds(
            Latency,
            delay=durations,
            jitter=durations,
            distribution=st.sampled_from(["uniform", "normal", "pareto"]),
            capacity=rooms,
            way=st.just(way),
        ),
        st.builds(
            Bandwidth,
            rate=st.sampled_from([20.0, 100.0, 1e6]),
            burst=st.sampled_from([0, 15, 1000]),
            way=st.just(way),
        ),
        st.builds(HoldHead, until=st.one_of(st.sampled_from(["first_byte", "end"]), durations), way=st.just(way)),
        st.builds(Stall, for_=durations, at=places, capacity=rooms, way=st.just(way)),
    )


of_answers = st.one_of(
    on(Way.RESPONSE),
    st.builds(Stall, for_=durations, at=speaking, capacity=rooms, meanwhile=beats),
    st.builds(Buffer, bytes=st.sampled_from([1, 12, 30])),
)
ending = st.one_of(
    st.builds(Cut, at=st.builds(lambda n: Trigger(bytes=n), st.integers(1, 40))),
    st.builds(Timeout, idle=st.sampled_from([0.2, 0.5, 3.0])),
)
pieces = st.sampled_from(
    [b"data: 1\n\n", b"data: 2\n\ndata: 3\n\n", b"da", b"ta: 4\n", b"\n", b": x\n\n", b"data: 5\n\n" * 4]
)
gaps = st.sampled_from([0.0, 0.0, 0.1, 0.3, 1.1])
last = st.sampled_from([[End()], [Trailers(((b"a", b"b"),)), End()], [Abort("upstream:fin", Peer.UPSTREAM)], []])


@st.composite
def bodies(draw):
    now, steps = 0.0, []
    for gap, piece in draw(st.lists(st.tuples(gaps, pieces), max_size=8)):
        now = round(now + gap, 9)
        steps.append((now, piece))
    return steps, now


@st.composite
def answers(draw):
    steps, now = draw(bodies())
    steps.insert(0, (0.0, SSE))
    if draw(st.booleans()):
        steps.insert(0, (0.0, Interim(103)))
    if draw(st.integers(0, 5)) == 0:
        steps.append((round(now + draw(gaps), 9), "hangup"))
    steps += [(steps[-1][0], event) for event in draw(last)]
    room = draw(st.sampled_from([None, 0, 25]))
    if room is not None:
        now = steps[-1][0]
        steps += [*((now + 5.0 * turn, 15) for turn in range(1, 6)), (now + 100.0, 10**6)]
    return steps, room


def both(line, steps, **options):
    lazy = play(line, steps, until=1e5, **options)
    awake = play(line, steps, until=1e5, lazy=False, **options)
    assert lazy.out == awake.out, f"{lazy}\n{awake}"
    assert lazy.request == awake.request
    assert lazy.notes == awake.notes
    assert (lazy.cancelled_at, lazy.admitted) == (awake.cancelled_at, awake.admitted)
    assert repr(play(line, steps, until=1e5, **options)) == repr(lazy)
    return lazy


@settings(max_examples=100)
@given(
    hops=st.lists(of_answers, min_size=1, max_size=4),
    ends=st.one_of(st.none(), st.none(), ending),
    script=answers(),
    window=st.sampled_from([1, 16, 65536]),
)
def test_an_answer(hops, ends, script, window):
    steps, room = script
    played = both([*hops, ends] if ends is not None else hops, steps, room=room, window=window)
    sent = b"".join(event.payload for _, event in played.arrived if isinstance(event, Data))
    got = played.data.replace(SAID, b"")
    silent = all(getattr(fault, "meanwhile", None) is None for fault in hops)
    assert sent.startswith(got) or not silent  # else it may end in the middle of what was said meanwhile
    whats = [what for _, what in steps]
    if End() in whats and "hangup" not in whats and ends is None:
        assert got == sent
        assert isinstance(played.end[1], End)


@settings(max_examples=60)
@given(hops=st.lists(on(Way.REQUEST), min_size=1, max_size=4), script=bodies(), window=st.sampled_from([1, 16, 65536]))
def test_a_request(hops, script, window):
    steps, now = script
    uploads = [*((time, Upload(piece)) for time, piece in steps), (now, Upload(End()))]
    played = both(hops, [*uploads, (9000.0, SSE), (9001.0, End())], request=POST, window=window)
    events = [event for _, event in played.request]
    assert b"".join(event.payload for event in events if isinstance(event, Data)) == b"".join(
        piece for _, piece in steps
    )
    assert isinstance(events[0], RequestHead)
    assert isinstance(events[-1], End)
    assert played.end == (9001.0, End())
