"""The single values of a scenario: how each is written, what it becomes, how a schema describes it.

Rules: a leaf takes one plain value and answers with the parsed one or raises `Mismatch`; a text that came from the
environment is typed by the leaf. Must not know: places, faults, which key it stands under.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from chaosproxy.model import units
from chaosproxy.scenario.environment import Expanded
from chaosproxy.scenario.scalars import resolve, shown
from chaosproxy.scenario.trouble import nearest


class Mismatch(Exception):
    """`expected` says what is allowed; `detail` what is wrong beyond that."""

    def __init__(self, expected: str, detail: str = "") -> None:
        super().__init__(expected, detail)
        self.expected, self.detail = expected, detail

    def __str__(self) -> str:
        if self.detail.endswith("?"):
            return f"; {self.detail} expected {self.expected}"
        detail = f": {self.detail}" if self.detail else ""
        return f"{detail}; expected {self.expected}"


def refuse(message: str, *path: str) -> PydanticCustomError:
    """An error whose text is data, braces and all; `path` leads on from where it is raised."""
    return PydanticCustomError("mismatch", "{message}", {"message": message, "path": path})


def found(value: object) -> str:
    """What stands there, for a message: a plain value."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case Expanded():
            return f"what {shown(value.written)} stands for"
        case str():
            return shown(value)
        case int() | float():
            return f"the number {value}"
        case Mapping():
            return "a mapping"
        case _:
            return "a list"


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """One kind of value, usable as pydantic metadata: `Annotated[Any, leaf]`."""

    parse: Callable[[Any], object]
    schema: dict[str, Any]

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self._validate)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return dict(self.schema)

    def _validate(self, value: object) -> object:
        try:
            return self.parse(value)
        except Mismatch as mismatch:
            raise refuse(f"found {found(value)}{mismatch}") from None


def any_of(leaves: Sequence[Leaf]) -> Leaf:
    """The first of some leaves that takes the value."""
    if len(leaves) == 1:
        return leaves[0]

    def parse(value: object) -> object:
        expected, details = [], []
        for leaf in leaves:
            try:
                return leaf.parse(value)
            except Mismatch as mismatch:
                expected.append(mismatch.expected)
                details.append(mismatch.detail)
        raise Mismatch(" or ".join(dict.fromkeys(expected)), next(filter(None, details), ""))

    return Leaf(parse, {"anyOf": [leaf.schema for leaf in leaves]})


def typed(value: object) -> object:
    """A text from the environment as YAML would resolve it plain; everything else as it is."""
    if isinstance(value, Expanded):
        try:
            return resolve(value)
        except ValueError:
            return str(value)
    return value


