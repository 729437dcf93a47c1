"""A journal read back: each line of JSON as the record that it was written from.

Rules: a line that is none (cut, damaged, of another program) says why, and hides no other; of a newer version's line
what is not known here is left alone, and what an older one did not write has its default. A line at a time, each of
bounded length. Must not know: what a record means, who shows it.
"""

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields
from types import NoneType, UnionType
from typing import Any, BinaryIO, TypeVar, get_args, get_origin, get_type_hints

from chaosproxy.journal.marks import FIRST, Marks
from chaosproxy.journal.record import (
    ClientView,
    Ending,
    ExchangeRecord,
    Fired,
    NotFired,
    RequestView,
    ResponseView,
    Times,
    UpstreamView,
)

LONGEST = 16 * 1024 * 1024
"""Bytes of a line; that of the longest record has less than one tenth of it."""
_MOST_BYTES = 0xFFFF_FFFF
_NO_MARKS = "arrivals or deliveries are not [seconds, bytes]"
_LATEST = 1e9
"""Seconds; nothing lasts longer."""
_LARGEST = 2**63
"""Nothing is counted so far. A seed may be larger: it is only shown."""
View = TypeVar("View")


class NoRecordError(ValueError):
    """A line is no exchange of a journal; the message says why."""


class JournalLines:
    """The records in a journal, as often as they are asked for: each time read anew, to where it ended at first.

    `problem` is called with the number of each line that is no record, and why; once, however often all is read.
    """

    def __init__(self, file: BinaryIO, problem: Callable[[int, str], None]) -> None:
        """`file` must be able to go back."""
        self._file = file
        self._problem = problem
        self._told = 0
        self._end = file.seek(0, io.SEEK_END)

    def __iter__(self) -> Iterator[ExchangeRecord]:
        at = 0
        number = 0
        while at < self._end:
            self._file.seek(at)
            line = self._file.readline(min(LONGEST + 1, self._end - at))
            too_long = len(line) > LONGEST
            at += len(line)
            if too_long:
                at += self._skipped()
            number += 1
            if not line.strip():
                continue
            try:
                yield record_of(line if not too_long else b"")
            except NoRecordError as error:
                if number > self._told:
                    self._told = number
                    self._problem(number, f"longer than {LONGEST} bytes" if too_long else str(error))

    def _skipped(self) -> int:
        """To the end of a line that is too long; how many bytes that were."""
        skipped = 0
        while part := self._file.readline(LONGEST):
            skipped += len(part)
            if part.endswith(b"\n"):
                break
        return skipped


def record_of(line: bytes) -> ExchangeRecord:
    """The record in a line. NoRecordError if there is none."""
    try:
        given = json.loads(line, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise NoRecordError("no JSON, or cut off") from error
    if not isinstance(given, dict) or "id" not in given:
        raise NoRecordError("JSON, but no exchange")
    views: dict[str, Any] = {
        "client": _view(ClientView, given, "client"),
        "upstream": _view(UpstreamView, given, "upstream"),
        "request": _view(RequestView, given, "request"),
        "response": _view(ResponseView, given, "response"),
        "times": _view(Times, given, "times"),
        "end": _view(Ending, given, "end") if given.get("end") is not None else None,
        "faults": [_made(Fired, one, "faults") for one in _list(given, "faults")],
        "not_fired": [_made(NotFired, one, "not_fired") for one in _list(given, "not_fired")],
        "arrivals": _marks(_list(given, "arrivals")),
        "deliveries": _marks(_list(given, "deliveries")),
    }
    _leave_out(given.get("dropped", 0), views["arrivals"], views["deliveries"])
    return _made(ExchangeRecord, {**given, **views}, "", trusted=frozenset(views))


def _no_number(name: str) -> object:
    raise ValueError(f"{name} is no number")


def _list(given: dict[str, Any], key: str) -> list[Any]:
    found = given.get(key, [])
    if not isinstance(found, list):
        raise NoRecordError(f"{key} is no list")
    return found


def _view(kind: type[View], given: dict[str, Any], key: str) -> View:
    return _made(kind, given.get(key, {}), key)


def _made(kind: type[View], given: Any, where: str, trusted: frozenset[str] = frozenset()) -> View:
    """A view of the record from its JSON: every field of the right type, or its default."""
    if not isinstance(given, dict):
        raise NoRecordError(f"{where} is no object")
    values: dict[str, Any] = {}
    for name, hint, needed in _FIELDS[kind]:
        path = f"{where}.{name}".lstrip(".")
        if name not in given:
            if needed:
                raise NoRecordError(f"{path} is missing")
            continue
        value = given[name]
        if kind is UpstreamView and name == "end" and value is not None:
            value = _made(Ending, value, path)
        elif name not in trusted and not _fits(value, hint) and not (name == "seed" and type(value) is int):
            raise NoRecordError(f"{path} is not what a journal has there")
        if name == "headers" and any(len(pair) != 2 for pair in value):
            raise NoRecordError(f"{path} are not [name, value]")
        values[name] = value
    return kind(**values)


def _fields(kind: type[Any]) -> tuple[tuple[str, Any, bool], ...]:
    """The name of each field that stands in a journal, its type, whether it has no default."""
    hints = get_type_hints(kind)
    return tuple(
        (one.name, hints[one.name], one.default is MISSING and one.default_factory is MISSING)
        for one in fields(kind)
        if one.name not in {"evidence", "_counts"}
    )


_VIEWS: tuple[type[Any], ...] = (
    ClientView,
    Ending,
    ExchangeRecord,
    Fired,
    NotFired,
    RequestView,
    ResponseView,
    Times,
    UpstreamView,
)
_FIELDS = {kind: _fields(kind) for kind in _VIEWS}


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value of JSON has a type that the record's views use."""
    if isinstance(hint, UnionType):
        return any(_fits(value, one) for one in get_args(hint))
    if get_origin(hint) is list:
        (item,) = get_args(hint)
        return isinstance(value, list) and all(_fits(one, item) for one in value)
    if hint is float:
        return _is_time(value)
    if hint is int:
        return type(value) is int and abs(value) < _LARGEST
    return isinstance(value, str) if hint is str else hint is NoneType and value is None


def _is_time(value: Any) -> bool:
    return type(value) in {int, float} and abs(value) < _LATEST  # of no number it is neither true


def _marks(given: list[Any]) -> Marks:
    if not all(isinstance(one, list) and len(one) == 2 for one in given):
        raise NoRecordError(_NO_MARKS)
    seconds, sizes = [one[0] for one in given], [one[1] for one in given]
    if not all(map(_is_time, seconds)) or {*map(type, sizes)} - {int}:
        raise NoRecordError(_NO_MARKS)
    if sizes and not 0 <= min(sizes) <= max(sizes) <= _MOST_BYTES:
        raise NoRecordError(_NO_MARKS)
    marks = Marks()
    marks.extend(seconds, sizes)
    return marks


def _leave_out(dropped: Any, arrivals: Marks, deliveries: Marks) -> None:
    """The marks that the journal counts and does not have: of those that are full, in equal parts."""
    full = [marks for marks in (arrivals, deliveries) if marks.count > FIRST]
    if full and _fits(dropped, int) and dropped > 0:
        for marks in full:
            marks.count += dropped // len(full)
