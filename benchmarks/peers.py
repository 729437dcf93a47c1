"""The proxies that are compared: how each is started in front of the origin, where found on the machine.

Rules: one worker or thread each, so that all have the same processor to themselves; a process for each pair of protocols.
A peer that is missing or does not start is named in the result, never an error.
"""

import contextlib
import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import Popen, run

from benchmarks import chained
from benchmarks.cpu import family
from benchmarks.programs import Starter, UnavailableError, accepts, descriptors, find, free_port

PAIRS = ("h1-h1", "h2-h1", "h2-h2")
"""The protocol towards the client, and that towards the upstream."""


@dataclass(slots=True)
class Peer:
    """A running peer."""

    name: str
    port: int
    process: Popen[str] | None = None
    """None for `direct`, whose CPU time is nobody's."""
    journal: Path | None = None
    """What it writes down itself, where it is asked for that."""

    @property
    def pids(self) -> list[int]:
        return family(self.process.pid) if self.process else []


Start = Callable[[Starter, str], Peer]


def direct(starter: Starter, pair: str) -> Peer:
    if pair == "h2-h1":
        raise UnavailableError("nobody translates")
    return Peer("direct", starter.origin)


def splice(starter: Starter, pair: str) -> Peer:
    if pair == "h2-h1":
        raise UnavailableError("a splice does not translate")
    process = starter.spawn(sys.executable, "-m", "benchmarks.splice", str(starter.origin), piped=True)
    assert process.stdout
    line = process.stdout.readline().strip()
    if not line:
        raise UnavailableError("did not start")
    return Peer("splice", int(line), process)


def chaosproxy(
    name: str, scenario: str | None = None, options: tuple[str, ...] = (), *, journal: bool = False
) -> Start:
    """Starts chaosproxy with a scenario and further options."""

    def start(starter: Starter, pair: str) -> Peer:
        stem = starter.folder / f"{name}-{pair}".replace(", ", "-").replace(" ", "-")
        ready = stem.with_suffix(".ready")
        command = [sys.executable, "-m", "chaosproxy", "run"]
        if scenario is not None:
            stem.with_suffix(".yaml").write_text(scenario)
            command.append(str(stem.with_suffix(".yaml")))
        if journal:
            command += ["--journal", str(stem.with_suffix(".jsonl"))]
        scheme = "h2c" if pair.endswith("h2") else "http"
        command += ["--upstream", f"{scheme}://127.0.0.1:{starter.origin}", "--listen", "127.0.0.1:0", *options]
        process = starter.spawn(*command, "--ready-file", str(ready), "-q")
        starter.until(lambda: ready.exists() and ready.stat().st_size > 0, process)
        port = int(json.loads(ready.read_text())["url"].rpartition(":")[2].strip("/"))
        return Peer(name, port, process, stem.with_suffix(".jsonl") if journal else None)

    return start


def nginx(starter: Starter, pair: str) -> Peer:
    if pair == "h2-h2":
        raise UnavailableError("nginx speaks no HTTP/2 to upstreams")
    program = find("nginx")
    port = free_port()
    folder = starter.folder / f"nginx-{pair}"
    folder.mkdir(exist_ok=True)
    config = folder / "nginx.conf"
    config.write_text(f"""
daemon off; worker_processes 1; worker_rlimit_nofile {descriptors()}; pid {folder}/nginx.pid; error_log stderr warn;
events {{ worker_connections {descriptors()}; }}
http {{
  access_log off; tcp_nodelay on; keepalive_requests 1000000;
  client_body_temp_path {folder}/nginx-body; proxy_temp_path {folder}/nginx-proxy;
  fastcgi_temp_path {folder}/nginx-f; uwsgi_temp_path {folder}/nginx-u; scgi_temp_path {folder}/nginx-s;
  proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering off; proxy_read_timeout 600s;
  upstream origin {{ server 127.0.0.1:{starter.origin}; keepalive 256; }}
  server {{
    listen 127.0.0.1:{port}{" http2" if pair.startswith("h2") else ""} backlog=4096;
    location / {{ proxy_pass http://origin; }}
  }}
}}
""")
    process = starter.spawn(program, "-c", str(config), "-p", str(folder), "-e", "stderr")
    starter.until(lambda: accepts(port), process)
    return Peer("nginx", port, process)