def _anything(value: object) -> object:
    """Any JSON value, its texts from the environment typed."""
    match value:
        case dict():
            return {key: _anything(one) for key, one in value.items()}
        case list():
            return [_anything(one) for one in value]
        case _:
            return typed(value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        number = isinstance(value, int | float)
        raise Mismatch("a string", "quote it if it is text" if number else "")
    return str(value)


def loose_text(value: object) -> str:
    """Also a whole number or a truth value, which mean the same as their text."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        raise Mismatch("a string", "quote it, so that no digit is lost")
    return _text(value)


def _line(value: object) -> str:
    text = _text(value)
    if not text.isprintable():
        raise Mismatch("one line of text without control characters")
    return text


def _octets(value: object) -> bytes:
    return _text(value).encode()


def _flag(value: object) -> bool:
    value = typed(value)
    if not isinstance(value, bool):
        raise Mismatch("true or false")
    return value


def _number(value: object) -> float:
    value = typed(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Mismatch("a number")
    return float(value)


def _duration(value: object) -> float:
    expected = "a duration: 250ms, 1.5s, 2m, 1h or forever"
    if not isinstance(value, str):
        number = isinstance(value, int | float) and not isinstance(value, bool)
        raise Mismatch(expected, "a number without a unit is no duration" if number else "")
    try:
        return units.duration(value)
    except ValueError as error:
        raise Mismatch(expected, "longer than ten years" if "ten years" in str(error) else "") from None


def _size(value: object) -> int:
    expected = "a size: 512, 4KiB, 64k or 1MiB"
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise Mismatch(expected)
    try:
        return units.size(value)
    except ValueError:
        raise Mismatch(expected) from None


def _rate(value: object) -> float:
    if not isinstance(value, str):
        raise Mismatch("a rate: 32KiB/s")
    try:
        return units.rate(value)
    except ValueError:
        raise Mismatch("a rate: 32KiB/s") from None


def _frequency(value: object) -> units.Allowance:
    expected = "so many in a time: 5/1s, 60/m or 1000/24h"
    if not isinstance(value, str):
        raise Mismatch(expected)
    try:
        return units.frequency(value)
    except ValueError:
        raise Mismatch(expected) from None


def integer(least: int | None = None, most: int | None = None) -> Leaf:
    """A whole number within bounds."""
    expected = str(units.Within(least, most))

    def parse(value: object) -> int:
        value = typed(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise Mismatch(expected)
        if (least is not None and value < least) or (most is not None and value > most):
            raise Mismatch(expected)
        return value

    bounds = {"minimum": least, "maximum": most}
    schema = {"type": "integer", **{key: bound for key, bound in bounds.items() if bound is not None}}
    return Leaf(parse, or_variable(schema))


def choice(options: Sequence[Any]) -> Leaf:
    """One of some words (or enum members); a number or a truth value stands for its text."""
    by_word: dict[str, Any] = {str(option.value if isinstance(option, Enum) else option): option for option in options}
    words = ", ".join(by_word)

    def parse(value: object) -> object:
        if isinstance(value, str | int | float):
            word = loose_text(value) if not isinstance(value, float) else str(value)
            if word in by_word:
                return by_word[word]
            raise Mismatch(f"{'one of ' if len(by_word) > 1 else ''}{words}", nearest(word, by_word).strip())
        raise Mismatch(f"{'one of ' if len(by_word) > 1 else ''}{words}")

    numbers = [float(word) if "." in word else int(word) for word in by_word if word.replace(".", "", 1).isdigit()]
    return Leaf(parse, or_variable({"enum": [*by_word, *numbers]}))


def or_variable(*schemas: dict[str, Any]) -> dict[str, Any]:
    """The schema of a value that is one of these, or comes from the environment."""
    return {"anyOf": [*schemas, {"type": "string", "pattern": "\\$\\{"}]}


_AMOUNT = "^\\d+(\\.\\d+)? ?([bB]|[kKmMgG]([iI]?[bB])?)?"

RAW = Leaf(lambda value: value, {})
"""Read later, by itself."""
ANYTHING = Leaf(_anything, {})
TEXT = Leaf(_text, {"type": "string"})
LOOSE_TEXT = Leaf(loose_text, {"type": ["string", "integer", "boolean"]})
LINE = Leaf(_line, {"type": "string", "pattern": "^[^\\x00-\\x1f\\x7f]*$"})
OCTETS = Leaf(_octets, {"type": "string"})
FLAG = Leaf(_flag, or_variable({"type": "boolean"}))
NUMBER = Leaf(_number, or_variable({"type": "number"}))
DURATION = Leaf(_duration, or_variable({"type": "string", "pattern": "^(forever|\\d+(\\.\\d+)? ?(us|ms|s|m|h|d))$"}))
SIZE = Leaf(_size, or_variable({"type": "integer", "minimum": 0}, {"type": "string", "pattern": f"{_AMOUNT}$"}))
RATE = Leaf(_rate, or_variable({"type": "string", "pattern": f"{_AMOUNT}/s$"}))
FREQUENCY = Leaf(
    _frequency, or_variable({"type": "string", "pattern": "^\\d+ ?/ ?(\\d+(\\.\\d+)? ?)?(us|ms|s|m|h|d)$"})
)

BY_UNIT = {"duration": DURATION, "size": SIZE, "rate": RATE, "frequency": FREQUENCY}
