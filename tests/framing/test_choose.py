"""Which bodies have records."""

import pytest

from chaosproxy.framing.choose import kind_of, splitter_for


@pytest.mark.parametrize(
    ("content_type", "kind"),
    [
        (b"text/event-stream", "sse"),
        (b"Text/Event-Stream; charset=utf-8", "sse"),
        (b"text/event-stream ;charset=utf-8", "sse"),
        (b"application/x-ndjson", "lines"),
        (b"application/jsonl", "lines"),
        (b"application/json-lines", "lines"),
        (b"application/jsonlines", "lines"),
        (b"application/stream+json", "lines"),
        (b"application/ndjson", "lines"),
        (b"application/x-jsonlines", "lines"),
        (b"application/grpc", "grpc"),
        (b"application/grpc+proto", "grpc"),
        (b"application/grpc-web+proto", "grpc"),
        (b"application/grpc-web", "grpc"),
        (b"application/grpc-web-text", None),
        (b"application/grpcish", None),
        (b"application/json", None),
        (b"text/plain", None),
        (b"", None),
        (None, None),
    ],
)
def test_records_by_content_type(content_type, kind):
    assert kind_of(content_type) == kind


@pytest.mark.parametrize(
    ("kind", "body", "ends"),
    [
        ("sse", b"data: a\n\n", (9,)),
        ("lines", b"1\n2\n", (2, 4)),
        ("grpc", b"\0\0\0\0\1a\0\0\0\0\0", (6, 11)),
        ("chunks", b"abc", (3,)),
        ("chunks", b"", ()),
    ],
)
def test_each_kind_has_its_splitter(kind, body, ends):
    splitter = splitter_for(kind)
    assert splitter.feed(body) == ends
    assert not splitter.pending


def test_each_body_gets_a_splitter_of_its_own():
    assert splitter_for("sse") is not splitter_for("sse")
