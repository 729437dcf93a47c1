"""How a trigger, an ending and a condition are written (`at:`, `then:`, `if:`).

Rules: what is written leads to exactly one object of the chain's vocabulary. Must not know: faults, places.
"""

from collections.abc import Iterable
from typing import Any, cast, get_args

from chaosproxy.chain.condition import Condition
from chaosproxy.chain.endings import Ending, EndingKind
from chaosproxy.chain.patterns import pattern_problem
from chaosproxy.chain.trigger import Trigger
from chaosproxy.model import codes
from chaosproxy.model.vocabulary import BodyFraming, Moment
from chaosproxy.scenario import leaves
from chaosproxy.scenario.leaves import Leaf, Mismatch, refuse
from chaosproxy.scenario.shapes import (
    FORMS,
    HEADERS,
    LIST,
    VALUE,
    Written,
    by_shape,
    list_of,
    mapping_to,
    one,
    table,
    then,
)
from chaosproxy.scenario.trouble import nearest

LONGEST_PATTERN = 4096
_COUNT = one(leaves.integer(1))


# at: ------------------------------------------------------------------------------------------------------------------


def _pattern(value: object) -> str:
    expected = "a regular expression in RE2's syntax"
    text = leaves.TEXT.parse(value)
    assert isinstance(text, str)
    if not 0 < len(text) <= LONGEST_PATTERN:
        raise Mismatch(expected, f"1 to {LONGEST_PATTERN} characters long")
    if reason := pattern_problem(text):
        raise Mismatch(expected, reason)
    return text


def json_pairs(value: dict[str, object]) -> tuple[tuple[str, object], ...]:
    """Dotted path to value; a path has no empty part."""
    if not value:
        raise refuse("found an empty mapping; expected dotted paths with the values they must hold")
    for path in value:
        if not all(path.split(".")):
            raise refuse(f"the path {path!r} has an empty part; expected words with dots between them")
    return tuple(value.items())


JSON_PAIRS = then(mapping_to(one(leaves.ANYTHING)), json_pairs)

_PLACES: dict[str, Any] = {
    "event": _COUNT,
    "bytes": one(leaves.SIZE),
    "chunk": _COUNT,
    "time": one(leaves.DURATION),
    "idle": one(leaves.DURATION),
    "match": one(Leaf(_pattern, {"type": "string", "minLength": 1})),
    "json": JSON_PAIRS,
    "terminal": one(leaves.choice(("before", "inside", "after"))),
}
_EVERY = {"bytes": leaves.SIZE, "time": leaves.DURATION, "idle": leaves.DURATION}


