"""From what was seen of all hops to what each has made of the stream.

Rules: pure. Each hop is compared with the one inside, the same way of asking with the same; several measurements vote.
The way without a coding goes before the one with it, and the one with few bytes before the one with many, unless that
says more. Must not know: how it is told.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from chaosproxy.client.answer import Answer
from chaosproxy.diagnose.causes import Cause, cause_of
from chaosproxy.diagnose.change import Change, Trouble, change
from chaosproxy.diagnose.makers import Known, known
from chaosproxy.diagnose.observed import Leaving, Observed, Variant
from chaosproxy.diagnose.question import Hop
from chaosproxy.diagnose.shape import JOIN, Shape, median, shape, typical
from chaosproxy.diagnose.signature import Kind


@dataclass(frozen=True, slots=True)
class Judged:
    """One way of asking one hop."""

    change: Change
    """That of the typical one of those that agree."""
    agree: int
    of: int


@dataclass(frozen=True, slots=True)
class Finding:
    """Why a hop breaks streaming."""

    cause: Cause
    judged: Judged
    variant: Variant
    """The way of asking that shows it."""
    only_coded: bool = False
    """Without Accept-Encoding it does not."""

    @property
    def change(self) -> Change:
        return self.judged.change


@dataclass(frozen=True, slots=True)
class Seen:
    """One hop."""

    number: int
    """From 1, the innermost."""
    hop: Hop
    known: Known
    judged: dict[Variant, Judged]
    finding: Finding | None
    leaving: Leaving | None

    @property
    def plain(self) -> Change:
        return self.judged[Variant.PLAIN].change

    @property
    def label(self) -> str:
        """`hop 2 (nginx/1.22.1, http://127.0.0.1:8080/sse)`."""
        who = self.hop.name or self.known.says
        return f"hop {self.number} ({f'{who}, ' if who else ''}{self.hop.url})"


@dataclass(frozen=True, slots=True)
class Report:
    """All of them, the innermost first."""

    observed: Observed
    seen: tuple[Seen, ...]

    @property
    def broken(self) -> Seen | None:
        """The first that breaks streaming."""
        return next((one for one in self.seen if one.finding is not None), None)


def assess(observed: Observed) -> Report:
    """Judge every hop."""
    references = {variant: shape(pace.answer()) for variant, pace in observed.paces.items() if _streamed(observed)}
    inside: Answer | None = None
    seen: list[Seen] = []
    for number, hop in enumerate(observed.hops):
        judged: dict[Variant, Judged] = {}
        for variant in Variant:
            answers = observed.of(number, variant)
            if answers:
                judged[variant] = _judge(answers, references.get(variant))
                references[variant] = judged[variant].change.seen
        plain = judged[Variant.PLAIN].change.seen.answer
        who = known(plain, inside)
        finding = _finding(judged, who)
        seen.append(Seen(number + 1, hop, who, judged, finding, observed.leavings.get(number)))
        inside = plain
    return Report(observed, tuple(seen))


def _streamed(observed: Observed) -> bool:
    """What was asked has the pace that was asked for: it has events."""
    return any(answer.recorded for answer in observed.of(0, Variant.PLAIN))


def _judge(answers: Sequence[Answer], inside: Shape | None) -> Judged:
    gap = median(inside.gaps) if inside is not None else None
    join = JOIN if gap is None else max(JOIN, min(0.3 * gap, 0.05))
    changes = [change(shape(answer, join), inside) for answer in answers]
    good = [one for one in changes if one.good]
    bad = [one for one in changes if not one.good]
    most = good if len(good) >= len(bad) else bad
    kind, _ = Counter(one.kind for one in most).most_common(1)[0]
    alike = [one for one in most if one.kind == kind]
    middle = typical([one.seen for one in alike])
    return Judged(next(one for one in alike if one.seen is middle), len(most), len(changes))


def _finding(judged: dict[Variant, Judged], who: Known) -> Finding | None:
    plain, dense, coded = (judged.get(variant) for variant in (Variant.PLAIN, Variant.DENSE, Variant.CODED))
    assert plain is not None
    variant, best = Variant.PLAIN, plain
    if dense is not None and _says_more(dense.change, plain.change):
        variant, best = Variant.DENSE, dense
    if not best.change.good:
        small = best is plain and plain.change.kind is Kind.WHOLE and dense is not None and dense.change.good
        return Finding(Cause.BUFFER if small else cause_of(best.change, who.maker), best, variant)
    if coded is not None and not coded.change.good and _is_coded(coded.change):
        return Finding(cause_of(coded.change, who.maker), coded, Variant.CODED, only_coded=True)
    return None


def _says_more(dense: Change, plain: Change) -> bool:
    """More bytes show the size of a buffer, where few only show that there is one."""
    if dense.good or plain.kind in set(Trouble) - {Trouble.NONE, Trouble.UNKNOWN, Trouble.LATE}:
        return False
    if plain.good or plain.kind is Kind.LUMPS:
        return True
    if plain.kind is Kind.WHOLE:
        return dense.kind is not Kind.LUMPS
    return dense.kind is Kind.SIZED and dense.exact


def _is_coded(one: Change) -> bool:
    return bool(one.seen.answer.header("content-encoding"))
