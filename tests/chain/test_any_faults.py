"""Any faults in any company: a chain whose places rest does what one with every place awake and watched does.

Each example is made from one number, which a failure names.
"""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import Condition, FaultSpec
from chaosproxy.chain.trigger import Trigger
from chaosproxy.faults import (
    AbortUpstream,
    Absorb,
    Bandwidth,
    Blackhole,
    BrokenEnd,
    Buffer,
    Cache,
    ClientAbort,
    Concurrency,
    Cork,
    Cut,
    Drop,
    Duplicate,
    ErrorEvent,
    Frames,
    Framing,
    GrpcStatus,
    HoldHead,
    Inject,
    Latency,
    LineEndings,
    Linger,
    Mutate,
    Pace,
    RateLimit,
    Reorder,
    ReplaceBody,
    Resegment,
    RetryUpstream,
    Route,
    SlowReader,
    Stall,
    Strip,
    Timeout,
)
from chaosproxy.model.messages import Abort, End
from chaosproxy.model.units import Allowance
from chaosproxy.model.vocabulary import Manner, Moment, Peer, Scope, Way
from chaosproxy.testing.play import GET, POST, Upload, play

ENDINGS = [Ending("clean"), Ending("rst"), Ending("silence"), Ending("abort"), Ending("fin_mid_chunk")]
MOMENTS = [Moment.REQUEST, Moment.REQUEST_END, Moment.HEADERS, Moment.BODY, Moment.END]
UNITS = [b"data: 1\n\n", b": c\n\n", b"id: 3\ndata: 3\n\n", b"data: 5\n\n", b"data: x\n\n", b"data: [DONE]\n\n"]
BROKEN = Abort("upstream:fin", Peer.UPSTREAM, Scope.STREAM, Manner.FIN)


def trigger(random: Random) -> Trigger:
    every = random.choice([None, None, 1, 2])
    return random.choice(
        [
            Trigger(event=random.randint(1, 6), every=every),
            Trigger(bytes=random.randint(1, 70), every=every and every * 7),
            Trigger(chunk=random.randint(1, 6), every=every),
            Trigger(time=random.choice([0.0, 0.5, 1.5, 2.0]), every=every),
            Trigger(idle=random.choice([0.3, 1.0]), every=every),
            Trigger(match=random.choice(["1", "3", "x"]), every=every),
            Trigger(terminal=random.choice(["before", "inside", "after"])),
            Trigger(moment=random.choice(MOMENTS)),
        ]
    )


