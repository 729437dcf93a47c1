"""What a client is to ask of a proxy, and how it says what became of it."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import trio

EVENTS = 4
"""Of a whole answer."""
WHOLE, WAITS = "whole", "waits"
PING_EVERY = 0.05
"""Seconds, where pings are asked for."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One request."""

    url: str
    """Of the proxy, without a path."""
    name: str
    """The path's last segment: what the answer is to be like. `upload`: there is a body."""
    patience: float
    """Seconds after which the client gives up."""
    upload: Path
    """What is to be sent where the name says so."""
    ca: Path | None = None
    """Whom to trust, under TLS."""
    pings: bool = False
    """The client sends PINGs all the time, if it can."""

    @property
    def body(self) -> bytes | None:
        """What is to be sent."""
        return self.upload.read_bytes() if self.name == "upload" else None

    @property
    def address(self) -> tuple[str, int]:
        host, _, port = self.url.rpartition("//")[2].rpartition(":")
        return host, int(port)


def said(events: int) -> str:
    """Of an answer that has ended without an error."""
    return WHOLE if events == EVENTS else "**a part, no error**"


async def in_threads(ask: Callable[[Asked], str], asked: Sequence[Asked]) -> list[str]:
    """All at once, of a client that blocks."""

    def all_of_them() -> list[str]:
        with ThreadPoolExecutor(len(asked) or 1) as threads:
            return list(threads.map(ask, asked))

    return await trio.to_thread.run_sync(all_of_them)
