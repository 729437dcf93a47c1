"""Faults that several machines have in common, as they are written.

Must not know: any machine.
"""

from collections.abc import Sequence

from chaosproxy.model.units import show_duration
from chaosproxy.presets.preset import Plain, Preset, Source

H1: Plain = {"protocol": "http/1.1"}
H2: Plain = {"protocol": "h2"}
"""Conditions: what the client speaks."""
GZIP = "*gzip*"

ABORTS: Plain = {"broken_end": "abort"}
"""What broke off ends for the client so, too: never by a reset of TCP, though the server's connection was reset."""
FRAMES_ANEW: Plain = {"framing": "auto"}
"""An answer without a length is in chunks, however it came."""


class Proxy(Preset):
    """A machine that asks its servers in HTTP/1.1."""

    __slots__ = ()

    def alone(self) -> Plain:
        return {"upstream": {"protocol": "http/1.1"}}


def beside(programs: str) -> Source:
    """The programs that were asked the same as their preset."""
    return Source("what it does, row by row", f"{programs}, beside the preset", "measured", "2026-11-30")


def broken(first: Plain, over_h1: Sequence[object], over_h2: Sequence[object]) -> list[Plain]:
    """What becomes of an answer that broke off: before the head, then for clients of either version."""
    return [
        {"broken_end": {"then": [first, *over_h1], "if": H1}},
        {"broken_end": {"then": [first, *over_h2], "if": H2}},
    ]


def limits(then: Sequence[object], **durations: float | None) -> Plain | None:
    """A `timeout` with those limits that are given; None without any."""
    given = {limit: show_duration(seconds) for limit, seconds in durations.items() if seconds is not None}
    return {"timeout": {**given, "then": list(then)}} if given else None


def answer(status: int, body: str = "", content_type: str = "", **further: str) -> Plain:
    """An ending in place of an answer that has not begun; `further` are fields of it."""
    fields = {**({"Content-Type": content_type} if content_type else {}), **further}
    return {"status": status, **({"headers": fields} if fields else {}), **({"body": body} if body else {})}


def waiting_with_length(interval: float) -> Plain:
    """Go's reverse proxy: an answer with a length that is no event stream waits in a buffer of 4 KiB, its head too, until that
    is full, or the interval is over; 0 seconds: there is none."""
    which = {"framing": "content_length", "without_headers": {"content-type": "text/event-stream*"}}
    every = {"every": show_duration(interval)} if interval else {}
    return {"buffer": {"bytes": "4KiB", **every, "counts_head": True, "holds_head": True, "if": which}}
