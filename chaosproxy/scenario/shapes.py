"""From the type of a field in a frozen dataclass to the pydantic type of how it is written.

| field's type                        | written as                                        |
|-------------------------------------|---------------------------------------------------|
| Duration, Size, Frequency, str ...  | one value (`leaves.py`)                            |
| X or None                           | X, or left out; never null                        |
| tuple[X, ...]                       | a list of X, or one X                             |
| Headers                             | a mapping; a value may be a list, for several lines |
| tuple[tuple[K, V], ...]             | a mapping                                         |
| Trigger, Ending, Condition          | forms of their own (`forms.py`)                   |
| another dataclass                   | a mapping of its fields                           |

Rules: one shape (value, list, mapping) leads to one alternative, so that an error is about the one that was meant.
Must not know: any fault, places.
"""

import functools
import types
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from keyword import iskeyword
from operator import getitem
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, create_model

from chaosproxy.model.headers import Headers
from chaosproxy.model.units import Unit, Within
from chaosproxy.model.validate import field_problem
from chaosproxy.scenario import leaves
from chaosproxy.scenario.leaves import Leaf, refuse

STRICT = ConfigDict(extra="forbid", defer_build=True)


def marked(shape: Any, *marks: object) -> Any:
    """`Annotated[shape, *marks]`, of a computed shape."""
    return getitem(cast("Any", Annotated), (shape, *marks))


def one(leaf: Leaf) -> Any:
    """The pydantic type of a leaf."""
    return marked(Any, leaf)


def then(shape: Any, function: Callable[[Any], object]) -> Any:
    """What is read by `shape`, through `function`."""
    return marked(shape, AfterValidator(function))


def list_of(shape: Any) -> Any:
    return getitem(cast("Any", list), shape)


def mapping_to(shape: Any) -> Any:
    """A mapping of any keys to one shape."""
    return getitem(cast("Any", dict), (str, shape))


VALUE, LIST, MAPPING = "<value>", "<list>", "<mapping>"
"""Tags of alternatives by shape. They stand in pydantic's paths and name no key."""

FORMS: dict[type, "Written"] = {}
"""Types with a form of their own; filled by the modules that define them."""

_LEAVES: dict[Any, Leaf] = {
    str: leaves.TEXT,
    bytes: leaves.OCTETS,
    bool: leaves.FLAG,
    int: leaves.integer(),
    float: leaves.NUMBER,
    object: leaves.ANYTHING,
    Any: leaves.ANYTHING,
}


@dataclass(frozen=True, slots=True)
class Written:
    """How a type is written, by shape; None where that shape is not."""

    value: tuple[Leaf, ...] = ()
    list: Any = None
    mapping: Any = None

    def joined(self) -> Any:
        """The pydantic type of all shapes together."""
        value = one(leaves.any_of(self.value)) if self.value else None
        shapes = {VALUE: value, LIST: self.list, MAPPING: self.mapping}
        present = {tag: shape for tag, shape in shapes.items() if shape is not None}
        if len(present) == 1:
            return next(iter(present.values()))
        fallback = next(iter(present))
        return by_shape(present, fallback)


def by_shape(shapes: dict[str, Any], fallback: str) -> Any:
    """A union that looks at the shape alone; a shape that is not among them goes to `fallback`, which complains."""

    def tag(value: object) -> str:
        shape = MAPPING if isinstance(value, dict) else LIST if isinstance(value, list) else VALUE
        return shape if shape in shapes else fallback

    tagged = tuple(marked(shape, Tag(name)) for name, shape in shapes.items())
    return marked(getitem(cast("Any", Union), tagged), Discriminator(tag))


def written(kind: Any) -> Written:
    """How a field of this type is written."""
    if kind in FORMS:
        return FORMS[kind]
    if kind == Headers:
        return Written(mapping=HEADERS)
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _annotated(arguments[0], arguments[1:])
    if origin in {Union, types.UnionType}:
        return _union([written(one) for one in arguments if one is not types.NoneType])
    if origin is Literal:
        return Written((leaves.choice(arguments),))
    if origin is tuple:
        return _tuple(arguments)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return Written((leaves.choice(list(kind)),))
    if is_dataclass(kind) and isinstance(kind, type):
        return Written(mapping=mapping_of(kind))
    if kind not in _LEAVES:
        raise TypeError(
            f"a field of type {kind!r} has no form in a scenario; take Duration, Size, Rate, Frequency, int, float, bool, "
            "str, bytes, a Literal, an Enum, a dataclass or a tuple of these"
        )
    return Written((_LEAVES[kind],))


def _annotated(kind: Any, marks: tuple[object, ...]) -> Written:
    for mark in marks:
        match mark:
            case Unit():
                return Written((leaves.BY_UNIT[mark.kind],))
            case Within():
                return Written((leaves.integer(mark.least, mark.most),))
            case _:
                pass
    return written(kind)


