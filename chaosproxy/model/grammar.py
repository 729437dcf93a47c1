"""The legal order of events on one way, as a table, and its checker.

Interim* Head Data* Trailers? (End | Abort); Abort anywhere; Goaway anywhere before the terminal; nothing after it.

Must not know: who sends, over which protocol.
"""

from enum import Enum, auto

from chaosproxy.model.messages import Abort, Data, End, Event, Goaway, Interim, RequestHead, ResponseHead, Trailers


class State(Enum):
    START = auto()
    BODY = auto()
    TRAILERS = auto()
    OVER = auto()


NEXT: dict[tuple[State, type], State] = {
    (State.START, Interim): State.START,
    (State.START, RequestHead): State.BODY,
    (State.START, ResponseHead): State.BODY,
    (State.BODY, Data): State.BODY,
    (State.BODY, Trailers): State.TRAILERS,
    (State.BODY, End): State.OVER,
    (State.TRAILERS, End): State.OVER,
    **{(state, Abort): State.OVER for state in (State.START, State.BODY, State.TRAILERS)},
    **{(state, Goaway): state for state in (State.START, State.BODY, State.TRAILERS)},
}


class GrammarError(AssertionError):
    """An event stood where it may not stand. Always a bug of ours, never a peer's."""


class Grammar:
    """Checks one way of one exchange, event by event."""

    __slots__ = ("state",)

    def __init__(self) -> None:
        self.state = State.START

    def check(self, event: Event) -> None:
        """Advance by `event`; GrammarError if it is out of order, or an empty Data."""
        following = NEXT.get((self.state, type(event)))
        if following is None:
            raise GrammarError(f"{type(event).__name__} in state {self.state.name}")
        if isinstance(event, Data) and not event.payload:
            raise GrammarError("empty Data")
        self.state = following

    @property
    def over(self) -> bool:
        return self.state is State.OVER
