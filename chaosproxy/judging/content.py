"""Checks of what an exchange was: its fields, its bytes, how it ended, which faults acted.

Must not know: why.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from chaosproxy.journal.record import ExchangeRecord
from chaosproxy.judging.check import Check, Finding, found, register
from chaosproxy.judging.words import ended_at, how_it_ended, last_byte, ms
from chaosproxy.model.globs import glob
from chaosproxy.model.mask import is_secret


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Header(Check):
    """A header field is there, and says this."""

    name: ClassVar[str] = "header"
    main: ClassVar[str | None] = "name_"
    nothing: ClassVar[str] = "no exchange had a head to look at"

    name_: str
    """The field's name, in any case."""
    value: str | None = None
    """A glob over its value; of several lines one has to match. Default: it is there, whatever it says."""
    way: Literal["request", "response"] = "response"
    """Of the request as it came, or of the response as it went. Default response."""

    @property
    def expected(self) -> str:
        return f"{self.name_}{f': {self.value}' if self.value is not None else ''} in the {self.way}"

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        if self.value is None or not is_secret(self.name_.lower()):
            return []
        return [(("value",), f"values of `{self.name_}` are secrets, which are not kept; leave `value` out")]

    def see(self, record: ExchangeRecord) -> Finding | None:
        if self.way == "response" and record.response.status is None:
            return None
        fields = record.request.headers if self.way == "request" else record.response.headers
        values = [value for name, value in fields if name.lower() == self.name_.lower()]
        if not values:
            return found(record, False, f"no {self.name_}")
        good = self.value is None or any(glob(self.value, value) for value in values)
        return found(record, good, f"{self.name_}: {', '.join(values)}")


_BY = ("client", "upstream", "proxy")
_HOW = ("clean", "fin", "rst", "fin_mid_chunk", "no_close_notify", "silence", "stream:CODE", "goaway:CODE")
_WITH_CODE = ("stream:", "goaway:")


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Ended(Check):
    """Who ended the exchange, how it was on the wire, and why. All are globs; what is left out may be anything."""

    name: ClassVar[str] = "ended"

    by: str | None = None
    """client, upstream or proxy."""
    how: str | None = None
    """clean, fin, rst, stream:CODE ..., as the journal has it."""
    cause: str | None = None
    """The fault, timeout:idle and its kin, upstream:HOW ..., as the journal has it."""

    @property
    def expected(self) -> str:
        said = [f"{key} {value}" for key, value in self._asked()]
        return f"an end {', '.join(said)}" if said else "an end"

    def problems(self) -> list[tuple[tuple[str, ...], str]]:
        known = {"by": _BY, "how": _HOW}
        return [
            ((key,), f"nothing ends like that: `{key}` is one of {', '.join(known[key])}")
            for key, pattern in self._asked()
            if key in known and not pattern.startswith(_WITH_CODE) and not any(glob(pattern, one) for one in known[key])
        ]

    def _asked(self) -> list[tuple[str, str]]:
        return [(key, value) for key in ("by", "how", "cause") if (value := getattr(self, key)) is not None]

    def see(self, record: ExchangeRecord) -> Finding:
        end = record.end
        if end is None:
            return found(record, False, "no end yet")
        good = all(glob(pattern, getattr(end, key) or "") for key, pattern in self._asked())
        cause = f", cause {end.cause}" if end.cause else ""
        at, last = ended_at(record), last_byte(record)
        since = f", {ms(at - last)} after the last byte" if last is not None else ""
        seen = f"{how_it_ended(record)}{cause}; {ms(at)} after the request{since}"
        return found(record, good, seen, "client_closed", "end")


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class Unchanged(Check):
    """The body's bytes went to the client as they came from the upstream, all of them. Where the client has left before
    they all went nothing can be said."""

    name: ClassVar[str] = "unchanged"
    nothing: ClassVar[str] = "no upstream answered"
    needs_bodies: ClassVar[bool] = True

    @property
    def expected(self) -> str:
        return "a body as it came"

    def see(self, record: ExchangeRecord) -> Finding | None:
        evidence, response = record.evidence, record.response
        if evidence is None or evidence.same is None:
            return None
        left = record.end is not None and record.end.by == "client"
        if left and not evidence.same and response.bytes_out < response.bytes_in:
            return None  # it did not want the rest
        seen = f"{response.bytes_in} bytes came, {response.bytes_out} went"
        if not evidence.same and response.bytes_in == response.bytes_out:
            seen += ", and not the same"
        return found(record, evidence.same, seen)


@register
@dataclass(frozen=True, slots=True, kw_only=True)
class FaultFired(Check):
    """A fault of the scenario has acted. It is about the exchanges whose rule has that fault."""

    name: ClassVar[str] = "fired"
    main: ClassVar[str | None] = "fault"
    nothing: ClassVar[str] = "no exchange met that fault"

    fault: str
    """A glob over its name."""
    hop: str | None = None
    """A glob over the name of the hop that it stands in."""

    @property
    def expected(self) -> str:
        return f"`{self.fault}`{f' in {self.hop}' if self.hop is not None else ''} to act"

    def misses(self, faults: Sequence[tuple[str, str]]) -> tuple[str, str] | None:
        if not any(glob(self.fault, name) for name, _ in faults):
            return f"no fault of this scenario is called {self.fault!r}", self.fault
        if not any(glob(self.fault, name) and self._is_in(hop) for name, hop in faults):
            return f"no {self.fault!r} of this scenario is in a hop called {self.hop!r}", self.hop or ""
        return None

    def see(self, record: ExchangeRecord) -> Finding | None:
        fired = [one for one in record.faults if glob(self.fault, one.fault) and self._is_in(one.hop_name)]
        if fired:
            return found(record, True, f"{fired[0].fault}: {fired[0].detail}")
        missed = [one for one in record.not_fired if glob(self.fault, one.fault) and self._is_in(one.hop_name)]
        return found(record, False, f"it did not: {missed[0].reason}") if missed else None

    def _is_in(self, hop: str | None) -> bool:
        return self.hop is None or glob(self.hop, hop or "")
