"""`serve`: the proxy in a thread of its own, for blocking, asyncio and Trio programs alike.

Rules: everything may be called from any thread, and nothing waits for the proxy without a limit. Must not know: how the
parts of a proxy are put together.
"""

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from chaosproxy.embedded.finished import Finished
from chaosproxy.embedded.opened import OpenProxy, last_of, opened, too_few
from chaosproxy.embedded.setup import KEPT, FilePath, Options, Setup, Several, Source, Tls
from chaosproxy.embedded.thread import TrioThread
from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.judging.check import Verdicts
from chaosproxy.report.timeline import timeline

if TYPE_CHECKING:
    from chaosproxy.origin.serving import ServedOrigin


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ServedProxy:
    """A running proxy, as the block of `serve` sees it. Every member may be used from any thread."""

    _thread: TrioThread[OpenProxy]
    _inside: OpenProxy
    _finished: Finished

    @property
    def url(self) -> str:
        """What a client should use: `http://127.0.0.1:PORT`."""
        return self._inside.url

    def url_for(self, mount: str) -> str:
        """The URL of those rules of the scenario in force that have this `mount`. LookupError if none has."""
        return self._inside.url_for(mount)

    @property
    def urls(self) -> tuple[str, ...]:
        """Of every listener."""
        return self._inside.urls

    @property
    def ca(self) -> Path | None:
        """With `tls="auto"` the file of the CA certificate that clients must trust; removed at the end."""
        return self._inside.ca

    @property
    def origin(self) -> "ServedOrigin":
        """The embedded origin; `origin.stats()` is what it knows of its requests. LookupError where another upstream
        was named."""
        return self._inside.origin

    @property
    def exchanges(self) -> list[ExchangeRecord]:
        """The finished exchanges, oldest first: the latest `journal_limit` of them, a copy. A client has its last byte a
        moment before its exchange is here: `wait` for it."""
        self._thread.check()
        return self._finished.records

    @property
    def dropped(self) -> int:
        """How many finished exchanges are no longer kept: more than `journal_limit` came, or their heads took too much memory."""
        self._thread.check()
        return self._finished.dropped

    @property
    def last(self) -> ExchangeRecord:
        """The exchange that finished last. LookupError if none has: `wait` first."""
        return last_of(self.exchanges)

    def wait(self, exchanges: int = 1, timeout: float = 10.0) -> list[ExchangeRecord]:
        """The finished exchanges, once there have been that many in all. TimeoutError, with the timeline of those there are,
        after `timeout` seconds. It blocks: in an asynchronous test let a thread wait (`asyncio.to_thread`)."""
        self._thread.check()
        if self._finished.wait(exchanges, timeout):
            return self.exchanges
        if self._thread.failure is not None:
            raise self._thread.failure
        raise TimeoutError(too_few(self._finished.total, exchanges, timeout, self.timeline()))

    def settle(self, timeout: float = 10.0) -> bool:
        """Until no exchange is running, at most `timeout` seconds, and as long as the upstream is still to be asked what is
        left of one (`abort_chain`); whether none is. It blocks, as `wait` does."""
        self._thread.check()
        began = time.monotonic()
        while True:
            seen = self._finished.total  # before the look: whatever finishes behind it is seen by the wait
            asking = self._thread.call(lambda: self._inside.unsettled)
            if asking is None:
                return True
            if not self._finished.wait(seen + 1, began + timeout + asking - time.monotonic()):
                return False

    def use(self, scenario: Source | None) -> None:
        """New exchanges follow this scenario, its counters at the start; running ones keep what they began with.
        ScenarioError, and nothing changes, if it is wrong; RuntimeError if the proxy has ended."""
        self._thread.call(self._inside.planned(scenario))

    @contextlib.contextmanager
    def using(self, scenario: Source | None) -> Iterator[None]:
        """`use` for a block, its errors too. Behind it the scenario of before is in force again, its counters as they were."""
        put_back = self._thread.call(self._inside.planned(scenario))
        try:
            yield
        finally:
            self._thread.call(put_back)

    def clear(self) -> None:
        """Forget the exchanges so far, running ones too: `exchanges` and `wait` begin anew. RuntimeError if the proxy has
        ended."""
        self._thread.call(self._inside.clear)

    def verdict(self) -> Verdicts:
        """What the scenario in force expects, and what the finished exchanges have shown: `good`, and one verdict after
        the other. A scenario that was in force before, and that an exchange has met, is judged too, first. A client has
        its last byte a moment before its exchange is here: `wait` or `settle` first."""
        self._thread.check()
        return self._inside.verdict()

    @property
    def scenario(self) -> str:
        """The name of the scenario in force."""
        return self._inside.scenario

    @property
    def about(self) -> str:
        """Which proxy this is: its URL, the scenario in force and its seed."""
        return self._inside.about

    def command(self) -> str:
        """The command line that runs this proxy again, with the same seed; where a file has to be written for it, with the
        file's text on a line of its own."""
        return self._inside.command()

    def timeline(self) -> str:
        """What became of every exchange so far, moment by moment; running ones last."""
        try:
            return self._thread.call(self._inside.timeline)
        except Exception:  # noqa: BLE001 - whatever has ended it is raised by others; what is known is shown
            return timeline(self.exchanges)


