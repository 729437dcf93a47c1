"""Writes down what the driver sees, into the record of one exchange.

Rules: the only place where the driver's facts become journal fields. Must not know: why anything happened.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from chaosproxy.chain.content import is_coded
from chaosproxy.chain.line import Line
from chaosproxy.chain.placed import Noted
from chaosproxy.journal.record import Ending, ExchangeRecord, Fired, NotFired
from chaosproxy.model import mask
from chaosproxy.model.messages import Data, RequestHead, ResponseHead
from chaosproxy.proxy.connection_faults import noted
from chaosproxy.scenario.rules import Decision
from chaosproxy.scenario.schema import Scenario
from chaosproxy.wire.wire import Wire

_NO_WIRES: Mapping[str, tuple[Wire, int]] = MappingProxyType({})


class Observer:
    """The pen of one exchange. Times come in the driver's clock and are kept from the request's first byte."""

    watches = False
    """It must see every piece: nothing of the response may go by the lane, and the request's body is shown to it."""

    __slots__ = ("_began", "_coded", "_shown", "_wires", "arrived_marks", "delivered_marks", "record")

    def __init__(self, record: ExchangeRecord, began: float) -> None:
        self.record = record
        self._began = began
        self._wires: Mapping[str, tuple[Wire, int]] = _NO_WIRES
        """By side, with how many notes there were."""
        self._shown: ResponseHead | None = None
        """The upstream's head, until one has gone out: mostly it is the same."""
        self._coded = False
        """What goes to the client is coded: it has no records that anybody could see."""
        self.arrived_marks = record.arrivals
        self.delivered_marks = record.deliveries

    def request_head(self, head: RequestHead) -> None:
        request = self.record.request
        target = mask.masked_target(head.target.decode("latin-1"))
        request.method = head.method.decode("latin-1")
        request.path, _, request.query = target.partition("?")
        request.headers = mask.masked_headers(head.headers)

    def request_end(self, now: float) -> None:
        if self.record.times.request_end is None:
            self.record.times.request_end = now - self._began

    def upstream_connected(self, protocol: str, connection: int, stream: int | None, url: str, now: float) -> None:
        upstream = self.record.upstream
        upstream.protocol, upstream.connection, upstream.stream, upstream.url = protocol, connection, stream, url
        self.record.times.upstream_connected = now - self._began

    def retried(self) -> None:
        self.record.upstream.retries += 1

    def removed(self, field: str) -> None:
        """From the request, however often it is sent."""
        if field not in self.record.upstream.removed:
            self.record.upstream.removed.append(field)

    def response_head(self, head: ResponseHead, now: float) -> None:
        self.record.times.upstream_head = now - self._began
        if self.record.times.head_sent is None:
            self._show_head(head)
            self._shown = head

    def head_sent(self, head: ResponseHead, now: float) -> None:
        self.record.times.head_sent = now - self._began
        self._coded = is_coded(head.headers)
        if head is not self._shown:
            self._show_head(head)
        self._shown = None

    def _show_head(self, head: ResponseHead) -> None:
        self.record.response.status = head.status
        self.record.response.headers = mask.masked_headers(head.headers)

    def judged(self, scenario: Scenario, decision: Decision) -> None:
        """Its rule is known, and which expectations are about it; said to all, heard by one that watches."""

    def asked(self, payload: bytes) -> None:
        """A piece of the request's body; only to one that watches."""

    def arrived(self, payload: bytes, now: float) -> None:
        self.arrived_marks.note(now - self._began, len(payload))

    def delivered(self, payload: bytes, now: float) -> None:
        self.delivered_marks.note(now - self._began, len(payload))

    def delivered_own(self, payload: bytes, now: float) -> None:
        """Of an answer of the proxy's own, which no line has carried."""
        self.delivered(payload, now)
        self.record.response.bytes_out += len(payload)

    def passed(self, piece: Data, now: float) -> None:
        """Arrived and delivered at once."""
        since = now - self._began
        size = len(piece.payload)
        self.arrived_marks.note(since, size)
        self.delivered_marks.note(since, size)
        if piece.ends:
            times = self.record.times
            if times.first_event_in is None:
                times.first_event_in = since
            if not self._coded:
                times.last_event_out = since
                if times.first_event_out is None:
                    times.first_event_out = since

    def have_passed(self, times: Sequence[float], sizes: Sequence[int], last_event: float | None) -> None:
        """So many pieces at these times, behind the first event; the last of these came at `last_event`."""
        began = self._began
        since = [now - began for now in times]
        self.arrived_marks.extend(since, sizes)
        self.delivered_marks.extend(since, sizes)
        if last_event is not None:
            self.record.times.last_event_out = last_event - self._began

    @property
    def has_seen_an_event(self) -> bool:
        """One has gone out that can be seen."""
        return self.record.times.first_event_out is not None

    def events_in(self, count: int, now: float) -> None:
        """So many have come, the last of them now."""
        if self.record.times.first_event_in is None:
            self.record.times.first_event_in = now - self._began

    def events_out(self, count: int, now: float) -> None:
        """So many have gone, the last of them now."""
        if self._coded:
            return
        times = self.record.times
        times.last_event_out = now - self._began
        if times.first_event_out is None:
            times.first_event_out = times.last_event_out

    def client_closed(self, now: float) -> None:
        self.record.times.client_closed = now - self._began

    def upstream_closed(self, ending: Ending, now: float, detail: str = "") -> None:
        self.record.upstream.end = ending
        self.record.times.upstream_closed = now - self._began
        self.record.detail = self.record.detail or detail

    def ended(self, ending: Ending, now: float, detail: str = "") -> None:
        """How it ended for the client. The first ending is the true one; a silence may be followed by a leaving."""
        if self.record.end is None or self.record.end.how == "silence":
            self.record.end = ending
        self.record.times.end = now - self._began
        self.record.detail = self.record.detail or detail

    def take_notes(self, notes: list[Noted]) -> None:
        """What the faults have said since the last time; empties the list."""
        for note in notes:
            if note.kind == "fired":
                since = max(0.0, note.t - self._began)
                self.record.add_fired(Fired(since, note.fault, note.hop, note.hop_name, note.detail))
            else:
                self.record.not_fired.append(NotFired(note.fault, note.hop, note.detail, note.hop_name))
        notes.clear()

    def meets(self, side: str, wire: Wire | None) -> None:
        """The exchange goes on over this connection of that side."""
        if wire is not None:
            self._wires = {**self._wires, side: (wire, wire.notes.total)}

    def take_connection_notes(self) -> None:
        """What the faults of its connections have done since it had them."""
        for wire, before in self._wires.values():
            self.take_notes(noted(wire, self._began))
            self.record.faults_dropped += wire.notes.lost(before)

    def totals(self, request: Line, response: Line) -> None:
        """The counts of both ways, when the exchange is over."""
        self.record.request.bytes = request.bytes_in
        shown = self.record.response
        shown.bytes_in = response.bytes_in
        shown.bytes_out += response.bytes_out
        if response.records is not None:
            shown.events_in = response.records_in
            shown.events_out = None if self._coded else response.records_out
