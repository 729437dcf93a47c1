"""Durations, sizes and rates as people write them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaosproxy.model.units import (
    LONGEST,
    Allowance,
    counted,
    duration,
    frequency,
    lasting,
    rate,
    show_duration,
    show_frequency,
    show_size,
    size,
)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("250ms", 0.25),
        ("9ms", 0.009),
        ("100us", 0.0001),
        ("1.5s", 1.5),
        ("1.5 s", 1.5),
        ("0s", 0),
        ("2m", 120),
        ("1h", 3600),
        ("3650d", LONGEST),
        ("forever", math.inf),
    ],
)
def test_durations(text, seconds):
    assert duration(text) == seconds


@pytest.mark.parametrize(
    "text",
    [
        "",
        "5",
        "ms",
        "-1s",
        "1e3s",
        "5S",
        "5MS",
        "5 parsecs",
        "1.s",
        ".5s",
        "inf",
        "1s ",
        " 1s",
        "1,5s",
        "٣s",
        "1" * 16 + "s",
    ],
)
def test_what_is_no_duration_is_refused_with_what_is(text):
    with pytest.raises(ValueError, match=r"250ms, 1\.5s, 2m, 1h or forever"):
        duration(text)


def test_ten_years_are_the_longest():
    with pytest.raises(ValueError, match="write forever"):
        duration("3651d")


@pytest.mark.parametrize(
    ("text", "nbytes"),
    [
        ("512", 512),
        (512, 512),
        ("512B", 512),
        ("4KiB", 4096),
        ("4 KiB", 4096),
        ("64k", 65536),
        ("64kb", 65536),
        ("1.5k", 1536),
        ("1MiB", 2**20),
        ("1m", 2**20),
        ("2GiB", 2**31),
        ("0", 0),
    ],
)
def test_sizes(text, nbytes):
    assert size(text) == nbytes


@pytest.mark.parametrize("text", ["", "KiB", "-1", "1e3", "4 KiBs", "1TiB", "0x10", "9" * 16, "4KiB/s", True])
def test_what_is_no_size_is_refused_with_what_is(text):
    with pytest.raises(ValueError, match="512, 4KiB, 64k or 1MiB"):
        size(text)


@pytest.mark.parametrize("text", ["1.5", "0.0001k", "999999999999999GiB"])
def test_a_size_is_a_whole_number_of_bytes(text):
    with pytest.raises(ValueError, match="no whole number of bytes"):
        size(text)


@pytest.mark.parametrize(
    ("text", "per_second"), [("32KiB/s", 32768), ("1MiB/s", 2**20), ("100/s", 100), ("1 KiB /s", 1024)]
)
def test_rates(text, per_second):
    assert rate(text) == per_second


@pytest.mark.parametrize("text", ["32KiB", "32KiB/m", "32KiB/", "/s", "x/s", "1.5/s", "1/s/s"])
def test_what_is_no_rate_is_refused_with_what_is(text):
    with pytest.raises(ValueError, match="no rate; write 32KiB/s"):
        rate(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (0.25, "250ms"),
        (0.009, "9ms"),
        (0.0000015, "1.5us"),
        (1, "1s"),
        (1.5, "1.5s"),
        (60, "1m"),
        (90, "90s"),
        (3600, "60m"),
        (1234567, "1234567s"),
        (math.inf, "forever"),
    ],
)
def test_durations_are_shown_as_people_write_them(seconds, text):
    assert show_duration(seconds) == text


@given(st.integers(0, 999_999), st.integers(0, 999_999), st.sampled_from(["us", "ms", "s", "m"]))
def test_a_duration_that_is_shown_reads_back_as_the_same_number(whole, fraction, unit):
    seconds = duration(f"{whole}.{fraction:06}{unit}")
    assert duration(show_duration(seconds)) == pytest.approx(seconds, rel=1e-9, abs=1e-9)


@given(st.integers(0, 3_000_000))
def test_whole_milliseconds_read_back_exactly(milliseconds):
    seconds = milliseconds / 1000
    assert duration(show_duration(seconds)) == seconds
    assert duration(f"{milliseconds}ms") == seconds


@pytest.mark.parametrize(
    ("nbytes", "text"),
    [(0, "0"), (1, "1"), (1000, "1000"), (1024, "1KiB"), (1536, "1536"), (2**20, "1MiB"), (2**31, "2048MiB")],
)
def test_sizes_are_shown_as_people_write_them(nbytes, text):
    assert show_size(nbytes) == text


def test_how_long_something_lasts():
    assert [lasting(seconds) for seconds in (0.25, 1.0, math.inf)] == ["for 250ms", "for 1s", "forever"]


def test_what_is_counted():
    assert [counted(number, "byte") for number in (0, 1, 2)] == ["0 bytes", "1 byte", "2 bytes"]


@given(st.integers(0, 2**40))
def test_a_size_that_is_shown_reads_back_as_the_same_number(nbytes):
    assert size(show_size(nbytes)) == nbytes


@pytest.mark.parametrize(
    ("text", "allowance", "shown"),
    [
        ("5/1s", Allowance(5, 1.0), "5/1s"),
        ("5/s", Allowance(5, 1.0), "5/1s"),
        ("60/m", Allowance(60, 60.0), "60/1m"),
        ("100 / 10m", Allowance(100, 600.0), "100/10m"),
        ("1000/24h", Allowance(1000, 86400.0), "1000/1440m"),
        ("2/500ms", Allowance(2, 0.5), "2/500ms"),
    ],
)
def test_frequencies(text, allowance, shown):
    assert frequency(text) == allowance
    assert show_frequency(allowance) == shown
    assert frequency(shown) == allowance


@pytest.mark.parametrize(
    "text", ["", "5", "5/", "/1s", "5/1", "0/1s", "5/0s", "-5/1s", "1.5/1s", "5/forever", "5/x", "5//s", "1e3/s", "٣/s"]
)
def test_what_is_no_frequency_is_refused_with_what_is(text):
    with pytest.raises(ValueError, match=r"5/1s, 60/m or 1000/24h"):
        frequency(text)
