"""Records made by hand: an answered exchange, and what is to be different about it."""

from chaosproxy.journal.evidence import Evidence
from chaosproxy.journal.record import ClientView, Ending, ExchangeRecord, Fired, NotFired

CLEAN = Ending("upstream", "clean")
CLOCK = 128.0
"""What the clock said when the first request began: it never begins at 0."""


def exchange(
    number: int = 1,
    *,
    began: float = 0.0,
    body: bytes = b"hello",
    head: float | None = 0.1,
    events: tuple[float, ...] = (0.2, 0.3, 0.4),
    came: tuple[float, ...] | None = None,
    end: float = 0.5,
    ending: Ending = CLEAN,
    left: float | None = None,
    status: int = 200,
    headers: tuple[tuple[str, str], ...] = (),
) -> ExchangeRecord:
    """`POST /v1` asked at `began`, answered with events at these times; `came` if they came at others. `left`: its client
    closed then."""
    record = ExchangeRecord(
        id=number, scenario="s", rule=0, seed=7, started_at="2026-11-30T12:00:00.000Z", client=ClientView("http/1.1", 1)
    )
    record.request.method, record.request.path = "POST", "/v1"
    record.times.request_end = 0.0
    record.times.upstream_connected = 0.0
    record.end, record.times.end, record.times.client_closed = ending, end, left
    if left is not None and ending is CLEAN:
        record.end, record.times.end = Ending("client", "fin"), left
    record.evidence = Evidence(CLOCK + began, request=body, same=True)
    if head is None:
        return record
    record.response.status, record.response.headers = status, [list(field) for field in headers]
    record.times.upstream_head = record.times.head_sent = head
    came = events if came is None else came
    record.response.events_in, record.response.events_out = len(came), len(events)
    record.response.bytes_in, record.response.bytes_out = 10 * len(came), 10 * len(events)
    for at in came:
        record.arrivals.note(at, 10)
    for at in events:
        record.deliveries.note(at, 10)
    record.evidence.events_in.extend(came)
    record.evidence.events_out.extend(events)
    if came:
        record.times.first_event_in = came[0]
    if events:
        record.times.first_event_out, record.times.last_event_out = events[0], events[-1]
        record.evidence.last_content = events[-1]
    return record


def told(record: ExchangeRecord, at: float | None, end: Ending | None) -> ExchangeRecord:
    """Its upstream's side ended then, so."""
    record.times.upstream_closed, record.upstream.end = at, end
    return record


def met(record: ExchangeRecord, *faults: Fired | NotFired) -> ExchangeRecord:
    """What became of its rule's faults."""
    record.faults = [one for one in faults if isinstance(one, Fired)]
    record.not_fired = [one for one in faults if isinstance(one, NotFired)]
    return record
