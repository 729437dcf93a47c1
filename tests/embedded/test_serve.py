"""`serve`: a proxy in a thread of its own."""

import asyncio
import json
import socket
import ssl
import subprocess
import sys
import threading
import urllib.request

import httpx
import pytest
import trio

import chaosproxy
from chaosproxy import ScenarioError
from chaosproxy.embedded import thread

CUT = {"version": 1, "name": "three", "faults": [{"cut": {"at": {"event": 3}, "then": "rst"}}]}
YAML = "version: 1\nname: two\nfaults:\n  - cut: {at: {event: 2}}\n"


def get(url, path="/8", **options):
    """What a client gets; the body so far and the error, where the stream breaks."""
    body = b""
    try:
        with httpx.stream("GET", url + path, trust_env=False, timeout=20, **options) as answer:
            for part in answer.iter_raw():
                body += part
    except httpx.TransportError as error:
        return body, error
    return body, None


def events(count):
    return b"".join(b"data: %d\n\n" % number for number in range(count))


def test_without_a_scenario_everything_passes(upstream):
    with chaosproxy.serve(upstream=upstream) as proxy:
        assert get(proxy.url) == (events(8), None)
        (record,) = proxy.wait(exchanges=1, timeout=20)
    assert (record.end.how, record.end.by, record.response.events_out) == ("clean", "upstream", 8)


@pytest.mark.parametrize("form", ["mapping", "yaml", "path", "path as text"])
def test_a_scenario_in_every_form(upstream, tmp_path, form):
    file = tmp_path / "two.yaml"
    file.write_text(YAML)
    scenario = {"mapping": CUT, "yaml": YAML, "path": file, "path as text": str(file)}[form]
    with chaosproxy.serve(scenario, upstream=upstream) as proxy:
        body, error = get(proxy.url)
        proxy.wait(timeout=20)
        assert body == events(3 if form == "mapping" else 2)
        assert error is not None
        assert proxy.last.end.cause == "cut"
        assert proxy.last.scenario == ("three" if form == "mapping" else "two")


def test_a_shipped_scenario_by_its_name(upstream):
    with chaosproxy.serve("buffer-4k", upstream=upstream) as proxy:
        assert get(proxy.url) == (events(8), None)
        proxy.wait(timeout=20)
        assert proxy.last.scenario == "buffer-4k"
        assert len(proxy.last.deliveries) == 1


@pytest.mark.parametrize(
    ("scenario", "said"),
    [
        ({"version": 1, "faults": [{"cutt": {}}]}, r"^faults\[0\]\.cutt: .* 'cut'"),
        ("version: 1\nfaults:\n  - cut: {at: {evnt: 3}}\n", "3:16"),
        ("no-such-scenario", "no-such-scenario"),
        (7, "found int"),
    ],
)
def test_a_wrong_scenario_is_said_at_once(scenario, said):
    with pytest.raises(ScenarioError, match=said):
        chaosproxy.serve(scenario, upstream="http://127.0.0.1:1")


@pytest.mark.parametrize(
    "wrong",
    [
        {"upstream": "127.0.0.1:80"},
        {"upstream": []},
        {"upstream": 80},
        {"listen": "8666"},
        {"speed": 0},
        {"speed": "fast"},
        {"speed": float("nan")},
        {"speed": float("inf")},
        {"speed": 1e308},
        {"seed": "x"},
        {"journal_limit": 0},
        {"journal_limit": "all"},
        {"tls": ("only-one",)},
        {"upstream": "https://127.0.0.1:1", "upstream_ca": "no-such-file.pem"},
    ],
)
def test_a_wrong_argument_is_said_at_once_by_its_name(wrong):
    with pytest.raises(chaosproxy.Error, match=list(wrong)[-1].replace("_", ".")):
        chaosproxy.serve(**{"upstream": "http://127.0.0.1:1", **wrong})


def test_a_block_begins_once(upstream):
    block = chaosproxy.serve(upstream=upstream)
    with block as proxy:
        with pytest.raises(RuntimeError, match=r"begun once already; call `chaosproxy\.serve"):
            block.__enter__()
        assert proxy.url
    with pytest.raises(RuntimeError, match="once already"), block:
        pytest.fail("the block must not begin")


