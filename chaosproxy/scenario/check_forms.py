"""How each expectation is written: a bare word, a bare value for its main parameter, or a mapping of its fields, with
`match` and `nth` among them.

Rules: everything comes from the check's own fields, as with faults. Must not know: any particular check, files.
"""

import functools
from typing import Any, get_type_hints

from pydantic import TypeAdapter

import chaosproxy.judging.judge  # noqa: F401 -- its import registers the checks
from chaosproxy.judging.check import Check
from chaosproxy.scenario import leaves
from chaosproxy.scenario.document import MATCH, NTH
from chaosproxy.scenario.nth import ALL
from chaosproxy.scenario.schema import Expectation, Match
from chaosproxy.scenario.shapes import MAPPING, VALUE, built, by_shape, key_of, keys_of, one, table, then, written


def check_type(spec: type[Check]) -> Any:
    """The pydantic type of what stands behind the check's name."""
    shapes, required = keys_of(spec)
    by_keys = then(table(spec.name, {**shapes, "match": MATCH, "nth": NTH}, required), functools.partial(_built, spec))
    if spec.main is None:
        return by_keys
    main = spec.main
    assert required <= {key_of(main)}, f"a bare value of {spec.name} would leave something out"

    def alone(value: object) -> object:
        return _built(spec, {key_of(main): value})

    how = written(get_type_hints(spec, include_extras=True)[main])
    return by_shape({VALUE: then(one(leaves.any_of(how.value)), alone), MAPPING: by_keys}, VALUE)


def _built(spec: type[Check], given: dict[str, Any]) -> Expectation:
    match, nth = given.pop("match", Match()), given.pop("nth", ALL)
    check = built(spec, {f"{key}_" if key == "name" else key: value for key, value in given.items()})
    assert isinstance(check, Check)
    return Expectation(check, match, nth)


_ADAPTERS: dict[type[Check], TypeAdapter[Any]] = {}


def check_adapter(spec: type[Check]) -> TypeAdapter[Any]:
    """What validates it; built once."""
    if spec not in _ADAPTERS:
        _ADAPTERS[spec] = TypeAdapter(check_type(spec))
    return _ADAPTERS[spec]
