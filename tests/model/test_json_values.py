"""What counts as JSON, and what a dotted path finds in it."""

import pytest

from chaosproxy.model.json_values import LONGEST, NOT_JSON, holds, parse

DOCUMENT = parse(
    b'{"stream": true, "n": 1, "temperature": 1.0, "model": "gpt-4o", "stop": null,'
    b' "choices": [{"finish_reason": "stop"}], "tags": ["a", 1]}'
)


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("stream", True, True),
        ("stream", False, False),
        ("stream", 1, False),
        ("n", 1, True),
        ("n", True, False),
        ("n", 1.0, True),
        ("temperature", 1, True),
        ("model", "gpt-4o", True),
        ("model", "gpt-*", True),
        ("model", "gpt-?", False),
        ("n", "1", False),
        ("stop", None, True),
        ("absent", None, False),
        ("choices.0.finish_reason", "stop", True),
        ("choices.1.finish_reason", "*", False),
        ("choices.finish_reason", "*", False),
        ("choices.-1.finish_reason", "*", False),
        ("model.0", "g", False),
        ("tags", ["a", 1], True),
        ("tags", ["a", True], False),
        ("choices.0", {"finish_reason": "stop"}, True),
        ("choices.0", {"finish_reason": "st*"}, False),
    ],
)
def test_holds(path, value, expected):
    assert holds(DOCUMENT, [(path, value)]) is expected


def test_every_pair_must_hold():
    assert holds(DOCUMENT, [("stream", True), ("model", "gpt*")])
    assert not holds(DOCUMENT, [("stream", True), ("model", "claude*")])


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"NaN",
        b'{"a": Infinity}',
        b'{"a": 1, "a": 2}',
        b'"\\ud800"',
        b'{"\\udfff": 1}',
        b"\xff",
        '{"a": 1}'.encode("utf-16"),
        b"\xef\xbb\xbf{}",
        b"[" * 1_000_000,
        b'{"n": ' + b"9" * 5000 + b"}",
        b'"' + b"a" * LONGEST + b'"',
    ],
)
def test_anything_else_is_not_json_and_matches_nothing(text):
    document = parse(text)
    assert document is NOT_JSON
    assert repr(document) == "NOT_JSON"
    assert not holds(document, [])


def test_a_surrogate_pair_is_json():
    assert parse(b'"\\ud83d\\ude00"') == "\U0001f600"
