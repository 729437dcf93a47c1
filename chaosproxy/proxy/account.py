"""The upstream's own account: what it says of its work, asked for a while after a client has left.

Rules: asked over a connection of its own, which is no exchange; it is not journalled before the answer is there, and a
proxy that ends does not wait. Must not know: what the numbers mean.
"""

from collections.abc import Callable
from dataclasses import replace

import trio

from chaosproxy.errors import Error
from chaosproxy.http1.session import Http1Session
from chaosproxy.journal.evidence import Account, Question
from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.model.json_values import LONGEST, NOT_JSON, parse
from chaosproxy.model.messages import Abort, Data, End, RequestHead, ResponseHead
from chaosproxy.model.vocabulary import Role
from chaosproxy.proxy.address import UpstreamAddress, parse_upstream
from chaosproxy.proxy.dialling import Dial
from chaosproxy.session import Arrived
from chaosproxy.wire.transport import Transport

WAIT = 5.0
"""Seconds until an upstream that does not answer has no account."""
_READ = 65536


class Accounts:
    """Those that are being waited for."""

    def __init__(self, dial: Dial, others: Callable[[], int], done: Callable[[ExchangeRecord], None]) -> None:
        """`others`: how many exchanges are under way; `done` is told of each record that need wait no longer."""
        self._dial, self._others, self._done = dial, others, done
        self._waiting: dict[int, ExchangeRecord] = {}

    @property
    def waiting(self) -> list[ExchangeRecord]:
        """The records that are complete but for an account."""
        return list(self._waiting.values())

    def takes(self, record: ExchangeRecord, spawn: Callable[..., None]) -> bool:
        """Whether an account is to be taken of this exchange, which is over; then a task is spawned that does."""
        evidence, times = record.evidence, record.times
        if (
            evidence is None
            or not evidence.questions
            or times.client_closed is None
            or times.upstream_connected is None
        ):
            return False
        self._waiting[record.id] = record
        spawn(self._take, record)
        return True

    async def _take(self, record: ExchangeRecord) -> None:
        """Asks when it is time, one question after another."""
        evidence = record.evidence
        assert evidence is not None
        try:
            for question in sorted(set(evidence.questions), key=lambda one: one.after):
                await trio.sleep_until(_due(record, question))
                before = self._busy(record, question)
                document, problem = await self._ask(question.at, record.upstream.url or "")
                others = max(before, self._busy(record, question))
                evidence.accounts[question] = Account(document, problem, others)
        finally:
            self._release(record)

    def _busy(self, record: ExchangeRecord, question: Question) -> int:
        """How many others the upstream may still be at work for: those under way, and those whose clients have left so late
        that it need not be done with them."""
        now = trio.current_time()
        return self._others() + sum(_due(one, question) > now for one in self.waiting if one is not record)

    def give_up(self) -> None:
        """The proxy ends."""
        for record in self.waiting:
            self._release(record)

    def _release(self, record: ExchangeRecord) -> None:
        if self._waiting.pop(record.id, None) is not None:
            self._done(record)

    async def _ask(self, at: str, upstream: str) -> tuple[object, str]:
        """The document there, or what is wrong."""
        with trio.move_on_after(WAIT):
            try:
                url, slash, path = at.partition("/") if at.startswith("/") else _split(at)
                address = replace(parse_upstream(url or upstream), prefix=b"")
                if address.scheme == "h2c":
                    address = replace(address, scheme="http")
                transport = await self._dial(address, ("http/1.1",), lambda below: below)
                try:
                    return await _get(transport, address, (slash + path).encode())
                finally:
                    transport.close()
            except (Error, OSError) as error:
                return None, str(error)
        return None, f"no answer within {WAIT:g} s"


def _due(record: ExchangeRecord, question: Question) -> float:
    """When what is left of it is to be asked."""
    evidence, left = record.evidence, record.times.client_closed
    assert evidence is not None
    assert left is not None
    return evidence.began + left + question.after


def _split(url: str) -> tuple[str, str, str]:
    scheme, mark, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{mark}{host}", slash or "/", path


async def _get(transport: Transport, address: UpstreamAddress, path: bytes) -> tuple[object, str]:
    session = Http1Session(Role.CLIENT)
    fields = ((b"Host", address.authority), (b"Accept", b"application/json"), (b"Connection", b"close"))
    stream = session.open()
    session.send(stream, [RequestHead(b"GET", path, fields, authority=address.authority, final=True), End()])
    for data in session.outgoing():
        while (sent := transport.send(data)) < len(data):
            data = data[sent:]  # noqa: PLW2901 - what is left of it
            await transport.writable()
    body, status = bytearray(), 0
    while True:
        read = transport.recv(_READ)
        if read is None:
            await transport.readable()
            continue
        for signal in session.receive(read):
            for event in signal.events if isinstance(signal, Arrived) else ():
                match event:
                    case ResponseHead():
                        status = event.status
                    case Data():
                        body += event.payload
                    case End():
                        return _read(status, bytes(body))
                    case Abort():
                        return None, f"its answer broke off: {event.cause}"
                    case _:
                        pass
        if not read or len(body) > LONGEST:
            return None, "no whole answer"


def _read(status: int, body: bytes) -> tuple[object, str]:
    document = parse(body)
    if status != 200:
        return None, f"status {status}"
    return (None, "its answer is not JSON") if document is NOT_JSON else (document, "")
