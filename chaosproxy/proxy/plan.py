"""What is in force for one exchange, bound when it starts and never changed: its rule, its chain, its rewriting.

Must not know: sockets, sessions.
"""

from dataclasses import dataclass

from chaosproxy.chain.chain import Chain
from chaosproxy.framing.splitter import RecordKind


@dataclass(frozen=True, slots=True)
class Plan:
    """The chain with what the driver needs beside it."""

    chain: Chain
    faulty: bool = False
    """The rule has faults: each piece of a chunk travels as a chunk of its own."""
    records: RecordKind | None = None
    """`records:` of the rule; None = by content type."""
    host: str | None = None
    """`upstream.host`; None = the default."""
    mount: bytes = b""
    identity: bool = False
    """Accept-Encoding is taken out, because records have to be read."""
