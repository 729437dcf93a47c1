"""Plain scalars by the core schema of YAML 1.2 (section 10.3.2): `no`, `on`, `12:30` and `2026-01-01` are strings.

Rules: pure; numbers are finite and within 2^53. Must not know: PyYAML, places.
"""

import re

from chaosproxy.scenario.nodes import LARGEST_NUMBER

CORE = "tag:yaml.org,2002:"

_CONSTANTS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", re.ASCII)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)", re.ASCII)


def resolve(text: str) -> object:
    """The value of a plain scalar. ValueError for a number that nobody can mean."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if _INTEGER.fullmatch(text):
        return _integer(text)
    if _FLOAT.fullmatch(text):
        return _bounded(float(text), text)
    if _NOT_FINITE.fullmatch(text):
        raise ValueError(f"{text} is not finite; numbers are finite, and a duration without end is `forever`")
    return text


def tagged(text: str, tag: str) -> object:
    """The value of a scalar with an explicit core tag. ValueError if the tag is not ours, or the text not of it."""
    if tag in {"!", f"{CORE}str"}:
        return text
    wanted = {f"{CORE}null": type(None), f"{CORE}bool": bool, f"{CORE}int": int, f"{CORE}float": float}.get(tag)
    if wanted is None:
        raise ValueError(
            f"the tag {shown_tag(tag)} is not allowed; only !!str, !!int, !!float, !!bool, !!null, !!map and !!seq are"
        )
    value = resolve(text)
    if wanted is float and type(value) is int:
        return float(value)
    if type(value) is not wanted:
        raise ValueError(f"{shown(text)} is no {shown_tag(tag)}")
    return value


def _integer(text: str) -> int:
    digits = text.lstrip("+-0") if text[1:2] not in {"o", "x"} else text[2:].lstrip("0")
    if len(digits) > 20:  # before int(): thousands of digits are refused by it with an error of its own, and slowly
        raise ValueError(f"{shown(text)} is beyond 2^53; quote it if it is text")
    value = int(text, 0) if text[1:2] in {"o", "x"} else int(text)
    return int(_bounded(value, text))


def _bounded(value: float, text: str) -> float:
    if not -LARGEST_NUMBER <= value <= LARGEST_NUMBER:
        raise ValueError(f"{shown(text)} is beyond 2^53; quote it if it is text")
    return value


def shown_tag(tag: str) -> str:
    return shown("!!" + tag.removeprefix(CORE) if tag.startswith(CORE) else tag)


def shown(text: str) -> str:
    """A piece of the file for a message: one line, not too long, nothing that moves a terminal's cursor."""
    return repr(text if len(text) <= 40 else text[:37] + "...")
