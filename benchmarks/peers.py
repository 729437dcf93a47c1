"""The proxies that are compared: how each is started in front of the origin, where found on the machine.

Rules: loopback only; every process that is started is ended, by its own handle; one worker or thread each, so that all
have the same processor to themselves. A peer that is missing or does not start is named in the result, never an error.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.cpu import family

ROOT = Path(__file__).parent.parent
_START = 15.0
"""Seconds until a proxy accepts."""


@dataclass(frozen=True, slots=True)
class Ports:
    """Where to reach a peer; None = it does not speak that protocol here."""

    h1: int | None
    h2: int | None = None


@dataclass(slots=True)
class Peer:
    """A running peer."""

    name: str
    ports: Ports
    process: subprocess.Popen[str] | None = None
    """None for `direct`, whose CPU time is nobody's."""

    @property
    def pids(self) -> list[int]:
        return family(self.process.pid) if self.process else []


class UnavailableError(Exception):
    """The peer cannot be measured here; says why."""


@dataclass(slots=True)
class Starter:
    """Starts processes on one set of processors, and knows how to end them."""

    origin: int
    cpus: set[int]
    folder: Path
    processes: list[subprocess.Popen[str]] = field(default_factory=list)

    def spawn(self, *command: str, piped: bool = False) -> subprocess.Popen[str]:
        """Start `command`, its messages in a file of their own."""
        log = (self.folder / f"log{len(self.processes)}").open("w")
        with log:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE if piped else log,
                stderr=log,
                text=True,
                cwd=ROOT,
                preexec_fn=lambda: os.sched_setaffinity(0, self.cpus),  # noqa: PLW1509 - no threads here
            )
        self.processes.append(process)
        return process

    def end(self) -> None:
        """End everything, politely first."""
        for process in self.processes:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stdout:
                process.stdout.close()

    def until(self, ready: Callable[[], bool], process: subprocess.Popen[str]) -> None:
        """Wait until `ready`; UnavailableError if the process ends before, or takes too long."""
        give_up = time.monotonic() + _START
        while not ready():
            if process.poll() is not None:
                raise UnavailableError(f"ended with status {process.returncode}: {self._last_words(process)}")
            if time.monotonic() > give_up:
                raise UnavailableError(f"does not accept after {_START:g} s")
            time.sleep(0.05)

    def _last_words(self, process: subprocess.Popen[str]) -> str:
        lines = (self.folder / f"log{self.processes.index(process)}").read_text().strip().splitlines()
        return lines[-1][:200] if lines else "it said nothing"


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def accepts(port: int) -> bool:
    """Whether somebody listens there."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def find(name: str) -> str:
    """The program of this name, or UnavailableError."""
    places = os.pathsep.join(
        [os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin", str(Path(sys.executable).parent)]
    )
    program = shutil.which(name, path=places)
    if program is None:
        raise UnavailableError("not found")
    return program


def direct(starter: Starter) -> Peer:
    return Peer("direct", Ports(starter.origin))


def splice(starter: Starter) -> Peer:
    process = starter.spawn(sys.executable, "-m", "benchmarks.splice", str(starter.origin), piped=True)
    assert process.stdout
    line = process.stdout.readline().strip()
    if not line:
        raise UnavailableError("did not start")
    return Peer("splice", Ports(int(line)), process)


ARMED = "- cut: {at: {event: 1000000000}, then: abort}"
SCENARIOS = {
    "chaosproxy": None,
    "chaosproxy, one trigger": f"version: 1\nfaults:\n  {ARMED}\n",
    "chaosproxy, six faults armed": f"""version: 1
hops:
  - faults:
      {ARMED}
      - timeout: {{idle: 60s}}
  - faults:
      - client_abort: propagate
      - timeout: {{first_event: 60s, total: 1h}}
  - faults:
      - cut: {{at: {{bytes: 1000000000000}}}}
      - buffer: {{bytes: 4KiB, if: {{status: 503}}}}
""",
    "chaosproxy, six faults": f"""version: 1
hops:
  - faults:
      {ARMED}
      - latency: 5ms
  - faults:
      - timeout: {{idle: 60s}}
      - error_event: {{at: {{event: 1000000000}}}}
  - faults:
      - latency: 5ms
      - compress: gzip
