"""What `run` does between reading its options and its exit status: listen, say so, serve, leave in order."""

import contextlib
import gc
import logging
import ssl
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click
import trio

from chaosproxy.cli.core_files import write_no_core
from chaosproxy.cli.ends import Ends
from chaosproxy.cli.logs import log_to
from chaosproxy.cli.ready import ready_file
from chaosproxy.cli.run import RunOptions
from chaosproxy.cli.saying import Saying
from chaosproxy.embedded.parts import Parts, running
from chaosproxy.errors import UnavailableError, UpstreamFault, UsageError
from chaosproxy.journal.journal import Journal
from chaosproxy.journal.jsonl import JournalFile, as_line, line
from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.judging.check import Verdicts
from chaosproxy.model.units import ENDLESS, counted, show_duration
from chaosproxy.proxy.listener import Listener
from chaosproxy.proxy.proxy import Proxy
from chaosproxy.report.line import exchange_line
from chaosproxy.report.timeline import timeline
from chaosproxy.report.verdicts import verdicts
from chaosproxy.scenario.schema import TRANSPARENT, Scenario
from chaosproxy.wire import dial as dialling

_GRANTED = (65536, 10240)
"""Descriptors to ask for where the most is not granted: the second is what macOS allows any process."""


def serve(options: RunOptions, ends: Ends) -> int:
    """Run until a signal; the exit status."""
    _take_descriptors()
    run = _Run(options, ends)
    ends.hold()
    return trio.run(run.main)


def _take_descriptors() -> None:
    """As many as we may have: the limit that most systems begin with is for programs that know no more than 1,024."""
    if sys.platform != "win32":
        import resource  # noqa: PLC0415 - not everywhere

        now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        for wanted in (most, *(number for number in _GRANTED if number > now)):
            with contextlib.suppress(OSError, ValueError):  # macOS names a limit that it does not grant
                resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
                return