def haproxy(starter: Starter, pair: str) -> Peer:
    program = find("haproxy")
    port = free_port()
    config = starter.folder / f"haproxy-{pair}.cfg"
    client, upstream = (" proto h2" if side == "h2" else "" for side in pair.split("-"))
    config.write_text(f"""
global
  nbthread 1
  maxconn {(descriptors() - 100) // 2}
defaults
  mode http
  option http-no-delay
  timeout connect 5s
  timeout client 600s
  timeout server 600s
frontend entry
  bind 127.0.0.1:{port}{client} backlog 4096
  default_backend origin
backend origin
  server one 127.0.0.1:{starter.origin}{upstream}
""")
    process = starter.spawn(program, "-db", "-f", str(config))
    starter.until(lambda: accepts(port), process)
    return Peer("haproxy", port, process)


def mitmproxy(starter: Starter, pair: str) -> Peer:
    if pair != "h1-h1":
        raise UnavailableError("mitmproxy speaks no HTTP/2 without TLS")
    program = find("mitmdump")
    port = free_port()
    addon = starter.folder / "streams.py"
    # Its option stream_large_bodies decides with the first byte, and keeps the head until then.
    addon.write_text("def responseheaders(flow):\n    flow.response.stream = True\n")
    command = [program, "--mode", f"reverse:http://127.0.0.1:{starter.origin}", "--listen-host", "127.0.0.1"]
    command += ["--listen-port", str(port), "--set", f"confdir={starter.folder}/mitm", "-s", str(addon), "-q"]
    process = starter.spawn(*command)
    starter.until(lambda: accepts(port), process)
    return Peer("mitmproxy", port, process)


ALL: dict[str, Start] = {
    "direct": direct,
    "splice": splice,
    "chaosproxy": chaosproxy("chaosproxy"),
    "nginx": nginx,
    "haproxy": haproxy,
    "mitmproxy": mitmproxy,
}
OWN: dict[str, Start] = {
    "chaosproxy, TLS": chaosproxy("chaosproxy, TLS", options=("--tls", "auto")),
    "chaosproxy, every fault": chaosproxy("chaosproxy, every fault", chained.scenario()),
    "chaosproxy, exact": chaosproxy("chaosproxy, exact", chained.exact_scenario(), journal=True),
}
"""Further ones, for the scenes that are about chaosproxy alone."""


_VERSION = {"nginx": ("nginx", "-v"), "haproxy": ("haproxy", "-v"), "mitmproxy": ("mitmdump", "--version")}


def version(name: str) -> str:
    """Of somebody else's program; empty where it says none, or is not here."""
    if name not in _VERSION:
        return ""
    program, option = _VERSION[name]
    try:
        said = run([find(program), option], check=False, capture_output=True, text=True, timeout=30)
    except UnavailableError:
        return ""
    found = re.search(r"\d+(\.\d+)+", said.stdout + said.stderr)
    return found[0] if found else ""


@dataclass(slots=True)
class Pool:
    """The peers that have been asked for so far, all of them running."""

    cpus: set[int]
    origin_cpus: set[int]
    origin: int
    folder: Path
    started: dict[tuple[str, str], Peer | UnavailableError] = field(default_factory=dict)
    starters: list[Starter] = field(default_factory=list)

    def peer(self, name: str, pair: str = "h1-h1") -> Peer:
        """The one of this name, started when it is first asked for. UnavailableError if it cannot be."""
        known = self.started.get((name, pair))
        if known is None:
            try:
                known = self._start(self.starters[0], name, pair)
            except UnavailableError as reason:
                known = reason
            self.started[name, pair] = known
        if isinstance(known, UnavailableError):
            raise UnavailableError(*known.args)
        return known

    def _start(self, starter: Starter, name: str, pair: str) -> Peer:
        return (ALL | OWN)[name](starter, pair)

    @contextlib.contextmanager
    def fresh(self, name: str, pair: str = PAIRS[0]) -> Iterator[Peer]:
        """One that has served nobody yet, for the block."""
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            starter = Starter(self.origin, self.cpus, Path(folder))
            try:
                yield self._start(starter, name, pair)
            finally:
                starter.end()


@contextlib.contextmanager
def running(cpus: set[int], origin_cpus: set[int]) -> Iterator[Pool]:
    """The origin, and peers as they are asked for; all are ended behind the block."""
    with tempfile.TemporaryDirectory(prefix="benchmarks-") as folder:
        first = Starter(0, origin_cpus, Path(folder))
        starter = Starter(0, cpus, Path(folder) / "peers")
        starter.folder.mkdir()
        try:
            process = first.spawn(sys.executable, "-m", "benchmarks.origin", piped=True)
            assert process.stdout
            starter.origin = int(process.stdout.readline())
            yield Pool(cpus, origin_cpus, starter.origin, starter.folder, starters=[starter])
        finally:
            starter.end()
            first.end()
