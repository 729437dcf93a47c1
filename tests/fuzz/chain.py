"""Bytes that become a scenario and a stream: its places at rest and awake do the same, watched, and once more the same.

Must not know: what the faults do, who draws the bytes.
"""

from random import Random
from typing import Any

from chaosproxy.embedded.setup import read
from chaosproxy.model.messages import Abort, End, Trailers
from chaosproxy.model.vocabulary import Manner, Peer, Scope
from chaosproxy.testing.play import GET, POST, Upload, play
from chaosproxy.testing.played import Played
from tests.fuzz.draw import DrawnRandom
from tests.fuzz.targets import Target
from tests.simulation import scenarios

UNITS = (
    b"data: 1\n\n", b": c\n\n", b"id: 3\ndata: 3\n\n", b"event: ping\ndata: {}\n\n", b"data: x\r\n\r\n", b"data\r\r", b"retry: 5\n",
    b'data: {"n":3}\n\n', b'data: {"choices":[{"index":0,"delta":{"content":"wo"}}]}\n\n', b"data: [DONE]\n\n", b"\xff\0\n",
)  # fmt: skip
BROKEN = (
    Abort("upstream:fin", Peer.UPSTREAM, Scope.STREAM, Manner.FIN),
    Abort("upstream:rst", Peer.UPSTREAM, Scope.CONNECTION, Manner.RESET),
)
TRAILERS = Trailers(((b"grpc-status", b"0"),))


def hops(random: Random) -> list[list[object]]:
    """Up to three machines with any faults, as the language takes them."""
    while True:
        found = [
            {"faults": [scenarios.fault(random) for _ in range(random.randint(1, 2))]}
            for _ in range(random.randint(1, 3))
        ]
        document = {"rules": [{"hops": found}]}
        if scenarios.accepted(document):
            (rule,) = read({"version": 1, **document}).rules
            return [list(hop.faults) for hop in rule.hops]


def script(random: Random) -> tuple[list[Any], dict[str, Any]]:
    """A stream in pieces, cut anywhere, that may break off, or whose client may leave; of a POST its upload too."""
    stream = b"".join(random.choice(UNITS) for _ in range(random.randint(0, 8)))
    steps, now = list[Any](), random.choice([0.0, 0.0, 1.0])
    while stream:
        size = random.choice([1, 5, 9, 20, 60])
        steps.append((now, stream[:size]))
        stream = stream[size:]
        now += random.choice([0, 0, 0.1, 0.5, 1.0])
    steps += [(now, TRAILERS)] * (bool(steps) and random.random() < 0.2)
    steps.append((now, random.choice([End(), End(), *BROKEN])))
    if random.random() < 0.3:
        leaving = random.random() * 4
        how = random.choice(["fin", "rst", "stream:CANCEL"])
        steps = [*(step for step in steps if step[0] <= leaving), (leaving, f"hangup:{how}")]
    options: dict[str, Any] = {"request": GET, "split": random.random() < 0.3, "window": random.choice([20, 65536])}
    if random.random() < 0.4:
        options["request"] = POST
        steps += [(0.0, Upload(b"hello")), (random.choice([0.0, 1.0]), Upload(b"world"))]
        steps.append((random.choice([1.0, 2.5]), Upload(End())))
    if random.random() < 0.2:
        options["room"] = 20
        steps += [(float(time), 30) for time in range(1, 6)]
    steps.sort(key=lambda step: step[0])
    return steps, {**options, "until": 200.0, "seed": random.randint(0, 255)}


def seen(played: Played) -> tuple[object, ...]:
    """Everything that could be noticed."""
    return played.out, played.notes, played.request, played.cancelled_at, played.admitted


def run(data: bytes) -> None:
    random = DrawnRandom(data)
    faults = hops(random)
    steps, options = script(random)
    resting = seen(play(faults, steps, lazy=True, **options))
    awake = seen(play(faults, steps, lazy=False, **options))
    assert resting == awake, faults
    assert seen(play(faults, steps, lazy=True, **options)) == resting, "not the same again"


TARGETS = {
    "chain": Target(
        "any faults with any parameters, at any stream",
        "at rest as awake, and once more the same; no byte lost or made, nothing out of order, time never back",
        run,
        lambda: [Random(seed).randbytes(200) for seed in range(20)],
    )
}
