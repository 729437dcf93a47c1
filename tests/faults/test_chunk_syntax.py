"""`chunk_syntax`: what it asks of whoever writes. The bytes: `tests/virtual/test_framing.py`."""

from random import Random

import pytest

from chaosproxy.chain.fault import Context
from chaosproxy.faults import ChunkSyntax
from chaosproxy.model import asked
from chaosproxy.model.messages import End
from chaosproxy.scenario.load import load
from chaosproxy.testing import check_fault
from chaosproxy.testing.play import GET

FIELDS = ((b"X-Sum", b"1"),)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (ChunkSyntax(zeros=3), asked.ChunkSyntax(zeros=3)),
        (ChunkSyntax(zeros=True), asked.ChunkSyntax(zeros=4)),
        (ChunkSyntax(spaces=1), asked.ChunkSyntax(spaces=1)),
        (ChunkSyntax(spaces=True), asked.ChunkSyntax(spaces=2)),
        (ChunkSyntax(extension="a=b"), asked.ChunkSyntax(extension=b"a=b")),
        (ChunkSyntax(trailers=FIELDS), asked.ChunkSyntax(trailers=FIELDS)),
        (ChunkSyntax(empty_size=True), asked.ChunkSyntax(empty_size=0)),
        (ChunkSyntax(empty_size=1), asked.ChunkSyntax(empty_size=1)),
        (ChunkSyntax(empty_size=2, bare_lf=True), asked.ChunkSyntax(empty_size=2, bare_lf=True)),
    ],
)
def test_the_head_asks_for_it(play, spec, expected):
    played = play([spec], [(1.0, b"hello"), (1.0, End())])
    assert played.head[1].asked == (expected,)
    assert played.data == b"hello"
    assert played.not_fired == [("chunk_syntax", "protocol")]  # nobody has written it


def test_over_http2_nobody_is_asked(play):
    played = play([ChunkSyntax(zeros=1)], [(1.0, b"hello")], context=Context(Random(0), GET, protocol="h2"))
    assert (played.head[1].asked, played.not_fired) == ((), [("chunk_syntax", "protocol")])


@pytest.mark.parametrize("spec", [ChunkSyntax(zeros=1), ChunkSyntax(empty_size=True), ChunkSyntax(trailers=FIELDS)])
def test_what_every_fault_stands(spec):
    check_fault(spec)


@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        ("chunk_syntax: {}", 19, "expected one of zeros, spaces, extension, trailers, empty_size, bare_lf"),
        ("chunk_syntax: {bare_lf: false}", 19, "nothing to spell"),
        ('chunk_syntax: {on_abort: ""}', 19, "nothing to spell"),
        ("chunk_syntax: 0", 19, "1 or more"),
        ("chunk_syntax: {spaces: many}", 28, "true or false or a whole number"),
        ("chunk_syntax: {empty_size: 0}", 32, "1 or more"),
        ("chunk_syntax: {extension: ''}", 31, "not empty"),
        ('chunk_syntax: {extension: "a\\nb"}', 31, "printable"),
        ("chunk_syntax: {extension: é}", 31, "printable ASCII"),
        ('chunk_syntax: {trailers: {"a b": c}}', 38, "a b"),
        ('chunk_syntax: {trailers: {a: "b\\r\\nc"}}', 34, "CR or LF"),
        ("chunk_syntax: {bare_lf: 1}", 29, "true or false"),
        ("chunk_syntax: {zeros: 1, way: request}", 35, "response"),
        ("chunk_syntax: {zeroes: 1}", 20, "did you mean 'zeros'"),
    ],
)
def test_a_mistake_has_its_place(refused, text, column, said):
    refused(text, column, said)


def test_what_can_be_written():
    text = "version: 1\nfaults:\n  - chunk_syntax: 3\n  - chunk_syntax: {empty_size: true, extension: a, trailers: {X-Sum: 1}}\n"
    [rule] = load(text).rules
    assert rule.faults == (
        ChunkSyntax(zeros=3),
        ChunkSyntax(empty_size=True, extension="a", trailers=((b"X-Sum", b"1"),)),
    )
