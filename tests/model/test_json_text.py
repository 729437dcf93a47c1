"""A member goes, and every other byte stays."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as some

from chaosproxy.model import json_text
from chaosproxy.model.json_text import span, with_member, without_member

TABLE = [
    ('{"a":1}', "a", "{}"),
    ('{ "a" : 1 }', "a", "{  }"),
    ('{"a":1,"b":2,"c":3}', "a", '{"b":2,"c":3}'),
    ('{"a":1,"b":2,"c":3}', "b", '{"a":1,"c":3}'),
    ('{"a":1,"b":2,"c":3}', "c", '{"a":1,"b":2}'),
    ('{"a": 1.00,\n  "b": {"x": [1, "}"]},\n  "c": "\\u00fc"}', "b", '{"a": 1.00,\n  "c": "\\u00fc"}'),
    ('{"a": {"b": 1, "c": 2}, "b": 3}', "a.b", '{"a": {"c": 2}, "b": 3}'),
    (' {"a":{"b":{"c":1}}}\n', "a.b.c", ' {"a":{"b":{}}}\n'),
    ('{"a":"{\\"b\\":1}"}', "a.b", '{"a":"{\\"b\\":1}"}'),
    ('{"a":[{"b":1}]}', "a.b", '{"a":[{"b":1}]}'),
    ('{"a":[{"b":1}]}', "a.0.b", '{"a":[{}]}'),
    ('{"a":[1, 2 ,3]}', "a.1", '{"a":[1, 3]}'),
    ('{"a":[1, 2 ]}', "a.1", '{"a":[1 ]}'),
    ('{"a":[]}', "a.0", '{"a":[]}'),
    ('{"a":[1]}', "a.01", '{"a":[1]}'),
    ('{"a":null}', "a.b", '{"a":null}'),
    ('{"\\u0061":1,"b":2}', "a", '{"b":2}'),
    ('{"a":1}', "b", '{"a":1}'),
    ('{"a":1}', "b.c", '{"a":1}'),
    ("{}", "a", "{}"),
    ("[1]", "a", "[1]"),
    ("[1]", "0", "[]"),
    ("1", "a", "1"),
]


@pytest.mark.parametrize(("text", "path", "left"), TABLE)
def test_without_a_member(text, path, left):
    assert without_member(text, path) == left


values = some.recursive(
    some.none() | some.booleans() | some.integers() | some.floats(allow_nan=False, allow_infinity=False) | some.text(),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(max_size=3), inner, max_size=4),
    max_leaves=8,
)


@given(
    some.dictionaries(some.sampled_from("abcd"), values),
    some.sampled_from("abcd"),
    some.sampled_from([None, 1, "\t"]),
    some.booleans(),
)
def test_any_document_means_the_same_without_it(document, name, indent, ascii_):
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_)
    left = {key: value for key, value in document.items() if key != name}
    assert json.loads(without_member(text, name)) == left
    nested = json.loads(without_member(json.dumps({"in": document}, indent=indent), f"in.{name}"))
    assert nested == {"in": left}


CHANGED = [
    ('{"a":1}', "a", None, '{"a":null}'),
    ('{ "a" : 1.00, "b":2 }', "b", {"c": "\u2028"}, '{ "a" : 1.00, "b":{"c":"\u2028"} }'),
    ('{"a":[{"b":1}]}', "a.0.b", "x", '{"a":[{"b":"x"}]}'),
    ('{"a":[{"b":1}]}', "a.0.c", [], '{"a":[{"b":1,"c":[]}]}'),
    ('{"a": { } }', "a.\u00fc", 1, '{"a": {"\\u00fc":1 } }'),
    ("{}", "a", True, '{"a":true}'),
    (" [1, 2] ", "1", 3, " [1, 3] "),
    ("[1]", "1", 2, "[1]"),
    ('{"a":1}', "a.b", 2, '{"a":1}'),
    ('{"a":1}', "b.c", 2, '{"a":1}'),
    ("1", "a", 2, "1"),
]


@pytest.mark.parametrize(("text", "path", "value", "changed"), CHANGED)
def test_with_a_member(text, path, value, changed):
    assert with_member(text, path, value) == changed


@pytest.mark.parametrize(
    ("path", "value"),
    [("", '{"a": [1, {"b": "x"}]}'), ("a", '[1, {"b": "x"}]'), ("a.1.b", '"x"'), ("a.2", None), ("b", None)],
)
def test_where_a_value_stands(path, value):
    text = ' {"a": [1, {"b": "x"}]}\n'
    found = span(text, path)
    assert (found and text[slice(*found)]) == value


def test_what_is_nested_too_deep_from_here_is_left_alone(monkeypatch):
    """Whoever has parsed it stood lower in the stack."""

    class Deep:
        def raw_decode(self, text, place):
            raise RecursionError

    monkeypatch.setattr(json_text, "_DECODER", Deep())
    text = '{"a":[1]}'
    assert json_text.without_member(text, "a") == text
    assert json_text.with_member(text, "b", 1) == text
    assert json_text.span(text, "a") is None
