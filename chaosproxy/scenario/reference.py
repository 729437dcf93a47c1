"""What there is to say of a fault, read from its own file: the same words and types that make its schema.

Rules: nothing is said here that the fault does not say of itself. Must not know: any particular fault, how a page looks.
"""

import inspect
import types
from collections.abc import Collection
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import yaml

from chaosproxy.chain.condition import Condition
from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import FaultSpec
from chaosproxy.chain.trigger import Trigger
from chaosproxy.judging.check import Check
from chaosproxy.model.headers import Headers
from chaosproxy.model.units import Unit, Within
from chaosproxy.model.vocabulary import Way
from chaosproxy.presets.preset import Preset
from chaosproxy.scenario import dump
from chaosproxy.scenario.describe import field_words
from chaosproxy.scenario.shapes import key_of

OWN_FORMS = {Trigger: "a place", Ending: "an ending", Condition: "a condition"}
"""Types with a form that is described elsewhere, once for all faults."""
_COMMON = {"at", "if", "way"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One key of a fault."""

    key: str
    form: str
    """How its value is written, for a person."""
    default: str | None
    """As it is written; "" where leaving it out means that it does nothing, None where it is required."""
    words: str
    """What it means, with its unit; the field's docstring."""


@dataclass(frozen=True, slots=True)
class Reference:
    """One fault."""

    name: str
    does: str
    """One sentence: what the machine does."""
    imitates: str
    """Paragraphs: which real things do this, and where that is documented."""
    summary: str
    """What the fault is, in its own words."""
    main: str | None
    """The parameter that a bare value sets."""
    parameters: tuple[Parameter, ...]
    at: Literal["required", "optional", "none"]
    without_at: str
    ways: tuple[str, ...]
    way: str
    """What the ways mean, where the fault has something to say of that."""
    on_connections: bool
    on_sessions: bool
    in_hops: bool
    edits_body: bool
    codes_body: bool


def reference(spec: type[FaultSpec]) -> Reference:
    """Everything about one fault."""
    first, _, rest = inspect.cleandoc(inspect.getdoc(inspect.getmodule(spec)) or "").partition("\n\n")
    does = " ".join(first.split()).removeprefix(f"`{spec.name}`:").strip()
    return Reference(
        name=spec.name,
        does=does[:1].upper() + does[1:],
        imitates=rest.strip(),
        summary=inspect.cleandoc(spec.__doc__ or ""),
        main=None if spec.main is None else key_of(spec.main),
        parameters=parameters(spec),
        at="required" if spec.needs_at else "optional" if spec.has_at else "none",
        without_at=spec.without_at,
        ways=tuple(str(way) for way in (*Way, "both") if way in spec.ways),
        way=field_words(spec).get("way", ""),
        on_connections=spec.on_connections,
        on_sessions=spec.on_sessions,
        in_hops=spec.in_hops,
        edits_body=spec.edits_body is not False,  # a property, where it depends on the parameters
        codes_body=spec.codes_body is not False,
    )


def parameters(
    spec: type[FaultSpec] | type[Check] | type[Preset], common: Collection[str] = _COMMON
) -> tuple[Parameter, ...]:
    """Its own keys, in the order of its fields, the main one first; without those that are `common` to its kind."""
    hints, words = get_type_hints(spec, include_extras=True), field_words(spec)
    own = [
        Parameter(key, form(hints[field.name]), _default(hints[field.name], field), words.get(key, ""))
        for field in fields(spec)
        if field.init and (key := key_of(field.name)) not in common
    ]
    main: str | None = None if issubclass(spec, Preset) else spec.main
    return tuple(sorted(own, key=lambda one: one.key != key_of(main or "")))


def form(kind: Any) -> str:
    """How a value of this type is written, for a person."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        mark = next((one for one in arguments[1:] if isinstance(one, Unit | Within)), None)
        return form(arguments[0]) if mark is None else str(mark)
    if origin in {Union, types.UnionType}:
        forms = dict.fromkeys(form(one) for one in arguments if one is not type(None))
        return " or ".join(one for one in forms if f"{one}, or a list of them" not in forms)
    if origin is Literal:
        return _choice([str(one) for one in arguments])
    if kind == Headers:
        return "a mapping of header fields"
    if origin is tuple:
        item = arguments[0]
        pairs = get_origin(item) is tuple and Ellipsis not in get_args(item)
        return "a mapping" if pairs else f"{form(item)}, or a list of them"
    return _plain(kind)


def _plain(kind: Any) -> str:
    if kind is bool:
        return "`true` or `false`"
    if kind in OWN_FORMS:
        return OWN_FORMS[kind]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _choice([str(one.value) for one in kind])
    if isinstance(kind, type) and is_dataclass(kind):
        return "a mapping of " + ", ".join(f"`{key_of(field.name)}`" for field in fields(kind) if field.init)
    return {int: "a whole number", float: "a number", str: "text", bytes: "text"}.get(kind, "any value")


def _choice(words: list[str]) -> str:
    *others, last = [f"`{word}`" for word in words]
    return f"{', '.join(others)} or {last}" if others else last


def _default(kind: Any, field: Field[Any]) -> str | None:
    if field.default is MISSING and field.default_factory is MISSING:
        return None
    default = field.default if field.default_factory is MISSING else field.default_factory()
    if default is None or default in ((), b"", ""):
        return ""
    shown = dump.value(kind, default)
    if isinstance(shown, list) and len(shown) == 1:
        shown = shown[0]
    if isinstance(shown, str):
        return shown
    text = yaml.safe_dump(shown, default_flow_style=True, width=10**6, sort_keys=False)
    return text.removesuffix("\n").removesuffix("\n...").strip()
