"""The rows of the page: which events stand in one, what must come of them, and what has, in a few words."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tests.security.matrix.cell import Lived


@dataclass(frozen=True)
class Told:
    """One row: the keys of its events, and the rule for a person."""

    events: tuple[str, ...]
    name: str
    must: str


ROWS = (
    Told(("killed", "reset", "fin"), "the upstream is killed, resets its connection, or closes it",
         "502 before the head; behind it what was sent, then FIN, RST or RST_STREAM, never an end mark; an idle connection: nothing"),
    Told(("stopped", "client stopped"), "the upstream, or the client, is stopped for a while",
         "nothing but the wait"),
    Told(("client reset", "client fin", "client killed"), "the client resets, closes its way, or is killed",
         "the upstream is told at once, by FIN or RST_STREAM(CANCEL)"),
    Told(("client stream",), "RST_STREAM of the client",
         "the upstream is told at once, by FIN or RST_STREAM(CANCEL)"),
    Told(("stream",), "RST_STREAM of the upstream",
         "its code to a client of HTTP/2; else 502 before the head, FIN behind it"),
    Told(("client goaway", "goaway"), "GOAWAY of either side, which takes no stream along",
         "what runs runs on; what follows has another connection"),
    Told(("goaway refused",), "GOAWAY of the upstream that takes the stream along",
         "asked again, where nothing would be sent twice; else as if its connection had ended"),
    Told(("no descriptor", "no name", "certificate"), "no dial succeeds: EMFILE, no such name, an expired certificate",
         "502 for whom a connection is needed; what runs runs on"),
    Told(("full",), "the journal's disk is full",
         "nothing but one line on stderr; each line lost is counted"),
    Told(("term",), "SIGTERM", "what runs runs on; nothing new is taken"),
    Told(("second term",), "a second SIGTERM", "FIN or RST_STREAM at once, on both sides; journalled as shutdown"),
    Told(("reload", "bad reload"), "the scenario is reloaded, or one with a mistake is",
         "what runs keeps what it began with; a mistake changes nothing"),
    Told(("bug", "exception", "memory"), "a fault raises FaultBug, ZeroDivisionError, MemoryError",
         "its exchange alone ends, by FIN or RST_STREAM, at once, on both sides; journalled as internal"),
)  # fmt: skip
OURS = "502 whole"


def happens(found: Sequence[tuple[Lived, list[str]]]) -> str:
    """What the clients have seen, how often; and whether all was as it must be."""
    seen = Counter(_seen(lived) for lived, _ in found)
    wrong = sum(bool(problems) for _, problems in found)
    told = ", ".join(f"{what} {count}" for what, count in sorted(seen.items(), key=lambda one: (-one[1], one[0])))
    return f"{told}; {'each as it must, the others unharmed, nothing left' if not wrong else f'{wrong} WRONG'}"


def _seen(lived: Lived) -> str:
    view, end = lived.late.view, lived.late.end
    if lived.cell.state.phase == "over":
        return "was over:"
    if end is None:
        return "never asked:"
    if end[0] == "client" or not (view.whole or view.ending):
        return "left:"
    if view.whole and end[1] == "fin":
        return "fin:"  # the end of a tunnel looks like no other
    if view.whole:
        return f"{'whole' if view.said != OURS else '502'}:"
    return f"{view.ending.replace('stream:', 'RST_STREAM ')}:"
