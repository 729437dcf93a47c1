"""Some hundreds of worlds against everything that has to be true of each; and that what is checked there can fail."""

from collections import Counter
from dataclasses import replace

import pytest

from tests.simulation.checks import problems
from tests.simulation.evidence import EXPECT
from tests.simulation.run import run
from tests.simulation.scenarios import ACTING
from tests.simulation.world import Answer, Ask, Client, World, world

SEEDS = 200
FURTHER = 5000
"""Among so many more worlds each fault acts that has not; only those are lived through that hold one."""


def test_worlds():
    found, fired, ends, pairs = {}, Counter(), Counter(), Counter()
    for seed in range(SEEDS + FURTHER):
        missing = ACTING - fired.keys()
        if seed >= SEEDS and not missing:
            break
        drawn = world(seed)
        if seed >= SEEDS and not any(f"{{'{name}': " in str(drawn.document) for name in missing):
            continue
        ran = run(drawn)
        wrong = problems(drawn, ran)
        if seed % 5 == 0 and run(drawn).trace() != ran.trace():
            wrong.append("not the same again")
        if wrong:
            found[seed] = wrong
        for record in ran.records:
            fired.update(one.fault for one in record.faults)
            ends[record.end.by, record.end.how.partition(":")[0]] += 1
            pairs[record.client.protocol, record.upstream.protocol] += 1
    assert not found, f"see `python -m tests.simulation --seed {min(found)}`"
    assert not ACTING - fired.keys(), "a fault that never acted was not looked at"
    for by, how in [("upstream", "clean"), ("client", "fin"), ("client", "rst"), ("proxy", "clean"), ("proxy", "fin")]:
        assert ends[by, how], f"no exchange was ended by the {by} like that: {how}"
    assert all(pairs[client, upstream] for client in ("http/1.1", "h2") for upstream in ("http/1.1", "h2"))


FOUND = (867, 1080, 11038, 31598, 702078)
"""Worlds in which something was wrong once, here or there."""


@pytest.mark.parametrize("seed", FOUND)
def test_a_world_in_which_something_was_wrong(seed):
    drawn = world(seed)
    assert problems(drawn, run(drawn)) == []


ANSWER = Answer(
    number=1, early=False, lead=0.0, interims=(), status=200, kind="sse", framing="chunked",
    records=(b"data: 1\n\n", b"data: 2\n\n"), pieces=((0.0, b"data: 1\n\n"), (0.5, b"data: 2\n\n")), missing=b"", write=0,
    trailers=False, ending="clean", last_pause=0.0, close=False,
)  # fmt: skip
ASK = Ask(
    number=1, method=b"POST", path=b"/1", pause=0.0, framing="length", pieces=((0.0, b"hello"),), gzip=False,
    expect=False, split=0, broken="",
)  # fmt: skip
CLIENT = Client(protocol="h1", starts=0.0, asks=(ASK,), together=False, leaves=None, how="fin", half=False, nap=0.0)
PLAIN = World(
    seed=1,
    document={"version": 1, "rules": [{"hops": [{"faults": [{"latency": {"delay": "50ms"}}]}]}], "expect": EXPECT},
    upstream="h1",
    room=65536,
    dials=(0.0,),
    answers={1: ANSWER},
    clients=(CLIENT,),
)


def cut(ran):
    ran.seen.got[1].ended = False
    ran.seen.got[1].broken = "fin"


def lose(ran):
    del ran.seen.got[1].body[-1:]


def lose_and_tell(ran):
    lose(ran)
    ran.records[0].response.bytes_out -= 1
    ran.records[0].deliveries = [(0.0, ran.records[0].response.bytes_out)]


TAMPERED = {
    "a byte is lost": lose,
    "a byte is lost, and the journal knows": lose_and_tell,
    "bytes change their order": lambda ran: ran.seen.got[1].body.reverse(),
    "it is cut off": cut,
    "nobody answers": lambda ran: setattr(ran.seen.got[1], "waited", True),
    "another's answer": lambda ran: ran.seen.got[1].headers.update({b"x-answer": [b"2"]}),
    "another status": lambda ran: setattr(ran.seen.got[1], "status", 201),
    "a byte too many is journalled": lambda ran: setattr(ran.records[0].response, "bytes_out", 19),
    "an event too many is journalled": lambda ran: setattr(ran.records[0].response, "events_out", 3),
    "the time of an event is not kept": lambda ran: ran.records[0].evidence.events_out.pop(),
    "an event came before it did": lambda ran: ran.records[0].evidence.events_in.insert(0, 0.0),
    "a fault is forgotten": lambda ran: ran.records[0].faults.clear(),
    "an exchange is forgotten": lambda ran: ran.records.clear(),
    "an exchange has no end": lambda ran: setattr(ran.records[0], "end", None),
    "the upload grows": lambda ran: ran.seen.served[0].body.extend(b"!"),
    "the upload shrinks": lambda ran: ran.seen.served[0].body.clear(),
    "the upstream works for nobody": lambda ran: ran.unwanted.append(1),
    "a deadline stays behind": lambda ran: setattr(ran, "before", replace(ran.before, alarms=1)),
    "a task stays behind": lambda ran: setattr(ran, "after", replace(ran.after, tasks=1)),
    "something is logged": lambda ran: ran.logged.append("exchange 1: ValueError"),
    "no HTTP": lambda ran: ran.seen.wrong.append("no HTTP"),
}


@pytest.mark.parametrize("tamper", TAMPERED.values(), ids=TAMPERED.keys())
@pytest.mark.parametrize("protocol", ["h1", "h2"])
def test_what_is_wrong_is_found(protocol, tamper):
    drawn = replace(PLAIN, clients=(replace(CLIENT, protocol=protocol),))
    ran = run(drawn)
    assert problems(drawn, ran) == []
    tamper(ran)
    assert problems(drawn, ran)
