"""`open_proxy`: the proxy in the caller's Trio run.

Rules: a proxy that has ended can still be read. Must not know: threads.
"""

import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import trio

from chaosproxy.embedded.again import command
from chaosproxy.embedded.finished import Finished
from chaosproxy.embedded.linked import ADDRESS, LinkedUpstream, LinkStream, Serve
from chaosproxy.embedded.outlet import Outlet
from chaosproxy.embedded.parts import running
from chaosproxy.embedded.setup import KEPT, FilePath, Options, Setup, Several, Source, Tls, read
from chaosproxy.errors import Error
from chaosproxy.journal.journal import Journal
from chaosproxy.journal.jsonl import JournalFile
from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.judging.check import Verdicts
from chaosproxy.model.shown import shown
from chaosproxy.model.units import counted
from chaosproxy.proxy.planner import Planner
from chaosproxy.proxy.proxy import Proxy
from chaosproxy.report.timeline import timeline
from chaosproxy.wire.links import link

if TYPE_CHECKING:
    from chaosproxy.origin.serving import ServedOrigin


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class OpenProxy:
    """A running proxy, as the block of `open_proxy` sees it."""

    urls: tuple[str, ...]
    """Of every listener."""
    ca: Path | None
    """With `tls="auto"` the file of the CA certificate that clients must trust; removed at the end."""
    _origin: "ServedOrigin | None"
    _setup: Setup
    _proxy: Proxy
    _finished: Finished
    _rung: trio.lowlevel.ParkingLot = field(default_factory=trio.lowlevel.ParkingLot)
    _before: list[Planner] = field(default_factory=list)
    """What was in force and expected something, since the exchanges were last forgotten."""

    def __post_init__(self) -> None:
        self._proxy.journal.listen(self._finished)
        self._proxy.journal.listen(self._ring)

    def _ring(self, _: ExchangeRecord) -> None:
        self._rung.unpark_all()

    @property
    def url(self) -> str:
        """What a client should use: `http://127.0.0.1:PORT`."""
        return self.urls[0]

    def url_for(self, mount: str) -> str:
        """The URL of those rules of the scenario in force that have this `mount`. LookupError if none has."""
        mounts = dict.fromkeys(rule.mount for rule in self._proxy.planner.scenario.rules if rule.mount)
        if mount not in mounts:
            there = f"there are: {', '.join(mounts)}" if mounts else "none has a mount"
            raise LookupError(f"no rule of {self.scenario} is mounted at {mount!r}; {there}")
        return self.url + mount

    def connect(self) -> trio.abc.HalfCloseableStream:
        """A client's end of a new connection, over a link in memory; without TLS."""
        near, far = link()
        self._proxy.accept(*self._proxy.admit(far))
        return LinkStream(near)

    @property
    def origin(self) -> "ServedOrigin":
        """The embedded origin; `origin.stats()` is what it knows of its requests. LookupError where another upstream
        was named."""
        if self._origin is None:
            raise LookupError("no embedded origin: the proxy leads to the upstream that was named")
        return self._origin

    @property
    def exchanges(self) -> list[ExchangeRecord]:
        """The finished exchanges, oldest first: the latest `journal_limit` of them, fewer where their heads are large."""
        return self._finished.records

    @property
    def dropped(self) -> int:
        """How many finished exchanges are no longer kept: more than `journal_limit` came, or their heads took too much memory."""
        return self._finished.dropped

    @property
    def last(self) -> ExchangeRecord:
        """The exchange that finished last. LookupError if none has: `wait` first."""
        return last_of(self.exchanges)

    async def wait(self, exchanges: int = 1, timeout: float = 10.0) -> list[ExchangeRecord]:  # noqa: ASYNC109 - the parameter is that of the blocking `wait`
        """The finished exchanges, once there have been that many in all. TimeoutError, with the timeline of those there are,
        after `timeout` seconds of Trio's clock."""
        with trio.move_on_after(timeout):
            while self._finished.total < exchanges:
                await self._rung.park()
        if self._finished.total < exchanges:
            raise TimeoutError(too_few(self._finished.total, exchanges, timeout, self.timeline()))
        return self.exchanges

    async def settle(self, timeout: float = 10.0) -> bool:  # noqa: ASYNC109 - as that of `wait`
        """Until no exchange is running, at most `timeout` seconds of Trio's clock, and as long as the upstream is still to be
        asked what is left of one (`abort_chain`); whether none is."""
        began = trio.current_time()
        while (asking := self.unsettled) is not None:
            with trio.move_on_at(began + timeout + asking) as scope:
                await self._rung.park()
            if scope.cancelled_caught:
                return False
        return True

    @property
    def unsettled(self) -> float | None:
        """None where no exchange is running; else how many seconds after its client's leaving the upstream is to be asked
        what is left of one, at most."""
        running = self.running
        questions = (ask for one in running if one.evidence is not None for ask in one.evidence.questions)
        return max((ask.after for ask in questions), default=0.0) if running else None

    def use(self, scenario: Source | None) -> None:
        """New exchanges follow this scenario, its counters at the start; running ones keep what they began with.
        ScenarioError, and nothing changes, if it is wrong."""
        self.planned(scenario)()

    def planned(self, scenario: Source | None) -> Callable[[], Callable[[], None]]:
        """The two halves of `use`, for another thread: the scenario is read now, ScenarioError if it is wrong; calling what
        comes of it, inside the run, puts it in force, and calling what comes of that puts back what was."""
        planner = self._setup.parts.planner(read(scenario))

        def follow() -> Callable[[], None]:
            before = self._proxy.planner
            self._follow(planner)
            return lambda: self._follow(before)

        return follow

    def _follow(self, planner: Planner) -> None:
        replaced = self._proxy.planner
        if replaced.scenario.expect and replaced not in self._before:
            self._before.append(replaced)
        self._proxy.reload(planner)

    def clear(self) -> None:
        """Forget the exchanges so far, running ones too: `exchanges` and `wait` begin anew."""
        self._finished.clear(self._proxy.begun)
        self._before.clear()

    def verdict(self) -> Verdicts:
        """What the scenario in force expects, and what the finished exchanges have shown: `good`, and one verdict after
        the other. A scenario that was in force before, and that an exchange has met, is judged too, first."""
        records, now = self.exchanges, self._proxy.planner
        met = {id(record.evidence.scenario) for record in records if record.evidence is not None}
        before = [one for one in self._before if one is not now and id(one.scenario) in met]
        return Verdicts(tuple(verdict for one in [*before, now] for verdict in one.judge(records).each))

    @property
    def running(self) -> list[ExchangeRecord]:
        """The exchanges that have not finished: their records are still being written."""
        return [record for record in self._proxy.running if self._finished.counts(record)]

    @property
    def scenario(self) -> str:
        """The name of the scenario in force."""
        return self._proxy.planner.scenario.name

    @property
    def about(self) -> str:
        """Which proxy this is: its URL, the scenario in force and its seed."""
        planner = self._proxy.planner
        return f"{self.url}, {shown(planner.scenario.name)}, seed {planner.seed}"

    def command(self) -> str:
        """The command line that runs this proxy again, with the same seed; where a file has to be written for it, with the
        file's text on a line of its own."""
        planner, setup = self._proxy.planner, self._setup
        upstreams = [] if self._origin is not None else [address.url for address in setup.parts.upstreams]
        return command(planner.scenario, upstreams, planner.seed, setup.speed)

    def timeline(self) -> str:
        """What became of every exchange so far, moment by moment; running ones last."""
        told = timeline([*self.exchanges, *self.running])
        gone = self.dropped
        return f"{counted(gone, 'earlier exchange')} {'is' if gone == 1 else 'are'} not kept\n{told}" if gone else told


