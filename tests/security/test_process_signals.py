"""Signals, whatever the proxy is at: it ends in order, its journal is complete, its exit status is 0."""

import os
import signal
import socket
import subprocess
import sys
import time
from itertools import pairwise

from tests.ports import free_port
from tests.security.processes import ANSWER, AT_ONCE, STREAM, WITHIN, ended, process, serving, until, until_came

__all__ = ["process"]

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT]
NAMES = ", ".join(number.name for number in SIGNALS)
HEAD = STREAM.partition(b"9\r\n")[0]
SCENARIO = """
version: 1
rules:
  - match: {path: /stalled}
    faults: [{stall: {at: {event: 1}, for: forever}}]
  - match: {path: /closing}
    faults: [{cut: {at: {event: 1}, then: fin}}]
"""
ASKS = {
    "connected": (b"", b""),
    "half a head": (b"GET / HTTP/1.1\r\nHo", b""),
    "half a body": (b"POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nsome", b""),
    "waiting for the upstream": (b"GET /silent HTTP/1.1\r\nHost: x\r\n\r\n", b""),
    "head sent": (b"GET /head HTTP/1.1\r\nHost: x\r\n\r\n", b"chunked\r\n\r\n"),
    "in the middle of a stream": (b"GET /stream HTTP/1.1\r\nHost: x\r\n\r\n", b"data: 1\n\n"),
    "stalled by a fault": (b"GET /stalled HTTP/1.1\r\nHost: x\r\n\r\n", b"data: 1\n\n"),
    "closing": (b"GET /closing HTTP/1.1\r\nHost: x\r\n\r\n", b"data: 1\n\n"),
    "kept alive": (b"GET /short HTTP/1.1\r\nHost: x\r\n\r\n", b"\r\n\r\nok"),
}
"""What a client says, and what it has seen when it is in that state."""
CAUSES = {
    "/body": "shutdown",
    "/silent": "shutdown",
    "/head": "shutdown",
    "/stream": "shutdown",
    "/stalled": "shutdown",
    "/closing": "cut",
    "/short": None,
}
GRACE = 0.1


def states(seen):
    """The upstream's part; who it has heard of is put to `seen`."""

    def serve(connection):
        while asked := connection.recv(65536):
            path = asked.split()[1].decode()
            seen.add(path)
            if path == "/short":
                connection.sendall(ANSWER)
            elif path == "/head":
                connection.sendall(HEAD)
            elif path not in {"/silent", "/body"}:
                connection.sendall(STREAM)

    return serve


def signalled(process, scenario, number):
    """With a client in every state; what was journalled, the exit status, and how long the end took."""
    seen: set[str] = set()
    with serving(states(seen)) as upstream:
        proxy = process(str(scenario), "--upstream", upstream.url, "--grace", f"{GRACE * 1000:.0f}ms").ready()
        bare = proxy.descriptors
        clients = [proxy.connect() for _ in ASKS]
        for client, (said, comes) in zip(clients, ASKS.values(), strict=True):
            client.sendall(said)
            until_came(client, comes)
        until(lambda: seen == CAUSES.keys())
        until(lambda: proxy.descriptors >= bare + len(ASKS))
        began = time.monotonic()
        status, _, err = proxy.stop(number)
        took = time.monotonic() - began
        for client in clients:
            ended(client)
            client.close()
    assert "Traceback" not in err
    assert not proxy.ready_file.exists()
    return {record["request"]["path"]: record["end"]["cause"] for record in proxy.records()}, status, took


def test_clients_in_every_state(shown, process, tmp_path):
    scenario = tmp_path / "s.yaml"
    scenario.write_text(SCENARIO)
    seen = [signalled(process, scenario, number) for number in SIGNALS]
    slowest = max(took for _, _, took in seen)
    assert [(causes, status) for causes, status, _ in seen] == [(CAUSES, 0)] * len(SIGNALS)
    assert slowest < GRACE + AT_ONCE
    shown(
        "process",
        f"{NAMES}, clients in every state",
        tried=len(ASKS) * len(SIGNALS),
        must="an end within the grace and a second, every exchange journalled, no ready file, exit status 0",
        happens=f"all ended, {sum(len(causes) for causes, _, _ in seen)} exchanges journalled, exit status 0",
        figure=f"{slowest * 1000:.0f} ms at most with a grace of {GRACE * 1000:.0f} ms",
    )


def while_it_loads(folder):
    """Before there is anything to end; here while it loads what it takes to serve. What it said, its status, and the seconds
    from the signal on, by the clock that all processes share."""
    (folder / "trio.py").write_text(
        "import os, time\nprint(time.monotonic(), flush=True)\n"
        "os.kill(os.getpid(), int(os.environ['NUMBER']))\ntime.sleep(90)\n"
    )
    argv = [sys.executable, "-m", "chaosproxy", "run", "--upstream", "http://127.0.0.1:9", "--listen", "127.0.0.1:0"]
    env = {**os.environ, "PYTHONPATH": f"{folder}:{os.environ.get('PYTHONPATH', '')}"}
    seen = []
    for number in SIGNALS:
        ran = subprocess.run(
            argv, env=env | {"NUMBER": str(int(number))}, capture_output=True, text=True, timeout=WITHIN, check=False
        )
        seen.append((ran.stderr, ran.returncode, time.monotonic() - float(ran.stdout)))
    return seen


