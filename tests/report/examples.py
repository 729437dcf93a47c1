"""Exchanges as a journal has them, written by hand, and verdicts on them."""

from collections.abc import Sequence

from chaosproxy.journal.record import ClientView, Ending, ExchangeRecord, Fired, NotFired
from chaosproxy.judging.check import Finding, Verdict

CHAT = "/v1/chat/completions"


def exchange(number: int = 1, method: str = "POST", path: str = CHAT) -> ExchangeRecord:
    """Its request has come, and nothing else."""
    made = ExchangeRecord(
        id=number,
        scenario="chain",
        rule=0,
        seed=7,
        started_at="2026-11-30T12:00:00.123Z",
        client=ClientView("http/1.1", number),
    )
    made.request.method, made.request.path, made.request.bytes = method, path, 95
    made.request.headers = [["host", "127.0.0.1:8666"], ["authorization", "***"]]
    made.times.request_end = 0.001
    return made


def stream(made: ExchangeRecord, arrivals: Sequence[float], deliveries: Sequence[tuple[float, int]]) -> ExchangeRecord:
    """Events of 50 bytes come at `arrivals`; what goes is `(seconds, events)`."""
    times, response = made.times, made.response
    made.upstream.url, made.upstream.protocol, made.upstream.connection = "http://127.0.0.1:8000", "http/1.1", made.id
    response.status, response.headers = 200, [["content-type", "text/event-stream"]]
    times.upstream_connected, times.upstream_head, times.head_sent = 0.002, 0.02, 0.02
    for moment in arrivals:
        made.arrivals.note(moment, 50)
    for moment, events in deliveries:
        made.deliveries.note(moment, 50 * events)
    response.events_in, response.events_out = len(arrivals), sum(events for _, events in deliveries)
    response.bytes_in, response.bytes_out = 50 * response.events_in, 50 * response.events_out
    times.first_event_in = arrivals[0] if arrivals else None
    times.first_event_out = deliveries[0][0] if deliveries else None
    times.last_event_out = deliveries[-1][0] if deliveries else None
    return made


def ended(made: ExchangeRecord, seconds: float, end: Ending, upstream: Ending | None = None) -> ExchangeRecord:
    """At one moment on both sides."""
    made.end, made.upstream.end = end, upstream or Ending(end.by, end.how, end.cause)
    made.times.end = made.times.upstream_closed = seconds
    return made


def plain(number: int = 1) -> ExchangeRecord:
    """Nine events, one every 20 ms, as they came."""
    times = [0.05 + 0.02 * event for event in range(9)]
    return ended(stream(exchange(number), times, [(one, 1) for one in times]), 0.23, Ending("upstream", "clean"))


def cut(number: int = 2) -> ExchangeRecord:
    """A machine gathers, the next one resets behind the fifth event."""
    made = stream(exchange(number), [0.05 + 0.02 * event for event in range(6)], [(0.1, 3), (0.15, 2)])
    made.faults = [
        Fired(0.1, "buffer", 0, "nginx", "held 150 bytes"),
        Fired(0.15, "buffer", 0, "nginx", "held 150 bytes"),
        Fired(0.15, "cut", 1, "gateway", "rst after event 5"),
    ]
    made.not_fired = [NotFired("timeout", 1, "not reached")]
    return ended(made, 0.15, Ending("proxy", "rst", "cut"), Ending("proxy", "fin", "cut"))


def left(number: int = 3) -> ExchangeRecord:
    """The client waits for a stream that has fallen silent, and leaves."""
    made = stream(exchange(number, "GET", "/sse"), [0.05, 0.07, 0.09], [(0.05, 1), (0.07, 1), (0.09, 1)])
    made.faults = [Fired(0.09, "stall", 0, None, "for 1m after event 3")]
    made.times.client_closed = 2.09
    return ended(made, 2.09, Ending("client", "fin"), Ending("proxy", "fin", "client:fin"))


def examples() -> list[ExchangeRecord]:
    """One of each kind."""
    refused = ended(exchange(4), 0.001, Ending("proxy", "clean", "respond"))
    refused.response.status, refused.response.bytes_out, refused.times.head_sent = 429, 2, 0.001
    refused.faults = [Fired(0.001, "respond", 0, None, "429")]
    refused.deliveries.note(0.001, 2)
    unreachable = ended(exchange(5), 0.003, Ending("proxy", "clean", "upstream:unreachable"))
    unreachable.response.status, unreachable.times.head_sent = 502, 0.003
    unreachable.detail = "cannot connect to 127.0.0.1:8000: Connection refused"
    return [plain(), cut(), left(), refused, unreachable, stream(exchange(6), [0.05, 0.07], [(0.05, 1)])]


def verdicts() -> list[Verdict]:
    """One that fails, one that holds, one with nothing to judge."""
    early = Finding((1,), True, "the first event after 50 ms", ("first_event_out",))
    late = Finding((2,), False, "the first event after 100 ms", ("first_event_in", "first_event_out"))
    gone = Finding((3,), True, "it left 2000 ms after the last event", ("last_event_out", "client_closed"))
    return [
        Verdict("first_event", "the first event within 80ms", (early, late), "an answer with events"),
        Verdict("client_leaves", "the client leaves within 3s", (gone,), "a client that left"),
        Verdict("fired", "`drop` to act", (), "an exchange with a fault of that name"),
    ]
