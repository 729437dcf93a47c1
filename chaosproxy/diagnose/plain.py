"""The diagnosis for machines: plain lists and mappings that JSON has. Seconds, bytes.

Must not know: terminals.
"""

from typing import Any

from chaosproxy.diagnose.assess import Judged, Report, Seen
from chaosproxy.diagnose.makers import hints
from chaosproxy.diagnose.remarks import left, remarks
from chaosproxy.diagnose.shape import Shape, median
from chaosproxy.diagnose.telling import told


def plain(report: Report) -> dict[str, Any]:
    """The whole of it."""
    verdict, broken = told(report), report.broken
    finding = broken.finding if broken is not None else None
    return {
        "good": broken is None,
        "hop": None if broken is None else broken.number,
        "url": None if broken is None else broken.hop.url,
        "cause": None if finding is None else finding.cause.value,
        "maker": None if broken is None else broken.known.maker.value or None,
        "sentence": verdict.sentence,
        "mend": verdict.mend or None,
        "evidence": list(verdict.evidence),
        "others": list(verdict.others),
        "further": list(verdict.further),
        "thin": list(verdict.thin),
        "hops": [_hop(one) for one in report.seen],
    }


def _hop(one: Seen) -> dict[str, Any]:
    first = next(iter(one.judged.values())).change.seen
    finding = one.finding
    return {
        "hop": one.number,
        "name": one.hop.name or None,
        "url": one.hop.url,
        "maker": one.known.maker.value or None,
        "good": finding is None,
        "cause": None if finding is None else finding.cause.value,
        **_shape(first),
        "hints": hints(first.answer),
        "remarks": list(remarks(one)),
        "leaving": None if one.leaving is None else {"told": one.leaving.ended, "says": left(one.leaving)},
        "asked": {variant.value: _judged(judged) for variant, judged in one.judged.items()},
    }


def _judged(judged: Judged) -> dict[str, Any]:
    change = judged.change
    return {
        "kind": change.kind.value,
        "size": change.size or None,
        "period": _rounded(change.period) or None,
        "agree": judged.agree,
        "of": judged.of,
        **_shape(change.seen),
        "arrivals": [[_rounded(burst.time), burst.size, burst.events] for burst in change.seen.bursts],
    }


def _shape(seen: Shape) -> dict[str, Any]:
    answer = seen.answer
    bursts = seen.bursts
    return {
        "protocol": answer.protocol,
        "status": answer.status,
        "head": _rounded(answer.head),
        "first_event": _rounded(seen.first),
        "gaps": {"p50": _rounded(median(seen.gaps)), "max": _rounded(max(seen.gaps, default=None))},
        "bursts": {
            "count": len(bursts),
            "events": seen.together if seen.counts == "events" else None,
            "bytes": int(median([float(burst.size) for burst in bursts]) or 0),
            "period": _rounded(seen.period),
        },
        "events": seen.events if seen.counts == "events" else None,
        "bytes": seen.size,
        "coding": answer.header("content-encoding") or None,
        "framing": answer.framing.value if answer.framing is not None else None,
        "end": answer.end,
        "total": _rounded(answer.ended),
    }


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 6)
