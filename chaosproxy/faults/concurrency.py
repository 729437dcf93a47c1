"""`concurrency`: the machine serves so many requests at a time; what is beyond waits, or is refused.

Imitates a provider's limit of concurrent streams (429), a server that is told how many it may serve (503 of uvicorn's
`--limit-concurrency`), an engine with a queue in front of its slots (Ollama's OLLAMA_MAX_QUEUE). Who holds a stream open
holds a place: a limit on requests per second does not see it.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

from chaosproxy.chain.actions import Actions
from chaosproxy.chain.fault import Context, Fault, register
from chaosproxy.faults.refusals import Refusal
from chaosproxy.faults.refusing import QueueingSpec, Waiting, key_of, refused
from chaosproxy.model.messages import RequestHead
from chaosproxy.model.units import Count, counted


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Concurrency(QueueingSpec):
    """Serves so many at a time. A place is taken when the request's head comes, and free again when the exchange is over
    here, whatever way it ended; it goes to who has waited longest."""

    name: ClassVar[str] = "concurrency"
    main: ClassVar[str | None] = "limit"

    limit: Count
    """How many are served at a time."""

    def share(self) -> object:
        return Places(self.limit, self.queue)

    def start(self, context: Context) -> Fault:
        return RunningConcurrency(self, context)


class Places:
    """Who is served and who waits, by key. What nobody holds is forgotten: it is never more than there are exchanges."""

    def __init__(self, limit: int, queue: int) -> None:
        self._limit, self._queue = limit, queue
        self._served: dict[bytes, int] = {}
        self._waiting: dict[bytes, dict[Waiting, None]] = {}

    def take(self, key: bytes) -> bool:
        """A place, if one is free and nobody waits for it."""
        served = self._served.get(key, 0)
        if served >= self._limit:
            return False
        self._served[key] = served + 1
        return True

    def join(self, key: bytes, who: Waiting) -> bool:
        """Wait for one, if there is room: a place is handed over by a ring."""
        queue = self._waiting.setdefault(key, {})
        if len(queue) < self._queue:
            queue[who] = None
            return True
        self._forget(key)
        return False

    def leave(self, key: bytes, who: Waiting) -> bool:
        """Wait no longer. False: `who` has been given a place meanwhile."""
        queue = self._waiting.get(key, {})
        if who not in queue:
            return False
        del queue[who]
        self._forget(key)
        return True

    def give_back(self, key: bytes, now: float) -> None:
        """A place is free: who has waited longest gets it."""
        queue = self._waiting.get(key)
        if queue:
            first = next(iter(queue))
            del queue[first]
            self._forget(key)
            first.ring(now)
            return
        self._served[key] -= 1
        if not self._served[key]:
            del self._served[key]

    def _forget(self, key: bytes) -> None:
        if not self._waiting[key]:
            del self._waiting[key]


class RunningConcurrency(Waiting):
    """Takes a place, waits for one, or refuses."""

    unfired = "within the limit"

    def __init__(self, spec: Concurrency, context: Context) -> None:
        super().__init__()
        shared = context.shared
        self._places = shared if isinstance(shared, Places) else Places(spec.limit, spec.queue)
        self._key = b""
        self._has_place = False
        self._spec, self._context = spec, context
        self._longest = spec.wait / context.speed

    def asked(self, head: RequestHead, now: float) -> Actions:
        self._key = key_of(head, self._spec.per)
        if self._places.take(self._key):
            self._has_place = True
            return (head,)
        if self._places.join(self._key, self):
            self.due = now + self._longest
            return self.hold(head, now)
        return self._refuse()

    def wake(self, now: float) -> Actions:
        self.due = math.inf
        if self._places.leave(self._key, self):
            return self._refuse()
        self._has_place = True
        return self.served(now)

    def _refuse(self) -> Actions:
        limit = counted(self._spec.limit, "request")
        said = Refusal(
            openai=f"Too many concurrent requests: {limit} at a time. Please try again later.",
            anthropic=f"Number of concurrent connections has exceeded your rate limit: {limit} at a time",
            ollama="server busy, please try again.  maximum pending requests exceeded",
        )
        return self.turned_away(refused(self._spec, said, self._context))

    def gave_up(self, now: float) -> None:
        if not self._places.leave(self._key, self):
            self._places.give_back(self._key, now)  # it was given one in this very moment

    def over(self, now: float) -> Actions:
        if self._has_place:
            self._has_place = False
            self._places.give_back(self._key, now)
        return super().over(now)
