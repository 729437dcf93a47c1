"""Which splitter a body needs, by its content type or as the scenario says.

Rules: a type that is not known has no records; nothing is guessed from the bytes.
Must not know: headers, how records are found.
"""

from typing import assert_never

from chaosproxy.framing.grpc import GrpcSplitter
from chaosproxy.framing.lines import LineSplitter
from chaosproxy.framing.raw import ChunkSplitter
from chaosproxy.framing.splitter import RecordKind, Splitter
from chaosproxy.framing.sse import SseSplitter

_LINES = frozenset(
    {
        b"application/json-lines",
        b"application/jsonl",
        b"application/jsonlines",
        b"application/ndjson",
        b"application/stream+json",
        b"application/x-jsonlines",
        b"application/x-ndjson",
    }
)


def kind_of(content_type: bytes | None) -> RecordKind | None:
    """The records of a body with this Content-Type; parameters and case do not matter. None = it has none."""
    if not content_type:
        return None
    essence = content_type.partition(b";")[0].strip(b" \t").lower()
    if essence == b"text/event-stream":
        return "sse"
    if essence in _LINES:
        return "lines"
    if essence.startswith(b"application/grpc-web-text"):
        return None  # base64: its messages do not end at bytes of the body
    if essence == b"application/grpc" or essence.startswith((b"application/grpc+", b"application/grpc-web")):
        return "grpc"
    return None


def splitter_for(content_type: bytes | None, kind: RecordKind | None = None) -> Splitter | None:
    """A fresh splitter for one body: for `kind` if it is given, else for its content type; None = no records."""
    chosen = kind or kind_of(content_type)
    match chosen:
        case None:
            return None
        case "sse":
            return SseSplitter()
        case "lines":
            return LineSplitter()
        case "grpc":
            return GrpcSplitter()
        case "chunks":
            return ChunkSplitter()
        case _:
            assert_never(chosen)
