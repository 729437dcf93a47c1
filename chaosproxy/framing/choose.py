"""Which records a body has, by its content type, and what finds them.

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


def splitter_for(kind: RecordKind, *, every_unit: bool = False) -> Splitter:
    """A fresh one for one body; with `every_unit` it finds where each block, line or message ends, records or not."""
    match kind:
        case "sse":
            return SseSplitter(every_block=every_unit)
        case "lines":
            return LineSplitter(every_line=every_unit)
        case "grpc":
            return GrpcSplitter(every_frame=every_unit)
        case "chunks":
            return ChunkSplitter()
        case _:
            assert_never(kind)
