"""What the faults have in common that refuse a request before its answer begins: the answer, and a request that waits.

Must not know: why it is refused.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from hashlib import blake2b
from typing import Annotated, ClassVar

from chaosproxy.chain.actions import FOREVER, WAKE, Actions, Cancel, Note, Reply
from chaosproxy.chain.fault import Context, Fault, FaultSpec
from chaosproxy.chain.resolve import answer
from chaosproxy.faults.refusals import Refusal, body_of
from chaosproxy.model.headers import Headers, first, replaced, values, without
from chaosproxy.model.messages import Data, Event, RequestHead
from chaosproxy.model.units import Duration, Within, show_duration
from chaosproxy.model.validate import field_problem
from chaosproxy.model.vocabulary import BothWays, Way

ROOM = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusingSpec(FaultSpec):
    """The answer that a request gets which is refused."""

    status: Annotated[int, Within(400, 599)] = 429
    """The status of the answer to who is refused. Default 429."""
    retry_after: int | str | None = None
    """Its Retry-After field: seconds, or a date (RFC 9110 section 10.2.3); what is neither goes out as it stands, for
    there are servers that send it."""
    headers: Headers = ()
    """Its other header fields. Content-Length follows the body; Content-Type is application/json without one."""
    body: bytes | None = None
    """Its body, as text. Default: what a provider says, by the request's path: Anthropic's words under `/messages`,
    Ollama's under `/api/`, OpenAI's elsewhere."""

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        return retry_after_problems(self.retry_after)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueingSpec(RefusingSpec):
    """A request may wait before it is refused."""

    ways: ClassVar[frozenset[Way | BothWays]] = frozenset({Way.REQUEST})

    way: Way = Way.REQUEST
    queue: Annotated[int, Within(0)] = 0
    """How many may wait, in the order in which they came; one that leaves makes room. Beyond them a request is refused.
    Default 0."""
    wait: Duration = math.inf
    """The longest time in the queue; then the request is refused. Default forever."""
    per: str | None = None
    """The name of a header field: requests with different values of it do not count together. Default: all do."""

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        wrong = None if self.per is None else field_problem(self.per.encode(), b"")
        return [*RefusingSpec.problems(self), *([] if wrong is None else [(("per",), wrong)])]


def retry_after_problems(given: int | str | None) -> list[tuple[tuple[str, ...], str]]:
    """What is wrong with a Retry-After field."""
    wrong = field_problem(b"retry-after", str(given).encode())
    return [] if wrong is None else [(("retry_after",), wrong)]


def refused(spec: RefusingSpec, said: Refusal | bytes, context: Context, own: Headers = ()) -> Reply:
    """The answer; `said` is its body, `own` are fields, and what the scenario says replaces both."""
    body = said if isinstance(said, bytes) else body_of(said, spec.status, context.request)
    body = body if spec.body is None else spec.body
    headers = spec.headers
    for name, value in own:
        if first(headers, name) is None:
            headers = (*headers, (name, value))
    if body and first(headers, b"content-type") is None:
        headers = ((b"content-type", b"application/json"), *headers)
    if spec.retry_after == "none":
        headers = without(headers, (b"retry-after",))
    elif spec.retry_after is not None:
        headers = replaced(headers, b"retry-after", str(spec.retry_after).encode())
    return answer(spec.status, headers, body, context.request.method)


def remembered(name: bytes) -> bytes:
    """What to keep of a name that a peer gives, which may be as long as a head: 16 bytes, the same for the same name."""
    return blake2b(name, digest_size=16).digest()


def key_of(head: RequestHead, field: str | None) -> bytes:
    """Whom a request counts with: all that have the same value of a header field; without one, all."""
    return b"" if field is None else remembered(b", ".join(values(head.headers, field.lower().encode())))


class Waiting(Fault, ABC):
    """Of the way of the request: holds one back until it is let in. Rests before and afterwards."""

    capacity = ROOM
    rest = FOREVER

    def __init__(self) -> None:
        self.waits = False
        self.since = 0.0
        self._kept: list[Event] = []

    @abstractmethod
    def asked(self, head: RequestHead, now: float) -> Actions:
        """A request is there: it passes on, is answered, or `hold` it."""

    @abstractmethod
    def gave_up(self, now: float) -> None:
        """It was over while it waited."""

    def control(self, event: Event, now: float) -> Actions:
        if isinstance(event, RequestHead):
            return self.asked(event, now)
        if self.waits:
            self._kept.append(event)
            return ()
        return (event,)

    def data(self, data: Data, now: float) -> Actions:
        self._kept.append(data)
        self.held += len(data.payload)
        return ()

    def hold(self, head: RequestHead, now: float) -> Actions:
        """It waits from now on."""
        self.waits, self.since, self._kept = True, now, [head]
        return (WAKE,)

    def let_in(self) -> tuple[Event, ...]:
        """It no longer waits; what of it has come."""
        kept, self._kept = tuple(self._kept), []
        self.waits, self.held = False, 0
        return kept

    def served(self, now: float) -> Actions:
        """It goes on, and says after how long."""
        waited = show_duration(round(now - self.since, 3))
        return (Note("fired", f"waited {waited}"), *self.let_in(), FOREVER)

    def turned_away(self, reply: Reply) -> Actions:
        """It is answered here."""
        self.let_in()
        return (Note("fired", f"answered {reply.head.status}"), reply)

    def over(self, now: float) -> Actions:
        if not self.waits:
            return ()
        self.let_in()
        self.gave_up(now)
        return (Note("fired", "the client left the queue"), Cancel())