def _union(parts: list[Written]) -> Written:
    values = tuple(leaf for part in parts for leaf in part.value)
    lists = [part.list for part in parts if part.list is not None]
    mappings = [part.mapping for part in parts if part.mapping is not None]
    if len(lists) > 1 or len(mappings) > 1:
        raise TypeError("a field that is a union of two lists or two mappings has no form")
    return Written(values, lists[0] if lists else None, mappings[0] if mappings else None)


def _tuple(arguments: tuple[Any, ...]) -> Written:
    item = arguments[0]
    if get_origin(item) is tuple and Ellipsis not in get_args(item):
        key, value = get_args(item)
        shape = one(leaves.LOOSE_TEXT) if value is str else written(value).joined()
        pairs = functools.partial(_pairs, key)
        return Written(mapping=then(mapping_to(shape), pairs))
    each = written(item)
    single = None if each.mapping is None else then(each.mapping, lambda value: (value,))
    return Written(tuple(_single(leaf) for leaf in each.value), then(list_of(each.joined()), tuple), single)


def _pairs(kind: Any, given: dict[str, object]) -> tuple[tuple[str | bytes, object], ...]:
    return tuple((name.encode() if kind is bytes else name, value) for name, value in given.items())


def _single(leaf: Leaf) -> Leaf:
    return Leaf(lambda value: (leaf.parse(value),), leaf.schema)


def _lines(given: dict[str, list[bytes]]) -> Headers:
    return tuple((name.encode(), value) for name, lines in given.items() for value in lines)


def _checked(given: object) -> object:
    """Refuses what would break the wire (RFC 9110 sections 5.1 and 5.5), after the environment was filled in."""
    if isinstance(given, dict):
        for name, value in given.items():
            for line in value if isinstance(value, list) else [value]:
                text = str(line) if isinstance(line, str | int) else ""
                problem = field_problem(name.encode(), text.encode())
                if problem is not None:
                    raise refuse(problem, name)
    return given


_LINE = one(Leaf(lambda value: leaves.loose_text(value).encode(), leaves.LOOSE_TEXT.schema))
_ONE_OR_MORE = by_shape({VALUE: then(_LINE, lambda value: [value]), LIST: list_of(_LINE)}, VALUE)
HEADERS = marked(mapping_to(_ONE_OR_MORE), BeforeValidator(_checked), AfterValidator(_lines))
"""Field lines; a name with a list of values becomes several lines."""


def key_of(field: str) -> str:
    """`if_` is written `if`, `for_` is written `for`."""
    return field.removesuffix("_")


def table(name: str, shapes: Mapping[str, Any], required: Collection[str] = (), unoffered: Collection[str] = ()) -> Any:
    """The type of a mapping with these keys, read into a dict of those that are given. `unoffered` are keys that are
    read, to be refused in words of their own, and that no complaint suggests."""
    fields_ = {f"f_{number}": key for number, key in enumerate(shapes)}
    definitions: dict[str, Any] = {
        field: (shapes[key], Field(... if key in required else None, alias=key)) for field, key in fields_.items()
    }
    model = create_model(name, __config__=STRICT, **definitions)

    def given(found: BaseModel) -> dict[str, Any]:
        return {key: getattr(found, field) for field, key in fields_.items() if field in found.model_fields_set}

    offered = tuple(key for key in shapes if key not in unoffered)
    known = functools.partial(_known, offered, frozenset(shapes))
    return marked(model, BeforeValidator(known), AfterValidator(given))


@dataclass(frozen=True, slots=True)
class Unknown:
    """Stands for the value of a key that is none, so that the complaint can name those that are."""

    allowed: tuple[str, ...]


def _known(allowed: tuple[str, ...], known: frozenset[str], value: object) -> object:
    if not isinstance(value, dict):
        raise refuse(f"found {leaves.found(value)}; expected a mapping with {', '.join(allowed)}")
    return {key: one if key in known else Unknown(allowed) for key, one in value.items()}


@functools.cache
def mapping_of(kind: type) -> Any:
    """A mapping of a dataclass's fields, its names as keys, that becomes the dataclass."""
    return then(table(kind.__name__, *keys_of(kind)), functools.partial(built, kind))


def keys_of(kind: type) -> tuple[dict[str, Any], set[str]]:
    """The keys of a dataclass with their shapes, and which of them are required."""
    hints = get_type_hints(kind, include_extras=True)
    shapes = {key_of(field.name): _form_of(kind, field.name, hints) for field in fields(kind) if field.init}
    required = {
        key_of(field.name)
        for field in fields(kind)
        if field.init and field.default is MISSING and field.default_factory is MISSING
    }
    return shapes, required


def _form_of(kind: type, field: str, hints: Mapping[str, Any]) -> Any:
    try:
        return written(hints[field]).joined()
    except TypeError as error:
        raise TypeError(f"{kind.__name__}.{field}: {error}") from None


def built(kind: Callable[..., object], given: dict[str, Any]) -> object:
    """The dataclass with these keys given."""
    return kind(**{f"{key}_" if iskeyword(key) else key: value for key, value in given.items()})
