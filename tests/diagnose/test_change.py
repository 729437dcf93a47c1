"""What a machine has made of a stream is told from when its bytes came, and from nothing else."""

from itertools import pairwise
from random import Random

import pytest

from chaosproxy.client.answer import GAVE_UP
from chaosproxy.diagnose.change import Change, Trouble, change
from chaosproxy.diagnose.shape import shape
from chaosproxy.diagnose.signature import Kind
from tests.diagnose import made

SPARSE = made.paced()
DENSE = made.paced(100, first=0.01, gap=0.01, size=415)
SLOW = made.paced(12, first=0.5, gap=0.5, size=60)
GZIP = [("content-encoding", "gzip")]


def judged(seen, inside, **more) -> Change:
    before = shape(made.answer(inside)) if inside is not None else None
    return change(shape(made.answer(seen, **more)), before)


@pytest.mark.parametrize("stream", [SPARSE, DENSE, SLOW, made.paced(8), made.paced(60, gap=0.02)])
@pytest.mark.parametrize("healthy", [lambda said: said, made.trembling, lambda said: made.later(said, 0.01)])
def test_a_machine_that_passes_events_on_changes_nothing(stream, healthy):
    assert judged(healthy(stream), stream).kind is Trouble.NONE
    assert judged(healthy(stream), made.trembling(stream)).kind is Trouble.NONE


@pytest.mark.parametrize("size", [512, 1024, 4096, 8192, 3000])
@pytest.mark.parametrize("tremble", [False, True])
def test_a_buffer_is_known_to_the_byte(size, tremble):
    seen = made.buffered(DENSE, size)
    found = judged(made.trembling(seen) if tremble else seen, DENSE)
    if size <= 1024:  # little more than an event: it comes nearly in time
        assert found.good
    else:
        assert (found.kind, found.size, found.exact) == (Kind.SIZED, size, True)


def test_a_first_buffer_that_holds_the_head_too_does_not_hide_the_others():
    found = judged(made.buffered(DENSE, 4096, first=4096 - 93), DENSE)
    assert (found.kind, found.size) == (Kind.SIZED, 4096)


@pytest.mark.parametrize("events", [60, 40])
def test_a_few_full_buffers_are_enough(events):
    stream = made.paced(events, first=0.02, gap=0.02, size=190)
    found = judged(made.buffered(stream, 4096, first=4096 - 150), stream)
    assert (found.kind, found.size, found.exact) == (Kind.SIZED, 4096, True)
    found = judged(made.buffered(stream, 3000), stream)
    assert found.kind is (Kind.SIZED if events == 60 else Kind.LUMPS)


def test_a_buffer_that_lets_go_of_whole_events_is_known_by_its_round_size():
    found = judged(made.flushed(DENSE, 4096), DENSE)
    assert (found.kind, found.exact) == (Kind.TIMED if found.period == pytest.approx(0.1) else Kind.SIZED, False)
    found = judged(made.flushed(made.paced(60, gap=0.03, size=200), 2048), made.paced(60, gap=0.03, size=200))
    assert (found.kind, found.size) == (Kind.SIZED, 2200)


@pytest.mark.parametrize("period", [0.1, 0.2, 0.5])
@pytest.mark.parametrize(
    "stream", [SPARSE, DENSE, made.paced(60, gap=0.02, size=50), made.paced(100, gap=0.02, size=51)]
)
def test_a_timer_is_known_by_its_period_whatever_the_size(period, stream):
    stream = [(time + turn * stream[-1][0], one) for turn in range(4 if period == 0.5 else 1) for time, one in stream]
    found = judged(made.trembling(made.corked(stream, period), 0.006), stream)
    assert found.kind is Kind.TIMED
    assert found.period == pytest.approx(period, rel=0.25)


def test_a_cork_in_a_sparse_stream_makes_each_event_late_and_not_the_end():
    found = judged(made.later(SLOW, 0.206), SLOW, ended=SLOW[-1][0] + 0.21)
    assert found.kind is Trouble.LATE  # the end is late too
    seen = [*made.later(SLOW[:-1], 0.206), SLOW[-1]]
    found = judged(seen, SLOW)
    assert (found.kind, round(found.period, 3)) == (Kind.TIMED, 0.206)


@pytest.mark.parametrize("stream", [SPARSE, DENSE, SLOW])
def test_everything_at_the_end(stream):
    assert judged(made.at_once(stream), stream).kind is Kind.WHOLE
    assert judged(made.buffered(stream, 10**6), stream).kind is Kind.WHOLE


def test_lumps_of_no_kind_are_lumps():
    cuts = (0, 3, 11, 13, 24, 30, 31, 47, 60)
    stream = made.paced(60, gap=0.03)
    seen = [(stream[end - 1][0], b"".join(one for _, one in stream[start:end])) for start, end in pairwise(cuts)]
    assert judged(seen, stream).kind is Kind.LUMPS


