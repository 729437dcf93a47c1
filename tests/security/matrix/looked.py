"""What came of a cell on loopback, held against the rule; and what must be so of every cell.

Must not know: how a cell is lived.
"""

import json
import signal

import trio

from tests.security.matrix import rules
from tests.security.matrix.clients import Client
from tests.security.matrix.events import EVENTS
from tests.security.matrix.loopback import Cell, Loopback
from tests.security.matrix.peer import BEATS, SIBLING
from tests.security.matrix.process import Process
from tests.security.matrix.rules import CLEAN, LEFT, Expected
from tests.security.matrix.world import beat

FIN = next(event for event in EVENTS if event.key == "fin")


def expected(cell: Cell) -> Expected:
    """The rule, on sockets."""
    event = cell.event
    if event.key == "killed" and cell.state.phase not in ("none", "dialling", "over"):
        event = FIN  # what the kernel says for a process that has read everything
    if cell.state.phase == "tunnel" and cell.protocol == "h1" and event.key == "client killed":
        # What is written for one who is dead comes back as a reset, which a kernel tells of at once.
        return Expected(LEFT, "answered", ("client", "rst", None), ("proxy", "fin", "client:rst"), at_once=True)
    if event.key == "no descriptor":
        # The descriptor of a dial that is under way is there; and who asks anew does so when there are some again.
        return rules.natural(cell.state, cell.protocol, cell.protocol)
    if cell.state.key == "handshake" and event.key in ("term", "second term"):
        return Expected(LEFT, "not asked", None, None)
    return rules.expected(cell.state, event, cell.protocol, cell.protocol)


class Looked(Loopback):
    """And what is wrong with it."""

    async def leave(self, sibling: Client, spare: Client, before: dict[int, str], *, soon: bool) -> None:
        want, key = expected(self.cell), self.cell.event.key
        if want.end is not None:
            await self.proxy.until(lambda: self.record() is not None)
        heard = await self._settled(self.upstream, "heard", want.upstream)
        seen = await self._settled(self.peer, "said", None if want.client == LEFT else want.client)
        self._judge(want, seen, heard, soon=soon)
        await self._sibling(sibling)
        if key not in ("term", "second term"):
            for client in (sibling, spare):
                client.close()
            self.peer.signal(signal.SIGKILL)
            await self._as_before(before)
            self.proxy.signal(signal.SIGTERM)
        status = await self.proxy.ended()
        if status != (3 if self.full else 0):
            self.wrong.append(f"exit status {status}")
        self._said()

    async def _settled(self, who: Process, name: str, want: str | None) -> dict[str, object]:
        """What it reports, once that is as it should be; after a while, whatever it is."""
        found: dict[str, object] = {}
        deadline = trio.current_time() + 5
        while who.inner.poll() is None:
            found = await who.told("report")
            if want is None or str(found.get(name)) == want or trio.current_time() > deadline:
                break
            await trio.sleep(0.05)
        return found

    def _judge(self, want: Expected, seen: dict[str, object], heard: dict[str, object], *, soon: bool) -> None:
        if seen and want.client != LEFT and seen.get("said") != want.client:
            self.wrong.append(f"the client sees {seen.get('said')!r}, not {want.client!r}")
        if seen and not (seen["exact"] or seen["own"]):
            self.wrong.append(f"other bytes: {seen}")
        if seen and want.end == CLEAN and self.cell.state.phase != "tunnel" and not seen["all"]:
            self.wrong.append(f"not all: {seen}")
        allowed = (want.upstream, "rst") if want.upstream == "fin" else (want.upstream,)
        if heard and want.upstream is not None and heard["heard"] not in allowed:
            self.wrong.append(f"the upstream sees {heard['heard']!r}, not {want.upstream!r}")
        record = self.record()
        end = record and tuple(record["end"].values())  # type: ignore[attr-defined] # JSON
        if end != want.end:
            self.wrong.append(f"end is {end}, not {want.end}")
        theirs = record["upstream"]["end"] if record else None  # type: ignore[index] # JSON
        if (tuple(theirs.values()) if theirs else None) != want.upstream_end:
            self.wrong.append(f"upstream.end is {theirs}, not {want.upstream_end}")
        if want.end is not None and soon is not want.at_once:
            self.wrong.append(f"in the journal {'at once' if soon else 'later'}")

    async def _sibling(self, sibling: Client) -> None:
        wanted = b"".join(beat(number) for number in range(BEATS))
        if self.cell.event.key == "second term":
            if not wanted.startswith(sibling.view(SIBLING).body):
                self.wrong.append("the other exchange has other bytes")
            return
        said = await self.answered(sibling, SIBLING)
        if said != "200 whole" or sibling.view(SIBLING).body != wanted:
            self.wrong.append(f"the other exchange ends {said!r}")

    async def _as_before(self, before: dict[int, str]) -> None:
        """Descriptors, but for connections that are kept to be used again."""
        deadline = trio.current_time() + 5
        while True:
            heard = await self.upstream.told("report") if self.upstream.inner.poll() is None else {"open": 0}
            kept = sum(not served.over for served in self.others.served) + int(str(heard.get("open", 0)))
            now = self.proxy.descriptors
            if len(now) == len(before) + kept:
                return
            if trio.current_time() > deadline:
                self.wrong.append(f"{kept} kept connections; descriptors at the start {before}, now {now}")
                return
            await trio.sleep(0.05)

    def _said(self) -> None:
        said = self.proxy.said.decode()
        if "Traceback" in said or ("cause" in said and "internal" in said):
            self.wrong.append(said)
        if said.count("exchanges are being lost") != self.full:
            self.wrong.append(f"of the journal: {said}")
        if not self.full:
            kept = [json.loads(line) for line in (self.folder / "j.jsonl").read_text("utf-8").splitlines()]
            if kept != self.records():
                self.wrong.append(f"{len(kept)} lines in the journal, {len(self.records())} exchanges")
