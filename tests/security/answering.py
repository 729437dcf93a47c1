"""An upstream that answers one request as it is told, and what becomes of the next.

Must not know: which answers there are.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import trio
from trio.testing import wait_all_tasks_blocked

from chaosproxy.testing.peers import RawClient
from chaosproxy.testing.proxied import Linked, linked
from chaosproxy.testing.recorder import QUIET, Recorder
from chaosproxy.wire.transport import Transport
from tests.security.asking import CLIENTS, ask
from tests.security.mutations import mutated
from tests.security.poisoning import LATE, answer
from tests.security.strict import StrictReader

MINE = b"GET /mine HTTP/1.1\r\nHost: a\r\n\r\n"
Writes = list[tuple[float, bytes]]


@dataclass
class Scripted:
    """Answers the next request with `script`, if there is one, and each other one with its target."""

    script: Writes = field(default_factory=list)
    leaves: bool = False
    """Behind a script it closes."""

    async def serve(self, transport: Transport) -> None:
        recorder, reader = Recorder(transport), StrictReader()
        try:
            while data := await recorder.read():
                for asked in reader.feed(data):
                    script, self.script = self.script, []
                    for pause, written in script or [(0.0, answer(asked.target))]:
                        if pause:
                            await trio.sleep(pause)
                        await recorder.send(written)
                    if script and self.leaves:
                        await trio.sleep(LATE)
                        transport.fin()
        except ConnectionError:
            pass  # the proxy has left: it is not listened to
        finally:
            transport.close()


async def what_follows(proxied: Linked) -> tuple[str, bool]:
    """What is wrong with the answer to the next client, and whether it came over the connection of the one before."""
    before = proxied.exchanges[-1].upstream
    async with RawClient(proxied.connect()) as other:
        await other.send(MINE)
        await other.read_all(QUIET)
    await wait_all_tasks_blocked()
    last = proxied.exchanges[-1].upstream
    wrong = "" if other.received == answer(b"/mine") else f"the next client got {other.received!r}"
    return wrong, last.connection == before.connection


async def compared_mutated(answers: Sequence[bytes], seed: int, count: int) -> list[str]:
    """So many mutations of `answers` for each client: where it is told anything but one final answer, or the next client
    not its own."""
    found = []
    for client in CLIENTS:
        origin, drawn = Scripted(leaves=True), random.Random(seed)
        async with linked(None, origin.serve) as proxied:
            for _ in range(count):
                data = mutated(answers, drawn) or b"x"
                at = drawn.randrange(1, len(data) + 1)
                origin.script = [(0.0, data[:at]), (drawn.choice((0.0, LATE)), data[at:])]
                told = await ask(proxied, client, drawn.choice(("GET", "HEAD")))
                wrong, _ = await what_follows(proxied)
                final = [status for status in told.statuses if status >= 200]
                if wrong or len(final) != 1:
                    found.append(f"{client}, {data!r}: {told} {wrong}")
                found += [f"{data!r}: {one.detail}" for one in proxied.exchanges[-2:] if one.end.cause == "internal"]
    return found