""",
}
"""The price of being ready: of the armed none ever acts. Of the last six the latencies do, on every piece, and so show
as 10 ms; the reader accepts no coding."""


def chaosproxy(name: str) -> Callable[[Starter], Peer]:
    """Starts chaosproxy with one of the scenarios."""

    def start(starter: Starter) -> Peer:
        stem = name.replace(", ", "-").replace(" ", "-")
        ready = starter.folder / f"{stem}.ready"
        command = [sys.executable, "-m", "chaosproxy", "run"]
        if (text := SCENARIOS[name]) is not None:
            scenario = starter.folder / f"{stem}.yaml"
            scenario.write_text(text)
            command.append(str(scenario))
        command += ["--upstream", f"http://127.0.0.1:{starter.origin}", "--listen", "127.0.0.1:0"]
        process = starter.spawn(*command, "--ready-file", str(ready), "-q")
        starter.until(lambda: ready.exists() and ready.stat().st_size > 0, process)
        port = int(json.loads(ready.read_text())["url"].rpartition(":")[2].strip("/"))
        return Peer(name, Ports(port, port), process)

    return start


def nginx(starter: Starter) -> Peer:
    program = find("nginx")
    h1, h2 = free_port(), free_port()
    folder = starter.folder
    server = "location / { proxy_pass http://origin; }"
    config = folder / "nginx.conf"
    config.write_text(f"""
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log stderr warn;
events {{ worker_connections 4096; }}
http {{
  access_log off; tcp_nodelay on; keepalive_requests 1000000;
  client_body_temp_path {folder}/nginx-body; proxy_temp_path {folder}/nginx-proxy;
  fastcgi_temp_path {folder}/nginx-f; uwsgi_temp_path {folder}/nginx-u; scgi_temp_path {folder}/nginx-s;
  proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off;
  upstream origin {{ server 127.0.0.1:{starter.origin}; keepalive 256; }}
  server {{ listen 127.0.0.1:{h1}; {server} }}
  server {{ listen 127.0.0.1:{h2} http2; {server} }}
}}
""")
    process = starter.spawn(program, "-c", str(config), "-p", str(folder), "-e", "stderr")
    starter.until(lambda: accepts(h1) and accepts(h2), process)
    return Peer("nginx", Ports(h1, h2), process)


def haproxy(starter: Starter) -> Peer:
    program = find("haproxy")
    h1, h2 = free_port(), free_port()
    config = starter.folder / "haproxy.cfg"
    config.write_text(f"""
global
  nbthread 1
  maxconn 4096
defaults
  mode http
  option http-no-delay
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend entry
  bind 127.0.0.1:{h1}
  bind 127.0.0.1:{h2} proto h2
  default_backend origin
backend origin
  server one 127.0.0.1:{starter.origin}
""")
    process = starter.spawn(program, "-db", "-f", str(config))
    starter.until(lambda: accepts(h1) and accepts(h2), process)
    return Peer("haproxy", Ports(h1, h2), process)


def mitmproxy(starter: Starter) -> Peer:
    program = find("mitmdump")
    port = free_port()
    process = starter.spawn(
        program,
        *("--mode", f"reverse:http://127.0.0.1:{starter.origin}", "--listen-host", "127.0.0.1"),
        *(
            "--listen-port",
            str(port),
            "--set",
            "stream_large_bodies=1",
            "--set",
            f"confdir={starter.folder}/mitm",
            "-q",
        ),
    )
    starter.until(lambda: accepts(port), process)
    return Peer("mitmproxy", Ports(port), process)


ALL: dict[str, Callable[[Starter], Peer]] = {
    "direct": direct,
    "splice": splice,
    **{name: chaosproxy(name) for name in SCENARIOS},
    "nginx": nginx,
    "haproxy": haproxy,
    "mitmproxy": mitmproxy,
}


@contextlib.contextmanager
def running(names: list[str], cpus: set[int], origin_cpus: set[int]) -> Iterator[tuple[list[Peer], dict[str, str]]]:
    """The origin and every peer of `names` that can be started; and why the others cannot."""
    with tempfile.TemporaryDirectory(prefix="benchmarks-") as folder:
        first = Starter(0, origin_cpus, Path(folder))
        starter = Starter(0, cpus, Path(folder) / "peers")
        starter.folder.mkdir()
        try:
            process = first.spawn(sys.executable, "-m", "benchmarks.origin", piped=True)
            assert process.stdout
            starter.origin = int(process.stdout.readline())
            peers: list[Peer] = []
            absent: dict[str, str] = {}
            for name in names:
                try:
                    peers.append(ALL[name](starter))
                except UnavailableError as reason:
                    absent[name] = str(reason)
            yield peers, absent
        finally:
            starter.end()
            first.end()
