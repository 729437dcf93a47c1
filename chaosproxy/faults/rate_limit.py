"""`rate_limit`: the machine lets so many requests in per time; what is beyond waits, or is refused.

Imitates a provider's requests per minute (429 with Retry-After) and nginx's `limit_req` with its `burst`. A bucket of
tokens, as providers describe theirs: so many requests at once, then one each time that a token has come back.
"""

import math
from dataclasses import dataclass, field
from typing import ClassVar

from chaosproxy.chain.actions import Actions
from chaosproxy.chain.fault import Context, Fault, register
from chaosproxy.faults.refusals import Refusal, limit_fields
from chaosproxy.faults.refusing import QueueingSpec, Waiting, key_of, refused
from chaosproxy.model.messages import RequestHead
from chaosproxy.model.units import Frequency, show_duration, show_frequency

MOST = 10_000
"""Keys that are remembered."""


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimit(QueueingSpec):
    """Lets so many in per time. It counts when the request's head comes; what becomes of the request is no matter."""

    name: ClassVar[str] = "rate_limit"
    main: ClassVar[str | None] = "limit"

    limit: Frequency
    """How many in which time: `5/1s`, `60/m`, `1000/24h`. `5/1s` lets five in at once, and after that one every 200 ms;
    whoever has been quiet for a second may bring five again."""
    retry_after: int | str | None = None
    """The Retry-After field of who is refused, as it stands. Default: the whole seconds until it would be let in; `none`:
    no such field."""

    def share(self) -> object:
        return Buckets()

    def start(self, context: Context) -> Fault:
        return RunningRateLimit(self, context)


@dataclass(slots=True, eq=False)
class Bucket:
    """One key's: when it will be full again, and who waits."""

    full_at: float = -math.inf
    queue: dict[Waiting, None] = field(default_factory=dict)


class Buckets:
    """By key; of those that nobody waits for the one that was not asked for longest is forgotten first."""

    def __init__(self) -> None:
        self._of: dict[bytes, Bucket] = {}

    def of(self, key: bytes) -> Bucket:
        """The bucket of a key."""
        bucket = self._of.pop(key, None) or Bucket()
        self._of[key] = bucket
        if len(self._of) > MOST:
            del self._of[next((old for old, one in self._of.items() if not one.queue), key)]
        return bucket


class RunningRateLimit(Waiting):
    """Takes a token, waits for one, or refuses."""

    unfired = "within the limit"

    def __init__(self, spec: RateLimit, context: Context) -> None:
        super().__init__()
        shared = context.shared
        self._buckets = shared if isinstance(shared, Buckets) else Buckets()
        self._bucket = Bucket()
        self._spec, self._context = spec, context
        self._count = spec.limit.count
        self._gap = spec.limit.seconds / self._count / context.speed
        self._longest = spec.wait / context.speed

    def asked(self, head: RequestHead, now: float) -> Actions:
        self._bucket = self._buckets.of(key_of(head, self._spec.per))
        queue = self._bucket.queue
        if not queue and self._takes(now):
            return (head,)
        if len(queue) >= self._spec.queue:
            return self._refuse(now)
        queue[self] = None
        actions = self.hold(head, now)
        self._plan()
        return actions

    @property
    def _ready(self) -> float:
        """When a token will be there: it is gone until the bucket lacks less than all."""
        return self._bucket.full_at - (self._count - 1) * self._gap

    def _takes(self, now: float) -> bool:
        if now < self._ready:
            return False
        self._bucket.full_at = max(self._bucket.full_at, now) + self._gap
        return True

    def _plan(self) -> None:
        """The first of the queue waits for a token, all others for a ring."""
        first = next(iter(self._bucket.queue)) is self
        self.due = min(self._ready if first else math.inf, self.since + self._longest)

    def wake(self, now: float) -> Actions:
        if next(iter(self._bucket.queue)) is self and self._takes(now):
            self._leave(now)
            return self.served(now)
        if now >= self.since + self._longest:
            self._leave(now)
            return self._refuse(now)
        self._plan()
        return ()

    def _leave(self, now: float) -> None:
        """The queue goes on without it."""
        self.due = math.inf
        queue = self._bucket.queue
        first = next(iter(queue)) is self
        del queue[self]
        if first and queue:
            next(iter(queue)).ring(now)

    def gave_up(self, now: float) -> None:
        self._leave(now)

    def _refuse(self, now: float) -> Actions:
        wait = max(0.0, self._ready - now + self._gap * len(self._bucket.queue)) * self._context.speed
        limit, again = show_frequency(self._spec.limit), show_duration(round(wait, 3))
        said = Refusal(
            openai=f"Rate limit reached on requests: Limit {limit}. Please try again in {again}.",
            anthropic=f"This request would exceed your organization's rate limit of {limit} requests",
            ollama="too many requests",
        )
        after = (b"retry-after", str(max(1, math.ceil(round(wait, 6)))).encode())
        own = (after, *limit_fields(self._context.request, self._count, wait))
        return self.turned_away(refused(self._spec, said, self._context, own))