_AT = table(
    "Trigger",
    {
        **_PLACES,
        # Its unit is that of the place, which is known once all keys are.
        "every": one(Leaf(leaves.RAW.parse, {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string"}]})),
        "times": _COUNT,
    },
)


def _the_one(names: Iterable[str], given: dict[str, Any]) -> str:
    """Which of `names` is given; it has to be exactly one."""
    found = [name for name in names if name in given]
    if len(found) != 1:
        seen = f"found {' and '.join(found)}" if found else "found none"
        raise refuse(f"{seen}; expected exactly one of {', '.join(names)}")
    return found[0]


def _trigger(given: dict[str, Any]) -> Trigger:
    place = _the_one(_PLACES, given)
    if given.get("bytes") == 0:
        raise refuse("found bytes: 0; expected 1 or more (before the first byte is `body`)", "bytes")
    if "times" in given and "every" not in given:
        raise refuse("`times` needs `every`, which says how far apart", "times")
    if "every" in given:
        if place == "terminal":
            raise refuse("the terminal record comes once; `every` has no meaning there", "every")
        leaf = _EVERY.get(place, leaves.integer(1))
        try:
            given["every"] = leaf.parse(given["every"])
        except Mismatch as mismatch:
            raise refuse(f"found {leaves.found(given['every'])}; expected {mismatch.expected}", "every") from None
        if given["every"] == 0:
            raise refuse("found 0; expected more than nothing", "every")
    return Trigger(**given)


def _moment(value: object) -> Trigger:
    mismatch_hint = f"or a mapping with one of {', '.join(_PLACES)}"
    try:
        return Trigger(moment=Moment(str(_MOMENT.parse(value))))
    except Mismatch as mismatch:
        detail = mismatch.detail
        if isinstance(value, str) and value in _PLACES:
            detail = f"write {{{value}: ...}}"
        raise Mismatch(f"{mismatch.expected}, {mismatch_hint}", detail) from None


_MOMENT = leaves.choice(list(Moment))
FORMS[Trigger] = Written((Leaf(_moment, _MOMENT.schema),), None, then(_AT, _trigger))

# then: ----------------------------------------------------------------------------------------------------------------

_WORDS = ("abort", "clean", "end_stream", "fin", "rst", "fin_mid_chunk", "no_close_notify", "silence")
_ALL_ENDINGS = f"{', '.join(_WORDS)}, {{stream: CODE}}, {{goaway: CODE}} or {{status: NUMBER}}"


def _code(value: object) -> int:
    """RFC 9113 section 7: a name, or any 32-bit number."""
    expected = f"an HTTP/2 error code: a number, or one of {', '.join(codes.NAMES)}"
    value = leaves.typed(value)
    if isinstance(value, str):
        if value in codes.NAMES:
            return codes.NAMES.index(value)
        raise Mismatch(expected, nearest(value, codes.NAMES).strip())
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**32:
        raise Mismatch(expected)
    return value


CODE = Leaf(
    _code, leaves.or_variable({"type": "integer", "minimum": 0, "maximum": 2**32 - 1}, {"enum": [*codes.NAMES]})
)
_LAST = ("0", "first", "current", "max")

_ENDING = table(
    "Ending",
    {
        "stream": one(CODE),
        "goaway": one(CODE),
        "last": one(leaves.choice(_LAST)),
        "status": one(leaves.integer(200, 599)),
        "body": one(leaves.OCTETS),
        "headers": HEADERS,
    },
)
_BESIDE = {"stream": frozenset[str](), "goaway": frozenset({"last"}), "status": frozenset({"body", "headers"})}


def _ending_mapping(given: dict[str, Any]) -> Ending:
    kind = _the_one(_BESIDE, given)
    odd = sorted(given.keys() - _BESIDE[kind] - {kind})
    if odd:
        raise refuse(f"`{odd[0]}` does not go with `{kind}`", odd[0])
    match kind:
        case "stream":
            return Ending("stream", code=given["stream"])
        case "goaway":
            return Ending("goaway", code=given["goaway"], last=given.get("last", "0"))
        case _:
            return Ending("status", **given)


def _ending_word(value: object) -> Ending:
    if isinstance(value, str) and value in _WORDS:
        return Ending(cast("EndingKind", str(value)))
    detail = nearest(value, _WORDS).strip() if isinstance(value, str) else ""
    if isinstance(value, str) and value in _BESIDE:
        detail = f"write {{{value}: ...}}"
    raise Mismatch(_ALL_ENDINGS, detail)


FORMS[Ending] = Written((Leaf(_ending_word, {"enum": list(_WORDS)}),), None, then(_ENDING, _ending_mapping))

# if: ------------------------------------------------------------------------------------------------------------------


def globs(value: dict[str, str]) -> tuple[tuple[str, str], ...]:
    """Field names in lower case with the globs their values must match."""
    return tuple((name.lower(), pattern) for name, pattern in value.items())


GLOBS = then(mapping_to(one(leaves.LOOSE_TEXT)), globs)
PROTOCOL = one(leaves.choice(("http/1.1", "h2")))


def _status(value: object) -> int | str:
    value = leaves.typed(value)
    if isinstance(value, str) and value and all(c in "0123456789?*" for c in value):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and 100 <= value <= 599:
        return value
    raise Mismatch('a status from 100 to 599, or a glob such as "5??"')


def _one_or_several(leaf: Leaf) -> Any:
    return by_shape({VALUE: one(leaf), LIST: then(list_of(one(leaf)), tuple)}, VALUE)


_STATUS_CODE = {"type": "integer", "minimum": 100, "maximum": 599}
_STATUS = Leaf(_status, leaves.or_variable(_STATUS_CODE, {"type": "string", "pattern": "^[0-9?*]+$"}))
_CONDITION = table(
    "Condition",
    {
        "content_type": _one_or_several(leaves.TEXT),
        "status": one(_STATUS),
        "headers": GLOBS,
        "without_headers": GLOBS,
        "client_headers": GLOBS,
        "without_client_headers": GLOBS,
        "method": _one_or_several(leaves.TEXT),
        "protocol": PROTOCOL,
        "framing": _one_or_several(leaves.choice(get_args(BodyFraming))),
    },
)


def _condition(given: dict[str, Any]) -> Condition:
    if not given:
        raise refuse("found an empty condition; leave `if` out")
    return Condition(**given)


FORMS[Condition] = Written(mapping=then(_CONDITION, _condition))
