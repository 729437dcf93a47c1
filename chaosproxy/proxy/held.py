"""A request that is held until its body is complete, because a rule asks for its JSON.

At most 1 MiB; a longer body, or one that is not JSON, matches no such rule. Must not know: how a rule decides, sessions.
"""

from collections.abc import Callable

from chaosproxy.model.json_values import NOT_JSON, parse
from chaosproxy.model.messages import Data, End, Event, RequestHead
from chaosproxy.scenario.rules import Decision

LIMIT = 1024 * 1024


class HeldRequest:
    """Collects; `document` once `ready`."""

    release: Callable[[float], None]
    """Begins the exchange, and feeds it what was held."""

    def __init__(self, head: RequestHead, decision: Decision) -> None:
        self.head = head
        self.decision = decision
        self.events: list[Event] = []
        self.ready = head.final
        self._size = 0
        self._complete = False

    def add(self, events: list[Event]) -> int:
        """Hold `events`, none of them an Abort; returns how many body bytes they have."""
        taken = 0
        for event in events:
            self.events.append(event)
            if isinstance(event, Data):
                taken += len(event.payload)
            elif isinstance(event, End):
                self._complete = True
        self._size += taken
        self.ready = self.ready or self._complete or self._size > LIMIT
        return taken

    def document(self) -> object:
        """What the body says, or NOT_JSON."""
        if not self._complete or self._size > LIMIT:
            return NOT_JSON
        return parse(b"".join(event.payload for event in self.events if isinstance(event, Data)))
