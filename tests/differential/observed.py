"""What a client can notice, as something small that can be compared: words that must be the same, and numbers that must
be alike.

A machine that is busy makes everything late. So a delay is told in events of the origin where it can be: whether an
event came before the next was sent does not depend on how long the pause was. Where only seconds can tell, they have
room.
Must not know: which of the two was asked.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from tests.differential.origin import Seen
from tests.differential.reading import Answer

MOST = 0.7
"""The share of events that make a pattern; the others met a busy machine."""
LATE = 0.12
"""Seconds from which something is not said to be at once."""
TOGETHER = 0.015
"""Seconds between two reads of one burst."""
FEW = 16
"""Events that may flow on before a peer has understood: a write that fails is the second one behind the end, and either
may have been gathered for 200 ms."""
NOT_COMPARED = {":status", "connection", "transfer-encoding", "content-length", "keep-alive"}
"""Names that are framing."""
ROOM = {
    "seconds": (0.4, 0.2),
    "blocked": (0.8, 0.3),
    "late": (0.08, 0.25),
    "events": (1.5, 0.35),
    "bytes": (400.0, 0.35),
}
"""How far two numbers may be apart: so much, and so large a share of the larger."""


@dataclass(frozen=True, slots=True)
class Observed:
    """`words` with the numbers in it."""

    words: str
    numbers: Mapping[str, float] = field(default_factory=dict)

    def agrees(self, other: "Observed") -> bool:
        """The same words, and numbers that are alike."""
        return self.words == other.words and all(
            abs(number - other.numbers[name]) <= ROOM[name][0] + ROOM[name][1] * max(number, other.numbers[name])
            for name, number in self.numbers.items()
        )

    def __str__(self) -> str:
        seconds, late = self.numbers.get("seconds", 0.0), self.numbers.get("late", 0.0)
        shown = {"late": f"{late:.1f} s late" if late >= LATE else "at once"}
        text = self.words.format(**{**self.numbers, **shown})
        return f"{text}, {seconds:.1f} s later" if seconds >= ROOM["seconds"][0] else text


def head(seen: Seen, answer: Answer) -> Observed:
    """When the head came, of an answer whose first event is late, and how it says that the body ends."""
    if answer.head_at is None or answer.status != 200:
        return Observed(f"{answer.status or answer.ending}")
    framing = f", {answer.framing}" if answer.framing else ""
    if answer.head_at >= seen.sent[-1]:
        return Observed(f"at the end{framing}")
    if answer.head_at >= seen.sent[0]:
        return Observed(f"with the body{framing}")
    return Observed(f"{{late}}{framing}", {"late": max(answer.head_at - seen.began, 0.0)})


def fields(seen: Seen, answer: Answer) -> Observed:
    """The names in the head that the origin has not sent, and those that it has sent in vain."""
    there = set(answer.fields) - NOT_COMPARED
    added, dropped = sorted(there - seen.fields), sorted(seen.fields - there)
    adds = f"adds {', '.join(added)}" if added else ""
    drops = f"drops {', '.join(dropped)}" if dropped else ""
    return Observed("; ".join(part for part in (adds, drops) if part) or "as they are")


def whole(answer: Answer, expected: bytes) -> Observed:
    """Whether every byte came, in its place."""
    came = b"".join([data for _, data in answer.body])
    if came == expected and answer.ending == "clean":
        return Observed("every byte")
    return Observed(
        f"{'some' if came else 'no'} bytes{'' if expected.startswith(came) else ', not those'}, {answer.ending}"
    )


def pattern(seen: Seen, answer: Answer) -> Observed:
    """How the events of a whole answer were spread."""
    coding = answer.fields.get("content-encoding")
    first = f"{coding}: " if coding else ""
    if answer.status != 200:
        return Observed(f"{answer.status or answer.ending}")
    came = _came(answer)
    if len(came) < seen.planned or answer.ending != "clean":
        return ending(seen, answer, seen.began, on_its_way=1)
    if came[0] > seen.sent[-1]:
        return Observed(f"{first}all at the end")
    marks = [*seen.sent, seen.ended or came[-1]]
    behind = [sum(mark < at for mark in marks[number:]) for number, at in enumerate(came, 1)]
    if behind.count(0) >= MOST * len(came):
        late = median(at - sent for at, sent in zip(came, seen.sent, strict=True))
        return Observed(f"{first}each event {{late}}", {"late": late})
    if behind.count(1) >= MOST * len(came):
        return Observed(f"{first}one event behind")
    sizes, events = _bursts(answer)
    return Observed(
        f"{first}bursts of {{events:.0f}} events, {{bytes:.0f}} bytes",
        {"events": median(events), "bytes": median(sizes)},
    )


def _came(answer: Answer) -> list[float]:
    """When each event was there."""
    came: list[float] = []
    tail = b""
    for at, data in answer.body:
        came += [at] * (tail + data).count(b"\n\n")
        tail = data[-1:] if not data.endswith(b"\n\n") else b""
    return came


def _bursts(answer: Answer) -> tuple[list[int], list[int]]:
    """Bytes and events of each, without the last one: what is left at the end is as large as it is."""
    starts = [0, *(n for n, (a, b) in enumerate(pairwise(answer.body), 1) if b[0] - a[0] >= TOGETHER)]
    pieces = [
        b"".join([data for _, data in answer.body[start:end]])
        for start, end in zip(starts, [*starts[1:], None], strict=True)
    ]
    whole = pieces[:-1] or pieces
    return [len(piece) for piece in whole], [piece.count(b"\n\n") for piece in whole]


def ending(seen: Seen, answer: Answer, since: float | None, on_its_way: int = 0) -> Observed:
    """How an answer ended that was to be longer, and how long after `since`; so many events may have met the end."""
    seconds = max(answer.ended_at - since, 0.0) if answer.ended_at and since else 0.0
    if answer.status != 200:
        said = f"{answer.status}" if answer.ending == "clean" else f"{answer.status or ''} {answer.ending}".strip()
        return Observed(said, {"seconds": seconds})
    count = len(_came(answer))
    events = "all events" if count >= len(seen.sent) - on_its_way else "no event" if not count else "some events"
    return Observed(f"{events}, {answer.how}", {"seconds": seconds})


def leaving(seen: Seen, since: int, before: int | None) -> Observed:
    """What the upstream has seen of a client that left when it had sent `since` events; where it fell silent, `before`
    is how many it had sent by then."""
    if seen.left is None:
        return Observed("not noticed: all of it is fetched")
    if before is not None and seen.sent_before <= before:
        return Observed(f"{seen.left.upper()} while it is silent")
    if seen.sent_before - (since if before is None else before) > FEW:
        return Observed("ended much later")
    return Observed("ended within a few events" if before is None else "ended when it sends again")
