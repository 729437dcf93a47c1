"""One cell on loopback: the proxy as a user runs it, an upstream and a client that are processes, and another client here.

Rules: the same states and events as in virtual time. Must not know: what is right.
"""

import json
import resource
import signal
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import trio

from chaosproxy.testing.listening import listening
from chaosproxy.wire import dial, tls
from chaosproxy.wire.transport import Transport
from tests.security.matrix.clients import Client
from tests.security.matrix.events import OTHER, WRONG, Event
from tests.security.matrix.peer import SIBLING, Here, made, serving
from tests.security.matrix.process import WITHIN, Process
from tests.security.matrix.states import EVENTS as PIECES
from tests.security.matrix.states import HALF, HELLO, UPLOAD, State
from tests.security.matrix.stoppable import Stoppable
from tests.security.matrix.world import NEWCOMER, TARGET

SIGNALS = {
    "killed": signal.SIGKILL,
    "client killed": signal.SIGKILL,
    "stopped": signal.SIGSTOP,
    "client stopped": signal.SIGSTOP,
}
SOON = 0.7
SETTLES = 0.1
"""Seconds in which the proxy has read what a peer has written."""
Reached = Callable[[dict[str, object], dict[str, object]], bool]
TWO = len(PIECES[0]) + len(PIECES[1])
REACHED: dict[str, Reached] = {
    "connected": lambda c, u: bool(c.get("reached")),
    "handshake": lambda c, u: bool(c.get("reached")),
    "half a head": lambda c, u: bool(c.get("reached")),
    "idle": lambda c, u: bool(c.get("first")),
    "upload": lambda c, u: u.get("body") == UPLOAD,
    "dialling": lambda c, u: u.get("connections") == 1,
    "waiting": lambda c, u: u.get("heard") == "open",
    "head": lambda c, u: c.get("status") == 200,
    "mid event": lambda c, u: c.get("body") == len(PIECES[0]) + HALF,
    "stalled": lambda c, u: c.get("body") == len(PIECES[0]) and u.get("sent") == TWO,
    "buffered": lambda c, u: c.get("status") == 200 and u.get("sent") == TWO,
    "ending": lambda c, u: c.get("ending") == "fin",
    "tunnel": lambda c, u: c.get("body") == len(HELLO),
}


@dataclass(frozen=True)
class Cell:
    """What happens to which exchange, over which version."""

    state: State
    event: Event
    protocol: str

    @property
    def name(self) -> str:
        return f"{self.state.key} x {self.event.key}, {self.protocol} on sockets"