def test_a_port_that_is_taken_is_said_where_the_block_begins():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        asked = chaosproxy.serve(upstream="http://127.0.0.1:1", listen=f"127.0.0.1:{port}")
        with pytest.raises(chaosproxy.Error, match=str(port)), asked:
            pytest.fail("the block must not begin")


def test_the_latest_exchanges_are_kept_and_the_file_has_all(upstream, tmp_path):
    file = tmp_path / "journal.jsonl"
    with chaosproxy.serve(upstream=upstream, journal=file, journal_limit=2) as proxy:
        for _ in range(5):
            get(proxy.url, "/1")
        found = proxy.wait(exchanges=5, timeout=20)
        assert [record.id for record in found] == [4, 5]
        assert (proxy.last.id, proxy.dropped) == (5, 3)
        assert proxy.timeline().startswith("3 earlier exchanges are not kept\n#4 ")
        proxy.clear()
        assert (proxy.exchanges, proxy.dropped) == ([], 0)
        get(proxy.url, "/1")
        assert [record.id for record in proxy.wait(exchanges=1, timeout=20)] == [6]
    assert [json.loads(line)["id"] for line in file.read_text().splitlines()] == [1, 2, 3, 4, 5, 6]


def test_use_swaps_the_scenario_and_counters_restart(upstream):
    first_two = {**CUT, "rules": [{"nth": "1-2", "faults": CUT["faults"]}]}
    del first_two["faults"]
    with chaosproxy.serve(first_two, upstream=upstream) as proxy:
        assert [get(proxy.url)[0] for _ in range(3)] == [events(3), events(3), events(8)]
        proxy.use(first_two)
        assert get(proxy.url)[0] == events(3)
        proxy.use(None)
        assert get(proxy.url)[0] == events(8)
        found = proxy.wait(exchanges=5, timeout=20)
    assert [record.scenario for record in found] == ["three"] * 4 + ["transparent"]


def test_a_wrong_scenario_in_use_changes_nothing(upstream):
    with chaosproxy.serve(CUT, upstream=upstream) as proxy:
        with pytest.raises(ScenarioError, match="nonsense"):
            proxy.use({"version": 1, "faults": ["nonsense"]})
        assert get(proxy.url)[0] == events(3)


def test_wait_tells_what_came_instead(upstream):
    with chaosproxy.serve(CUT, upstream=upstream) as proxy:
        with pytest.raises(TimeoutError, match=r"0 of 1 exchange finished within 0\.01 s; no request has come"):
            proxy.wait(timeout=0.01)
        get(proxy.url)
        proxy.wait(timeout=20)
        with socket.create_connection(("127.0.0.1", int(proxy.url.rpartition(":")[2])), timeout=20) as client:
            client.sendall(b"GET /forever HTTP/1.1\r\nHost: x\r\n\r\n")
            received = b""
            while b"data: 0" not in received:
                received += client.recv(1000)
            with pytest.raises(TimeoutError, match=r"1 of 3 exchanges finished within 0\.01 s") as caught:
                proxy.wait(exchanges=3, timeout=0.01)
    text = str(caught.value)
    assert "#1 GET /8 200" in text
    assert "cut: rst after event 3" in text
    assert "#2 GET /forever 200" in text
    assert "running" in text


def test_last_without_an_exchange_points_to_wait():
    with (
        chaosproxy.serve(upstream="http://127.0.0.1:1") as proxy,
        pytest.raises(LookupError, match=r"wait\(\)"),
    ):
        _ = proxy.last


