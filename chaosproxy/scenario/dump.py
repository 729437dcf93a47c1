"""A scenario back into what a user would write: plain values for YAML or JSON, in the long form.

Rules: what is left at its default is left out; `load(dump(scenario))` equals the scenario. Must not know: YAML's text,
pydantic, any particular fault.
"""

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import FaultSpec
from chaosproxy.chain.trigger import Trigger
from chaosproxy.model.codes import NAMES
from chaosproxy.model.headers import Headers
from chaosproxy.model.units import Unit, show_duration, show_frequency, show_size
from chaosproxy.scenario import nth
from chaosproxy.scenario.schema import Connection, ConnectionMatch, Expectation, Hop, Match, Rule, Scenario

Plain = dict[str, Any]


def dump(scenario: Scenario) -> Plain:
    """The whole file."""
    upstream = changed(scenario.upstream)
    return {
        "version": 1,
        "name": scenario.name,
        **({"about": escaped(scenario.about)} if scenario.about else {}),
        **({"seed": scenario.seed} if scenario.seed is not None else {}),
        **({"upstream": upstream} if upstream else {}),
        **({"rules": [_rule(rule) for rule in scenario.rules]} if scenario.rules else {}),
        **({"connections": [_connection(one) for one in scenario.connections]} if scenario.connections else {}),
        **({"expect": [_expectation(one) for one in scenario.expect]} if scenario.expect else {}),
    }


def _rule(rule: Rule) -> Plain:
    match = _match(rule.match)
    return {
        **({"match": match} if match else {}),
        **({"nth": nth.show(rule.nth)} if rule.nth != nth.ALL else {}),
        **({"probability": rule.probability} if rule.probability != 1 else {}),
        **({"records": rule.records} if rule.records else {}),
        **({"mount": rule.mount} if rule.mount else {}),
        "hops": [_hop(hop) for hop in rule.hops],
    }


def _hop(hop: Hop) -> Plain:
    name = {} if hop.name is None else {"name": escaped(hop.name)}
    return {**name, "faults": [fault(one) for one in hop.faults]}


def _match(match: Match | ConnectionMatch) -> Plain:
    shown = changed(match)
    if isinstance(match, ConnectionMatch) and "number" in shown:
        shown["number"] = nth.show(match.number)
    return shown


def _connection(connection: Connection) -> Plain:
    match = _match(connection.match)
    return {**({"match": match} if match else {}), "faults": [fault(one) for one in connection.faults]}


def _expectation(expectation: Expectation) -> Plain:
    match = _match(expectation.match)
    narrowed = {
        **({"match": match} if match else {}),
        **({"nth": nth.show(expectation.nth)} if expectation.nth != nth.ALL else {}),
    }
    return {expectation.check.name: {**changed(expectation.check), **narrowed}}


def fault(spec: FaultSpec) -> Plain:
    """One fault with its parameters."""
    return {spec.name: changed(spec)}


def changed(thing: Any) -> Plain:
    """The fields of a dataclass that are not at their default, as they are written."""
    hints = get_type_hints(type(thing), include_extras=True)
    return {
        field.name.removesuffix("_"): value(hints[field.name], getattr(thing, field.name))
        for field in fields(thing)
        if field.init and getattr(thing, field.name) != _default(field)
    }


def _default(field: Field[Any]) -> object:
    return field.default_factory() if field.default_factory is not MISSING else field.default


def value(kind: Any, given: Any) -> Any:
    """`given`, in a field of type `kind`, as it is written."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        mark = next((one for one in arguments[1:] if isinstance(one, Unit)), None)
        return value(arguments[0], given) if mark is None else _SHOW[mark.kind](given)
    if origin in {Union, types.UnionType}:
        return value(next(one for one in arguments if _fits(one, given)), given)
    if kind == Headers:
        return _headers(given)
    if origin is tuple:
        item = arguments[0]
        if get_origin(item) is tuple and Ellipsis not in get_args(item):
            return {_text(key): value(get_args(item)[1], one) for key, one in given}
        return [value(item, one) for one in given]
    return _single(given)


def _single(given: Any) -> Any:
    match given:
        case Trigger():
            return _trigger(given)
        case Ending():
            return _ending(given)
        case Enum():
            return given.value
        case bytes() | str():
            return escaped(_text(given))
        case Mapping():
            return {key: _single(one) for key, one in given.items()}
        case list():
            return [_single(one) for one in given]
        case _ if is_dataclass(given):
            return changed(given)
        case _:
            return given


def _fits(kind: Any, given: object) -> bool:
    """Whether `given` is a value of this member of a union."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _fits(arguments[0], given)
    if origin is Literal:
        return given in arguments
    if kind is float:
        return isinstance(given, int | float) and not isinstance(given, bool)
    return isinstance(given, origin or kind)


def _headers(given: Headers) -> Plain:
    lines: dict[str, list[str]] = {}
    for name, line in given:
        lines.setdefault(name.decode(), []).append(escaped(line.decode()))
    return {name: some[0] if len(some) == 1 else some for name, some in lines.items()}


def _trigger(at: Trigger) -> object:
    if at.moment is not None:
        return at.moment.value
    shown = changed(at)
    if at.every is not None:
        timed = at.time is not None or at.idle is not None
        shown["every"] = show_duration(at.every) if timed else int(at.every)
    return shown


def _ending(then: Ending) -> object:
    match then.kind:
        case "stream":
            return {"stream": _code(then.code)}
        case "goaway":
            return {"goaway": _code(then.code), "last": then.last}
        case "status":
            beside = {"body": escaped(then.body.decode()), "headers": _headers(then.headers)}
            return {"status": then.status, **{key: one for key, one in beside.items() if one}}
        case word:
            return word


def _code(code: int) -> int | str:
    """Its name, where it has one."""
    return NAMES[code] if code < len(NAMES) else code


def _text(given: str | bytes) -> str:
    return given.decode() if isinstance(given, bytes) else given


def escaped(text: str) -> str:
    """A text that reads as itself: what looks like a variable is none."""
    return text.replace("${", "$${")


def _show_rate(rate: float) -> str:
    return f"{show_size(int(rate))}/s"


_SHOW: dict[str, Callable[[Any], str]] = {
    "duration": show_duration,
    "size": show_size,
    "rate": _show_rate,
    "frequency": show_frequency,
}