class Loopback(ABC):
    """One cell, on loopback."""

    def __init__(self, cell: Cell, folder: Path, nursery: trio.Nursery) -> None:
        self.cell = cell
        self.folder = folder
        self.nursery = nursery
        self.wrong: list[str] = []
        self.asked = 0
        self.port = 0
        self.others = Here(cell.protocol, nursery)
        """The other upstream, in this process."""
        self.proxy: Process
        self.upstream: Process
        self.peer: Process
        self.processes: list[Process] = []
        self.full = cell.event.key == "full"

    async def run(self) -> None:
        """From the start of the proxy to its end."""

        async def serve(transport: Transport) -> None:
            await serving(self.cell.protocol, Stoppable(transport), self.others, None).serve()

        async with listening(serve) as other:
            await self._start(other)
            before = await self._descriptors()
            sibling = await self._client()
            spare = await self._client()
            await self._ask(sibling, SIBLING)
            peer = ("tests.security.matrix.peer", "client", self.cell.state.key, self.cell.protocol)
            self.peer = await self._run(*peer, str(self.port), str(self.folder / "ca.pem"))
            await self._reach()
            undo = await self._act(spare)
            await trio.sleep(SOON)
            soon = self.record() is not None
            await self._go_on(undo)
            await self.leave(sibling, spare, before, soon=soon)

    async def _descriptors(self) -> dict[int, str]:
        """Once there are no further ones: what is loaded at the start is soon closed."""
        before: dict[int, str] = {}
        while before != (now := self.proxy.descriptors):
            before = now
            await trio.sleep(0.3)
        return now

    @abstractmethod
    async def leave(self, sibling: Client, spare: Client, before: dict[int, str], *, soon: bool) -> None:
        """Look what came of it; everybody leaves."""

    async def _run(self, *words: str) -> Process:
        self.processes.append(process := await Process.start(self.nursery, *words))
        return process

    async def _start(self, other: int) -> None:
        cell = self.cell
        scheme = "h2c" if cell.protocol == "h2" else "http"
        peer = ("tests.security.matrix.peer", "upstream", cell.state.key, cell.protocol, str(self.folder / "up.pem"))
        self.upstream = await self._run(*peer)
        await self.upstream.until(lambda: self.upstream.lines)
        theirs = json.loads(self.upstream.lines[0])["port"]
        b = f"{'https' if cell.state.phase == 'dialling' else scheme}://127.0.0.1:{theirs}"
        faults = "".join(f"\n      - {fault.replace('20s', '4s')}" for fault in cell.state.faults)
        text = f"version: 1\nupstream: {{protocol: auto}}\nrules:\n  - match: {{path: {TARGET}}}\n    faults:{faults or ' []'}\n"
        (self.folder / "s.yaml").write_text(text, "utf-8")
        ready = self.folder / "ready"
        words = ["run", str(self.folder / "s.yaml"), "--listen", "127.0.0.1:0", "--json", "--watch", "--grace", "60s"]
        words += ["--upstream", f"{scheme}://127.0.0.1:{other}", "--upstream", b, "--upstream-insecure"]
        words += ["--ready-file", str(ready), "--journal", "/dev/full" if self.full else str(self.folder / "j.jsonl")]
        if cell.state.key == "handshake":
            words += ["--tls", "auto", "--ca-out", str(self.folder / "ca.pem")]
        self.proxy = await self._run("chaosproxy", *words)
        with trio.fail_after(WITHIN):
            while not ready.exists():
                await trio.sleep(0.02)
        self.port = int(json.loads(ready.read_text("utf-8"))["url"].rpartition(":")[2])

    async def _client(self) -> Client:
        """Another one, in this process."""
        context = None
        if self.cell.state.key == "handshake":
            offers = ("h2",) if self.cell.protocol == "h2" else ("http/1.1",)
            context = tls.client_context(self.folder / "ca.pem", offers, insecure=False)
        transport = await dial.connect("127.0.0.1", self.port, context)
        client = made(self.cell.protocol, transport, Stoppable(transport))
        await client.start()
        self.nursery.start_soon(client.read)
        return client

    async def _ask(self, client: Client, path: str) -> None:
        self.asked += 1
        await client.ask(path)

    async def answered(self, client: Client, path: str) -> str:
        with trio.fail_after(WITHIN):
            while not client.view(path).whole and not client.view(path).ending:
                await trio.sleep(0.02)
        return client.view(path).said

    async def _reach(self) -> None:
        state = self.cell.state
        if state.key not in ("connected", "handshake", "half a head"):
            self.asked += 1
        reached, sent = REACHED.get(state.key), -1
        with trio.fail_after(WITHIN):
            while True:
                seen, heard = await self.peer.told("report"), await self.upstream.told("report")
                if reached is not None and reached(seen, heard):
                    await trio.sleep(SETTLES)
                    return
                if state.key == "blocked" and 0 < int(str(heard["sent"])) == sent and heard["heard"] == "open":
                    return
                sent = int(str(heard["sent"]))
                await trio.sleep(0.2 if state.key == "blocked" else 0.03)

    # ---- the event

    async def _act(self, spare: Client) -> Callable[[], Awaitable[None]]:
        key = self.cell.event.key
        who = self.peer if key.startswith("client") else self.upstream

        async def nothing() -> None:
            pass

        async def goes_on() -> None:
            who.signal(signal.SIGCONT)

        match key:
            case "killed" | "client killed" | "stopped" | "client stopped":
                who.signal(SIGNALS[key])
                return goes_on
            case "reset" | "fin" | "client reset" | "client fin":
                await who.told("rst" if key.endswith("reset") else "fin")
            case "no descriptor":
                return await self._no_descriptor(spare)
            case "term" | "second term":
                self.proxy.signal(signal.SIGTERM)
                if key == "second term":
                    await trio.sleep(0.2)
                    self.proxy.signal(signal.SIGTERM)
            case "reload" | "bad reload":
                await self._reload(spare, OTHER if key == "reload" else WRONG)
            case _:
                pass
        return nothing

    async def _no_descriptor(self, spare: Client) -> Callable[[], Awaitable[None]]:
        pid, used = self.proxy.inner.pid, set(self.proxy.descriptors)
        first_free = next(number for number in range(10_000) if number not in used)
        _, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (first_free, hard))
        await self._newcomer(spare, "502 whole" if self.asked % 2 or self.cell.protocol == "h1" else "200 whole")

        async def free() -> None:
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (hard, hard))

        return free

    async def _reload(self, spare: Client, text: str) -> None:
        (self.folder / "s.yaml").write_text(text, "utf-8")
        said = b"reloaded" if text == OTHER else b"stays as it was"
        await self.proxy.until(lambda: said in self.proxy.said)
        if text == OTHER:
            self.asked = 0  # the upstreams' turns begin anew
        await self._newcomer(spare, "418 whole" if text == OTHER else "200 whole")

    async def _newcomer(self, client: Client, want: str) -> None:
        await self._ask(client, NEWCOMER)
        said = await self.answered(client, NEWCOMER)
        if said != want:
            self.wrong.append(f"a newcomer is answered {said!r}, not {want!r}")

    async def _go_on(self, undo: Callable[[], Awaitable[None]]) -> None:
        """The event is over where it has an end; its exchange has its own upstream's turn, if it has none yet."""
        if self.cell.event.key != "killed":
            await undo()
        if self.cell.state.phase == "none" and not self.asked % 2 and "term" not in self.cell.event.key:
            filler = await self._client()
            await self._ask(filler, "/filler")
            await self.answered(filler, "/filler")
            filler.close()
        self.others.go.set()
        await self.upstream.told("go")
        await self.peer.told("go")

    def records(self) -> list[dict[str, object]]:
        lines = self.proxy.lines
        return [json.loads(line) for line in lines]

    def record(self) -> dict[str, object] | None:
        found = [one for one in self.records() if one["request"]["path"] == TARGET]  # type: ignore[index] # JSON
        return found[0] if found else None
