"""What `run` does between reading its options and its exit status: listen, say so, serve, leave in order."""

import contextlib
import json
import logging
import os
import random
import signal
import ssl
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import click
import trio

from chaosproxy.cli.run import RunOptions
from chaosproxy.cli.watch import Watch
from chaosproxy.errors import UnavailableError, UpstreamFault, UsageError
from chaosproxy.journal.journal import Journal
from chaosproxy.journal.jsonl import JournalFile, line
from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.proxy.address import UpstreamAddress, parse_listen, parse_upstream
from chaosproxy.proxy.listener import Listener, open_all
from chaosproxy.proxy.planner import Planner
from chaosproxy.proxy.proxy import Proxy, Wiring
from chaosproxy.report.line import exchange_line
from chaosproxy.scenario.library import find
from chaosproxy.scenario.load import load
from chaosproxy.scenario.schema import TRANSPARENT, Rule, Scenario
from chaosproxy.wire import dial as dialling
from chaosproxy.wire import tls as certificates
from chaosproxy.wire.transport import Transport

SEEDS = 2**31


def serve(options: RunOptions) -> int:
    """Run until a signal; the exit status."""
    return trio.run(_Run(options).main)


class _Run:
    def __init__(self, options: RunOptions) -> None:
        self.options = options
        self.seed = options.seed
        level = logging.DEBUG if options.verbose else logging.ERROR if options.quiet else logging.WARNING
        logging.basicConfig(stream=sys.stderr, level=level, format="chaosproxy: %(message)s")
        self.upstreams = tuple(parse_upstream(text) for text in options.upstream)
        self.addresses = [parse_listen(text) for text in options.listen]
        self.files = [_scenario_file(name) for name in options.scenarios]
        self.planner = self._plan(load(*self.files) if self.files else TRANSPARENT)
        self.client_tls: dict[tuple[str, ...], ssl.SSLContext] = {}
        if any(address.tls for address in self.upstreams):
            self._client_tls(("http/1.1",))  # a CA file that cannot be read is said now, not at the first request

    def _plan(self, scenario: Scenario) -> Planner:
        seed = self.options.seed if self.options.seed is not None else scenario.seed
        if seed is None:
            seed = self.seed = self.seed if self.seed is not None else random.SystemRandom().randrange(SEEDS)
        return Planner(scenario, seed, self.options.speed)

    @property
    def _rules(self) -> tuple[Rule, ...]:
        return self.planner.scenario.rules

    def complain(self, text: str) -> None:
        """One line to stderr; a closed stderr is nobody's problem."""
        with contextlib.suppress(OSError):
            click.echo(f"chaosproxy: {text}", err=True)

    async def main(self) -> int:
        options = self.options
        for warning in self.planner.scenario.warnings:
            self.complain(str(warning))
        if options.speed != 1 and any(fault.name == "timeout" for rule in self._rules for fault in rule.faults):
            self.complain("--speed does not change the pace of the upstream: timeouts meet it at full speed")
        server_tls, ca = self._server_tls()
        journal = Journal(options.journal_limit)
        file = None
        if options.journal:
            file = JournalFile(options.journal, self.complain)
            journal.listen(file)
        if not options.quiet:
            journal.listen(self._say_json if options.json else self._say_line)
        if options.wait_upstream is not None:
            await self._wait_upstreams(options.wait_upstream)
        listeners = await open_all(self.addresses, server_tls)
        proxy = Proxy(Wiring(self.upstreams, self._dial), self.planner, journal)
        try:
            with _ready_file(options.ready_file, listeners, ca) as announce:
                await self._serve(proxy, listeners, announce)
        finally:
            for listener in listeners:
                listener.close()
            if file is not None:
                file.close()
            if ca is not None and options.ca_out is None:
                ca.unlink(missing_ok=True)
        return 3 if file is not None and file.lost else 0

    async def _serve(self, proxy: Proxy, listeners: list[Listener], announce: Callable[[], None]) -> None:
        async with trio.open_nursery() as nursery:
            await nursery.start(proxy.run)
            for listener in listeners:
                nursery.start_soon(listener.run, proxy.admit, proxy.accept)
            if self.options.watch and self.files:
                watch = Watch(self.files, lambda scenario: proxy.reload(self._plan(scenario)), self.complain)
                nursery.start_soon(watch.run)
            with trio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
                announce()
                if not self.options.quiet and not self.options.json:
                    for listener in listeners:
                        self.complain(f"listening on {listener.url}")
                await anext(signals)
                for listener in listeners:
                    listener.close()
                async with trio.open_nursery() as leaving:
                    leaving.start_soon(self._second, signals, leaving)
                    await proxy.shut_down(self.options.grace)
                    leaving.cancel_scope.cancel()
                proxy.end_all()
            nursery.cancel_scope.cancel()

    @staticmethod
    async def _second(signals: AsyncIterator[int], nursery: trio.Nursery) -> None:
        await anext(signals)
        nursery.cancel_scope.cancel()

    def _server_tls(self) -> tuple[ssl.SSLContext | None, Path | None]:
        if not self.options.tls:
            return None, None
        return certificates.server_context(self.options.tls, [host for host, _ in self.addresses], self.options.ca_out)

    async def _dial(
        self, address: UpstreamAddress, offers: tuple[str, ...], wrap: Callable[[Transport], Transport]
    ) -> Transport:
        context = None
        if address.tls:
            context = self._client_tls(offers)
        return await dialling.connect(address.host, address.port, context, wrap=wrap)

    def _client_tls(self, offers: tuple[str, ...]) -> ssl.SSLContext:
        context = self.client_tls.get(offers)
        if context is None:
            options = self.options
            context = certificates.client_context(options.upstream_ca, offers, insecure=options.upstream_insecure)
            self.client_tls[offers] = context
        return context

    async def _wait_upstreams(self, limit: float) -> None:
        for address in self.upstreams:
            with trio.move_on_after(limit) as scope:
                while True:
                    try:
                        (await dialling.dial(address.host, address.port)).close()
                        break
                    except UpstreamFault:
                        await trio.sleep(0.05)
            if scope.cancelled_caught:
                raise UnavailableError(f"upstream {address.url} does not accept connections")

    def _say_json(self, record: ExchangeRecord) -> None:
        with contextlib.suppress(OSError):
            click.echo(line(record))

    def _say_line(self, record: ExchangeRecord) -> None:
        with contextlib.suppress(OSError):
            click.echo(exchange_line(record), err=True)


def _scenario_file(name: str) -> Path:
    try:
        return find(name)
    except LookupError as error:
        raise UsageError(str(error)) from error


@contextlib.contextmanager
def _ready_file(path: Path | None, listeners: list[Listener], ca: Path | None) -> Iterator[Callable[[], None]]:
    """Yields what writes the file, whole at once; removes it at the end."""
    urls = [listener.url for listener in listeners]

    def announce() -> None:
        if path is None:
            return
        ready = {"url": urls[0], "urls": urls, "admin": None, "pid": os.getpid(), "ca": str(ca) if ca else None}
        part = path.with_name(path.name + ".part")
        try:
            part.write_text(json.dumps(ready) + "\n")
            part.replace(path)
        except OSError as error:
            raise UsageError(f"cannot write the ready file {path}: {error.strerror}") from error

    try:
        yield announce
    finally:
        if path is not None:
            path.unlink(missing_ok=True)
