"""Plain scalars are what YAML 1.2 says, not 1.1."""

import pytest

from chaosproxy.scenario.scalars import CORE, resolve, tagged


@pytest.mark.parametrize(
    "text",
    [
        "no",
        "No",
        "yes",
        "on",
        "off",
        "y",
        "n",
        "12:30",
        "2026-01-01",
        "1_000",
        "0b11",
        "1e",
        "0x",
        "0o9",
        "=",
        "<<",
        "1.2.3",
        "+",
        "-",
        ".",
        "e5",
        "0x1G",
        "tRUE",
        "nULL",
        "٣",
        "4KiB",
        "~x",
    ],
)
def test_strings(text):
    assert resolve(text) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("NULL", None),
        ("true", True),
        ("False", False),
        ("0", 0),
        ("-12", -12),
        ("+7", 7),
        ("012", 12),
        ("0o17", 15),
        ("0xff", 255),
        ("9007199254740992", 2**53),
        ("1.5", 1.5),
        ("-.5", -0.5),
        ("1.", 1.0),
        ("1e3", 1000.0),
        ("0x00000000000000000000000000ff", 255),
    ],
)
def test_values(text, value):
    found = resolve(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    "text",
    [
        ".inf",
        "-.INF",
        ".nan",
        "1e999",
        "9007199254740993",
        "-9007199254740993",
        "9" * 5000,
        "0x" + "f" * 5000,
        "0xffffffffffffffff",
    ],
)
def test_numbers_that_nobody_can_mean(text):
    with pytest.raises(ValueError, match=r"finite|beyond") as caught:
        resolve(text)
    assert len(str(caught.value)) < 150


@pytest.mark.parametrize(
    ("text", "tag", "value"),
    [("1", "str", "1"), ("1", "int", 1), ("1", "float", 1.0), ("true", "bool", True), ("", "null", None)],
)
def test_core_tags(text, tag, value):
    found = tagged(text, CORE + tag)
    assert found == value
    assert type(found) is type(value)


def test_the_non_specific_tag_is_a_string():
    assert tagged("1", "!") == "1"


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("x", "int"),
        ("1.5", "int"),
        ("no", "bool"),
        ("x", "null"),
        ("2026-01-01", "timestamp"),
        ("eA==", "binary"),
        ("", "map"),
    ],
)
def test_other_tags_and_texts(text, tag):
    with pytest.raises(ValueError, match=r"is no|not allowed"):
        tagged(text, CORE + tag)
