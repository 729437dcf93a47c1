"""How the parts of a scenario file are written: the file, a rule, a hop, what they match.

Rules: faults stand as `Any` here, because each is read by itself, so that one that is wrong does not hide what is wrong
with the next. Must not know: any fault, places, files.
"""

from typing import Any

from pydantic import TypeAdapter

from chaosproxy.model.validate import authority_problem
from chaosproxy.scenario import leaves, nth
from chaosproxy.scenario.forms import GLOBS, JSON_PAIRS, PROTOCOL
from chaosproxy.scenario.leaves import Leaf, Mismatch
from chaosproxy.scenario.nth import Nth
from chaosproxy.scenario.schema import ConnectionMatch, Match
from chaosproxy.scenario.shapes import LIST, VALUE, by_shape, list_of, mapping_to, one, table, then

_LIST = list_of(one(leaves.RAW))
_TEXT = one(leaves.TEXT)


def _span(value: object) -> nth.Span:
    value = leaves.typed(value)
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise Mismatch(nth.FORMS)
    try:
        return nth.span(str(value))
    except ValueError as error:
        raise Mismatch(nth.FORMS, "" if "no such form" in str(error) else str(error)) from None


_SPAN = Leaf(
    _span,
    {
        "anyOf": [
            {"type": "integer", "minimum": 1},
            {"type": "string", "pattern": "^ *([1-9]\\d*(-([1-9]\\d*)?)?|every [1-9]\\d*) *$|\\$\\{"},
        ]
    },
)


def _spans(found: list[nth.Span]) -> Nth:
    if not found:
        raise leaves.refuse(f"found an empty list; expected {nth.FORMS}")
    return Nth(tuple(found))


NTH = by_shape(
    {
        VALUE: then(one(_SPAN), lambda one: Nth((one,))),
        LIST: then(list_of(one(_SPAN)), _spans),
    },
    VALUE,
)


def _probability(value: object) -> float:
    try:
        number = leaves.NUMBER.parse(value)
    except Mismatch:
        raise Mismatch("a number from 0 to 1") from None
    assert isinstance(number, float)
    if not 0 <= number <= 1:
        raise Mismatch("a number from 0 to 1")
    return number


def _mount(value: object) -> str:
    text = str(leaves.TEXT.parse(value)).rstrip("/")
    # RFC 3986 section 3.3: what a path may hold; anything else could not be matched, or would break a request line.
    if not (text.startswith("/") and text.isascii() and text.isprintable() and not set(text) & set(' ?#"<>\\^`{|}')):
        raise Mismatch("a path prefix such as /name")
    return text


def _host(value: object) -> str:
    text = str(leaves.TEXT.parse(value))
    if authority_problem(text.encode()) is not None:
        raise Mismatch("keep, upstream, or a host name with an optional port")
    return text


def _path_pattern(value: object) -> str:
    text = str(leaves.TEXT.parse(value))
    if text[:1] not in {"/", "*", "?"}:
        raise Mismatch("a glob over the path, beginning with / or *")
    if "?" in text and "=" in text.partition("?")[2]:
        raise Mismatch("a glob over the path alone", "write the query under `query`")
    return text


MATCH = then(
    table(
        "Match",
        {
            "method": _TEXT,
            "path": one(Leaf(_path_pattern, {"type": "string"})),
            "query": then(mapping_to(one(leaves.LOOSE_TEXT)), lambda found: tuple(found.items())),
            "headers": GLOBS,
            "json": JSON_PAIRS,
            "protocol": PROTOCOL,
        },
    ),
    lambda given: Match(**given),
)

CONNECTION_MATCH = then(
    table(
        "ConnectionMatch",
        {
            "side": one(leaves.choice(("client", "upstream"))),
            "number": NTH,
            "protocol": PROTOCOL,
            "sni": _TEXT,
        },
    ),
    lambda given: ConnectionMatch(**given),
)

UPSTREAM = table(
    "Upstream",
    {
        "protocol": one(leaves.choice(("http/1.1", "h2", "auto"))),
        "max_connections": one(leaves.integer(1, 100_000)),
        "balance": one(leaves.choice(("request", "connection"))),
        "host": one(Leaf(_host, {"type": "string"})),
        "accept_encoding": one(leaves.choice(("remove", "keep"))),
    },
)

RULE_KEYS: dict[str, Any] = {
    "match": MATCH,
    "nth": NTH,
    "probability": one(Leaf(_probability, {"type": "number", "minimum": 0, "maximum": 1})),
    "records": one(leaves.choice(("sse", "lines", "grpc", "chunks"))),
    "mount": one(Leaf(_mount, {"type": "string", "pattern": "^(/|.*\\$\\{)"})),
    "hops": _LIST,
    "faults": _LIST,
    "preset": _TEXT,
}
FILE_KEYS: dict[str, Any] = {
    "version": one(leaves.choice((1,))),
    "name": one(leaves.LINE),
    "about": _TEXT,
    "seed": one(leaves.integer()),
    "upstream": UPSTREAM,
    "rules": _LIST,
    "connections": _LIST,
    "expect": _LIST,
}

FILE = TypeAdapter[dict[str, Any]](table("Scenario", {**FILE_KEYS, **RULE_KEYS}, {"version"}))
RULE = TypeAdapter[dict[str, Any]](table("Rule", RULE_KEYS))
HOP = TypeAdapter[dict[str, Any]](table("Hop", {"name": one(leaves.LINE), "faults": _LIST}, {"faults"}))
CONNECTION = TypeAdapter[dict[str, Any]](table("Connection", {"match": CONNECTION_MATCH, "faults": _LIST}, {"faults"}))
