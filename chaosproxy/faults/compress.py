"""`compress`: the machine codes the body, and its encoder gathers before it gives.

Imitates gzip in a proxy or a middleware. What comes out when is decided by who flushes the encoder: nginx with
`proxy_buffering on` and most middlewares never do before the end (`flush: end`: a short stream arrives as one piece, the
encoder's own header included); nginx with `proxy_buffering off` does after each read (`sync`); one that flushes before it
writes is late by one record (`one_behind`). `footer` and `cut` imitate a server that died before it had finished its
encoder, behind a proxy that then framed the answer as if it were whole: curl and httpx take the shorter text for all.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

from chaosproxy.chain.fault import Context, Fault, FaultSpec, register
from chaosproxy.faults.codings import LEVELS, TRAILERS, Coding, missing
from chaosproxy.faults.compressing import RunningCompress
from chaosproxy.model.units import Duration, Size, show_duration, show_size
from chaosproxy.model.vocabulary import Way


@dataclass(frozen=True, slots=True, kw_only=True)
class Flush:
    """Flushes by amount or by time; whichever is reached first."""

    bytes: Size | None = None
    """After exactly so many body bytes, counted before they are coded."""
    every: Duration | None = None
    """So long after the first byte since the last flush."""

    def __str__(self) -> str:
        size = "" if self.bytes is None else show_size(self.bytes)
        return " or ".join(filter(None, [size, "" if self.every is None else show_duration(self.every)]))


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Compress(FaultSpec):
    """Codes the body of an answer that the client takes coded, or of a request."""

    name: ClassVar[str] = "compress"
    main: ClassVar[str | None] = "coding"
    ways: ClassVar[frozenset[Way]] = frozenset(Way)
    edits_body: ClassVar[bool] = True
    codes_body: ClassVar[bool] = True

    coding: Coding = "gzip"
    """`gzip` (default), `deflate` (the zlib format), `br` (needs the extra `br`), `zstd` (the extra `zstd`; from Python
    3.14 on nothing)."""
    flush: Literal["sync", "end", "one_behind"] | Flush = "end"
    """When what was fed becomes decodable, besides the end of the body. `end` (default): never sooner; nothing leaves
    before the encoder has a whole block (gzip some 140 KiB of events, br 1 MiB, zstd 128 KiB), not even its header.
    `sync`: each piece as it comes. `one_behind`: each record when the next is complete; without records, at the end.
    `{bytes: N}`, `{every: D}`: by amount, by time. Each flush is one chunk."""
    level: int | None = None
    """gzip and deflate 0 to 9, default 6; br 2 to 11, default 6; zstd 1 to 19, default 3."""
    when_accepted: bool = True
    """Only if Accept-Encoding takes the coding; a request is always coded. Default true."""
    footer: bool = True
    """`false`: the trailer of gzip (8 bytes) or deflate (4) is missing, and the message ends cleanly. Default true."""
    vary: bool = True
    """Says `Vary: Accept-Encoding` in the head of an answer that it codes; nginx does with `gzip_vary on` only. Default
    true."""
    cut: Size = 0
    """The last so many coded bytes are missing, and the message ends cleanly. More than the encoder's own end has (gzip
    10, deflate 6, br 1, zstd 3) are kept back from the beginning. Default 0."""

    @property
    def reads_records(self) -> bool:
        return self.flush == "one_behind"

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        found: list[tuple[tuple[str, ...], str]] = []
        if extra := missing(self.coding):
            found.append((("coding",), f"{extra} needs an extra: pip install 'chaosproxy[{extra}]'"))
        low, high, _ = LEVELS[self.coding]
        if self.level is not None and not low <= self.level <= high:
            found.append((("level",), f"{self.coding} has the levels {low} to {high}"))
        if not self.footer and not TRAILERS[self.coding]:
            found.append((("footer",), f"{self.coding} has no trailer; `cut` takes the last bytes"))
        if isinstance(self.flush, Flush):
            if self.flush.bytes is None and self.flush.every is None:
                found.append((("flush",), "flush needs one of bytes, every"))
            if self.flush.bytes == 0:
                found.append((("flush", "bytes"), "a flush is after at least one byte; `sync` is after each piece"))
            if self.flush.every == 0:
                found.append((("flush", "every"), "a flush is after some time; `sync` is at once"))
        return found

    def start(self, context: Context) -> Fault:
        return RunningCompress(self, context)
