"""A fault that contradicts itself is refused when it is made known, not when somebody uses it."""

from dataclasses import dataclass
from typing import ClassVar

import pytest

import chaosproxy.faults  # noqa: F401 - its import makes `cut` known
from chaosproxy.chain.fault import REGISTRY, FaultSpec, Neutral, register
from chaosproxy.model.vocabulary import Way


@pytest.fixture(autouse=True)
def registry():
    """Nothing that is registered here outlives its test."""
    known = dict(REGISTRY)
    yield
    REGISTRY.clear()
    REGISTRY.update(known)


def start(spec, context):
    return Neutral()


def made(**says):
    """A fault with one field, whose class says these things besides; what is None it does not say."""
    body = {"__annotations__": {"length": "int"}, "length": 0, "name": "own", "__module__": __name__, "start": start}
    body = {key: value for key, value in (body | says).items() if value is not None}
    return dataclass(frozen=True, kw_only=True)(type("Own", (FaultSpec,), body))


def test_what_contradicts_nothing_is_known_by_its_name():
    own = register(made(main="length"))
    assert REGISTRY["own"] is own
    anew = register(made())  # as when its file is imported once more
    assert REGISTRY["own"] is anew


@pytest.mark.parametrize(
    ("says", "words"),
    [
        ({"main": "lenght"}, "Own: `main` is 'lenght', which is none of its fields: way, if_, at, length"),
        ({"ways": frozenset({Way.REQUEST})}, "give the field `way` another default"),
        ({"name": None}, 'Own: it has no name; write name: ClassVar[str] = "its_yaml_key"'),
        ({"start": None}, "Own: it has no `start`, which makes the running object of one exchange"),
        ({"name": "cut"}, "chaosproxy.faults.cut has a fault with the name 'cut' already"),
    ],
)
def test_what_contradicts_itself_is_refused(says, words):
    with pytest.raises(TypeError) as error:
        register(made(**says))
    assert words in str(error.value)
    assert "own" not in REGISTRY


def test_the_decorators_in_the_wrong_order():
    with pytest.raises(TypeError, match="it is no dataclass yet; write @register above @dataclass"):

        @register
        class Late(FaultSpec):
            name = "own"


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload(FaultSpec):
    name: ClassVar[str] = "upload"
    ways: ClassVar[frozenset[Way]] = frozenset({Way.REQUEST})

    way: Way = Way.REQUEST

    start = start


def test_a_fault_of_the_request_alone_says_so_twice():
    assert REGISTRY[register(Upload).name]().way is Way.REQUEST