def serve(
    scenario: Source | None = None,
    *,
    upstream: Several | None = None,
    listen: Several = "127.0.0.1:0",
    seed: int | None = None,
    speed: float = 1.0,
    tls: Tls | None = None,
    upstream_ca: FilePath | None = None,
    upstream_insecure: bool = False,
    journal: FilePath | None = None,
    journal_limit: int = KEPT,
) -> contextlib.AbstractContextManager[ServedProxy]:
    """A proxy in a thread of its own while a `with` block runs; it accepts when the block begins. At the end running
    exchanges are ended, and every one is journalled.

    `scenario`: a name, a path, YAML text or the same structure as a mapping; None is transparent. `upstream`: one URL or
    several (round robin); None is an embedded origin of the proxy's own, `proxy.origin`. `listen`: `HOST:PORT`, one or
    several; port 0 is any free one. `seed`: else the scenario's, else drawn. `speed`: divides every duration of the
    scenario. `tls`: "auto" (clients trust `proxy.ca`), or the files (certificate, key). `upstream_ca`,
    `upstream_insecure`: how an https upstream is verified. `journal`: a file of JSON lines, one per finished exchange.
    `journal_limit`: how many finished exchanges are kept in memory, the latest; the file has all of them.

    Raises at once ScenarioError for a wrong scenario and UsageError for another wrong argument; UnavailableError when the
    block begins and the port is taken; all are `Error`. The block ends with what the proxy itself failed with, if it did.
    """
    options = Options(upstream, listen, seed, speed, tls, upstream_ca, upstream_insecure, journal, journal_limit)
    return _Block(Setup.of(scenario, options))


class _Block(contextlib.AbstractContextManager[ServedProxy]):
    """What `serve` gives; the proxy is what its block gives, and whoever takes one for the other is told."""

    def __init__(self, setup: Setup) -> None:
        self._served = _served(setup)
        self._begun = False

    def __enter__(self) -> ServedProxy:
        if self._begun:
            raise RuntimeError(
                "this block has begun once already; call `chaosproxy.serve(...)` again for another proxy"
            )
        self._begun = True
        return self._served.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return self._served.__exit__(kind, error, trace)

    def __getattr__(self, name: str) -> object:
        raise AttributeError(
            f"no {name!r} outside a block; write `with chaosproxy.serve(...) as proxy:`, then proxy.{name}"
        )


@contextlib.contextmanager
def _served(setup: Setup) -> Iterator[ServedProxy]:
    finished = Finished(setup.journal_limit)
    thread = TrioThread(opened(setup, finished), finished.close)
    inside = thread.start()
    try:
        yield ServedProxy(thread, inside, finished)
    finally:
        thread.stop()
