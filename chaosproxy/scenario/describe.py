"""The JSON Schema of a scenario file, for editors: from the same types that read it.

Rules: what `load` accepts, the schema accepts; it cannot say everything that `load` refuses (neighbours, the wire's
grammar). Must not know: any particular fault.
"""

import ast
import inspect
import textwrap
from itertools import combinations, pairwise
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode

from chaosproxy.chain.fault import FaultSpec
from chaosproxy.judging.check import CHECKS, Check
from chaosproxy.presets.preset import PRESETS, Preset
from chaosproxy.scenario import catalogue, document, leaves
from chaosproxy.scenario.check_forms import check_adapter
from chaosproxy.scenario.fault_forms import fault_adapter
from chaosproxy.scenario.preset_forms import preset_adapter
from chaosproxy.scenario.shapes import key_of

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_MODE: JsonSchemaMode = "validation"

Schema = dict[str, Any]


def schema() -> Schema:
    """The schema as plain data."""
    faults = {spec.name: spec for spec in catalogue.every()}
    adapters: dict[str, TypeAdapter[Any]] = {
        "scenario": document.FILE,
        "rule": document.RULE,
        "hop": document.HOP,
        "connection": document.CONNECTION,
        **{f"fault {name}": fault_adapter(spec) for name, spec in faults.items()},
        **{f"check {name}": check_adapter(check) for name, check in CHECKS.items()},
        **{f"preset {name}": preset_adapter(spec) for name, spec in PRESETS.items()},
    }
    made, rest = TypeAdapter.json_schemas([(key, _MODE, adapter) for key, adapter in adapters.items()])
    definitions: Schema = {key: _tidy(one) for key, one in rest["$defs"].items()}
    tops = {key: _resolved(_tidy(made[key, _MODE]), definitions) for key in adapters}
    definitions["fault"] = _one_of(
        {name: _described(tops[f"fault {name}"], spec, definitions) for name, spec in faults.items()}
    )
    checks = {name: _described(tops[f"check {name}"], check, definitions) for name, check in sorted(CHECKS.items())}
    definitions["expectation"] = {"anyOf": [{"type": "string", "enum": list(checks)}, _one_of(checks)]}
    presets = {name: _described(tops[f"preset {name}"], spec, definitions) for name, spec in sorted(PRESETS.items())}
    for form in (*(tops[key] for key in ("hop", "rule", "connection", "scenario")), *presets.values()):
        for plural, item in _LISTS.items():
            if plural in form["properties"]:
                form["properties"][plural]["items"] = {"$ref": f"#/$defs/{item}"}
    tops["hop"] = {"anyOf": [tops["hop"], *presets.values()]} if presets else tops["hop"]
    twice = [{"required": list(pair)} for pair in combinations(("faults", "hops", "preset"), 2)]
    file = tops.pop("scenario")
    # A file is either rules, or one rule in the short form; and `faults` is one hop, and so is `preset`.
    file["not"] = {"anyOf": [*twice, *({"required": ["rules", key]} for key in document.RULE_KEYS)]}
    tops["rule"]["not"] = {"anyOf": twice}
    for form in (file, tops["rule"]):
        form["properties"]["preset"] = leaves.or_variable({"enum": sorted(PRESETS)})
    definitions |= {key: tops[key] for key in ("hop", "rule", "connection")}
    return {"$schema": DIALECT, **file, "title": "chaosproxy scenario", "$defs": definitions}


_LISTS = {
    "faults": "fault",
    "hops": "hop",
    "rules": "rule",
    "connections": "connection",
    "expect": "expectation",
}


def _one_of(named: Schema) -> Schema:
    """A mapping with one key, which is one of these."""
    return {
        "type": "object",
        "properties": named,
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": 1,
    }


def _tidy(given: Any) -> Any:
    """Without what pydantic adds for readers of its models: titles, defaults that mean "left out"."""
    match given:
        case dict():
            tidied = {}
            for key, one in given.items():
                if key in {"properties", "$defs"}:
                    tidied[key] = {name: _tidy(inner) for name, inner in one.items()}
                elif key == "oneOf":
                    tidied["anyOf"] = _tidy(one)
                elif key != "title" and not (key == "default" and one is None):
                    tidied[key] = _tidy(one)
            return tidied
        case list():
            return [_tidy(one) for one in given]
        case _:
            return given


def _resolved(given: Schema, definitions: Schema) -> Schema:
    """What a reference at the top stands for; nothing else refers to it."""
    reference = given.get("$ref")
    return given if reference is None else definitions.pop(reference.rpartition("/")[2])


def _described(form: Schema, spec: type[FaultSpec] | type[Check] | type[Preset], definitions: Schema) -> Schema:
    """Its own words, and its fields', beside their shapes."""
    mapping = form
    for alternative in form.get("anyOf", []):
        if "$ref" in alternative and alternative["$ref"].rpartition("/")[2] == spec.name:
            mapping = definitions[spec.name]
    words = field_words(spec)
    for key, shape in mapping["properties"].items():
        if key in words:
            shape["description"] = words[key]
    said = spec.about if issubclass(spec, Preset) else spec.__doc__
    return {"description": inspect.cleandoc(said or spec.name), **form}


def field_words(spec: type[FaultSpec] | type[Check] | type[Preset]) -> dict[str, str]:
    """By YAML key the docstring below each field, nearest class first; nothing where the source is not at hand."""
    words: dict[str, str] = {}
    for kind in spec.__mro__:
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(kind)))
        except (OSError, TypeError, SyntaxError):
            continue  # made in a shell, or frozen into an executable
        body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else []
        for field, below in pairwise(body):
            match field, below:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                    words.setdefault(key_of(name), " ".join(text.split()))
                case _:
                    pass
    return words
