"""Play a script against faults, in virtual time, without Trio: what goes in when, and what comes out when.

`play([Cut(at=Trigger(event=3))], script)` answers what a client would have seen, as plain values to compare with `==`;
its text is a timeline in two columns, the upstream's side (what it gets of an upload, too) and the client's, for a
failing assert.

The request's head comes at 0, the response's `head` with the first step that needs it. A script is a list of
`(time, what)`, its times never going back; of an upstream in whose place a fault answers nothing comes:

| what                      | means                                                                       |
|---------------------------|-----------------------------------------------------------------------------|
| `bytes`                   | one read of the response's body; a list of them: one read of several chunks |
| a Data, Interim, Trailers, End, Abort, ResponseHead | that event of the response                        |
| `Upload(bytes or event)`  | the same for the request, behind its head                                   |
| `int`                     | the client takes so many body bytes more (only with `room`)                 |
| `"hangup"`, `"hangup:rst"` | the client leaves                                                          |
| `Cue(name)`               | a named input                                                               |
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from chaosproxy.chain.chain import Chain
from chaosproxy.chain.content import prepare
from chaosproxy.chain.exit import WINDOW
from chaosproxy.chain.fault import Context, FaultSpec
from chaosproxy.chain.guard import Guards, watch
from chaosproxy.chain.placed import Placed
from chaosproxy.framing.splitter import RecordKind
from chaosproxy.model.messages import Data, End, Event, RequestHead, ResponseHead
from chaosproxy.model.vocabulary import Framing, Peer
from chaosproxy.testing.played import Played

GET = RequestHead(b"GET", b"/", ((b"Host", b"test"),), final=True)
POST = RequestHead(b"POST", b"/", ((b"Host", b"test"), (b"Transfer-Encoding", b"chunked")), framing=Framing.CHUNKED)
SSE = ResponseHead(200, ((b"content-type", b"text/event-stream"),), b"OK", Framing.CHUNKED)


@dataclass(frozen=True, slots=True)
class Upload:
    """A step of the request."""

    what: bytes | Event


@dataclass(frozen=True, slots=True)
class Cue:
    """A named input to every fault."""

    name: str


What = bytes | Sequence[bytes] | int | str | Event | Upload | Cue
Step = tuple[float, What]
Faults = Sequence[FaultSpec] | Sequence[Sequence[FaultSpec]]


def play(
    faults: Faults,
    script: Sequence[Step],
    *,
    request: RequestHead = GET,
    head: ResponseHead | None = SSE,
    kind: RecordKind | None = None,
    room: int | None = None,
    window: int = WINDOW,
    split: bool = False,
    until: float = 1e6,
    lazy: bool = True,
    context: Context | None = None,
    seed: int = 0,
) -> Played:
    """Run `script` against `faults`, one hop or several, in the order a response meets them.

    `kind` forces the records, as `records:` does. `room` is what the client takes before its int steps; None: all.
    `window` is the room of the exit. `split` takes as HTTP/2 does. `until` is when the journal closes. With
    `lazy=False` every place is awake and what passes between them is checked. `context` is what the faults may know,
    but for its randomness, which comes from `seed`. FaultBug, naming the fault, if one raises or breaks a rule.
    """
    known = context or Context(Random(0), request)  # noqa: S311 - repeatable on purpose
    chain = Chain(placed(faults, known, seed, {}), began=known.began, window=window, lazy=lazy)
    player = Player(chain, request, head, kind, math.inf if room is None else room, split=split)
    player.begin()
    for time, what in script:
        player.step(time, what)
    player.advance(until)
    return player.finish()


def placed(faults: Faults, context: Context, seed: int, shared: dict[tuple[int, int], object]) -> list[Placed]:
    """The faults with what each may know; `shared` keeps by place what the exchanges of one have in common."""
    specs = [one for one in faults if isinstance(one, FaultSpec)]
    hops = [specs] if specs else [hop for hop in faults if not isinstance(hop, FaultSpec)]
    found = []
    for number, hop in enumerate(hops):
        for ordinal, spec in enumerate(hop):
            random = Random(f"{seed}:{number}:{spec.name}:{ordinal}")  # noqa: S311 - repeatable on purpose
            if (number, ordinal) not in shared:
                shared[number, ordinal] = spec.share() if context.shared is None else context.shared
            known = replace(context, random=random, shared=shared[number, ordinal])
            found.append(Placed(number, None, spec, known))
    return found


class Player:
    """The driver: pushes, takes, wakes, and writes down."""

    def __init__(
        self,
        chain: Chain,
        request: RequestHead,
        head: ResponseHead | None,
        kind: RecordKind | None,
        room: float,
        *,
        split: bool,
    ) -> None:
        self.chain: Chain = chain
        self.guards: list[Guards] = [] if chain.response.lazy else watch(chain)
        self.played: Played = Played()
        self.request: RequestHead = request
        self.head: ResponseHead | None = head
        self.kind: RecordKind | None = kind
        self._first_head = head
        self.room: float = room
        self.split: bool = split
        self.now: float = chain.began
        self.asked: bool = True
        """The request goes further than to a fault that answers by itself; else no upstream says anything."""

    def begin(self) -> None:
        """The request's head comes."""
        chain = self.chain
        chain.start(self.now)
        prepare(chain.request, self.request.headers, self.kind)
        chain.request.push_control(self.request, self.now)
        if self.request.final and not self.request.upgrade:
            chain.request.push_control(End(), self.now)
        self._collect()
        self.asked = not any(stage.fault.answers and not stage.inert for stage in chain.response.stages)

    def step(self, time: float, what: What) -> None:
        """One step of a script, and what was due before it."""
        self.advance(time)
        self._step(what)
        self._collect()

    def finish(self) -> Played:
        """The exchange is over."""
        chain, played = self.chain, self.played
        chain.close(self.now)
        self._collect()
        line = chain.response
        played.bytes_in, played.records_in = line.bytes_in, line.records_in
        played.bytes_out, played.records_out = line.bytes_out, line.records_out
        return played

    def advance(self, until: float) -> None:
        """Until then, ring whenever something is due. A ring may find nothing to do, but must lead on."""
        while (due := self.chain.due) <= until:
            self.now = max(self.now, due)
            self.chain.wake(self.now)
            assert self.chain.due > self.now, f"after a ring at {self.now} it still wants one at {self.chain.due}"
            self._collect()
        if until < math.inf:
            self.now = max(self.now, until)

    def _step(self, what: What) -> None:
        match what:
            case int():
                self.room += what
            case str():
                word, _, how = what.partition(":")
                if word != "hangup":
                    raise ValueError(f"no such step: {what!r}")
                self.played.unheard = Peer.CLIENT in self.chain.unheard
                self.chain.hangup(self.now, f"client:{how or 'fin'}")
            case Cue(name):
                self.chain.cue(name, self.now)
            case Upload(bytes() | Data() as data):
                self.chain.request.push([Data(data) if isinstance(data, bytes) else data], self.now)
            case Upload(event):
                assert not isinstance(event, bytes)
                self.chain.request.push_control(event, self.now)
            case bytes():
                self._respond([Data(what)])
            case Sequence():
                self._respond([Data(payload) for payload in what if isinstance(payload, bytes)])
            case Data():
                self._respond([replace(what)])
            case _:
                if not isinstance(what, Event):
                    raise TypeError(f"no such step: {what!r}")
                self._respond_control(what)

    def _respond(self, pieces: list[Data]) -> None:
        if not self.asked:
            return
        self._need_heads()
        self._arrived(*pieces)
        line, room, passed = self.chain.response, self.room, 0
        for piece in pieces:
            if not line.pass_through(piece, self.now, room):
                break
            room -= len(piece.payload)
            passed += 1
        self._delivered(pieces[:passed])
        if len(pieces) > passed + 1:
            line.push(pieces[passed + 1 :], self.now)

    def _respond_control(self, event: Event) -> None:
        if not self.asked:
            return
        if isinstance(event, ResponseHead):
            self.head = event
            self._need_head()
            return
        if isinstance(event, End):
            self._need_heads()
        self._arrived(event)
        self.chain.response.push_control(event, self.now)

    def _need_heads(self) -> None:
        """The head, and that of whoever is asked once more because of it, and says what is to be said now."""
        while self.head is not None:
            self._need_head()
            if self.chain.asks_again is not None:
                self._collect()

    def _need_head(self) -> None:
        head, self.head = self.head, None
        if head is None:
            return
        line = self.chain.response
        prepare(line, head.headers, self.kind)
        self._arrived(head)
        line.push_control(head, self.now)

    def _arrived(self, *events: Event) -> None:
        self.played.arrived += [(round(self.now, 9), event) for event in events]

    def _delivered(self, events: Sequence[Event]) -> None:
        for event in events:
            self.played.out.append((round(self.now, 9), event))
            if isinstance(event, Data):
                self.room -= len(event.payload)
            elif isinstance(event, End):
                self.played.end_cause = self.chain.end_cause

    def _collect(self) -> None:
        chain, played, time = self.chain, self.played, round(self.now, 9)
        line = chain.response
        while line.waiting and (events := line.take(self.now, self.room, self.split)):
            self._delivered(events)
        while chain.request.waiting:
            played.request += [(time, event) for event in chain.request.take(self.now)]
        played.admitted += line.take_admitted()
        if chain.cancelled and played.cancelled_at is None:
            played.cancelled_at, played.cancel_cause = time, chain.cancel_cause
            played.upstream_endings = chain.upstream_endings
        played.notes += chain.notes
        chain.notes.clear()
        if chain.asks_again is not None:
            self._ask_again(time)
        for guards in self.guards:
            guards.check()

    def _ask_again(self, time: float) -> None:
        """What the script says from here on is said by the one that was asked once more."""
        self.played.asked_again.append(time)
        self.head = self._first_head
        for guards in self.guards:
            guards.begin_again()
        self.chain.ask_again()
        self._collect()