def test_at_the_end_running_exchanges_are_ended_and_journalled(upstream, tmp_path):
    file = tmp_path / "journal.jsonl"
    with chaosproxy.serve(upstream=upstream, journal=file) as proxy:
        get(proxy.url)
        client = socket.create_connection(("127.0.0.1", int(proxy.url.rpartition(":")[2])), timeout=20)
        client.sendall(b"GET /forever HTTP/1.1\r\nHost: x\r\n\r\n")
        received = b""
        while b"data: 0" not in received:
            received += client.recv(1000)
    with client:
        while client.recv(1000):
            pass  # our end has been closed
    written = [json.loads(line) for line in file.read_text().splitlines()]
    assert [one["end"]["cause"] for one in written] == [None, "shutdown"]
    assert [record.end.cause for record in proxy.exchanges] == [None, "shutdown"]
    assert "#2 GET /forever" in proxy.timeline()
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", int(proxy.url.rpartition(":")[2])), timeout=20)
    with pytest.raises(RuntimeError, match="has ended"):
        proxy.use(None)
    with pytest.raises(TimeoutError):
        proxy.wait(exchanges=3, timeout=600)  # none can come: it is said at once


def test_the_block_s_own_error_comes_out_unchanged_and_the_thread_ends(upstream):
    with pytest.raises(ZeroDivisionError), chaosproxy.serve(upstream=upstream):
        _ = 1 / 0
    assert "chaosproxy" not in [thread.name for thread in threading.enumerate()]


def test_what_the_proxy_itself_fails_with_comes_out(upstream, monkeypatch):
    async def broken(*_):
        raise ArithmeticError("inside")

    monkeypatch.setattr("chaosproxy.proxy.listener.listen.accept", broken)
    with (
        pytest.raises(ArithmeticError, match="inside"),
        chaosproxy.serve(upstream=upstream) as proxy,
        pytest.raises(ArithmeticError, match="inside"),
    ):
        proxy.wait(timeout=20)


def test_clear_counts_from_here(upstream):
    with chaosproxy.serve(upstream=upstream) as proxy:
        get(proxy.url)
        proxy.wait(timeout=20)
        proxy.clear()
        assert proxy.exchanges == []
        get(proxy.url, "/2")
        (record,) = proxy.wait(timeout=20)
        assert record.request.path == "/2"


def test_tls_with_a_throw_away_ca(upstream):
    with chaosproxy.serve(upstream=upstream, tls="auto") as proxy:
        assert proxy.url.startswith("https://")
        trusting = ssl.create_default_context(cafile=str(proxy.ca))
        assert get(proxy.url, verify=trusting) == (events(8), None)
        ca = proxy.ca
    assert not ca.exists()


def test_a_seed_of_one_s_own_and_several_listeners(upstream):
    with chaosproxy.serve(upstream=[upstream], seed=5, listen=["127.0.0.1:0", "127.0.0.1:0"]) as proxy:
        for url in proxy.urls:
            get(url)
        assert [record.seed for record in proxy.wait(exchanges=2, timeout=20)] == [5, 5]
        assert len({*proxy.urls}) == 2


def test_speed_makes_a_minute_short(upstream):
    slow = {"version": 1, "faults": [{"timeout": {"idle": "60s"}}]}
    with chaosproxy.serve(slow, upstream=upstream, speed=600) as proxy:
        get(proxy.url, "/forever")
        proxy.wait(timeout=20)
        assert proxy.last.end.cause == "timeout:idle"
        assert 0.1 <= proxy.last.times.end < 30


def test_many_threads_read_and_swap_while_exchanges_finish(upstream):
    raised = []

    def read(proxy):
        try:
            for _ in range(20):
                proxy.use(None)
                assert all(record.end is not None for record in proxy.exchanges)
                proxy.timeline()
        except Exception as error:  # noqa: BLE001 - whatever it is, the test shows it
            raised.append(error)

    with chaosproxy.serve(upstream=upstream) as proxy:
        threads = [threading.Thread(target=read, args=[proxy]) for _ in range(3)]
        for thread in threads:
            thread.start()
        for _ in range(20):
            get(proxy.url, "/1")
        for thread in threads:
            thread.join()
        assert len(proxy.wait(exchanges=20, timeout=20)) == 20
    assert raised == []


def test_from_asyncio(upstream):
    async def main():
        with chaosproxy.serve(CUT, upstream=upstream) as proxy:
            async with httpx.AsyncClient(trust_env=False, timeout=20) as client:
                with pytest.raises(httpx.TransportError):
                    await client.get(proxy.url + "/8")
            await asyncio.to_thread(proxy.wait, 1, 20)
            proxy.use(None)
            return proxy.last.end.cause

    assert asyncio.run(main()) == "cut"


