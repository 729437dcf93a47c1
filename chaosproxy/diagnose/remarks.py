"""What is worth a word of a hop, and breaks nothing: who is told that a client has left, what comes late, what is hidden.

Rules: pure; every figure is one that was measured. Must not know: terminals.
"""

from collections.abc import Iterator

from chaosproxy.client.answer import GAVE_UP
from chaosproxy.diagnose.assess import Seen
from chaosproxy.diagnose.change import Trouble
from chaosproxy.diagnose.observed import Leaving, Variant
from chaosproxy.diagnose.shape import Shape
from chaosproxy.diagnose.telling import milliseconds
from chaosproxy.model.shown import shown


def left(leaving: Leaving) -> str:
    """What became of a client that left."""
    if leaving.ended is None:
        return f"the server is not told: {milliseconds(leaving.looked)} later it was still at work"
    when = milliseconds(leaving.ended)
    if leaving.gap and leaving.ended > 0.5 * leaving.gap:
        return f"the server is told {when} later, when it writes again"
    return f"the server is told at once ({when})"


def _longest(seen: Shape) -> float:
    """The longest time between two events."""
    return max(seen.gaps, default=0.0)


def remarks(one: Seen) -> Iterator[str]:
    """What is worth a word, and breaks nothing."""
    change = one.plain
    seen, inside = change.seen.answer, change.inside
    if change.kind is Trouble.LATE:
        yield f"everything {milliseconds(change.period)} later than inside, the end too: a way, or a queue, not a buffer"
    if inside is not None and inside.answer.end not in {"clean", GAVE_UP} and seen.end == "clean":
        yield "the answer inside breaks off, and this hop ends it cleanly: who waits for the end alone takes it for whole"
    if inside is not None and inside.first is not None and seen.head is not None and inside.answer.head is not None:
        room = inside.first - inside.answer.head
        late = seen.head - inside.answer.head
        if change.good and room >= 0.03 and late >= 0.7 * room and (change.seen.first or 0.0) - seen.head < 0.3 * room:
            yield "its head waits for the first event: whoever waits for the head alone waits longer"
    if inside is not None and change.good and _longest(change.seen) > max(0.5, 10 * _longest(inside)):
        longest = milliseconds(_longest(change.seen))
        yield f"once nothing came for {longest}, inside for {milliseconds(_longest(inside))} at most"
    coded = one.judged.get(Variant.CODED)
    if coded is not None and coded.change.good and coded.change.seen.answer.header("content-encoding"):
        yield f"with Accept-Encoding it is coded ({shown(coded.change.seen.answer.header('content-encoding'))}), and flushed with each event"
    for answer in (seen, coded.change.seen.answer if coded is not None else seen):
        if answer.hidden:
            yield f"its {shown(answer.header('content-encoding'))} body was not read to its end: {answer.hidden}"
            break
