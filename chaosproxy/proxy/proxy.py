"""The proxy: clients in, exchanges made, upstreams reached, everything journalled, and an orderly end.

It owns the tasks: one per connection, one alarm, one watch for hangups. Transports come from outside
(`accept`, `dial`), so that the same proxy runs over real sockets and over links in virtual time.
Must not know: what a fault does, where a scenario came from.
"""

import datetime as dt
import math
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

import trio

from chaosproxy.errors import UpstreamFault
from chaosproxy.journal.journal import Journal
from chaosproxy.journal.record import ClientView, ExchangeRecord
from chaosproxy.model import headers as fields
from chaosproxy.model.messages import Abort, Interim, RequestHead
from chaosproxy.model.vocabulary import Role
from chaosproxy.proxy.account import Accounts
from chaosproxy.proxy.alarm import Alarm
from chaosproxy.proxy.bugs import report
from chaosproxy.proxy.client import ClientConnection
from chaosproxy.proxy.connection import Connection
from chaosproxy.proxy.connection_faults import ConnectionFaults
from chaosproxy.proxy.dialling import Wiring
from chaosproxy.proxy.exchange import Exchange
from chaosproxy.proxy.gate import Gate
from chaosproxy.proxy.held import HeldRequest
from chaosproxy.proxy.lifetimes import Keepers
from chaosproxy.proxy.observer import Observer
from chaosproxy.proxy.patience import BEGUN
from chaosproxy.proxy.planner import ClientFacts, Planner
from chaosproxy.proxy.sessions import SessionRing, session_of
from chaosproxy.proxy.spoken import spoken
from chaosproxy.proxy.unasked import unasked
from chaosproxy.proxy.upstream import Offers, Pool, Upstream
from chaosproxy.proxy.upstream_connection import UpstreamConnection
from chaosproxy.proxy.witness import Witness
from chaosproxy.scenario.rules import Decision
from chaosproxy.wire.hangup import HangupWatch
from chaosproxy.wire.transport import Transport
from chaosproxy.wire.wire import Wire


