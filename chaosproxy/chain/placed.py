"""A fault's seat in a chain, and what is noted of it. Pure data."""

from dataclasses import dataclass

from chaosproxy.chain.fault import Context, FaultSpec


@dataclass(frozen=True, slots=True)
class Placed:
    """A fault to start, with its hop. A chain gets them in the order a response travels."""

    hop: int
    hop_name: str | None
    spec: FaultSpec
    context: Context


@dataclass(frozen=True, slots=True)
class Noted:
    """For the journal: `kind` is `fired` or `not_fired`."""

    t: float
    fault: str
    hop: int
    hop_name: str | None
    kind: str
    detail: str
