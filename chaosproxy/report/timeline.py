"""An exchange as lines: what happened, each with its moment, for a person who asks why a test has failed.

Rules: as those of the line: whatever a peer sent, no control characters. Moments are milliseconds since the request's
first byte; what did not happen has no line. Must not know: how anything came about.
"""

from collections.abc import Sequence

from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.model.shown import shown
from chaosproxy.model.units import counted
from chaosproxy.report.line import deed, ending, exchange_line

DETAILED = 50
"""Of that many exchanges, the latest, the moments are told; of earlier ones their line."""


def timeline(records: Sequence[ExchangeRecord]) -> str:
    """Each exchange, running ones included: its line, then its moments in order, then the faults that did not act."""
    earlier, latest = records[:-DETAILED], records[-DETAILED:]
    lines = [exchange_line(record) for record in earlier]
    for record in latest:
        lines += [exchange_line(record), *_details(record)]
    return "\n".join(lines)


def _details(record: ExchangeRecord) -> list[str]:
    told = sorted(moments(record), key=lambda moment: moment[1])  # stable: at one moment, cause before effect
    lines = [f"{seconds * 1000:9.0f} ms  {what}" for _, seconds, what in told]
    return lines + [
        f"   not fired: {shown(missed.fault)} in hop {missed.hop} ({shown(missed.reason)})"
        for missed in record.not_fired
    ]


def moments(record: ExchangeRecord) -> list[tuple[str, float, str]]:
    """What happened: the field of its times (`fault` of a fault's act), when, and in words."""
    times, response, end = record.times, record.response, record.end
    upstream, reached = record.upstream.end, record.upstream.url or "upstream"
    named = [
        ("request_end", times.request_end, f"request complete, {counted(record.request.bytes, 'byte')}"),
        ("upstream_connected", times.upstream_connected, f"connected to {shown(reached)}"),
        ("upstream_head", times.upstream_head, "the upstream's head"),
        ("first_event_in", times.first_event_in, "first event from the upstream"),
        ("client_closed", times.client_closed, "the client has left"),
        *(("fault", fired.t, deed(fired)) for fired in record.faults),
        ("head_sent", times.head_sent, f"head {response.status or '-'} sent"),
        ("first_event_out", times.first_event_out, "first event sent"),
        (
            "last_event_out",
            times.last_event_out,
            f"last event sent: {response.events_out} of the {response.events_in} that came",
        ),
        ("upstream_closed", times.upstream_closed, f"upstream over: {ending(upstream) if upstream else '-'}"),
        ("end", times.end, f"end: {ending(end)}"),
    ]
    return [(name, seconds, what) for name, seconds, what in named if seconds is not None]
