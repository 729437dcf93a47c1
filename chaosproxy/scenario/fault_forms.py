"""How each fault is written: a bare value for its main parameter, or a mapping of its fields.

Rules: everything comes from the spec's own fields and flags; built once per spec, and only for faults that are used.
Must not know: any particular fault, files.
"""

import functools
from typing import Any, get_type_hints

from pydantic import TypeAdapter

import chaosproxy.scenario.forms  # noqa: F401 -- its import teaches `written` the forms of at, then and if
from chaosproxy.chain.fault import FaultSpec
from chaosproxy.model.vocabulary import Way
from chaosproxy.scenario import leaves
from chaosproxy.scenario.leaves import refuse
from chaosproxy.scenario.shapes import (
    LIST,
    MAPPING,
    VALUE,
    built,
    by_shape,
    key_of,
    keys_of,
    one,
    table,
    then,
    written,
)


def fault_type(spec: type[FaultSpec]) -> Any:
    """The pydantic type of what stands behind the fault's name."""
    shapes, required = keys_of(spec)
    at, condition, way = (shapes.pop(key) for key in ("at", "if", "way"))
    if spec.has_at or spec.needs_at:
        shapes["at"] = at
    shapes |= {"if": condition, "way": way}  # behind the fault's own, wherever keys are listed
    if spec.needs_at:
        required.add("at")
    shapes["way"] = one(leaves.choice([way for way in (*Way, "both") if way in spec.ways]))
    by_keys = then(table(spec.name, shapes, required), functools.partial(built, spec))
    alternatives = {**_main(spec, required), MAPPING: by_keys}
    if len(alternatives) == 1:
        return by_keys
    return by_shape(alternatives, next(iter(alternatives)))


def _main(spec: type[FaultSpec], required: set[str]) -> dict[str, Any]:
    if spec.main is None:
        return {}
    main = spec.main
    missing = sorted(required - {key_of(main)})

    def alone(value: object) -> object:
        if missing:
            raise refuse(f"`{missing[0]}` is required; write {{{key_of(main)}: ..., {missing[0]}: ...}}")
        return built(spec, {key_of(main): value})

    how = written(get_type_hints(spec, include_extras=True)[main])
    value = one(leaves.any_of(how.value)) if how.value else None
    return {tag: then(shape, alone) for tag, shape in ((VALUE, value), (LIST, how.list)) if shape is not None}


_ADAPTERS: dict[type[FaultSpec], TypeAdapter[Any]] = {}


def fault_adapter(spec: type[FaultSpec]) -> TypeAdapter[Any]:
    """What validates it; built once."""
    if spec not in _ADAPTERS:
        _ADAPTERS[spec] = TypeAdapter(fault_type(spec))
    return _ADAPTERS[spec]
