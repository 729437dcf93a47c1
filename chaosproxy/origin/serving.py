"""The origin on a port: a thread of its own, in it an event loop, in it uvicorn.

So it serves tests and programs of every kind, synchronous, asyncio and Trio alike, and its stopping waits for nobody:
streams that run are broken off. Nothing global is touched: no signal handler, no logging configuration.
Must not know: what is answered.
"""

import asyncio
import contextlib
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from chaosproxy.errors import UnavailableError, cannot_listen
from chaosproxy.model.units import SPEEDS, is_speed
from chaosproxy.origin.app import Origin
from chaosproxy.origin.engine import Engine, Link
from chaosproxy.origin.question import UNSAID, Knobs
from chaosproxy.origin.runtime import Runtime

BACKLOG = 1024
KEEP_ALIVE = 75
"""Seconds that an idle connection is kept, as nginx keeps it; a proxy in front should not meet its closing."""


@dataclass(frozen=True, slots=True)
class OriginOptions:
    """`broken` are links of the abort chain that are left out; `speed` divides `first` and `gap` of every request; `knobs`
    are those of requests that say nothing."""

    slots: int = 4
    kv_blocks: int = 1024
    broken: frozenset[str] = frozenset()
    speed: float = 1.0
    knobs: Knobs = UNSAID

    def __post_init__(self) -> None:
        if self.slots < 1 or self.kv_blocks < 1 or not is_speed(self.speed):
            raise ValueError(f"slots and kv_blocks are 1 or more, speed is {SPEEDS}")
        for name in self.broken:
            Link(name)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ServedOrigin:
    """A running origin."""

    url: str
    """Where it accepts: `http://127.0.0.1:PORT`."""
    _runtime: Runtime

    def stats(self) -> dict[str, int]:
        """What `/stats` says."""
        return self._runtime.stats()


@contextlib.contextmanager
def serving(options: OriginOptions | None = None, host: str = "127.0.0.1", port: int = 0) -> Iterator[ServedOrigin]:
    """An origin that accepts at `url`; port 0 is any free one. UnavailableError if it cannot listen there. At the end
    every connection is closed, and nothing of it is left."""
    options = options or OriginOptions()
    broken = frozenset(Link(name) for name in options.broken)
    runtime = Runtime(Engine(options.slots, options.kv_blocks, broken), options.speed)
    listening = _listen(host, port)
    shown = f"[{host}]" if ":" in host else host
    url = f"http://{shown}:{listening.getsockname()[1]}"
    server = _Server(Origin(runtime, broken, options.knobs), runtime, listening)
    thread = threading.Thread(target=server.work, name=f"origin {url}", daemon=True)
    thread.start()
    try:
        server.ready.wait()
        if not server.started:
            raise UnavailableError(f"the origin on {url} did not start")
        yield ServedOrigin(url, runtime)
    finally:
        server.stop()
        thread.join()


class _Quiet(H11Protocol):
    """Without an access log, whatever logging somebody has set up around it."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.access_log = False


class _Server(uvicorn.Server):
    def __init__(self, origin: Origin, runtime: Runtime, listening: socket.socket) -> None:
        super().__init__(
            uvicorn.Config(
                origin.application(),
                http=_Quiet,
                ws="none",
                lifespan="off",
                interface="asgi3",
                log_config=None,
                proxy_headers=False,
                timeout_keep_alive=KEEP_ALIVE,
            )
        )
        self.ready = threading.Event()
        self._runtime = runtime
        self._listening = listening
        self._loop = asyncio.new_event_loop()
        self._leaving = asyncio.Event()

    def work(self) -> None:
        """Until `stop`; in the thread that it is called in."""
        try:
            with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
                runner.run(self.serve([self._listening]))
        finally:
            self._listening.close()
            self.ready.set()

    async def main_loop(self) -> None:
        """Between startup and shutdown."""
        ticking = asyncio.create_task(super().main_loop())
        self.ready.set()
        await self._leaving.wait()
        ticking.cancel()
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        self._runtime.close()

    def stop(self) -> None:
        """From another thread."""
        with contextlib.suppress(RuntimeError):  # its loop is closed already
            self._loop.call_soon_threadsafe(self._leaving.set)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        made = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except (OSError, UnicodeError) as error:
        raise cannot_listen(host, port, error) from error
    # asyncio turns Nagle's algorithm off only where a socket says that it is TCP; with it tokens come late, in twos.
    return socket.socket(made.family, made.type, socket.IPPROTO_TCP, fileno=made.detach())