def while_it_waits(numbers):
    """For the second of its upstreams."""
    seen = []
    with socket.create_server(("127.0.0.1", 0)) as there:
        there.settimeout(WITHIN)
        upstreams = [f"http://127.0.0.1:{port}" for port in (there.getsockname()[1], free_port())]
        argv = [sys.executable, "-m", "chaosproxy", "run", "--listen", "127.0.0.1:0", "--wait-upstream", "1h"]
        argv += [word for url in upstreams for word in ("--upstream", url)]
        for number in numbers:
            with subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) as waiting:
                there.accept()[0].close()
                began = time.monotonic()
                waiting.send_signal(number)
                said = waiting.communicate(timeout=WITHIN)[1]
                took = time.monotonic() - began
            seen.append((said, waiting.returncode, took))
    return seen


def test_before_it_serves(shown, tmp_path):
    seen = while_it_loads(tmp_path) + while_it_waits([signal.SIGHUP, signal.SIGQUIT])
    slowest = max(took for _, _, took in seen)
    assert {(said, status) for said, status, _ in seen} == {("", 0)}
    assert slowest < AT_ONCE
    shown(
        "process",
        f"{NAMES} while it loads, or waits for an upstream",
        tried=len(seen),
        must="an end at once, which is within a second, without a word, exit status 0",
        happens="silent, exit status 0",
        figure=f"{slowest * 1000:.0f} ms at most",
    )


def test_thousands_of_them(shown, process):
    with serving(states(set())) as upstream:
        proxy = process("--upstream", upstream.url, "--grace", "1h").ready()
        with proxy.connect() as client:
            client.sendall(ASKS["in the middle of a stream"][0])
            until_came(client, b"data: 1")
            sent, began = 0, 0.0
            while sent < 10_000 and proxy.process.poll() is None:
                proxy.process.send_signal(signal.SIGTERM)
                sent += 1
                if sent == 2:
                    began = time.monotonic()
            _, err = proxy.process.communicate(timeout=WITHIN)
            took = time.monotonic() - began
            ended(client)
    causes = [record["end"]["cause"] for record in proxy.records()]
    assert (proxy.process.returncode, causes) == (0, ["shutdown"])
    assert not proxy.ready_file.exists()
    assert "Traceback" not in err
    assert took < AT_ONCE
    shown(
        "process",
        "SIGTERM again and again until it has ended",
        tried=1,
        must="the second ends it at once, which is within a second, none after that does anything",
        happens=f"exit status {proxy.process.returncode}, journalled: {', '.join(map(str, causes))}",
        figure=f"{sent:,} signals, ended {took * 1000:.0f} ms after the second",
    )


def test_who_is_not_to_hear_of_a_terminal_that_closes(process):
    with serving(states(set())) as upstream:
        proxy = process("--upstream", upstream.url, wrapped=["nohup"]).ready()
        proxy.process.send_signal(signal.SIGHUP)
        assert proxy.get(ASKS["kept alive"][0]).split()[1] == b"200"
        assert proxy.stop()[0] == 0


EVERY, STOOD, EVENTS = 0.02, 1.5, 300
PACED = f"version: 1\nfaults: [{{pace: {{events: 1, every: {EVERY * 1000:.0f}ms}}}}]\n"
EVENT = b"data: 12345\n\n"


def test_a_process_that_was_stopped(shown, process, tmp_path):
    scenario = tmp_path / "s.yaml"
    scenario.write_text(PACED)
    body = EVENT * EVENTS
    whole = HEAD + b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)

    def serve(connection):
        while connection.recv(65536):
            connection.sendall(whole)

    with serving(serve) as upstream:
        proxy = process(str(scenario), "--upstream", upstream.url).ready()
        with proxy.connect() as client:
            client.sendall(ASKS["in the middle of a stream"][0])
            until_came(client, EVENT)
            proxy.process.send_signal(signal.SIGSTOP)
            time.sleep(STOOD)
            proxy.process.send_signal(signal.SIGCONT)
            came = b""
            while came.count(EVENT) < 10:
                came += client.recv(65536)
        until(lambda: proxy.journal.stat().st_size)
        status, _, _ = proxy.stop()
    times = [(at, nbytes / len(EVENT)) for at, nbytes in proxy.records()[0]["deliveries"]]
    gaps = [later - earlier for (earlier, _), (later, _) in pairwise(times)]
    pause = max(gaps)
    behind = gaps.index(pause) + 1
    burst = sum(events for at, events in times[behind:] if at < times[behind][0] + EVERY / 2)
    assert pause > STOOD - 0.3
    assert burst < STOOD / EVERY - 10, "what it had missed came at once"
    shown(
        "process",
        "SIGSTOP, and SIGCONT later, while a fault sets the pace",
        tried=1,
        must="the pace goes on; what was missed is not made up for at once",
        happens=f"it goes on, without a burst; exit status {status}",
        figure=f"{pause:.2f} s of silence, then {burst:.0f} event at once, where {STOOD / EVERY:.0f} were due",
    )
