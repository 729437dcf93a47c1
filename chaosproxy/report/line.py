"""One line per exchange, for a terminal or a log.

Rules: whatever a peer sent, it stays one line without control characters (no escape sequence, no second line).
Must not know: how anything came about.
"""

from chaosproxy.journal.record import Ending, ExchangeRecord, Fired
from chaosproxy.model.shown import shown
from chaosproxy.model.units import counted

FIRED = 5
"""What faults did that often is told; of a stall at every event a line would never end."""


def ending(end: Ending | None) -> str:
    """`rst by proxy (cut)`; `running` where there is none."""
    if end is None:
        return "running"
    return f"{shown(end.how)} by {shown(end.by)}" + (f" ({shown(end.cause)})" if end.cause else "")


def deed(fired: Fired) -> str:
    """`cut in gateway: rst after event 3`."""
    where = f" in {shown(fired.hop_name)}" if fired.hop_name else ""
    return f"{shown(fired.fault)}{where}: {shown(fired.detail)}"


def exchange_line(record: ExchangeRecord) -> str:
    """`#1 POST /v1/chat 200 first 51 ms, 9 events 450 bytes, 215 ms: clean by upstream`; without an ending: `running`."""
    times, response = record.times, record.response
    parts = [
        f"#{record.id} {shown(record.request.method) or '-'} {shown(record.request.path) or '-'}",
        str(response.status or "-"),
    ]
    if times.first_event_out is not None:
        parts.append(f"first {times.first_event_out * 1000:.0f} ms,")
    elif times.head_sent is not None:
        parts.append(f"head {times.head_sent * 1000:.0f} ms,")
    if response.events_out is not None:
        parts.append(counted(response.events_out, "event"))
    parts.append(f"{counted(response.bytes_out, 'byte')},")
    if record.end is not None:
        parts.append(f"{(times.end or 0) * 1000:.0f} ms:")
    parts.append(ending(record.end))
    line = " ".join(parts)
    for fired in record.faults[:FIRED]:
        line += f"; {shown(fired.fault)}: {shown(fired.detail)}"
    if len(record.faults) > FIRED:
        further = len(record.faults) - FIRED + record.faults_dropped
        line += f"; faults {counted(further, 'further time')}"
    if record.detail:
        line += f"; {shown(record.detail)}"
    return line
