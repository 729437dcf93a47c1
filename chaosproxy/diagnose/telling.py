"""The verdict in words: the sentence, the setting, the figures that prove it, what else it could be, what is thin.

Rules: pure; every figure is one that was measured. Must not know: terminals.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from chaosproxy.client.answer import GAVE_UP, Answer
from chaosproxy.diagnose.assess import Finding, Report, Seen
from chaosproxy.diagnose.causes import Cause, mend, others
from chaosproxy.diagnose.change import ENOUGH, Change, Trouble
from chaosproxy.diagnose.makers import Maker
from chaosproxy.diagnose.observed import Variant
from chaosproxy.diagnose.shape import Shape, median
from chaosproxy.diagnose.signature import Kind
from chaosproxy.model.mask import masked_target
from chaosproxy.model.shown import shown
from chaosproxy.model.units import counted

UNEVEN = 3.0
"""A stream in which one gap in ten is so many times the usual one is no good measure."""
_CUTS = {"fin": "closed without the end mark (FIN)", "rst": "reset", "malformed": "no longer HTTP"}


@dataclass(frozen=True, slots=True)
class Told:
    """The verdict."""

    sentence: str
    mend: str = ""
    evidence: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    further: tuple[str, ...] = ()
    """What hops further out do besides."""
    thin: tuple[str, ...] = ()


def milliseconds(seconds: float | None) -> str:
    return "none" if seconds is None else f"{seconds * 1000:.0f} ms"


def told(report: Report) -> Told:
    """What is to be said of all hops together."""
    one = report.broken
    if one is None or one.finding is None:
        return _good(report)
    finding = one.finding
    who = f"{one.label[0].upper()}{one.label[1:]}"
    sentence = f"{who} breaks streaming: {_what(finding)}."
    maker = one.known.maker
    if finding.only_coded:
        sentence += " Without Accept-Encoding it passes each event on."
    return Told(
        sentence,
        mend(finding.cause, maker),
        tuple(_evidence(one, finding)),
        others(finding.cause) if _is_open(one, finding) else (),
        tuple(_further(report, one)),
        tuple(_thin(report, one)),
    )


def _good(report: Report) -> Told:
    last = report.seen[-1]
    if any(one.plain.kind is Trouble.UNKNOWN for one in report.seen):
        sentence = "No hop was seen to break streaming, but this answer is no stream to tell by."
    else:
        number = len(report.seen)
        hops = "The hop passes" if number == 1 else f"{'Both' if number == 2 else f'All {number}'} hops pass"
        shown = last.plain.seen
        sentence = (
            f"No hop breaks streaming. {hops} on what comes as it comes: through the outermost the first came after "
            f"{milliseconds(shown.first)}, and {_beat(shown)}."
        )
    return Told(sentence, thin=tuple(_thin(report, last)))


def _further(report: Report, first: Seen) -> Iterator[str]:
    for one in report.seen:
        if one.finding is not None and one is not first:
            mending = mend(one.finding.cause, one.known.maker)
            yield f"{one.label} does too: {_what(one.finding)}; what mends it: {mending}"


def _what(finding: Finding) -> str:
    """What it does, in a clause."""
    change, seen = finding.change, finding.change.seen
    size = f"{change.size:,} bytes"
    match finding.cause:
        case Cause.BUFFER if change.kind is Kind.WHOLE:
            return f"a buffer larger than the whole answer holds it to the end ({size})"
        case Cause.BUFFER:
            return f"a buffer of {_near(change)} lets go of the answer only when it is full"
        case Cause.WHOLE if change.counted:
            return f"it gathers the whole answer ({size}), with a Content-Length that only the end can tell"
        case Cause.WHOLE:
            return f"it gathers the whole answer ({size}), or has a buffer that is larger, and sends it at the end"
        case Cause.COMPRESSION:
            coding = shown(seen.answer.header("content-encoding")) or "and decompresses for this client"
            amount = "until the end" if change.kind is Kind.WHOLE else f"until {change.size:,} coded bytes are there"
            return f"it compresses ({coding}) without a flush, so that nothing can be read {amount}"
        case Cause.BEHIND:
            return "each event leaves it only when the next one comes"
        case Cause.CORK:
            return f"a cork: what comes in small pieces waits for a timer of {milliseconds(change.period)}"
        case Cause.INTERVAL:
            return f"it lets go of what it has every {milliseconds(change.period)}"
        case Cause.NAGLE:
            return f"small pieces wait for an acknowledgement, {milliseconds(change.period)} at a time"
        case Cause.LUMPS:
            return "events leave it in lumps"
        case Cause.CUT:
            return f"the answer breaks off after {milliseconds(seen.answer.ended)}: {_ending(seen.answer)}"
        case Cause.REFUSED:
            where = "" if change.inside is None else " where the hop inside streams"
            return f"it answers {seen.answer.status}{where}"
        case Cause.SILENT:
            return f"nothing came through within {milliseconds(seen.answer.ended)}"
        case Cause.STALLS:
            return f"in {milliseconds(seen.answer.ended)} {_share(change)} came through, the last after {milliseconds(seen.last)}"
        case Cause.LOSES:
            had = change.inside.events if change.inside is not None else 0
            return f"{seen.events} of {had} events come through, and a clean end behind them"


def _share(change: Change) -> str:
    """How much of what came inside."""
    inside = change.inside.amount if change.inside is not None else 0
    return f"{change.seen.amount:,} of {inside:,} {'events' if change.seen.counts == 'events' else 'bytes'}"


def _near(change: Change) -> str:
    """A size, as whoever has set it would write it."""
    seen = change.seen
    event = seen.text / seen.events if seen.events and not change.exact else 0.0
    for power in (256 << n for n in range(13)):
        if -0.02 * power <= change.size - power <= max(event, 0.02 * power):
            shown = f"{power // 1024} KiB" if power >= 1024 else f"{power} bytes"
            return f"{shown}" if change.size == power else f"about {shown}"
    return f"{change.size:,} bytes"


def _evidence(one: Seen, finding: Finding) -> Iterator[str]:
    change, judged = finding.change, finding.judged
    seen = change.seen
    yield f"{_arrivals(change)} {_by(finding)}"
    if change.inside is not None and change.inside.bursts:
        first = milliseconds(change.inside.first)
        where = "asked of the server" if not change.inside.answer.protocol else "inside of it"
        yield f"{where}: the first after {first}, {_beat(change.inside)}"
    if change.exact:
        yield "its bursts end in the middle of events: what counts there is bytes, not time"
    if change.counted:
        yield f"Content-Length: {shown(seen.answer.header('content-length'))}, which the hop inside does not send"
    if seen.answer.header("location"):
        yield f"Location: {shown(masked_target(seen.answer.header('location')))}"
    if seen.answer.header("content-encoding"):
        yield f"Content-Encoding: {shown(seen.answer.header('content-encoding'))}"
    if one.known.why:
        yield f"known by {one.known.why}"
    yield f"{judged.agree} of {counted(judged.of, 'measurement')} agree"


def _arrivals(change: Change) -> str:
    seen = change.seen
    what = counted(seen.events, "event") if seen.counts == "events" else f"{seen.text or seen.size:,} bytes"
    if change.kind in set(Trouble) - {Trouble.BEHIND}:
        return f"{what} in {milliseconds(seen.answer.ended)}, status {seen.answer.status or 'none'}"
    if change.kind is Trouble.BEHIND or len(seen.bursts) == seen.events:
        return f"{what}, each {milliseconds(change.period)} later than inside, and the end in time"
    if change.kind is Kind.WHOLE:
        fullest = max(seen.bursts, key=seen.weight)
        return f"{seen.weight(fullest):,} of {seen.amount:,} {'events' if seen.counts == 'events' else 'bytes'} at once, after {milliseconds(fullest.time)}"
    period = f", one every {milliseconds(seen.period)}" if seen.period else ""
    return f"{what} in {counted(len(seen.bursts), 'burst')} of {change.size:,} bytes, {seen.together:,} {'events' if seen.counts == 'events' else 'bytes'} each{period}"


def _by(finding: Finding) -> str:
    match finding.variant:
        case Variant.CODED:
            return "(with Accept-Encoding)"
        case Variant.DENSE:
            return "(asked for many bytes)"
        case Variant.PLAIN:
            return ""


def _beat(seen: Shape) -> str:
    """How things come, in a few words."""
    gap = median(seen.gaps)
    if seen.counts == "events" and gap is not None and len(seen.bursts) > 1:
        each = "one at a time" if seen.together <= 1 else f"{seen.together} at a time"
        usual = gap if seen.together <= 1 else seen.period or gap
        return f"{each}, {milliseconds(usual)} apart"
    return f"{counted(len(seen.bursts), 'burst')} in {milliseconds(seen.answer.ended)}"


def _is_open(one: Seen, finding: Finding) -> bool:
    """Whether something else could be behind it."""
    sure = finding.change.exact or (finding.cause is Cause.WHOLE and finding.change.counted)
    return not sure and not (finding.cause in {Cause.BUFFER, Cause.CORK} and one.known.maker is not Maker.UNKNOWN)


def _thin(report: Report, one: Seen) -> Iterator[str]:
    """What the verdict does not stand firmly on."""
    change = one.finding.change if one.finding is not None else one.plain
    judged = one.finding.judged if one.finding is not None else one.judged[Variant.PLAIN]
    seen, inside = change.seen, change.inside
    if judged.agree < judged.of:
        yield f"only {judged.agree} of {judged.of} measurements agree"
    if (
        change.kind in set(Kind) | {Trouble.NONE, Trouble.UNKNOWN}
        and seen.counts == "events"
        and seen.events < 2 * ENOUGH
    ):
        yield f"{counted(seen.events, 'event')} are few"
    if change.kind in {Trouble.NONE, Trouble.UNKNOWN} and (seen.last or 0.0) < 0.3:
        yield f"the whole answer took {milliseconds(seen.last or seen.answer.ended)}: a hop that gathers would not show"
    if seen.counts != "events" and seen.bursts:
        yield "this body has no events that are known: bytes were looked at"
    if inside is None and one.finding is not None:
        yield "nobody inside of it was asked: the server itself may answer so; name its URL in front of this one"
    if inside is not None and _uneven(inside):
        yield "the stream inside is uneven itself"
    if seen.answer.header("content-type").startswith("application/json") and seen.answer.status == 200:
        yield "its type is application/json: was a stream asked for?"
    if _cached(seen.answer):
        yield "the answer comes from a cache: nothing was streamed"
    if any(answer.end == GAVE_UP for answers in report.observed.answers.values() for answer in answers):
        yield f"answers were left after {milliseconds(report.observed.limit)}, before their end (--limit)"


def _uneven(inside: Shape) -> bool:
    gaps = sorted(inside.gaps)
    middle = median(gaps)
    return bool(middle) and gaps[int(0.9 * (len(gaps) - 1))] > UNEVEN * (middle or 0.0)


def _cached(answer: Answer) -> bool:
    return answer.header("age") not in {"", "0"} or "hit" in answer.header("x-cache").lower()


def _ending(answer: Answer) -> str:
    if answer.end.startswith("stream:"):
        return f"the stream was reset ({answer.end.partition(':')[2]})"
    return _CUTS.get(answer.end, answer.end)
