"""Faults of the tests' own, so that the language is tested apart from any real fault."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import pytest

from chaosproxy.chain.endings import ABORT, Ending
from chaosproxy.chain.fault import REGISTRY, FaultSpec
from chaosproxy.model.headers import Headers
from chaosproxy.model.units import Duration, Rate, Size
from chaosproxy.model.vocabulary import Way


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding(FaultSpec):
    """Holds until enough has come."""

    name: ClassVar[str] = "x_hold"
    main: ClassVar[str | None] = "bytes"
    ways: ClassVar[frozenset[Way]] = frozenset(Way)

    bytes: tuple[Size, ...] | None = None
    """How much."""
    every: Duration | None = None
    limit: Size | None = None
    on_abort: Literal["flush", "drop"] = "flush"
    hint: bool = False

    def problems(self):
        if self.limit is not None and self.bytes and max(self.bytes) > self.limit:
            return [(("limit",), "less than the threshold; it would never be reached")]
        return []


@dataclass(frozen=True, slots=True, kw_only=True)
class Cutting(FaultSpec):
    name: ClassVar[str] = "x_cut"
    needs_at: ClassVar[bool] = True
    has_at: ClassVar[bool] = True
    on_connections: ClassVar[bool] = True

    then: tuple[Ending, ...] = (ABORT,)
    side: Literal["client", "both"] = "both"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stalling(FaultSpec):
    name: ClassVar[str] = "x_stall"
    main: ClassVar[str | None] = "for_"
    has_at: ClassVar[bool] = True

    for_: Duration


@dataclass(frozen=True, slots=True, kw_only=True)
class Coding(FaultSpec):
    name: ClassVar[str] = "x_compress"
    main: ClassVar[str | None] = "coding"
    codes_body: ClassVar[bool] = True

    coding: Literal["gzip", "br"] = "gzip"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering(FaultSpec):
    name: ClassVar[str] = "x_respond"
    main: ClassVar[str | None] = "status"

    status: int = 200
    headers: Headers = ()
    body: bytes = b""
    rate: Rate | None = None
    until: Literal["first_byte", "end"] | Duration = "end"


SPECS = (Holding, Cutting, Stalling, Coding, Answering)


@pytest.fixture(autouse=True)
def faults(monkeypatch):
    for spec in SPECS:
        monkeypatch.setitem(REGISTRY, spec.name, spec)
