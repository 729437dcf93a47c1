"""A process that has no descriptor left waits for one: it neither spins nor falls over."""

import resource
import socket
import threading
import time

from tests.security.processes import ANSWER, AT_ONCE, GET, WITHIN, answer, process, serving, until

__all__ = ["process"]

CLIENTS = 12
CONNECTION_FAULT = "version: 1\nconnections:\n  - faults: [latency: 0ms]\n"
BUSY = 0.05
"""Of one processor."""


def load(process, seconds):
    """Which part of a processor it takes."""
    before, began = process.cpu, time.monotonic()
    time.sleep(seconds)
    return (process.cpu - before) / (time.monotonic() - began)


def test_descriptors_run_out(shown, process, tmp_path):
    together = threading.Barrier(CLIENTS)

    def serve(connection):
        while connection.recv(65536):
            together.wait(WITHIN)
            connection.sendall(ANSWER)

    scenario = tmp_path / "faults.yaml"
    scenario.write_text(CONNECTION_FAULT)  # such a one asks the kernel about every connection
    with serving(serve) as upstream:
        proxy = process(str(scenario), "--upstream", upstream.url).ready()
        bare = proxy.descriptors
        clients = [proxy.connect() for _ in range(CLIENTS)]
        until(lambda: proxy.descriptors == bare + CLIENTS)

        proxy.limit(resource.RLIMIT_NOFILE, bare + CLIENTS)
        clients[0].sendall(GET)
        refused = answer(clients[0])
        proxy.limit(resource.RLIMIT_NOFILE, 1000)
        for client in clients:
            client.sendall(GET)
        statuses = {answer(client).split()[1].decode() for client in clients}
        for client in clients:
            client.close()
        until(lambda: proxy.descriptors == bare + CLIENTS)  # the connections to the upstream are kept
        together.abort()

        proxy.limit(resource.RLIMIT_NOFILE, bare + CLIENTS + 1)
        last = proxy.connect()
        until(lambda: proxy.descriptors == bare + CLIENTS + 1)
        waiting = [proxy.connect() for _ in range(40)]
        busy = load(proxy, 0.5)
        assert proxy.process.poll() is None
        last.close()
        began = time.monotonic()
        status, _, err = proxy.stop()
        took = time.monotonic() - began
        for client in waiting:
            client.close()
    causes = [record["end"]["cause"] for record in proxy.records()]
    assert b" 502 " in refused
    assert b"Too many open files" in refused
    assert statuses == {"200"}
    assert causes == ["upstream:unreachable"] + [None] * CLIENTS
    assert busy < BUSY
    assert took < AT_ONCE
    assert (status, "Traceback" in err, proxy.ready_file.exists()) == (0, False, False)
    shown(
        "process",
        "no descriptor left for a connection to the upstream",
        tried=1,
        must="502, and served again once there is one",
        happens=f"{refused.split()[1].decode()} {causes[0]}, then {', '.join(sorted(statuses))}",
    )
    shown(
        "process",
        "no descriptor left for a client",
        tried=len(waiting),
        must="wait in the kernel; the process sleeps; SIGTERM ends it at once, which is within a second; the journal works",
        happens=f"wait; exit status {status}; {len(causes)} of {CLIENTS + 1} exchanges journalled",
        figure=f"{busy:.1%} of a processor meanwhile; ended {took * 1000:.0f} ms after SIGTERM",
    )


def test_more_clients_than_descriptors_are_enough_for(shown, process):
    """Each of those that are accepted has its connection to the upstream; the others have their turn."""

    def serve(connection):
        while connection.recv(65536):
            connection.sendall(ANSWER)

    count = 40
    with serving(serve) as upstream:
        proxy = process("--upstream", upstream.url).ready()
        proxy.limit(resource.RLIMIT_NOFILE, proxy.descriptors + 14)
        clients = [proxy.connect() for _ in range(count)]
        began = time.monotonic()
        for client in clients:
            client.sendall(GET)
        first = answer(clients[0])
        busy = load(proxy, 0.3)
        statuses = [first.split()[1]] + [leave(client) for client in clients[1:2]]
        clients[0].close()
        statuses += [leave(client) for client in clients[2:]]
        took = time.monotonic() - began
        _, _, err = proxy.stop()
    assert set(statuses) == {b"200"}
    assert {record["response"]["status"] for record in proxy.records()} == {200}
    assert busy < BUSY
    assert err.count("clients are connected, as many as the descriptors allow") == 1
    shown(
        "process",
        "more clients than there are descriptors for",
        tried=count,
        must="each is served, or waits in the kernel for its turn",
        happens=f"{statuses.count(b'200')} have their answer, and nobody a 502",
        figure=f"{took:.2f} s, {busy:.1%} of a processor while all places were taken",
    )


def leave(client: socket.socket) -> bytes:
    """Its status, and it is gone."""
    with client:
        return answer(client).split()[1]
