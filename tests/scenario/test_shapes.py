"""How a user's own fault is written follows from the types of its fields."""

from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, ClassVar, Literal

import pytest

from chaosproxy.chain.fault import REGISTRY, FaultSpec
from chaosproxy.model.units import Count, Duration, Size, Within
from chaosproxy.scenario import describe
from chaosproxy.scenario.dump import dump
from chaosproxy.scenario.load import examine, load


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, slots=True)
class Flush:
    bytes: Size | None = None
    every: Duration | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Own(FaultSpec):
    """A fault of a user's own."""

    name: ClassVar[str] = "own"
    main: ClassVar[str | None] = "flush"
    has_at: ClassVar[bool] = True

    flush: Literal["sync", "end"] | Flush = "sync"
    """When it flushes."""
    colour: Colour = Colour.RED
    level: Annotated[int, Within(1, 9)] = 6
    most: Annotated[int, Within(most=99)] = 50
    times: Count | None = None
    share: float = 0.5
    settings: tuple[tuple[str, int], ...] = ()
    words: tuple[tuple[str, str], ...] = ()
    raw: tuple[tuple[bytes, bytes], ...] | None = None
    anything: Any = None
    steps: tuple[Literal["comments", "usage"], ...] = ()
    flushes: tuple[Flush, ...] = ()
    marked: Annotated[str, "a mark of somebody else's"] = ""
    payload: Size | tuple[Size, ...] | Flush | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Needy(FaultSpec):
    name: ClassVar[str] = "needy"
    main: ClassVar[str | None] = "amount"
    needs_at: ClassVar[bool] = True

    amount: int


@pytest.fixture(autouse=True)
def own(monkeypatch):
    monkeypatch.setitem(REGISTRY, "own", Own)
    monkeypatch.setitem(REGISTRY, "needy", Needy)


GOOD = [
    ("end", {"flush": "end"}),
    ({"flush": {"bytes": "1KiB"}}, {"flush": Flush(bytes=1024)}),
    ({"flush": {"every": "1s"}, "colour": "blue"}, {"flush": Flush(every=1.0), "colour": Colour.BLUE}),
    ({"level": 9, "most": -5, "times": 10**9, "share": 1}, {"level": 9, "most": -5, "times": 10**9, "share": 1.0}),
    ({"settings": {"a": 1, "b": 2}}, {"settings": (("a", 1), ("b", 2))}),
    ({"words": {"a": 1, "b": True, "c": "d"}}, {"words": (("a", "1"), ("b", "true"), ("c", "d"))}),
    ({"raw": {"A": "b"}}, {"raw": ((b"A", b"b"),)}),
    ({"anything": {"a": [1, None]}}, {"anything": {"a": [1, None]}}),
    ({"steps": "usage"}, {"steps": ("usage",)}),
    ({"steps": ["usage", "comments"]}, {"steps": ("usage", "comments")}),
    ({"flushes": {"bytes": 1}}, {"flushes": (Flush(bytes=1),)}),
    ({"flushes": [{"bytes": 1}, {}]}, {"flushes": (Flush(bytes=1), Flush())}),
    ({"marked": "x"}, {"marked": "x"}),
    ({"payload": 5}, {"payload": 5}),
    ({"payload": [5, "1KiB"]}, {"payload": (5, 1024)}),
    ({"payload": {"bytes": 5}}, {"payload": Flush(bytes=5)}),
]


@pytest.mark.parametrize(("written", "fields"), GOOD)
def test_fields_are_written_by_their_types(written, fields):
    scenario = load({"version": 1, "faults": [{"own": written}]})
    assert scenario.rules[0].faults == (Own(**fields),)
    assert load(dump(scenario)) == scenario


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("ned", "did you mean 'end'? expected one of sync, end"),
        ({"flush": {"byts": 1}}, "unknown key 'byts'; did you mean 'bytes'? allowed: bytes, every"),
        ({"flush": []}, "found a list; expected one of sync, end"),
        ({"colour": "bleu"}, "did you mean 'blue'?"),
        ({"level": 0}, "a whole number from 1 to 9"),
        ({"most": 100}, "a whole number, 99 or less"),
        ({"times": 0}, "a whole number, 1 or more"),
        ({"share": "half"}, "found 'half'; expected a number"),
        ({"settings": {"a": "b"}}, "a: found 'b'; expected a whole number"),
        ({"settings": [1]}, "settings: found a list; expected a mapping"),
        ({"steps": ["usage", "coments"]}, "did you mean 'comments'?"),
        ({"flushes": [{"bytes": -1}]}, "bytes: found the number -1"),
    ],
)
def test_what_does_not_fit_its_type(written, words):
    _, (problem,) = examine({"version": 1, "faults": [{"own": written}]})
    assert words in problem.message


def test_a_bare_value_cannot_do_where_more_is_required():
    _, (problem,) = examine("version: 1\nfaults:\n- needy: 5\n")
    assert problem.message.endswith("`at` is required; write {amount: ..., at: ...}")
    assert (problem.line, problem.column) == (3, 10)


def test_a_users_own_fault_is_in_the_schema():
    shapes = describe.schema()["$defs"]
    assert shapes["fault"]["properties"]["own"]["description"] == "A fault of a user's own."
    assert shapes["own"]["properties"]["flush"]["description"] == "When it flushes."


def made(kind):
    @dataclass(frozen=True, kw_only=True)
    class Strange(FaultSpec):
        name: ClassVar[str] = "strange"
        field: kind = None

    return Strange


@pytest.mark.parametrize(
    "kind", [complex, set[int], tuple[int, ...] | tuple[str, ...], Flush | tuple[tuple[str, int], ...]]
)
def test_a_type_without_a_form_is_the_authors_mistake(kind, monkeypatch):
    monkeypatch.setitem(REGISTRY, "strange", made(kind))
    with pytest.raises(TypeError, match="no form"):
        examine({"version": 1, "faults": [{"strange": {}}]})
