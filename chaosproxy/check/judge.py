"""The verdict on a client in one case: from what it said, what the journal shows, and what the server had to say.

Rules: a pure function. What only the application can know (did it believe the answer?) comes from the application alone;
what the proxy saw decides only about requests, waits and leaving. Must not know: how a client is run.
"""

import re
import signal
from dataclasses import dataclass

from chaosproxy.check.case import GRPC, Case, Kind, VerdictName, in_seconds
from chaosproxy.check.facts import Facts
from chaosproxy.check.told import Told, says_incomplete
from chaosproxy.judging.words import ms
from chaosproxy.model.units import counted, show_duration

HEARD = 1.0
"""Seconds within which the server is to hear that the client has left."""
EARLY = 0.02
"""Seconds by which a client may ask again too soon: a clock in milliseconds, read at two ends."""
LOOPS = 3
"""So many requests of a client that had to be ended are a loop."""
_BLANKS = re.compile(r"[ \t\r\n]+")


@dataclass(frozen=True, slots=True)
class Judged:
    """`good` is None where nothing could be said, or nothing is to be said."""

    verdict: VerdictName
    good: bool | None
    seen: str


@dataclass(frozen=True, slots=True)
class Setting:
    """Of the whole card: the client's own timeout, if it was told; whether it prints as it reads, if that was seen."""

    timeout: float | None = None
    streams: bool = False


def judge(case: Case, told: Told, facts: Facts, setting: Setting) -> Judged:
    """What the client made of a case."""
    if not facts.requests:
        return _never_asked(told)
    if why := beside(case, facts.kinds, facts.protocols) or facts.out_of_reach:
        return Judged("not_applicable", None, why)
    if case.leaves:
        return _leaving(case, told, facts)
    verdict, seen = _answer(case, told, facts, setting)
    # An event source says what it had, and is given the rest: then it has the whole, whatever happened to a part.
    resumed = verdict == "whole" and facts.joined and facts.requests > 1
    good: bool | None = None if verdict in case.neutral else resumed or verdict in case.good
    if crashed := _crashed(told):
        good, seen = False, f"{crashed}; {seen}"
    further, extra = _requests(case, facts)
    if further is False:
        good = False
    return Judged(verdict, good, "; ".join(part for part in (seen, extra) if part))


def beside(case: Case, kinds: frozenset[Kind], protocols: frozenset[str]) -> str:
    """Why the case is not about a client that asks for these."""
    if not case.kinds and kinds == GRPC:
        return "it asks for grpc: the case is about HTTP"
    if case.kinds and not case.kinds & kinds:
        return f"it asks for {', '.join(sorted(kinds))}: the case is about {', '.join(sorted(case.kinds))}"
    if case.protocol and case.protocol not in protocols:
        return f"it speaks {', '.join(sorted(protocols))} here"
    return ""


def _never_asked(told: Told) -> Judged:
    """Nobody came."""
    seen = "no request came: does it use CHAOSPROXY_URL, OPENAI_BASE_URL or another base URL that is set?"
    if not told.ended_itself:
        return Judged("hangs", False, f"{seen} It had to be ended after {show_duration(round(told.ended, 1))}")
    if told.outcome == "raised":
        return Judged("raised", False, f"{_crashed(told) or _complaint(told)}; {seen}")
    return Judged("corrupted" if told.text.strip() else "truncated", False, seen)


def _crashed(told: Told) -> str:
    if told.status is None or told.status >= 0:
        return ""
    try:
        name = signal.Signals(-told.status).name
    except ValueError:
        name = f"signal {-told.status}"
    return f"it was ended by {name}"


def _answer(case: Case, told: Told, facts: Facts, setting: Setting) -> tuple[VerdictName, str]:
    """What it made of the answer, and that in words."""
    reading = Reading.of(told.text, case, joined=facts.joined)
    had = reading.had
    if not told.ended_itself:
        if facts.requests >= LOOPS or (facts.requests > 1 and reading.again):
            return "loops", f"still asking after {counted(facts.requests, 'request')}, {had}"
        return "hangs", f"still there {show_duration(round(told.ended, 1))} after it began, {had}"
    if told.outcome == "raised":
        return "raised", f"{_complaint(told)}, {had}"
    if reading.whole:
        if told.outcome == "flagged" or says_incomplete(told.finish):
            return "flagged", f"all tokens, {_flag(told)}"
        return _in_time(told, facts, setting)
    if told.outcome == "flagged" or says_incomplete(told.finish):
        return "flagged", f"{had}, {_flag(told)}"
    if reading.again:
        return "duplicated", had
    if reading.prefix:
        return "truncated", f"{had}, taken for the whole"
    return "corrupted", f"{reading.difference}{': it printed the stream, not its text' if told.raw else ''}"


