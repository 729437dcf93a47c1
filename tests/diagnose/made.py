"""Streams, and what machines make of them, as their clients would have written them down: no sockets, no time."""

from collections.abc import Sequence
from itertools import pairwise

from chaosproxy.client.answer import Answer, Piece
from chaosproxy.model.vocabulary import Framing

Said = Sequence[tuple[float, bytes]]
"""What is written, and when."""


def paced(events: int = 25, *, first: float = 0.04, gap: float = 0.04, size: int = 30) -> list[tuple[float, bytes]]:
    """One event after the other, each as long as it says."""
    made = []
    for number in range(events):
        start = b"data: %d " % number
        made.append((first + number * gap, start + b"." * (size - len(start) - 2) + b"\n\n"))
    return made


def buffered(said: Said, size: int, first: int | None = None) -> list[tuple[float, bytes]]:
    """Lets go of exactly so many bytes; the end brings the rest."""
    made, held, room = [], b"", first or size
    for time, payload in said:
        held += payload
        while len(held) >= room:
            made.append((time, held[:room]))
            held, room = held[room:], size
    return [*made, (said[-1][0], held)] if held else made


def flushed(said: Said, size: int) -> list[tuple[float, bytes]]:
    """Lets go of whole events, as soon as they are so many bytes."""
    made, held = [], b""
    for time, payload in said:
        held += payload
        if len(held) >= size:
            made.append((time, held))
            held = b""
    return [*made, (said[-1][0], held)] if held else made


def corked(said: Said, period: float) -> list[tuple[float, bytes]]:
    """What comes waits, the first so long, until the end at most."""
    made: list[tuple[float, bytes]] = []
    held, due = b"", 0.0
    for time, payload in said:
        if held and time >= due:
            made.append((due, held))
            held = b""
        if not held:
            due = time + period
        held += payload
    return [*made, (min(due, said[-1][0]), held)]


def at_once(said: Said) -> list[tuple[float, bytes]]:
    """Everything at the end."""
    return [(said[-1][0], b"".join(payload for _, payload in said))]


def one_behind(said: Said) -> list[tuple[float, bytes]]:
    """Each with the next."""
    return [(later, payload) for (_, payload), (later, _) in pairwise(said)] + [said[-1]]


def later(said: Said, seconds: float) -> list[tuple[float, bytes]]:
    return [(time + seconds, payload) for time, payload in said]


def trembling(said: Said, seconds: float = 0.003) -> list[tuple[float, bytes]]:
    """As on a machine that has other things to do: some come late, the next all the same."""
    return [(time + (number * 7 % 5) / 4 * seconds, payload) for number, (time, payload) in enumerate(said)]


def answer(
    said: Said,
    *,
    ended: float | None = None,
    end: str = "clean",
    status: int | None = 200,
    head: float | None = 0.001,
    headers: Sequence[tuple[str, str]] = (),
    protocol: str = "http/1.1",
    coded: float = 0.0,
    recorded: bool = True,
) -> Answer:
    """`coded`: the share of its size to which the body is compressed."""
    text = b""
    pieces = []
    for time, payload in said:
        before = text.count(b"\n\n")
        text += payload
        size = int(len(payload) * coded) or len(payload)
        events = text.count(b"\n\n") - before if recorded else 0
        pieces.append(Piece(time, size, len(payload), events, whole=recorded and text.endswith(b"\n\n")))
    fields = tuple((name.encode(), value.encode()) for name, value in headers)
    last = said[-1][0] if said else 0.0
    return Answer(
        protocol,
        status,
        fields,
        Framing.CHUNKED,
        head,
        pieces,
        end,
        last + 0.001 if ended is None else ended,
        text,
        recorded,
    )