def open_proxy(
    scenario: Source | None = None,
    *,
    upstream: Several | Serve | None = None,
    listen: Several = "127.0.0.1:0",
    seed: int | None = None,
    speed: float = 1.0,
    tls: Tls | None = None,
    upstream_ca: FilePath | None = None,
    upstream_insecure: bool = False,
    journal: FilePath | None = None,
    journal_limit: int = KEPT,
) -> contextlib.AbstractAsyncContextManager[OpenProxy]:
    """A proxy in the caller's Trio run while an `async with` block runs, on Trio's clock (a MockClock too). Arguments and
    errors are those of `serve`; RuntimeError where the block begins in a program that is none of Trio's.

    `upstream` may be an async function too: it is called with a stream for each connection to the upstream, over a link
    in memory, and runs until the block ends; what it raises ends the block. `proxy.connect()` is the like for clients."""
    served = upstream if callable(upstream) else None
    urls = ADDRESS if callable(upstream) else upstream
    options = Options(urls, listen, seed, speed, tls, upstream_ca, upstream_insecure, journal, journal_limit)
    return opened(Setup.of(scenario, options, served))


@contextlib.asynccontextmanager
async def opened(setup: Setup, finished: Finished | None = None) -> AsyncIterator[OpenProxy]:
    """It listens while the block runs. At the end running exchanges are ended, and every one is journalled."""
    if not trio.lowlevel.in_trio_run():
        raise RuntimeError("open_proxy runs in a Trio program; elsewhere write `with chaosproxy.serve(...) as proxy:`")
    journal, lost = Journal(limit=0), list[str]()  # whoever reads from another thread has its own: `finished`
    with contextlib.ExitStack() as stack:
        if setup.journal is not None:
            file = JournalFile(setup.journal, lost.append, Outlet)
            stack.callback(file.close)
            journal.listen(file)
        origin = None
        if not setup.parts.upstreams:
            # Blocking for a moment, rather than waiting for a thread, during which a virtual clock would jump.
            origin = stack.enter_context(_origin(setup.speed))
            setup.parts.lead_to(origin.url)
        server_tls, ca = setup.parts.server_tls()
        if ca is not None:
            stack.callback(ca.unlink, missing_ok=True)
        listeners = await setup.parts.listeners(server_tls)
        linked = None if setup.serve is None else LinkedUpstream(setup.serve)
        proxy = setup.parts.proxy(setup.scenario, journal, None if linked is None else linked.dial)
        async with running(proxy, listeners) as nursery:
            if linked is not None:
                linked.nursery = nursery
            urls = tuple(listener.url for listener in listeners)
            yield OpenProxy(urls, ca, origin, setup, proxy, finished or Finished(setup.journal_limit))
    if lost:
        raise Error(lost[0])


def _origin(speed: float) -> contextlib.AbstractContextManager["ServedOrigin"]:
    from chaosproxy.origin.serving import OriginOptions, serving  # noqa: PLC0415 - a web server, for whoever needs it

    return serving(OriginOptions(speed=speed))


def last_of(exchanges: list[ExchangeRecord]) -> ExchangeRecord:
    if not exchanges:
        raise LookupError("no exchange has finished yet; wait() waits for one")
    return exchanges[-1]


def too_few(found: int, wanted: int, timeout: float, seen: str) -> str:
    """The message of a TimeoutError."""
    text = f"{found} of {wanted} exchange{'s' * (wanted != 1)} finished within {timeout:g} s"
    return f"{text}\n{seen}" if seen else f"{text}; no request has come"
