"""Units: `64KiB`, `250ms`, `1MiB/s`, `5/1s` to numbers and back.

Durations are seconds (float, `forever` = infinity), sizes are bytes, rates are bytes per second. A bare number is a
size but never a duration. The `Annotated` aliases mark the fields of specs, so that the scenario loader, the schema
and the reference know what a number means without the specs knowing any of them.
Must not know: which field holds a number.
"""

import math
import re
from dataclasses import dataclass
from typing import Annotated

ENDLESS = math.inf
LONGEST = 10 * 365 * 86400.0
"""The longest finite duration, ten years; beyond it somebody has mistyped."""

FASTEST = 1_000_000_000
"""The largest speed: with it ten years are a third of a second."""
SPEEDS = f"a number above 0, at most {FASTEST:,}"

_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PER_SECOND = {"us": 1e6, "ms": 1e3}
"""Divided by, not multiplied with a fraction: so `9ms` and `0.009s` are the same number."""
_BYTES = {
    "": 1,
    "b": 1,
    "k": 1024,
    "kb": 1024,
    "kib": 1024,
    "m": 1024**2,
    "mb": 1024**2,
    "mib": 1024**2,
    "g": 1024**3,
    "gib": 1024**3,
}
_NUMBER = re.compile(r"(\d{1,15}(?:\.\d{1,9})?)\s?([A-Za-z]*)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Unit:
    """Marks a number in a spec: `duration`, `size`, `rate` or `frequency`."""

    kind: str

    def __str__(self) -> str:
        return self.kind


@dataclass(frozen=True, slots=True)
class Within:
    """Marks a whole number in a spec with the least and the most that it can be; None: without a bound."""

    least: int | None = None
    most: int | None = None

    def __str__(self) -> str:
        """For a person: `a whole number from 200 to 599`."""
        if self.least is not None and self.most is not None:
            return f"a whole number from {self.least} to {self.most}"
        if self.least is not None:
            return f"a whole number, {self.least} or more"
        return "a whole number" if self.most is None else f"a whole number, {self.most} or less"


@dataclass(frozen=True, slots=True)
class Allowance:
    """So many in so many seconds."""

    count: int
    seconds: float


Count = Annotated[int, Within(1)]
Duration = Annotated[float, Unit("duration")]
Size = Annotated[int, Unit("size")]
Rate = Annotated[float, Unit("rate")]
Frequency = Annotated[Allowance, Unit("frequency")]


def duration(text: str) -> float:
    """`250ms`, `1.5s`, `2m`, `1h`, `forever` in seconds. ValueError with the allowed forms otherwise."""
    if text == "forever":
        return ENDLESS
    match = _NUMBER.fullmatch(text)
    if match is None or not (match[2] in _SECONDS or match[2] in _PER_SECOND):
        raise ValueError(f"{text!r} is no duration; write 250ms, 1.5s, 2m, 1h or forever")
    amount, unit = float(match[1]), match[2]
    seconds = amount / _PER_SECOND[unit] if unit in _PER_SECOND else amount * _SECONDS[unit]
    if seconds > LONGEST:
        raise ValueError(f"{text!r} is longer than ten years; write forever")
    return seconds


def size(text: str | int) -> int:
    """`512`, `4KiB`, `64k` (k, m = KiB, MiB) in bytes. ValueError with the allowed forms otherwise."""
    match = _NUMBER.fullmatch(str(text))
    factor = _BYTES.get(match[2].lower()) if match else None
    if match is None or factor is None:
        raise ValueError(f"{text!r} is no size; write 512, 4KiB, 64k or 1MiB")
    nbytes = float(match[1]) * factor
    if nbytes != int(nbytes) or nbytes > 2**53:
        raise ValueError(f"{text!r} is no whole number of bytes")
    return int(nbytes)


def rate(text: str) -> float:
    """`32KiB/s` in bytes per second. ValueError with the allowed form otherwise."""
    amount, slash, per = text.partition("/")
    if not slash or per != "s":
        raise ValueError(f"{text!r} is no rate; write 32KiB/s")
    try:
        return float(size(amount.strip()))
    except ValueError:
        raise ValueError(f"{text!r} is no rate; write 32KiB/s") from None


def frequency(text: str) -> Allowance:
    """`5/1s`, `60/m`, `100/10m`: so many in a time, of which 1 may be left out. ValueError with the allowed forms
    otherwise."""
    amount, slash, per = (part.strip() for part in text.partition("/"))
    wrong = ValueError(f"{text!r} is no frequency; write 5/1s, 60/m or 1000/24h")
    if not slash or not re.fullmatch(r"\d{1,9}", amount, re.ASCII) or per == "forever":
        raise wrong
    try:
        seconds = duration(per if per[:1].isdigit() else f"1{per}")
    except ValueError:
        raise wrong from None
    if not int(amount) or not seconds:
        raise wrong
    return Allowance(int(amount), seconds)


def show_frequency(allowance: Allowance) -> str:
    """The text that `frequency` reads back as the same."""
    return f"{allowance.count}/{show_duration(allowance.seconds)}"


def show_duration(seconds: float) -> str:
    """The text that `duration` reads back as the same number, to a nanosecond, in the unit that people would take."""
    if seconds == ENDLESS:
        return "forever"
    if 0 < seconds < 1:
        unit = "ms" if seconds >= 1e-3 else "us"
        form = _decimal(seconds * _PER_SECOND[unit]) + unit
    elif seconds and seconds % 60 == 0:
        form = _decimal(seconds / 60) + "m"
    else:
        form = _decimal(seconds) + "s"
    return form


def lasting(seconds: float) -> str:
    """`for 250ms`, or `forever`."""
    return "forever" if seconds == ENDLESS else f"for {show_duration(seconds)}"


def _decimal(number: float) -> str:
    """Without an exponent, nor zeros at the end."""
    return f"{number:.9f}".rstrip("0").rstrip(".")


def show_size(nbytes: int) -> str:
    """The shortest text that `size` reads back as the same number."""
    for factor, unit in ((1024**2, "MiB"), (1024, "KiB")):
        if nbytes and nbytes % factor == 0:
            return f"{nbytes // factor}{unit}"
    return str(nbytes)


def show_rate(rate: float) -> str:
    """`32KiB/s`, or `1500B/s` where it is no whole number of KiB."""
    amount = show_size(int(rate))
    return f"{amount if rate % 1024 == 0 else f'{amount}B'}/s"


def is_speed(value: float) -> bool:
    """Durations may be divided by it: `SPEEDS`. NaN is none."""
    return 0 < value <= FASTEST


def counted(number: int, noun: str) -> str:
    """`1 byte`, `2 bytes`; for nouns whose plural takes an s."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