class Proxy:
    """Runs inside a nursery of its own (`run`)."""

    def __init__(self, wiring: Wiring, planner: Planner, journal: Journal) -> None:
        self.journal = journal
        self.alarm = Alarm()
        self._watch = HangupWatch()
        self.planner = planner
        self._wiring = wiring
        self._nursery: trio.Nursery | None = None
        self._spawn = self._start  # one bound method for all who are given it
        self._clients: dict[ClientConnection, None] = {}
        self._exchanges: dict[Exchange, None] = {}
        self._idle: trio.Event | None = None
        self._leaving = False
        self._client_count = 0
        self._upstream_count = 0
        self._exchange_count = 0
        self._pool = self._make_pool()
        self.gate = Gate()
        self._faults = self._begin_faults(planner)
        self._accounts = Accounts(wiring.dial, lambda: len(self._exchanges), self._journal)

    def _make_pool(self) -> Pool:
        options = self.planner.scenario.upstream
        upstreams = [Upstream(address, self._connect, self._spawn, options) for address in self._wiring.upstreams]
        return Pool(upstreams, by_connection=options.balance == "connection")

    def _begin_faults(self, planner: Planner) -> ConnectionFaults:
        faults = planner.connection_faults(self.alarm)
        self.gate.follow(faults.admissions)
        return faults

    def reload(self, planner: Planner) -> None:
        """New exchanges follow `planner`; running ones keep what they began with."""
        before = self.planner.scenario.upstream
        self.planner = planner
        self._faults = self._begin_faults(planner)
        if planner.scenario.upstream != before:
            old = self._pool
            self._pool = self._make_pool()
            for upstream in old.upstreams:
                upstream.retire()

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Serve until cancelled. `accept` may be called once this has started."""
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            nursery.start_soon(self.alarm.run)
            nursery.start_soon(self._watch.run)
            task_status.started()

    def _start(self, function: Callable[..., Awaitable[None]], *arguments: object) -> None:
        assert self._nursery is not None
        self._nursery.start_soon(self._contained, function, arguments)

    @staticmethod
    async def _contained(function: Callable[..., Awaitable[None]], arguments: tuple[object, ...]) -> None:
        """Run a task of a connection's; a bug in it costs that connection, never the proxy."""
        try:
            await function(*arguments)
        except Exception as error:  # noqa: BLE001 - the tasks of the others go on
            report("a connection has failed", error)

    def _run(self, connection: Connection, early: bytes = b"") -> None:
        """A task of its own: the frame of the one that made it would be kept as long as it runs."""
        assert self._nursery is not None
        self._nursery.start_soon(connection.run, early, name="connection")  # which contains what goes wrong itself

    async def shut_down(self, grace: float) -> None:
        """Let running exchanges finish for `grace` seconds, then end them; every one is journalled."""
        self._leaving = True
        for connection in list(self._clients):
            connection.linger(0)
            connection.session.close()  # behind what runs on it: no further request is taken
            connection.flush()
        if self._exchanges or self._accounts.waiting:
            self._idle = trio.Event()
            with trio.move_on_after(grace):
                await self._idle.wait()
        self.end_all()

    def end_all(self) -> None:
        """End every running exchange now, the oldest first."""
        now = trio.current_time()
        for exchange in list(self._exchanges):
            exchange.shut_down(now)
        self._accounts.give_up()

    @property
    def running(self) -> list[ExchangeRecord]:
        """The records of running exchanges, oldest first: they are still being written."""
        return [*self._accounts.waiting, *(exchange.record for exchange in self._exchanges)]

    @property
    def begun(self) -> int:
        """How many exchanges there have been, running ones included: the number of the latest."""
        return self._exchange_count

    # ---- clients

    def admit(self, transport: Transport, tls: bool = False) -> tuple[int, Transport, Wire | None]:
        """A client has connected: its number, and the transport to go on with, `tls`: with a handshake."""
        self._client_count += 1
        wired, wire = self._faults.wired(transport, Role.SERVER, self._client_count, tls=tls)
        return self._client_count, wired, wire

    def accept(self, number: int, transport: Transport, wire: Wire | None) -> None:
        """Serve a client connection that was admitted; under TLS its handshake is done."""
        self._spawn(self._serve_client, number, transport, wire)

    async def _serve_client(self, number: int, transport: Transport, wire: Wire | None) -> None:
        served = False
        try:
            heard = await spoken(transport, BEGUN if wire is None else math.inf)
            if heard is None or self._leaving:
                return
            name, conduct = getattr(transport, "server_name", None), None
            if wire is not None:
                conduct = self._faults.known(wire, Role.SERVER, number, heard.protocol, name)
            session = session_of(heard.protocol, Role.SERVER, tls=transport.tls, conduct=conduct)
            connection = ClientConnection(transport, session, number, self._spawn, self, wire, self._watch)
            connection.first_byte = heard.began
            if conduct is not None:
                SessionRing(connection, conduct, self.alarm)
            if wire is not None and wire.lifetimes:
                connection.keepers = Keepers(connection, wire, wire.lifetimes, self.alarm)
            self._clients[connection] = None
            self._run(connection, heard.early)
            served = True
        except OSError:
            # The client was gone before it had said anything; or a fault has ended the connection, in a way of its own.
            if wire is not None and wire.ended is not None:
                await wire.finish()
        finally:
            if not served:
                unasked(number, wire)
                transport.close()

    def client_closed(self, connection: ClientConnection) -> None:
        """`connection` is gone."""
        self._clients.pop(connection, None)
        self._pool.unpin(connection.number)

    # ---- exchanges

    def make_exchange(self, connection: ClientConnection, stream: int, began: float, now: float) -> Exchange:
        """For the request on `stream`, whose first byte came at `began`."""
        self._exchange_count += 1
        wall = dt.datetime.now(dt.UTC) - dt.timedelta(seconds=now - began)
        session = connection.session
        record = ExchangeRecord(
            id=self._exchange_count,
            scenario=self.planner.scenario.name,
            rule=None,
            seed=self.planner.seed,
            started_at=wall.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            client=ClientView(session.protocol, connection.number, stream if session.multiplexed else None),
        )
        observer = Witness(record, began) if self.planner.scenario.expect else Observer(record, began)
        exchange = Exchange(self, connection, stream, observer, began)
        self._exchanges[exchange] = None
        return exchange

    def begin_exchange(
        self, exchange: Exchange, connection: ClientConnection, first: RequestHead | Abort, now: float
    ) -> None:
        """`first` is its head, or what is wrong with it."""
        if isinstance(first, Abort):
            exchange.refuse(first, now)
            return
        exchange.observer.request_head(first)
        planner = self.planner  # a reload changes nothing for this exchange, however long its body is waited for
        decision = planner.decide(first, connection.session.protocol)
        if decision.needs_json:
            held = HeldRequest(first, decision)
            if not held.ready:
                self._hold(exchange, connection, held, planner)
                return
            decision = planner.decide_with_json(decision, held.document())
        self._begin(exchange, connection, first, decision, planner, now)

    def _hold(self, exchange: Exchange, connection: ClientConnection, held: HeldRequest, planner: Planner) -> None:
        if b"100-continue" in fields.tokens(held.head.headers, b"expect"):
            # The body will be there before the upstream hears of the request: it need not be asked for again.
            held.head = replace(held.head, headers=fields.without(held.head.headers, (b"expect",)))
            connection.session.send(exchange.client.stream, [Interim(100)])
            connection.flush()

        def release(now: float) -> None:
            decision = planner.decide_with_json(held.decision, held.document())
            self._begin(exchange, connection, held.head, decision, planner, now)
            exchange.request_events(held.events, now)

        held.release = release
        exchange.hold(held)

    def _begin(
        self,
        exchange: Exchange,
        connection: ClientConnection,
        head: RequestHead,
        decision: Decision,
        planner: Planner,
        now: float,
    ) -> None:
        exchange.record.rule = decision.index
        exchange.observer.judged(planner.scenario, decision)
        facts = ClientFacts(
            protocol=connection.session.protocol,
            tls=connection.transport.tls,
            connection=connection.number,
            stream=exchange.client.stream,
            first_stream=connection.first_stream,
        )
        plan = planner.plan(decision, head, facts, exchange.began)
        exchange.begin(head, plan, self._pool.choose(connection.number), now)

    def finished(self, exchange: Exchange) -> None:
        """Both sides of `exchange` are over."""
        self._exchanges.pop(exchange, None)
        if not self._accounts.takes(exchange.record, self._spawn):
            self._journal(exchange.record)

    def _journal(self, record: ExchangeRecord) -> None:
        self.journal.add(record)
        if self._idle is not None and not self._exchanges and not self._accounts.waiting:
            self._idle.set()

    def bug(self, exchange: Exchange, error: Exception) -> None:
        """An exception that should not have been; the exchange has ended, the proxy goes on."""
        report(f"exchange {exchange.record.id}", error)

    # ---- upstreams

    async def _connect(self, upstream: Upstream, offers: Offers) -> UpstreamConnection:
        address = upstream.address
        self._upstream_count += 1
        number, faults, wires = self._upstream_count, self._faults, list[Wire]()
        transport = await self._wiring.dial(address, offers, partial(faults.dialled, number, wires))
        protocol = transport.alpn or ("h2" if offers == ("h2",) and not address.tls else "http/1.1")
        if protocol not in offers:
            transport.close()
            raise UpstreamFault(f"{address.url} was offered {offers[0]} and speaks {protocol}")
        conduct = None
        for wire in wires:
            conduct = faults.known(wire, Role.CLIENT, number, protocol, address.host if address.tls else None)
        session = session_of(protocol, Role.CLIENT, tls=address.tls, conduct=conduct)
        connection = UpstreamConnection(transport, session, number, self._spawn, upstream, wires[0] if wires else None)
        if conduct is not None:
            SessionRing(connection, conduct, self.alarm)
        self._run(connection)
        return connection
