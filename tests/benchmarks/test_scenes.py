"""The scenes: their scenarios are what they say, waiting is measured from the right moment, and every scene can be opened."""

import pytest

import chaosproxy.faults as known
from benchmarks import chained, exact, further, own, reader, scenes, starting, targets
from benchmarks.scene import Measure
from chaosproxy.chain.fault import REGISTRY

TINY = Measure(rounds=1, seconds=0.3, warm_up=0.1, streams=2, rate=50, megabytes=1, quick=True)


def test_no_fault_is_left_out():
    assert known.__all__
    assert set(chained.FAULTS) ^ {name for name, one in REGISTRY.items() if one.in_hops} == set(), (
        "each has its rows in benchmarks/chained.py: FAULTS"
    )


@pytest.mark.parametrize("name", [name for name, (_, batch) in chained.EXACT.items() if batch])
def test_a_fault_keeps_events_back_at_least_as_long_as_asked(pool, name):
    peer = pool.peer("chaosproxy, exact")
    batch = chained.EXACT[name][1]
    seen = reader.lateness(
        port=peer.port, pids=[], prefix=f"/exact-{name}", asked_ms=0, batch=batch, seconds=0.2, streams=3
    )
    assert seen["first_ms"] >= chained.ASKED_MS
    assert (seen["samples"] > 0, seen["early"]) == (True, 0)


def test_a_stream_that_says_nothing_ends_no_earlier_than_asked(pool):
    peer = pool.peer("chaosproxy, exact")
    seen = reader.ends(port=peer.port, pids=[], prefix="/exact-timeout", asked_ms=0, seconds=0.1)
    assert seen["first_ms"] >= chained.ASKED_MS


def test_what_comes_sooner_than_asked_is_early(pool):
    peer = pool.peer("direct")
    seen = reader.lateness(port=peer.port, pids=[], prefix="", asked_ms=60_000, batch=1, seconds=0.3, streams=2)
    assert seen["early"] == seen["samples"] > 0


def test_bare_sleeps_are_measured_the_same_way(pool):
    with exact.opened(pool, TINY, loaded=False) as scene:
        seen = scene.rows["trio.sleep"]()
        assert set(scene.rows) == {"trio.sleep", "no fault", *chained.EXACT}
    assert (seen["samples"] > 0, seen["early"]) == (True, 0)


@pytest.mark.parametrize("row", ["latency", "timeout"])
def test_the_proxy_tells_how_late_it_was_itself(pool, row):
    with exact.opened(pool, TINY, loaded=False) as scene:
        seen = scene.rows[row]()
    assert 0 <= seen["own_first_ms"] <= seen["own_p50_ms"] <= seen["own_p99_ms"]


def test_lateness_in_the_journal_is_of_the_last_of_each_batch_from_its_first():
    one = {
        "request": {"path": "/exact-pace/events"},
        "arrivals": [[1.0, 50], [1.001, 50], [2.0, 50], [2.0, 50], [3.0, 50], [3.0, 50]],
        "deliveries": [[1.0, 50], [1.051, 50], [2.0, 50], [2.053, 50], [3.0, 50]],
    }
    seen = own.lateness([one], 50, 2)
    assert seen == pytest.approx({"own_p50_ms": 3, "own_p99_ms": 3, "own_first_ms": 1})
    ended = {"times": {"request_end": 0.001}, "faults": [{"t": 0.055}]}
    assert own.lateness([ended], 50, 0)["own_p50_ms"] == pytest.approx(4)
    assert own.lateness([], 50, 0) == {}


@pytest.mark.parametrize("row", ["cut at rest", "latency acting", "six at rest"])
def test_faults_pass_the_events_on(pool, row):
    scene = scenes.faults(pool, TINY, [])
    assert scene.rows[row]()["events"] >= 1


def test_no_fault_that_ends_a_stream_is_left_out():
    ended = {name.partition(",")[0] for name in chained.ENDINGS}
    once = {name for name, fault in chained.FAULTS.items() if fault.acts is None}
    assert once - ended == set(), "what acts only once has its row in benchmarks/chained.py: ENDINGS"


@pytest.mark.parametrize("row", chained.ENDINGS)
def test_short_streams_come_to_their_end_and_the_next_ones_begin(pool, row):
    path, leaves = chained.endings()[row]
    peer = pool.peer("chaosproxy, every fault")
    events = chained.TALE if leaves else 0
    seen = reader.tales(port=peer.port, pids=peer.pids, path=path, events=events, seconds=0.1, warm_up=0, streams=2)
    assert seen["requests"] > 0
    assert seen["cpu_us_per_request"] > 0


def test_growth_is_at_equal_load(pool):
    scene = scenes.growth(pool, TINY, ["direct", "splice", "mitmproxy"])
    assert list(scene.rows) == ["splice, 10", "splice, 100"]
    assert scene.rows["splice, 10"]()["events"] >= 1


def test_too_few_descriptors_for_idle_streams_are_named(pool, monkeypatch):
    monkeypatch.setattr("benchmarks.programs.descriptors", lambda: 256)
    scene = scenes.idle("h1-h1", pool, TINY, ["splice"])
    assert scene.rows == {}
    assert scene.absent["splice"].endswith("the limit is 256")


def test_a_start_and_the_imports_it_is_compared_with_are_measured(pool):
    assert starting.imported(pool)["cpu_ms"] > 0
    assert starting.accepted(pool)["cpu_ms"] > 0


def test_a_further_proxy_is_opened_and_closed():
    assert further.took(further.further) > 0
    assert further.took(further.empty) > 0


def test_every_target_belongs_to_a_scene():
    assert {target.scene for target in targets.TARGETS} <= set(scenes.ALL)
