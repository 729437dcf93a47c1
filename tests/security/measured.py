"""What an attack over real sockets has cost the others."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from chaosproxy.model import codes
from tests.security.rows import Row

AS_IT_MUST = "as it must"
P99, MEMORY = 0.25, 32
"""Seconds, MiB: what an attacker may cost the others."""


@dataclass
class Measured:
    """What came of one attack."""

    name: str
    without: float
    beside: float
    grown: float
    lost: int
    parts: int
    connections: int
    cut: Sequence[float]
    codes: Sequence[int]

    @property
    def after(self) -> float:
        """Milliseconds until it was cut, in the middle."""
        return sorted(self.cut)[len(self.cut) // 2] * 1000 if self.cut else math.inf

    @property
    def wrong(self) -> list[str]:
        """What was not as it must."""
        found = {
            "honest events late": self.beside > P99,
            "memory grows": self.grown > MEMORY,
            "honest streams lost": self.lost > 0,
            "not cut": not self.cut or set(self.codes) != {codes.ENHANCE_YOUR_CALM},
        }
        return [f"{self.name}: {what}" for what, so in found.items() if so]

    def __str__(self) -> str:
        late = f"99 of 100 events within {self.beside * 1000:.1f} ms ({self.without * 1000:.1f} without)"
        cut = f"cut {len(self.cut)} times, after {self.after:.0f} ms"
        return f"{self.name}: {self.parts:,} parts, {late}, {self.grown:+.1f} MiB, {cut}; {self.wrong or AS_IT_MUST}"


def row(title: str, found: Sequence[Measured]) -> Row:
    """The worst of all attacks of a kind."""
    late, grown = max(found, key=lambda one: one.beside), max(found, key=lambda one: one.grown)
    return Row(
        name=f"real sockets: {title}",
        tried=len(found),
        must=f"99 of 100 honest events within {P99 * 1000:.0f} ms, at most {MEMORY} MiB, cut by ENHANCE_YOUR_CALM",
        happens=", ".join([what for one in found for what in one.wrong]) or AS_IT_MUST,
        figure=f"{late.beside * 1000:.0f} ms ({late.name}; {late.without * 1000:.0f} without), "
        f"{grown.grown:+.1f} MiB ({grown.name}), cut after {min(one.after for one in found):.0f} to "
        f"{max(one.after for one in found):.0f} ms",
        by="python -m tests.security.attack",
    )