def _in_time(told: Told, facts: Facts, setting: Setting) -> tuple[VerdictName, str]:
    if facts.at_once:
        return "late", "all tokens, all of them at the end: the stream was held"
    if setting.streams and facts.spread and not prints_as_it_reads(told, facts):
        return "late", "all tokens, all of them at the end: it held what had come"
    return "whole", "all tokens"


def prints_as_it_reads(told: Told, facts: Facts) -> bool:
    """It printed before the answer was over."""
    return told.first is not None and told.first - facts.began < facts.last_byte


def _flag(told: Told) -> str:
    if says_incomplete(told.finish):
        return f"finish: {told.finish}"
    return told.error or "flagged as incomplete"


def _complaint(told: Told) -> str:
    """Its error; the exit status where that says something of its own."""
    status = f"exit status {told.status}" if told.status and (told.status > 1 or not told.error) else ""
    return ", ".join(part for part in (told.error, status) if part) or "it says so"


def _requests(case: Case, facts: Facts) -> tuple[bool, str]:
    """Whether it asked again as often and as late as it may, and that in words."""
    said, good = [], True
    if facts.requests > 1:
        said.append(counted(facts.requests, "request"))
    if case.attempts is not None and facts.requests > case.attempts:
        good = False
        said.append(f"more than {case.attempts}")
    told = [wait for wait in facts.waits if wait.told is not None]
    if case.waits and told:
        early = [wait for wait in told if wait.waited < (wait.told or 0.0) - EARLY]
        good = good and not early
        worst = early[0] if early else max(told, key=lambda wait: wait.waited - (wait.told or 0.0))
        off = worst.waited - (worst.told or 0.0)
        when = f"{ms(-off)} too early" if early else f"{ms(max(0.0, off))} behind it"
        said.append(f"told to wait {show_duration(round(worst.told or 0.0, 1))}, asked again {when}")
    return good, ", ".join(said)


def _leaving(case: Case, told: Told, facts: Facts) -> Judged:
    """Whether the server heard of it when the client left by itself."""
    if told.left is None:
        reading = Reading.of(told.text, case, joined=facts.joined)
        if case.leaves == "interrupted":
            return Judged("not_applicable", None, "it was over before it could be interrupted")
        if reading.whole or facts.body_began is None or not reading.count:
            return Judged("not_applicable", None, f"it does not leave in the case CHAOSPROXY_CASE={case.id}")
        asked = facts.body_began + (reading.count - 1) * in_seconds(case.gap, None)
    else:
        asked = told.left - facts.began
    if facts.left is None or facts.left - asked > HEARD:
        when = "never" if facts.left is None else f"{ms(facts.left - asked)} later"
        return Judged("hangs", False, f"it left, and the server heard of it {when}")
    return Judged("whole", True, f"it left, and the server heard of it within {ms(max(0.0, facts.left - asked))}")


@dataclass(frozen=True, slots=True)
class Reading:
    """A text against what the server said."""

    whole: bool
    prefix: bool
    """It is the beginning of it, or nothing."""
    again: int
    """Tokens that stand there more than once, or behind the end."""
    count: int
    """Tokens of the server's that stand there."""
    total: int
    difference: str

    @classmethod
    def of(cls, text: str, case: Case, *, joined: bool) -> "Reading":
        """`joined`: the interface has no blanks between the tokens. Whatever stands between lines is a blank: some print
        token by token."""
        tokens = case.text.split(" ")
        got, expected = (_BLANKS.sub("" if joined else " ", one).strip(" ") for one in (text, case.text))
        counts = [got.count(token) for token in tokens]
        again = sum(max(0, count - expected.count(token)) for token, count in zip(tokens, counts, strict=True))
        return cls(
            whole=got == expected,
            prefix=expected.startswith(got),
            again=again,
            count=sum(min(1, count) for count in counts),
            total=len(tokens),
            difference=_difference(got, expected),
        )

    @property
    def had(self) -> str:
        """`6 of 12 tokens`."""
        again = f", {self.again} of them twice" if self.again else ""
        return f"{self.count} of {self.total} tokens{again}"


def _difference(got: str, expected: str) -> str:
    at = next((index for index, (one, other) in enumerate(zip(got, expected, strict=False)) if one != other), None)
    if at is None:
        at = min(len(got), len(expected))
    return f"other text from character {at + 1} on: {got[at : at + 24]!r} in place of {expected[at : at + 24]!r}"
