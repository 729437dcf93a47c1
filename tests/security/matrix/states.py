"""How far an exchange has come: each state is a function that brings it there, what the upstream answers, and how it goes on.

Must not know: events, what is right.
"""

import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import trio

from tests.security.matrix.clients import GONE
from tests.security.matrix.upstreams import Talk
from tests.security.matrix.world import FIRST, TARGET, World

EVENTS = [b"data: one\n\n", b"data: two, which comes in halves\n\n", b"data: three\n\n"]
HALF = 12
UPLOAD = 10
"""Half of an upload."""
LONG = [b"data: %d %s\n\n" % (number, b"x" * 16_000) for number in range(16)]
"""More than there is room for in a link; a kernel needs it several times."""
HELLO, GOODBYE = b"hello", b"goodbye"
STALL = "stall: {at: {event: 1}, for: 20s}"
LAST_STEP = 2.2
"""When what lasts only two seconds is begun."""

Step = Callable[[World], Awaitable[None]]
Answer = Callable[[World, Talk], Awaitable[None]]


@dataclass(frozen=True)
class State:
    """`reach` brings the exchange there; `rest` is what its client does when everything goes on."""

    key: str
    about: str
    reach: Step
    rest: Step
    answer: Answer
    body: bytes = b"".join(EVENTS)
    """Of the answer, if it comes to its end."""
    faults: tuple[str, ...] = ()
    phase: str = "answering"
    """none: there is no exchange; upload, dialling, waiting: no answer; answering; over; tunnel."""


async def _nothing(w: World) -> None:
    pass


async def _ask(w: World) -> None:
    await w.client.ask(TARGET)


async def _whole(w: World, talk: Talk) -> None:
    await talk.until(lambda: talk.complete)
    await talk.head()
    for event in EVENTS:
        await talk.event(event)
    await talk.end()


# ---- before there is an exchange


async def _idle(w: World) -> None:
    await w.client.ask(FIRST)


async def _ask_theirs(w: World) -> None:
    """The upstreams take turns: the other one's is used up, where it would be that."""
    if w.theirs and not w.proxy.begun % 2:
        await w.newcomer()
    await w.client.ask(TARGET)


async def _handshake(w: World) -> None:
    w.client, w.tls = w.connect_tls(100)
    w.peers.start_soon(_shake, w)


async def _shake(w: World) -> None:
    try:
        await w.tls.handshake()
    except GONE as error:
        w.complaints.append(f"client: {error}")
        w.client.close()
    else:
        await w.client.start()
        w.peers.start_soon(w.client.read)
        await w.client.ask(TARGET)


async def _shake_on(w: World) -> None:
    w.client.below.go_on()


async def _half_head(w: World) -> None:
    w.rest = await w.client.half(TARGET)


async def _other_half(w: World) -> None:
    if not w.client.gone:
        with contextlib.suppress(*GONE):
            await w.client.write(w.rest)


# ---- before the answer


async def _upload(w: World) -> None:
    await w.client.ask(TARGET, part=UPLOAD)


async def _upload_on(w: World) -> None:
    await w.client.say(b"u" * UPLOAD, end=True)


async def _dialling(w: World) -> None:
    w.holds = True
    await w.client.ask(TARGET)


async def _dialled(w: World) -> None:
    w.holds = False
    w.news.unpark_all()


async def _late(w: World, talk: Talk) -> None:
    await w.go.wait()
    await _whole(w, talk)


# ---- within the answer


async def _head_alone(w: World, talk: Talk) -> None:
    await talk.head()
    await w.go.wait()
    for event in EVENTS:
        await talk.event(event)
    await talk.end()


async def _half_event(w: World, talk: Talk) -> None:
    await talk.head()
    await talk.event(EVENTS[0])
    await talk.event(EVENTS[1][:HALF])
    await w.go.wait()
    await talk.event(EVENTS[1][HALF:])
    await talk.event(EVENTS[2])
    await talk.end()


async def _two_events(w: World, talk: Talk) -> None:
    await talk.head()
    await talk.event(EVENTS[0])
    await talk.event(EVENTS[1])
    await w.go.wait()
    await talk.event(EVENTS[2])
    await talk.end()


async def _blocked(w: World) -> None:
    await w.client.ask(TARGET)
    w.client.block()


async def _unblocked(w: World) -> None:
    await w.client.unblock()


async def _long(w: World, talk: Talk) -> None:
    await talk.head()
    for event in LONG * w.times:
        await talk.event(event)
    await talk.end()


async def _ends(w: World) -> None:
    w.client.keeps = True
    await w.client.ask(TARGET)


async def _closes(w: World) -> None:
    w.client.close()


async def _cut_late(w: World, talk: Talk) -> None:
    await trio.sleep_until(LAST_STEP)
    await talk.head()
    await talk.event(EVENTS[0])
    await talk.until(lambda: False)


# ---- no HTTP any more


async def _switch(w: World) -> None:
    await w.client.switch(TARGET)


async def _bye(w: World) -> None:
    if w.protocols[0] == "h2":
        await w.client.say(b"bye", end=True)
    elif not w.client.gone:
        await w.client.say(b"bye")
        w.client.below.fin()


async def _tunnel(w: World, talk: Talk) -> None:
    await talk.head(switch=True)
    await talk.event(HELLO)
    await talk.until(lambda: talk.complete)
    await talk.event(GOODBYE)
    await trio.sleep(
        0.01
    )  # else whether a client that is dead is found to be, or has ended, is a matter of who runs first
    await talk.end()


STATES = (
    State("idle", "an idle connection", _idle, _ask_theirs, _whole, phase="none"),
    State("connected", "a connection on which nothing was said yet", _nothing, _ask, _whole, phase="none"),
    State("handshake", "half a TLS handshake", _handshake, _shake_on, _whole, phase="none"),
    State("half a head", "half of the request's head", _half_head, _other_half, _whole, phase="none"),
    State("upload", "half of the request's body", _upload, _upload_on, _whole, phase="upload"),
    State("dialling", "the upstream is being dialled", _dialling, _dialled, _whole, phase="dialling"),
    State("waiting", "waiting for the answer", _ask, _nothing, _late, phase="waiting"),
    State("head", "the answer's head is sent", _ask, _nothing, _head_alone),
    State("mid event", "in the middle of an event", _ask, _nothing, _half_event),
    State("stalled", "stalled by a fault", _ask, _nothing, _two_events, faults=(STALL,)),
    State("buffered", "held in a buffer", _ask, _nothing, _two_events, faults=("buffer: 4KiB",)),
    State("blocked", "the client takes nothing", _blocked, _unblocked, _long, body=b"".join(LONG)),
    State("ending", "FIN sent, the client still there", _ends, _closes, _cut_late, body=EVENTS[0],
          faults=("cut: {at: {event: 1}, then: fin}",), phase="over"),
    State("tunnel", "a tunnel", _switch, _bye, _tunnel, body=HELLO + GOODBYE, phase="tunnel"),
)  # fmt: skip
