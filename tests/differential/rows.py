"""What one comparison is: a program, one of its settings, a rule, a protocol.

Must not know: which programs and settings there are.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tests.differential.programs import PROGRAMS
from tests.differential.rules import H1_ONLY

BOTH = ("h1", "h2")


@dataclass(frozen=True, slots=True)
class Setting:
    """One way to configure a program, and what is asked of it."""

    name: str
    real: str
    preset: Mapping[str, object]
    rules: Sequence[str]
    protocols: Sequence[str] = BOTH


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison."""

    program: str
    setting: str
    rule: str
    protocol: str

    def __str__(self) -> str:
        return f"{self.program} | {self.setting} | {self.rule} | {self.protocol}"


@dataclass(frozen=True, slots=True)
class Peer:
    """One program and all that is compared of it."""

    name: str
    settings: Mapping[str, Setting] = field(default_factory=dict)

    def rows(self) -> Iterator[Row]:
        """In the order of the page."""
        for setting in self.settings.values():
            for rule in setting.rules:
                for protocol in setting.protocols:
                    h1_only = rule in H1_ONLY or not PROGRAMS[self.name].speaks_h2
                    if protocol == "h1" or not h1_only:
                        yield Row(self.name, setting.name, rule, protocol)