async def test_from_trio(upstream):
    with chaosproxy.serve(CUT, upstream=upstream) as proxy:
        async with httpx.AsyncClient(trust_env=False, timeout=20) as client:
            with pytest.raises(httpx.TransportError):
                await client.get(proxy.url + "/8")
        await trio.to_thread.run_sync(proxy.wait, 1, 20)
        proxy.use(None)
        assert proxy.last.end.cause == "cut"


def test_importing_the_package_loads_nothing_to_speak_of():
    program = "import sys, chaosproxy; print(*sorted({'trio', 'pydantic', 'yaml', 'ssl', 'click'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


def test_a_name_that_is_none():
    with pytest.raises(AttributeError, match="sserve"):
        _ = chaosproxy.sserve


def test_urllib_works_too(upstream):
    with chaosproxy.serve(upstream=upstream) as proxy, urllib.request.urlopen(proxy.url + "/3", timeout=20) as answer:
        assert answer.read() == events(3)


def test_clear_forgets_what_is_still_running(upstream):
    with chaosproxy.serve(upstream=upstream) as proxy:
        with socket.create_connection(("127.0.0.1", int(proxy.url.rpartition(":")[2])), timeout=20) as client:
            client.sendall(b"GET /forever HTTP/1.1\r\nHost: x\r\n\r\n")
            received = b""
            while b"data: 0" not in received:
                received += client.recv(1000)
            assert "#1 GET /forever" in proxy.timeline()
            proxy.clear()
            assert proxy.timeline() == ""
        get(proxy.url, "/2")
        (record,) = proxy.wait(timeout=20)
        assert record.request.path == "/2"
    assert [one.request.path for one in proxy.exchanges] == ["/2"]


def test_using_is_for_a_block(upstream):
    nth = {"version": 1, "rules": [{"nth": 1, "faults": CUT["faults"]}]}
    with chaosproxy.serve(nth, upstream=upstream) as proxy:
        assert get(proxy.url)[0] == events(3)
        with proxy.using(CUT):
            assert [get(proxy.url)[0] for _ in range(2)] == [events(3)] * 2
        assert get(proxy.url)[0] == events(8)  # its counter stands where it stood


def test_without_an_upstream_there_is_an_origin():
    question = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "hello"}]}
    with chaosproxy.serve(CUT, speed=100) as proxy:
        with pytest.raises(httpx.TransportError):
            httpx.post(f"{proxy.url}/v1/chat/completions", json=question, trust_env=False, timeout=20)
        (record,) = proxy.wait(timeout=20)
        assert (record.response.events_out, record.upstream.url) == (3, proxy.origin.url)
        assert proxy.origin.stats()["slots"] == 4
    with (
        chaosproxy.serve(upstream="http://127.0.0.1:1") as proxy,
        pytest.raises(LookupError, match="no embedded origin"),
    ):
        _ = proxy.origin


def test_two_at_once_have_origins_of_their_own():
    with chaosproxy.serve() as one, chaosproxy.serve() as other:
        assert one.origin.url != other.origin.url
        assert httpx.get(one.url + "/stats", trust_env=False, timeout=20).json()["running"] == 0
        assert (len(one.wait(timeout=20)), other.exchanges) == (1, [])


def test_a_proxy_that_does_not_answer_keeps_nobody_waiting(upstream, monkeypatch):
    """Something has the event loop and does not give it back: a fault of somebody's own, in an endless loop."""
    held, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        held.set()
        go_on.wait(20)

    with chaosproxy.serve(upstream=upstream) as proxy:
        get(proxy.url)
        proxy.wait(timeout=20)
        told = proxy.timeline()
        proxy._thread._token.run_sync_soon(hold)
        assert held.wait(20)
        with monkeypatch.context() as impatient:
            impatient.setattr(thread, "WITHIN", 0.2)
            with pytest.raises(RuntimeError, match="has not answered"):
                proxy.clear()
            assert proxy.timeline() == told
        go_on.set()
