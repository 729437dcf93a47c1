"""How numbers and moments are said in a verdict. Must not know: what is judged."""

from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.model.units import show_duration

SHUTDOWN = "shutdown"
"""The cause of an exchange that ran until the proxy ended."""


def ms(seconds: float) -> str:
    """`2003 ms`; a fraction below 10 ms."""
    milliseconds = seconds * 1000
    return f"{milliseconds:.1f} ms" if abs(milliseconds) < 10 else f"{milliseconds:.0f} ms"


def limit(seconds: float) -> str:
    """As a scenario writes it: `500ms`, `2s`."""
    return show_duration(seconds)


def ended_at(record: ExchangeRecord) -> float:
    """When the exchange was over for the client: it left, or it had the end."""
    ends = [one for one in (record.times.client_closed, record.times.end) if one is not None]
    return min(ends, default=0.0)


def last_byte(record: ExchangeRecord) -> float | None:
    """When the last piece of the body went to the client."""
    return max((seconds for seconds, _ in record.deliveries), default=None)


def left_at(record: ExchangeRecord) -> float | None:
    """When the client left; None where it did not, also where it only closed its sending side and was served."""
    served = record.end is not None and record.end.by != "client"
    return None if served else record.times.client_closed


def unseen(record: ExchangeRecord) -> str:
    """Why nobody can say whether the client has left, where that is so."""
    if record.times.client_closed is not None or record.end is None or record.end.cause != SHUTDOWN:
        return ""
    gone = next((one for one in record.faults if one.fault == "blackhole" and "response only" not in one.detail), None)
    if gone is None:
        return ""
    return f"whether it left nobody could see: {gone.fault}, {gone.detail} (with `way: response` its leaving is seen)"


def how_it_ended(record: ExchangeRecord) -> str:
    """`clean by upstream`."""
    return "no end" if record.end is None else f"{record.end.how} by {record.end.by}"
