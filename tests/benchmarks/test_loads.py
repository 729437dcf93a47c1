"""Every load runs, through nothing, the splice and the proxy, and what is counted is right. No speed is asserted."""

import pytest

from benchmarks import cpu, peers, reader
from benchmarks.programs import UnavailableError
from benchmarks.wire import BULK, FLOOD


@pytest.fixture(scope="module")
def pool():
    usable, _ = cpu.processors()
    with peers.running(usable, usable) as pool:
        yield pool


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
    seen = reader.events(port=peer.port, pids=peer.pids, h2=h2, streams=4, rate=50, seconds=0.4, warm_up=0.1)
    # As many as are sent in the window, however long it took on a busy machine; up to one of each stream at its edges.
    assert seen["events"] <= seen["events"] / seen["delivered"] * 1.5 + 8
    assert seen["events"] >= 4
    assert 0 < seen["p50_us"] <= seen["p99_us"] <= seen["p999_us"]
    assert (seen["cpu_us_per_event"] > 0) is (name != "direct")


@every
def test_bulk(pool, name, pair):
    peer = pool.peer(name, pair)
    seen = reader.bulk(port=peer.port, pids=peer.pids, h2=pair.startswith("h2"), pieces=32)
    assert 32 * BULK <= seen["bytes"] < 33 * BULK
    assert seen["mb_per_second"] > 0
    assert (seen["mb_per_cpu_second"] > 0) is (name != "direct")


@pytest.mark.parametrize("name", ["direct", "splice", "chaosproxy"])
def test_short_requests(pool, name):
    peer = pool.peer(name)
    seen = reader.short(port=peer.port, pids=peer.pids, seconds=0.3, connections=2)
    assert seen["requests"] > 2
    assert (seen["requests_per_cpu_second"] > 0) is (name != "direct")


@pytest.mark.parametrize("name", ["splice", "chaosproxy"])
def test_a_long_stream(pool, name):
    peer = pool.peer(name)
    seen = reader.length(port=peer.port, pids=peer.pids, pieces=40, window=5000)
    assert 39.9 * FLOOD < seen["events"] <= 40 * FLOOD  # one that a new chunk has cut in two is not found
    assert "million_to_early" not in seen


def test_idle_streams_are_all_held_at_once(pool):
    with pool.fresh("splice") as peer:
        seen = reader.idle(port=peer.port, pids=peer.pids, steps=[100, 200], settle=0)
    assert seen["streams"] == 200
    assert seen["base_mib"] > 1
    assert 0 < seen["kib_each_at_200"] < 1000


def test_events_over_tls(pool):
    peer = pool.peer("chaosproxy, TLS")
    seen = reader.events(port=peer.port, pids=peer.pids, tls=True, streams=2, rate=50, seconds=0.3, warm_up=0.1)
    assert seen["events"] >= 2


def test_events_that_are_compressed_on_the_way_are_read(pool):
    peer = pool.peer("chaosproxy, every fault")
    seen = reader.events(
        port=peer.port, pids=peer.pids, prefix="/compress-acts", gzip=True, streams=2, rate=50, seconds=0.3, warm_up=0.1
    )
    assert seen["events"] >= 2


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
