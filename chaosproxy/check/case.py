"""A case of the card: what happens to the stream, and which ways of taking it are good ones.

Rules: a case is data. Durations may be written in the client's own timeout, `<1.5T>`; a case that does needs to be told
it. Must not know: how a client is run, how it is judged.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from chaosproxy.model.units import duration, show_duration

Suite = Literal["quick", "full", "slow"]
VerdictName = Literal[
    "whole",
    "raised",
    "flagged",
    "truncated",
    "duplicated",
    "corrupted",
    "hangs",
    "loops",
    "late",
    "not_applicable",
]
Kind = Literal["chat", "completions", "responses", "messages", "gemini", "ollama", "sse", "grpc", "other"]
"""What a client asks for, by the path of its request."""

TEXT = "Twelve naïve words cross the wire: 雨 falls, 🚀 climbs, nobody stops."
"""What the server says, in twelve tokens, none of which stands in another; some have characters of several bytes."""
EVENT_STREAMS: frozenset[Kind] = frozenset({"chat", "completions", "responses", "messages", "gemini", "sse", "other"})
CHAT: frozenset[Kind] = frozenset({"chat"})
GRPC: frozenset[Kind] = frozenset({"grpc"})
"""Those alone are about gRPC, and are asked of a server that speaks it."""

SAYS_SO: frozenset[VerdictName] = frozenset({"raised", "flagged"})
"""The answer is not whole, and the client says so."""
WHOLE: frozenset[VerdictName] = frozenset({"whole"})
EITHER: frozenset[VerdictName] = WHOLE | SAYS_SO

_OF_TIMEOUT = re.compile(r"<([\d.]+)T>")
_PATHS: tuple[tuple[str, Kind], ...] = (
    ("/chat/completions", "chat"),
    ("/completions", "completions"),
    ("/responses", "responses"),
    ("/messages", "messages"),
    (":streamGenerateContent", "gemini"),
    ("/api/chat", "ollama"),
    ("/sse", "sse"),
    ("/chaosproxy.Check/Stream", "grpc"),
)


@dataclass(frozen=True, slots=True)
class Rule:
    """What a client owes its user, in a sentence, and how one that does not keep it is mended, in another."""

    id: str
    says: str
    mend: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One request, and what becomes of its answer."""

    id: str
    title: str
    rule: Rule
    good: frozenset[VerdictName]
    """What a client that keeps the rule may make of it."""
    scenario: str
    """In the scenario language, without `version` and `name`."""
    suite: Suite = "quick"
    theme: str = ""
    source: str = ""
    """Where it was seen."""
    kinds: frozenset[Kind] = frozenset()
    """The requests that it is about; empty: all but those of gRPC."""
    protocol: str = ""
    """`h2`: it is about HTTP/2; `http/1.1`: about the older one."""
    text: str = TEXT
    """What the server says."""
    tokens: int | None = None
    """How many it says, where that is not the text once."""
    first: str = "20ms"
    """Until the first token."""
    gap: str = "15ms"
    """Between tokens."""
    silence: str = "0s"
    """The longest that the client hears nothing and is to wait."""
    lasts: str = ""
    """After so long it is over whatever comes; empty: when nothing more comes."""
    attempts: int | None = None
    """More requests than these are too many."""
    waits: bool = False
    """It is told by Retry-After when to ask again, and is to wait."""
    leaves: Literal["", "interrupted", "by itself"] = ""
    """It is to leave: once it is interrupted, or after its third event."""
    like: str = ""
    """Another case, behind whose failure the client asks again: here it is to do the same."""
    neutral: frozenset[VerdictName] = field(default=frozenset())
    """Neither good nor bad: the client can do nothing about it."""

    @property
    def needs_timeout(self) -> bool:
        """It can be run only with the client's own timeout known."""
        return any(map(_OF_TIMEOUT.search, (self.scenario, self.first, self.gap, self.silence, self.lasts)))

    def __str__(self) -> str:
        return self.id


def kind_of(path: str) -> Kind:
    """What is asked for there."""
    return next((kind for end, kind in _PATHS if path.endswith(end)), "other")


def in_seconds(text: str, timeout: float | None) -> float:
    """A duration of a case."""
    return duration(with_timeout(text, timeout))


def with_timeout(text: str, timeout: float | None) -> str:
    """`<1.5T>` as a duration."""
    if timeout is None:
        return text
    return _OF_TIMEOUT.sub(lambda found: show_duration(round(float(found[1]) * timeout, 6)), text)


def of_theme(theme: str, cases: Iterable[Case]) -> tuple[Case, ...]:
    """The cases of one file of the table."""
    return tuple(replace(case, theme=theme) for case in cases)