class _Run:
    def __init__(self, options: RunOptions, ends: Ends) -> None:
        self.options, self.ends, self.saying = options, ends, Saying()
        self.complain = self.saying.complain
        # Never lower: what hpack says at DEBUG are header values, secrets too.
        level = logging.ERROR if options.quiet else logging.WARNING
        log_to(self.saying.err, level)
        if options.verbose:
            logging.getLogger("chaosproxy").setLevel(logging.DEBUG)  # a bug of ours then says where
        self.parts = Parts(
            options.upstream,
            listen=options.listen,
            seed=options.seed,
            speed=options.speed,
            tls=options.tls,
            ca_out=options.ca_out,
            upstream_ca=options.upstream_ca,
            upstream_insecure=options.upstream_insecure,
        )
        self._proxy: Proxy | None = None
        self.files, self.scenario = _scenario(options.scenarios) if options.scenarios else ([], TRANSPARENT)

    async def main(self) -> int:
        with self.ends.listening():
            return await self._main()

    async def _main(self) -> int:
        options = self.options
        for warning in self.scenario.warnings:
            self.complain(str(warning))
        if options.speed != 1 and _times_out(self.scenario):
            self.complain("--speed does not change the pace of the upstream: timeouts meet it at full speed")
        write_no_core()
        server_tls, ca = self.parts.server_tls()
        journal = Journal(options.journal_limit)
        file = None
        if options.journal:
            file = JournalFile(options.journal, self.complain, self.saying.outlet)
            journal.listen(file)
        if not options.quiet:
            journal.listen(self._say_json if options.json else self._say_line)
        try:
            if options.wait_upstream is None or await self._upstreams_accept(options.wait_upstream):
                await self._listen(server_tls, journal, ca)
                if not options.quiet and not options.json:
                    self.complain(_served(journal, options.journal_limit))
        finally:
            self.ends.close()
            if file is not None:
                file.close()
            if ca is not None and options.ca_out is None:
                ca.unlink(missing_ok=True)
            self.saying.finish()
        judged = self._proxy.planner.judge(journal.exchanges) if self._proxy is not None else Verdicts(())
        if options.report:
            from chaosproxy.cli.saving import save_reports  # noqa: PLC0415 - loaded by whoever wants a report

            save_reports(options.report, journal.exchanges, judged, self.scenario.name)
        if file is not None and file.lost:
            return 3
        return self._say_verdicts(judged, journal) if options.assert_ else 0

    def _say_verdicts(self, judged: Verdicts, journal: Journal) -> int:
        """On stdout; the exit status."""
        if self.options.json:
            for verdict in judged.each:
                click.echo(as_line(verdict.as_json()))
        else:
            click.echo(verdicts(judged.each, journal.exchanges) or "ok      nothing is expected")
        if journal.dropped:
            self.complain(f"judged without the first {journal.dropped} exchanges, which are no longer kept in memory")
        return 0 if judged.good else 1

    async def _listen(self, server_tls: ssl.SSLContext | None, journal: Journal, ca: Path | None) -> None:
        listeners = await self.parts.listeners(server_tls)
        proxy = self._proxy = self.parts.proxy(self.scenario, journal)
        welcome = [f"listening on {listener.url}" for listener in listeners]
        if ca is not None and self.options.ca_out is None:  # else who runs it knows
            welcome.append(f"clients trust {ca}")
        with ready_file(self.options.ready_file, [listener.url for listener in listeners], ca) as announce:
            await self._serve(proxy, listeners, announce, welcome)

    async def _serve(
        self, proxy: Proxy, listeners: list[Listener], announce: Callable[[], None], welcome: list[str]
    ) -> None:
        async with running(proxy, listeners) as nursery:
            if self.options.watch and self.files:
                from chaosproxy.cli.watch import Watch  # noqa: PLC0415 - it reads scenarios, see `_scenario`

                watch = Watch(self.files, lambda scenario: proxy.reload(self.parts.planner(scenario)), self.complain)
                nursery.start_soon(watch.run)
            gc.freeze()  # all that is loaded stays: no collection need look through it again
            announce()
            if not self.options.quiet and not self.options.json:
                for said in welcome:
                    self.complain(said)
            await self.ends.heard()
            for listener in listeners:
                listener.close()
            if proxy.running and self.options.grace and not self.options.quiet:
                self.complain(_ending(len(proxy.running), self.options.grace))
            async with trio.open_nursery() as leaving:
                leaving.start_soon(self._cancel_at, 2, leaving)
                await proxy.shut_down(self.options.grace)
                leaving.cancel_scope.cancel()

    async def _cancel_at(self, count: int, nursery: trio.Nursery) -> None:
        """At that signal."""
        await self.ends.heard(count)
        nursery.cancel_scope.cancel()

    async def _upstreams_accept(self, limit: float) -> bool:
        """Whether they do; False if a signal comes first."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._cancel_at, 1, nursery)
            await self._wait_upstreams(limit)
            nursery.cancel_scope.cancel()
            return True
        return False

    async def _wait_upstreams(self, limit: float) -> None:
        for address in self.parts.upstreams:
            reason = ""
            with trio.move_on_after(limit) as scope:
                while True:
                    try:
                        (await dialling.dial(address.host, address.port)).close()
                        break
                    except UpstreamFault as fault:
                        reason = f": {fault}"
                        await trio.sleep(0.05)
            if scope.cancelled_caught:
                waited = f"within {show_duration(limit)}"
                raise UnavailableError(f"upstream {address.url} does not accept connections {waited}{reason}")

    def _say_json(self, record: ExchangeRecord) -> None:
        self.saying.out(line(record))

    def _say_line(self, record: ExchangeRecord) -> None:
        self.saying.err(timeline([record]) if self.options.verbose else exchange_line(record))


def _ending(running: int, grace: float) -> str:
    are, have, them = ("is", "has", "it") if running == 1 else ("are", "have", "them")
    limit = "no limit" if grace == ENDLESS else show_duration(grace)
    return f"ending; {counted(running, 'exchange')} {are} running and {have} {limit}; a second signal ends {them} now"


def _served(journal: Journal, limit: int) -> str:
    text = f"ended; {counted(journal.total, 'exchange')}"
    if journal.dropped:
        text += f", of which the first {journal.dropped} are no longer kept in memory"
        text += f" (--journal-limit {limit}, or large heads)"
    return text


def _times_out(scenario: Scenario) -> bool:
    return any(fault.name == "timeout" for rule in scenario.rules for fault in rule.faults)


def _scenario(names: Sequence[str]) -> tuple[list[Path], Scenario]:
    """The files meant, and what they say. Their reader takes longer to load than all that serves."""
    from chaosproxy.scenario.library import find  # noqa: PLC0415 - pydantic is loaded by whoever has a scenario
    from chaosproxy.scenario.load import load  # noqa: PLC0415 - the same

    try:
        files = [find(name) for name in names]
    except LookupError as error:
        raise UsageError(str(error)) from error
    return files, load(*files)
