"""Checks what passes between the places of a chain: the grammar, time, conservation. For tests.

Each line gets a guard at its entry and behind every place. A guard changes nothing; it raises `GuardError` where a
place breaks a rule. Only for chains made with `lazy=False`: places at rest share a span, and nothing passes between them.
Must not know: faults, sessions.
"""

from dataclasses import dataclass, field

from chaosproxy.chain.chain import Chain
from chaosproxy.chain.line import Line
from chaosproxy.chain.neighbours import Node
from chaosproxy.chain.relay import Relay
from chaosproxy.model.grammar import Grammar, GrammarError
from chaosproxy.model.messages import Data, Event
from chaosproxy.model.vocabulary import Way


class GuardError(AssertionError):
    """A place broke a rule of the chain."""


@dataclass(slots=True)
class Guard:
    """A node between two places; counts and checks what passes."""

    name: str
    behind: Node
    bytes: int = 0
    records: int = 0
    time: float = 0.0
    grammar: Grammar = field(default_factory=Grammar)

    def has_room(self, now: float) -> bool:
        return self.behind.has_room(now)

    def make_room(self, now: float) -> bool:
        return self.behind.make_room(now)

    def data(self, data: Data, now: float) -> None:
        self._check(data, now)
        ends = data.ends
        if any(not 0 < end <= len(data.payload) for end in ends) or list(ends) != sorted(set(ends)):
            raise GuardError(f"{self.name}: record ends {ends} in {len(data.payload)} bytes")
        self.bytes += len(data.payload)
        self.records += len(ends)
        self.behind.data(data, now)

    def control(self, event: Event, now: float) -> None:
        self._check(event, now)
        self.behind.control(event, now)

    def _check(self, event: Event, now: float) -> None:
        if now < self.time:
            raise GuardError(f"{self.name}: {type(event).__name__} at {now}, behind something at {self.time}")
        self.time = now
        try:
            self.grammar.check(event)
        except GrammarError as error:
            raise GuardError(f"{self.name}: {error}") from None


@dataclass(slots=True)
class Guards:
    """The guards of one line, from its entry to its exit."""

    line: Line
    guards: list[Guard]

    def begin_again(self) -> None:
        """The upstream says everything once more."""
        if self.line.way is Way.RESPONSE:
            self.guards[0].grammar = Grammar()

    def check(self) -> None:
        """Conservation: what has passed in front of a place has entered it, or been swallowed because it was closed;
        what it counted has been let go, edited, held, or discarded because nobody wants it."""
        for stage, before, behind in zip(self.line.stages, self.guards, self.guards[1:], strict=False):
            held = stage.out_bytes + stage.fault.held
            if stage.bytes > before.bytes or (stage.bytes < before.bytes and not stage.closed):
                raise GuardError(f"{before.name}: {before.bytes} bytes passed, the place behind counted {stage.bytes}")
            edits = stage.placed.spec.edits or stage.fault.answers or stage.mute or stage.sealed or stage.closed
            # A fault that answers by itself lets nothing of the request go further.
            edits = edits or (isinstance(stage.fault, Relay) and stage.rest is None)
            if not edits and stage.bytes != behind.bytes + held:
                raise GuardError(
                    f"{behind.name}: {stage.bytes} bytes entered, {behind.bytes} left, {held} are held; "
                    "who adds or removes some says `edits_body`"
                )
            if stage.ended and stage.sealed and stage.fault.held and not stage.mute:
                raise GuardError(f"{behind.name}: the end has gone, and {stage.fault.held} bytes are still held")
            if stage.mute and stage.out_bytes:
                raise GuardError(f"{behind.name}: {stage.out_bytes} bytes are held for nobody")


def watch(chain: Chain) -> list[Guards]:
    """Put guards into both lines of a chain that has not started; `check` them whenever it is at rest."""
    return [_watch(line) for line in (chain.request, chain.response)]


def _watch(line: Line) -> Guards:
    if line.lazy:
        raise ValueError("only a chain made with lazy=False can be watched")
    first = Guard(f"{line.way} entry", line.first)
    line.first = first
    guards = [first]
    for stage in line.stages:
        guard = Guard(f"{line.way} behind {stage.placed.spec.name} ({stage.index})", stage.next)
        stage.next = guard
        guards.append(guard)
    return Guards(line, guards)
