"""What a person should take from a demonstration: how an answer ended, and what the difference means, in a sentence.

Rules: only what the client saw decides. Must not know: scenarios, how it is drawn.
"""

from itertools import pairwise

from chaosproxy.client.answer import GAVE_UP, Answer
from chaosproxy.demo.numbers import Numbers
from chaosproxy.framing.choose import kind_of, splitter_for
from chaosproxy.framing.records import payload, terminal
from chaosproxy.model.json_values import parse
from chaosproxy.model.units import counted

LATE = 3.0
"""How many times later an event must be to be called late, and by how many seconds at least."""
NOTICED = 0.05
AT_ONCE = 0.25
"""The part of its usual time in which a stream must be over to have come at once."""

_ENDS = {
    "clean": "a clean end",
    "fin": "closed without the end mark (FIN)",
    "rst": "reset (TCP RST)",
    "no_close_notify": "closed without the end mark (no close_notify)",
    "malformed": "an answer that breaks the protocol",
}


def milliseconds(seconds: float) -> str:
    """`405 ms`."""
    return f"{seconds * 1000:.0f} ms"


def ending(answer: Answer) -> str:
    """How it ended, for a person."""
    if answer.end == GAVE_UP:
        return f"none: the client gave up after {milliseconds(answer.ended)}"
    if answer.end.startswith("stream:"):
        return f"the stream was reset ({answer.end.partition(':')[2]})"
    return _ENDS.get(answer.end, answer.end)


def meaning(direct: Answer, through: Answer) -> str:
    """What the difference between the two means for who waits for the answer."""
    straight, seen = Numbers.of(direct), Numbers.of(through)
    came = f"{seen.events} of {counted(straight.events, 'event')}"
    if through.status is None:
        return f"No answer at all: {ending(through)}. Only a limit of its own tells a client when to stop waiting."
    if through.status >= 400:
        return _refused(through)
    if through.end == GAVE_UP:
        return _silent(through, came)
    if through.end != "clean" and not seen.events:
        return (
            f"The answer broke off before any of {straight.events} events had come. A client must say so; as nothing "
            "has been shown yet, it may ask again."
        )
    if through.end != "clean":
        return (
            f"The answer broke off after {came}. A client must say so: what it has is not the whole, and to ask again "
            "from the start would show the beginning twice."
        )
    if _error_at_the_end(through):
        return (
            f"After {counted(seen.events - 1, 'event')} came an error inside a 200, then a clean end. Whoever looks only at the "
            "status, or only for a clean end, takes a failure for an answer."
        )
    if seen.events < straight.events:
        return (
            f"It ended cleanly, as HTTP sees it, after {came}. Only the missing last word of the provider tells a client "
            "that this is not the whole answer."
        )
    return _timing(straight, seen)


def _refused(through: Answer) -> str:
    if through.header("retry-after"):
        return (
            f"No stream: the answer is {through.status}, Retry-After: {through.header('retry-after')}. Nothing has begun, so a "
            "client may ask again, and not sooner than that."
        )
    return (
        f"No stream: the answer is {through.status}, {through.header('content-type').partition(';')[0] or 'without a type'}. A "
        "client must look at the status and the type before it parses a stream."
    )


def _silent(through: Answer, came: str) -> str:
    last_event = Numbers.of(through).last_event or 0.0
    alive = [time for time, _ in through.traffic if time > last_event]
    if len(alive) > 1:
        return (
            f"After {came} bytes still came, and no event: every limit on silence is kept, and nothing gets on. Only a "
            "limit on the time between events ends the wait."
        )
    return f"After {came} nothing came, not even an end. Only a limit of its own tells a client when to stop waiting."


def _timing(straight: Numbers, seen: Numbers) -> str:
    first, before = seen.first_event or 0.0, straight.first_event or 0.0
    gap, had_gap = seen.gap_longest or 0.0, straight.gap_longest or 0.0
    waited = f"The first of {seen.events} came after {milliseconds(first)} instead of {milliseconds(before)}"
    if _late(gap, had_gap):
        return (
            f"Every event came, but in lumps, up to {milliseconds(gap)} apart instead of {milliseconds(had_gap)}. The "
            "total does not show it; the longest gap does, and the time to the first event."
        )
    if not _late(first, before):
        return (
            f"Hardly a difference: every event came, the first after {milliseconds(first)} against "
            f"{milliseconds(before)}, and the longest gap is {milliseconds(gap)} against {milliseconds(had_gap)}."
        )
    if seen.total - first < AT_ONCE * (straight.total - before):
        return (
            f"{waited}, and then all the others at once. Nothing is lost, and the total does not show it "
            f"({milliseconds(seen.total)} against {milliseconds(straight.total)}), but whoever reads along saw an "
            "empty screen all that time. Watch the time to the first event."
        )
    return (
        f"{waited}, and from there it went on at the server's pace. A client needs a longer limit for the first event "
        "than between events."
    )


def _late(now: float, before: float) -> bool:
    return now > LATE * before and now - before > NOTICED


def _error_at_the_end(answer: Answer) -> bool:
    """Whether the last event is an error in the shape of a provider."""
    kind = kind_of(answer.header("content-type").encode("latin-1"))
    if kind not in {"sse", "lines"}:
        return False
    ends = [0, *splitter_for(kind).feed(answer.text)]
    records = [answer.text[start:end] for start, end in pairwise(ends)]
    if not records or terminal(kind, records[-1]):
        return False
    document = parse(payload(kind, records[-1]) or b"")
    return isinstance(document, dict) and (bool(document.get("error")) or document.get("type") == "error")