def test_one_behind_is_told_from_a_longer_way():
    assert judged(made.one_behind(SPARSE), SPARSE).kind is Trouble.BEHIND
    assert judged(made.later(SPARSE, 0.04), SPARSE).kind is Trouble.NONE
    found = judged(made.later(SPARSE, 0.3), SPARSE)
    assert (found.kind, found.good) == (Trouble.LATE, True)
    assert found.period == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("seen", "kind"),
    [
        ({"said": SPARSE[:9], "end": "fin"}, Trouble.BROKEN),
        ({"said": SPARSE[:9], "end": "stream:INTERNAL_ERROR"}, Trouble.BROKEN),
        ({"said": [], "status": None, "end": "fin"}, Trouble.BROKEN),
        ({"said": [], "status": None, "end": GAVE_UP}, Trouble.SILENT),
        ({"said": [(0.01, b"<h1>no</h1>")], "status": 502, "recorded": False}, Trouble.REFUSED),
        ({"said": SPARSE[:9]}, Trouble.LOSES),
        ({"said": []}, Trouble.LOSES),
        ({"said": SPARSE[:9], "end": GAVE_UP, "ended": 5.0}, Trouble.STALLS),
        ({"said": SPARSE[:22], "end": GAVE_UP}, Trouble.NONE),
        ({"said": [], "end": GAVE_UP, "ended": 5.0}, Trouble.SILENT),
    ],
)
def test_what_is_no_matter_of_bursts(seen, kind):
    found = change(shape(made.answer(**seen)), shape(made.answer(SPARSE)))
    assert found.kind is kind
    assert found.good == (kind is Trouble.NONE)


def test_a_hop_is_not_blamed_for_what_came_to_it_so():
    for worse in (made.at_once, lambda said: made.buffered(said, 4096), lambda said: made.corked(said, 0.2)):
        assert judged(made.later(worse(DENSE), 0.001), worse(DENSE)).good
    cut = shape(made.answer(SPARSE[:9], end="fin"))
    assert change(cut, cut).good
    refused = shape(made.answer([], status=500))
    assert change(refused, refused).kind is Trouble.UNKNOWN


def test_a_hop_by_itself():
    assert judged(SPARSE, None).kind is Trouble.NONE
    assert judged(DENSE, None).kind is Trouble.NONE
    assert judged(made.at_once(SPARSE), None).kind is Kind.WHOLE
    found = judged(made.buffered(DENSE, 4096), None)
    assert (found.kind, found.size) == (Kind.SIZED, 4096)
    found = judged(made.corked(made.paced(60, gap=0.02, size=50), 0.2), None)
    assert (found.kind, found.period) == (Kind.TIMED, pytest.approx(0.2, rel=0.15))
    assert judged(made.paced(3), None).kind is Trouble.UNKNOWN
    assert judged(made.paced(20, first=0.001, gap=0.0), None).kind is Trouble.UNKNOWN
    assert judged([], None, status=404).kind is Trouble.REFUSED


@pytest.mark.parametrize("worse", [made.at_once, lambda said: made.buffered(said, 4096)])
def test_a_body_without_events_is_judged_by_its_bytes(worse):
    inside = shape(made.answer(DENSE, recorded=False))
    assert change(shape(made.answer(made.trembling(DENSE), recorded=False)), inside).good
    assert not change(shape(made.answer(worse(DENSE), recorded=False)), inside).good


def test_sizes_of_a_coded_body_are_those_on_the_wire():
    stream = made.paced(400, first=0.01, gap=0.01, size=500)
    found = change(
        shape(made.answer(made.buffered(stream, 24_576), coded=0.5, headers=GZIP)), shape(made.answer(stream))
    )
    assert (found.kind, found.size, found.coded) == (Kind.SIZED, 12_288, True)


def chatty(seed: int, events: int = 60) -> list[tuple[float, bytes]]:
    """As a model writes: now a few tokens at a time, now none for a while; never the same twice."""
    chance = Random(seed)
    said, now = [], 0.3 + chance.random()
    for number in range(events):
        said.append((now, b"data: %d %s\n\n" % (number, b"." * chance.randrange(10, 300))))
        if chance.random() < 0.6:
            now += chance.lognormvariate(-3.5, 0.8)
    return said


@pytest.mark.parametrize("seed", range(40))
def test_a_model_that_writes_unevenly_is_not_taken_for_a_hop_that_gathers(seed):
    inside, seen = chatty(seed), made.later(chatty(seed + 1000), 0.02)
    assert judged(made.trembling(seen), inside).good
    assert judged(inside, None).good
    assert judged(made.at_once(seen), inside).kind is Kind.WHOLE


def test_nor_does_it_hide_a_buffer():
    found = [judged(made.buffered(chatty(seed + 1000), 4096), chatty(seed)) for seed in range(40)]
    known = [one for one in found if one.kind is Kind.SIZED and one.size == 4096 and one.exact]
    assert len(known) >= 36