def fault(random: Random) -> FaultSpec:
    """Of any kind but those that code, answer or edit heads, whose own tests are closer."""
    pick, at = random.choice, trigger(random)
    narrowed = {"if_": pick([None, None, None, Condition(status=200), Condition(status=500)])}
    either = {"way": pick([Way.RESPONSE, Way.RESPONSE, Way.RESPONSE, Way.REQUEST]), **narrowed}
    room = pick([5, 50, 1 << 20])
    made: list[FaultSpec] = [
        Stall(for_=pick([0.5, 2.0]), at=at, capacity=room, **either),
        Pace(events=pick([1, 2]), every=pick([0.3, 1.0]), **narrowed),
        Pace(bytes=pick([1, 10]), every=pick([0.05, 0.3]), **either),
        Latency(delay=pick([0.3, 1.0]), jitter=pick([0, 0.2]), capacity=room, **either),
        Bandwidth(rate=pick([10, 100]), **either),
        Resegment(bytes=pick([1, 7, 20]), pause=pick([0.0, 0.1]), **either),
        Resegment(events=pick([1, 2]), pause=pick([0.0, 0.3]), **narrowed),
        Resegment(glue=pick([2, 3]), **narrowed),
        Resegment(split=pick(["event", "random", "last_chunk"]), **narrowed),
        Framing(content_length=pick([0, 20, 1000]), **narrowed),
        Framing(as_=pick(["chunked", "close_delimited"]), http=pick([None, "1.0"]), **narrowed),
        Linger(for_=1.0, **narrowed),
        Frames(padding=1, **narrowed),
        SlowReader(rate=pick([10, 100]), window=pick([1, 20, 1000]), **narrowed),
        SlowReader(pause=pick([0.3, float("inf")]), window=pick([7, 50]), **narrowed),
        HoldHead(until=pick(["first_byte", "end", 1.0]), on_abort=pick(["drop", "flush"]), **either),
        HoldHead(until="end", content_length=True, **narrowed),
        BrokenEnd(then=(pick(ENDINGS),), delay=pick([0.0, 0.3]), **narrowed),
        BrokenEnd(delay=0.7, when=pick(["any", "rst"]), **narrowed),
        Cork(after=pick([0.2, 1.0]), segment=pick([70, 200, 1448]), **narrowed),
        ErrorEvent(at=at, then=(pick(ENDINGS),), **narrowed),
        GrpcStatus(at=at, **narrowed),
        AbortUpstream(at=at, **narrowed),
        Blackhole(at=at, for_=pick([0.5, 3.0, float("inf")]), way=pick(["both", *Way]), **narrowed),
        Strip(what=(pick(["done", "comments", "ids"]),), **narrowed),
        Timeout(idle=pick([0.5, 1.5]), **narrowed),
        Buffer(bytes=pick([10, 40]), every=pick([None, 0.7]), **narrowed),
        Buffer(bytes=pick([20, 100]), holds="rest", on_abort=pick(["flush", "drop_on_rst"]), **narrowed),
        Buffer(bytes=pick([50, 100]), counts_head=True, **narrowed),
        Absorb(bytes=pick([10, 1000]), **either),
        Cut(at=at, then=(pick(ENDINGS),), **either),
        Inject(event=pick([None, "i"]), bytes=None, size=12, at=at, **either),
        Inject(bytes=pick([b"i", b"\n\n", b"data: i\n\n"]), at=at, **either),
        Inject(comment="i", at=at, **either),
        Mutate(bytes=b"data: m\n\n", at=at, **either),
        Mutate(insert=b"\n", at=pick([None, at]), **either),
        Mutate(strip_tail=1, at=at, **either),
        Mutate(replace=(("\n\n", b"\n"),), at=pick([None, at]), **either),
        LineEndings(mode=pick(["lf", "crlf", "cr", "mixed"]), **either),
        ReplaceBody(events=("gone",), then=(pick(ENDINGS),), **either),
        Drop(at=at, count=pick([1, 2]), **either),
        Duplicate(at=at, copies=pick([1, 3]), later=pick([0, 1, 2]), **either),
        Reorder(at=at, later=pick([1, 2]), **either),
        RateLimit(limit=Allowance(1, 1.0), queue=pick([0, 1]), **narrowed),
        Cache(**narrowed),
        Route(**narrowed),
        Concurrency(limit=1, queue=pick([0, 1]), **narrowed),
        ClientAbort(
            mode=pick(["propagate", "ignore", "on_next_write"]),
            then=pick([(), (Ending("rst"),)]),
            rst_stream=pick(["as_mode", "propagate"]),
            **narrowed,
        ),
    ]
    return pick([one for one in made if not one.problems()])


def script(random: Random) -> list:
    """A stream in pieces, cut anywhere, that may break off, or whose client may leave; of a POST its upload too."""
    stream = b"".join(random.choice(UNITS) for _ in range(random.randint(0, 8)))
    steps, now = [], 0.0
    while stream:
        size = random.choice([1, 5, 9, 20, 60])
        steps.append((now, stream[:size]))
        stream = stream[size:]
        now += random.choice([0, 0, 0.1, 0.5, 1.0])
    steps.append((now, random.choice([End(), End(), BROKEN])))
    if random.random() < 0.3:
        leaving = random.random() * 4
        how = random.choice(["fin", "rst", "stream:CANCEL"])
        steps = [*(step for step in steps if step[0] <= leaving), (leaving, f"hangup:{how}")]
    return steps


@settings(max_examples=400)
@given(st.integers(0, 2**32))
def test_resting_is_as_awake(seed):
    random = Random(seed)
    faults = [fault(random) for _ in range(random.randint(1, 4))]
    if random.random() < 0.2:
        faults.insert(0, RetryUpstream(on=("error", 200), times=1, mid_stream=random.random() < 0.5))
    hops = [[one] for one in faults] if random.random() < 0.5 else faults
    steps, request, room = script(random), GET, random.choice([None, None, None, 20])
    if random.random() < 0.4:
        request = POST
        steps += [
            (0.0, Upload(b"hello")),
            (random.choice([0.0, 1.0]), Upload(b"world")),
            (random.choice([1.0, 2.5]), Upload(End())),
        ]
    if room:
        steps += [(float(time), 30) for time in range(1, 6)]
    options = {
        "request": request,
        "room": room,
        "until": 200.0,
        "window": random.choice([20, 65536]),
        "split": random.random() < 0.3,
        "seed": seed,
    }
    steps.sort(key=lambda step: step[0])
    resting, awake = (play(hops, steps, lazy=lazy, **options) for lazy in (True, False))
    assert resting.out == awake.out
    assert resting.notes == awake.notes
    assert resting.request == awake.request
    assert (resting.cancelled_at, resting.admitted) == (awake.cancelled_at, awake.admitted)
