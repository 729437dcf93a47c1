"""One line per exchange, for a terminal or a log.

Rules: whatever a peer sent, it stays one line without control characters (no escape sequence, no second line).
Must not know: how anything came about.
"""

from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.model.units import counted

LONGEST = 200
FIRED = 5
"""What faults did that often is told; of a stall at every event a line would never end."""
_BIDI = {*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x2028, 0x2029}


def shown(text: str) -> str:
    """`text` with control and direction characters as `\\xNN`, at most 200 characters."""
    safe = "".join(
        character
        if ord(character) >= 0x20 and not 0x7F <= ord(character) < 0xA0 and ord(character) not in _BIDI
        else f"\\x{ord(character):02x}"
        for character in text[:LONGEST]
    )
    return safe if len(safe) <= LONGEST else safe[:LONGEST] + "..."


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
    end = record.end
    if end is None:
        parts.append("running")
    else:
        parts.append(f"{(times.end or 0) * 1000:.0f} ms:")
        parts.append(f"{end.how} by {end.by}" + (f" ({shown(end.cause)})" if end.cause else ""))
    line = " ".join(parts)
    for fired in record.faults[:FIRED]:
        line += f"; {fired.fault}: {shown(fired.detail)}"
    if len(record.faults) > FIRED:
        further = len(record.faults) - FIRED + record.faults_dropped
        line += f"; faults {counted(further, 'further time')}"
    if record.detail:
        line += f"; {shown(record.detail)}"
    return line
