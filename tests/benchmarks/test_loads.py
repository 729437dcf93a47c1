"""Every load runs, through nothing, the splice and the proxy, and what is counted is right. No speed is asserted."""

import pytest

from benchmarks import reader
from benchmarks.programs import UnavailableError
from benchmarks.wire import BULK, FLOOD

HERE = [
    ("direct", "h1-h1"),
    ("direct", "h2-h2"),
    ("splice", "h1-h1"),
    ("splice", "h2-h2"),
    ("chaosproxy", "h1-h1"),
    ("chaosproxy", "h2-h1"),
    ("chaosproxy", "h2-h2"),
]
every = pytest.mark.parametrize(("name", "pair"), HERE)


@every
def test_events(pool, name, pair):
    peer = pool.peer(name, pair)
    h2 = pair.startswith("h2")
    seen = reader.events(port=peer.port, pids=peer.pids, h2=h2, streams=4, rate=50, seconds=0.2, warm_up=0)
    assert seen["events"] >= 1
    assert seen["events_per_second"] == pytest.approx(seen["delivered"] * 4 * 50)
    assert 0 < seen["p50_us"] <= seen["p99_us"] <= seen["p999_us"]
    assert (seen["cpu_us_per_event"] > 0) is (name != "direct")


@every
def test_bulk(pool, name, pair):
    peer = pool.peer(name, pair)
    seen = reader.bulk(port=peer.port, pids=peer.pids, h2=pair.startswith("h2"), pieces=32)
    assert 32 * BULK <= seen["bytes"] < 33 * BULK
    assert seen["mb_per_second"] > 0


@pytest.mark.parametrize("name", ["direct", "splice", "chaosproxy"])
def test_short_requests(pool, name):
    peer = pool.peer(name)
    seen = reader.short(port=peer.port, pids=peer.pids, seconds=0.3, connections=2)
    assert seen["requests"] > 0
    assert (seen["requests_per_cpu_second"] > 0) is (name != "direct")


@pytest.mark.parametrize(("name", "lost"), [("direct", 0), ("splice", 0), ("chaosproxy", 50)])
def test_a_long_stream(pool, name, lost):
    peer = pool.peer(name)
    seen = reader.length(port=peer.port, pids=peer.pids, pieces=40, window=5000)
    # One that a proxy has cut in two, with a chunk's size between, is not found.
    assert 40 * FLOOD - lost <= seen["events"] <= 40 * FLOOD
    assert "million_to_early" not in seen


@pytest.mark.parametrize("pair", ["h1-h1", "h2-h2"])
def test_idle_streams_are_all_held_at_once(pool, pair):
    with pool.fresh("splice", pair) as peer:
        seen = reader.idle(port=peer.port, pids=peer.pids, steps=[100, 200], h2=pair.startswith("h2"), settle=0)
    assert seen["streams"] == 200
    assert seen["base_mib"] > 1
    assert 0 < seen["kib_each_at_200"] < 1000


def test_events_over_tls(pool):
    peer = pool.peer("chaosproxy, TLS")
    seen = reader.events(port=peer.port, pids=peer.pids, tls=True, streams=2, rate=50, seconds=0.3, warm_up=0.1)
    assert seen["events"] >= 1


def test_events_that_are_compressed_on_the_way_are_read(pool):
    peer = pool.peer("chaosproxy, every fault")
    seen = reader.events(
        port=peer.port, pids=peer.pids, prefix="/compress-acts", gzip=True, streams=2, rate=50, seconds=0.3, warm_up=0.1
    )
    assert seen["events"] >= 1


@pytest.mark.parametrize(("name", "pair"), [("splice", "h2-h1"), ("direct", "h2-h1"), ("mitmproxy", "h2-h2")])
def test_who_does_not_speak_a_protocol_says_so(pool, name, pair):
    with pytest.raises(UnavailableError, match=r"translate|speaks no"):
        pool.peer(name, pair)


def test_a_peer_that_is_not_there_is_named_with_its_reason(pool, monkeypatch):
    monkeypatch.setattr("benchmarks.programs.shutil.which", lambda *_, **__: None)
    for name in ("nginx", "haproxy", "mitmproxy"):
        with pytest.raises(UnavailableError, match="not found"):
            pool._start(pool.starters[0], name, "h1-h1")


def test_every_process_is_ended(pool):
    with pool.fresh("splice") as peer:
        assert peer.process.poll() is None
    assert peer.process.poll() is not None
