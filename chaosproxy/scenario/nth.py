"""`nth:` which of the exchanges that match: `1`, `2-4`, `"3-"`, `every 3`, or a list of these.

Rules: pure. Counting starts at 1. Must not know: YAML, who counts.
"""

import math
import re
from dataclasses import dataclass

_FORM = re.compile(r"(?P<first>\d{1,15})(?P<dash>-(?P<last>\d{1,15})?)?|every (?P<step>\d{1,15})", re.ASCII)

FORMS = 'a number from 1, a range 2-4 or "3-", "every 3", or a list of these'


@dataclass(frozen=True, slots=True)
class Span:
    """`first`, `first + step` ... up to `last`."""

    first: int
    last: float
    step: int = 1

    def holds(self, number: int) -> bool:
        return self.first <= number <= self.last and (number - self.first) % self.step == 0


@dataclass(frozen=True, slots=True)
class Nth:
    """Any of some spans."""

    spans: tuple[Span, ...]

    def holds(self, number: int) -> bool:
        """Whether the exchange counted `number` is meant."""
        return any(span.holds(number) for span in self.spans)

    def over(self, count: int) -> bool:
        """Whether no exchange after the first `count` can be meant any more."""
        return all(span.last <= count for span in self.spans)


ALL = Nth((Span(1, math.inf),))


def span(text: str) -> Span:
    """Read one form. ValueError with what is wrong with it."""
    found = _FORM.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is no such form")
    if found["step"]:
        step = int(found["step"])
        if step < 1:
            raise ValueError("every 0 is never")
        return Span(step, math.inf, step)
    first = int(found["first"])
    last = float(found["last"]) if found["last"] else math.inf if found["dash"] else first
    if first < 1:
        raise ValueError("counting starts at 1")
    if last < first:
        raise ValueError(f"the range {text} is empty")
    return Span(first, last)


def show(nth: Nth) -> int | str | list[int | str] | None:
    """The form that is read back as the same; None for all."""
    if nth == ALL:
        return None
    shown = [_show(one) for one in nth.spans]
    return shown[0] if len(shown) == 1 else shown


def _show(one: Span) -> int | str:
    if one.last == one.first:
        return one.first
    if one.last == math.inf:
        return f"every {one.step}" if one.step > 1 else f"{one.first}-"
    return f"{one.first}-{int(one.last)}"
