"""The loads run, through nothing and through the splice, and the numbers are plausible. No speed is asserted."""

import pytest

from benchmarks import cpu, peers, reader


@pytest.fixture(scope="module")
def found():
    usable, _ = cpu.processors()
    with peers.running(["direct", "splice"], usable, usable) as (running, absent):
        assert absent == {}
        yield {peer.name: peer for peer in running}


@pytest.mark.parametrize("name", ["direct", "splice"])
def test_events(found, name, monkeypatch):
    monkeypatch.setattr(reader, "_WARM_UP", 0.1)
    peer = found[name]
    seen = reader.read_events(peer.ports.h1, h2=False, streams=4, rate=50, seconds=0.4, pids=peer.pids)
    assert 20 < seen["events"] < 120
    assert 0 < seen["p50_us"] <= seen["p99_us"] < 1e6
    assert (seen["cpu_us_per_event"] > 0) is (name == "splice")


@pytest.mark.parametrize("name", ["direct", "splice"])
def test_bulk(found, name):
    peer = found[name]
    seen = reader.read_bulk(peer.ports.h1, h2=False, nbytes=4 * 1024 * 1024, pids=peer.pids)
    assert seen["bytes"] >= 4 * 1024 * 1024
    assert seen["mb_per_second"] > 0
    assert (seen["mb_per_cpu_second"] > 0) is (name == "splice")


def test_a_peer_that_is_not_there_is_named_with_its_reason(monkeypatch):
    monkeypatch.setattr(peers.shutil, "which", lambda *_, **__: None)
    usable, _ = cpu.processors()
    with peers.running(["nginx", "haproxy", "mitmproxy"], usable, usable) as (running, absent):
        assert running == []
        assert absent == dict.fromkeys(["nginx", "haproxy", "mitmproxy"], "not found")


def test_every_process_is_ended(found):
    usable, _ = cpu.processors()
    with peers.running(["splice"], usable, usable) as (running, _):
        process = running[0].process
        assert process.poll() is None
    assert process.poll() is not None
