"""Clients that take nothing, an upstream that never stops: what waits has a bound, and the process keeps to it."""

import resource
import socket
import time
from pathlib import Path

from tests.security.processes import ANSWER, GET, WITHIN, process, serving, until

__all__ = ["process"]

MIB = 1024 * 1024
STREAMS = 60
MORE = 48 * MIB
"""What the process may take besides what it has when it is ready."""
BLOCK = bytes(65536)
SHORT = GET.replace(b"/", b"/short", 1)
FULL = b"HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n\r\n"


def mapped(process):
    """Bytes of its address space."""
    return int(Path(f"/proc/{process.pid}/statm").read_text().split()[0]) * resource.getpagesize()


class Endless:
    """To one path it answers, to every other it never stops."""

    def __init__(self):
        self.sent = 0

    def serve(self, connection):
        while asked := connection.recv(65536):
            if b"/short" in asked:
                connection.sendall(ANSWER)
                continue
            connection.sendall(FULL)
            while True:
                self.sent += connection.send(BLOCK)

    def rests(self):
        """Nobody takes anything any more."""
        before = self.sent
        time.sleep(0.1)
        return before and self.sent == before


def unread(proxy):
    """A client that asks, and reads nothing."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.settimeout(WITHIN)
    client.connect(("127.0.0.1", proxy.port))
    client.sendall(GET)
    return client


def test_streams_that_nobody_reads(shown, process):
    endless = Endless()
    with serving(endless.serve) as upstream:
        proxy = process("--upstream", upstream.url, "--grace", "0ms").ready()
        before = mapped(proxy)
        proxy.limit(resource.RLIMIT_AS, before + MORE)
        clients = [unread(proxy) for _ in range(STREAMS)]
        until(endless.rests)
        statuses = {proxy.get(SHORT).split()[1].decode() for _ in range(5)}
        grown = mapped(proxy) - before
        status, _, err = proxy.stop()
        for client in clients:
            client.close()
    assert "Error" not in err
    assert len(proxy.records()) == STREAMS + 5
    shown(
        "process",
        f"{MORE // MIB} MiB more than it begins with, and streams that nobody reads",
        tried=STREAMS,
        must="the upstream waits, others are served, no memory is missing",
        happens=f"others: {', '.join(sorted(statuses))}; exit status {status}, no error",
        figure=f"{grown / MIB:.1f} MiB more; the upstream has got rid of {endless.sent / MIB:.0f} MiB, most to the kernel",
    )


def test_more_to_be_held_than_there_is_memory(shown, process, tmp_path):
    """Of each answer a fault holds up to 16 MiB, and there is room for four."""
    scenario = tmp_path / "held.yaml"
    scenario.write_text("version: 1\nmatch: {path: /}\nfaults: [buffer: {until_end: true}]\n")
    endless, count = Endless(), 8
    with serving(endless.serve) as upstream:
        proxy = process(str(scenario), "--upstream", upstream.url, "--grace", "0ms").ready()
        proxy.limit(resource.RLIMIT_AS, mapped(proxy) + 64 * MIB)
        clients = [proxy.connect() for _ in range(count)]
        for client in clients:
            client.sendall(GET)
        until(lambda: b'"internal"' in proxy.journal.read_bytes(), "there is memory enough")
        until(lambda: served(proxy), "nobody is served any more")
        status, _, err = proxy.stop()
        for client in clients:
            client.close()
    causes = [record["end"]["cause"] for record in proxy.records() if record["request"]["path"] == "/"]
    assert set(causes) <= {"internal", "shutdown"}
    assert "MemoryError" in err
    assert status == 0, err
    shown(
        "process",
        "faults that are told to hold more than there is memory for",
        tried=count,
        must="who finds none is ended, and lets go of its own; the proxy lives, others are served again",
        happens=f"ended with the cause internal; then 200; exit status {status}",
        figure=f"{causes.count('internal')} of {count} ended so",
    )


def served(proxy):
    """Whether somebody is, now."""
    try:
        return proxy.get(SHORT).split()[1] == b"200"
    except (OSError, IndexError):
        return False
