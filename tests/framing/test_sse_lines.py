"""Blocks changed line by line: what is not changed keeps its bytes."""

import pytest

from chaosproxy.framing.sse import BOM
from chaosproxy.framing.sse_lines import with_data, without_field


@pytest.mark.parametrize(
    ("raw", "name", "left"),
    [
        (b"id: 1\ndata: x\n\n", b"id", b"data: x\n\n"),
        (b"data: x\r\nid:1\r\n\r\n", b"id", b"data: x\r\n\r\n"),
        (b"id\rdata:x\r\r", b"id", b"data:x\r\r"),
        (b"id: 1\n\n", b"id", b""),
        (b"id: 1\nretry: 5\n\n", b"id", b"retry: 5\n\n"),
        (b"idea: 1\ndata: id: 2\n\n", b"id", b"idea: 1\ndata: id: 2\n\n"),
        (b": ping\n\n", b"", b""),
        (b":\ndata: :x\n: y\n\n", b"", b"data: :x\n\n"),
        (BOM + b"id: 1\ndata: x\n\n", b"id", BOM + b"data: x\n\n"),
        (BOM + b": x\n\n", b"", b""),
        (b"\n", b"", b"\n"),
        (b"\r\n", b"id", b"\r\n"),
        (b"\ndata: x\n\n", b"", b"\ndata: x\n\n"),
        (b"id: 1", b"id", b""),
        (b"data: x\nid: 1", b"id", b"data: x\n"),
    ],
)
def test_without_a_field(raw, name, left):
    assert without_field(raw, name) == left


@pytest.mark.parametrize(
    ("raw", "data", "left"),
    [
        (b"data: x\n\n", b"y", b"data: y\n\n"),
        (b"data:x\r\n\r\n", b"y", b"data:y\r\n\r\n"),
        (b": c\nevent: e\ndata: x\nid: 1\n\n", b"y", b": c\nevent: e\ndata: y\nid: 1\n\n"),
        (b"data: {\ndata: }\n\n", b"1", b"data: 1\n\n"),
        (b"data: {\r\nid: 1\r\ndata: }\r\n\r\n", b"{\n\n}", b"data: {\r\ndata: \r\ndata: }\r\nid: 1\r\n\r\n"),
        (BOM + b"data: x\n\n", b"y", BOM + b"data: y\n\n"),
        (b"data: x", b"y", b"data: y"),
    ],
)
def test_with_other_data(raw, data, left):
    assert with_data(raw, data) == left
