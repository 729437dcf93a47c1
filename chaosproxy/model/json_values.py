"""Questions asked of a JSON text: is it one, and does it hold these values at these dotted paths?

Rules: whatever is not plainly JSON (RFC 8259) is `NOT_JSON` and matches nothing, never an exception: bytes that are not
UTF-8, NaN and Infinity, names given twice, lone surrogates, numbers or nesting beyond what the parser takes.
Must not know: where the text comes from, scenarios, faults.
"""

import json
from collections.abc import Iterable
from typing import Final, cast

from chaosproxy.model.globs import glob

LONGEST: Final = 1024 * 1024
"""The longest text that is looked at, in bytes."""


class _NotJson:
    def __repr__(self) -> str:
        return "NOT_JSON"


NOT_JSON: Final = _NotJson()


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a name is given twice")
    return result


def _constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON number")


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant)


def parse(text: bytes) -> object:
    """The document in `text`, or NOT_JSON."""
    if len(text) > LONGEST:
        return NOT_JSON
    try:
        decoded = text.decode("utf-8")
        document: object = _DECODER.decode(decoded)
        if "\\u" in decoded:
            json.dumps(document, ensure_ascii=False).encode("utf-8")  # fails on a lone surrogate
    except (ValueError, RecursionError):
        return NOT_JSON
    return document


def at_path(document: object, path: str) -> object:
    """What stands at a dotted path (`choices.0.finish_reason`), or NOT_JSON if nothing does."""
    place = document
    for key in path.split("."):
        if isinstance(place, dict):
            members = cast("dict[str, object]", place)
            if key not in members:
                return NOT_JSON
            place = members[key]
        elif isinstance(place, list):
            items = cast("list[object]", place)
            if not (key.isascii() and key.isdigit() and len(key) <= 9 and int(key) < len(items)):
                return NOT_JSON
            place = items[int(key)]
        else:
            return NOT_JSON
    return place


def same(wanted: object, found: object) -> bool:
    """JSON equality: 1 is 1.0 but true is not 1, in lists and objects too."""
    if isinstance(wanted, bool) or isinstance(found, bool):
        return wanted is found
    if isinstance(wanted, dict) and isinstance(found, dict):
        return wanted.keys() == found.keys() and all(same(wanted[key], found[key]) for key in wanted)
    if isinstance(wanted, list | tuple) and isinstance(found, list):
        return len(wanted) == len(found) and all(map(same, wanted, found))
    return wanted == found


def holds(document: object, pairs: Iterable[tuple[str, object]]) -> bool:
    """Whether `document` has at every path the value wanted; a wanted string is a glob."""
    if document is NOT_JSON:
        return False
    for path, wanted in pairs:
        found = at_path(document, path)
        if found is NOT_JSON:
            return False
        if isinstance(wanted, str):
            if not (isinstance(found, str) and glob(wanted, found)):
                return False
        elif not same(wanted, found):
            return False
    return True
