"""The parts of a streamed answer that `strip` takes out of a body: what each is, and what is left of a record without it.

| provider                 | `usage`                                                                              |
|--------------------------|---------------------------------------------------------------------------------------|
| OpenAI chat, completions | the chunk with `usage` and no `choices` (`stream_options.include_usage`), as a whole; `usage` of any other |
| OpenAI Responses         | `response.usage`                                                                      |
| Anthropic Messages       | `usage` of `message_delta`, `message.usage` of `message_start`                        |
| Google Gemini            | `usageMetadata`                                                                       |
| Ollama                   | `eval_count`, `prompt_eval_count`                                                     |

Rules: a unit (block, line, message) in, what is left of it out, empty if nothing is; every other byte stays.
Must not know: pieces, who asks.
"""

from collections.abc import Callable
from typing import Literal, cast

from chaosproxy.framing import sse_lines
from chaosproxy.framing.records import payload, terminal
from chaosproxy.framing.splitter import RecordKind
from chaosproxy.model.json_text import without_member
from chaosproxy.model.json_values import NOT_JSON, at_path, parse

Part = Literal["usage", "done", "trailers", "ids", "comments"]

IN: dict[RecordKind, tuple[Part, ...]] = {
    "sse": ("done", "usage", "ids", "comments"),
    "lines": ("done", "usage"),
    "grpc": ("done",),
    "chunks": (),
}
"""What can be found in a body of each kind."""

_PATHS = ("usage", "response.usage", "message.usage", "usageMetadata", "eval_count", "prompt_eval_count")
_HINTS = (b"usage", b"eval_count")


def without(part: Part, kind: RecordKind, raw: bytes) -> bytes:
    """What is left of a unit; itself if the part is not in it."""
    return _WITHOUT[part](kind, raw)


def _without_usage(kind: RecordKind, raw: bytes) -> bytes:
    carried = payload(kind, raw)
    if carried is None or not any(hint in carried for hint in _HINTS):
        return raw  # most records: spare the parser
    document = parse(carried)
    if not isinstance(document, dict):
        return raw
    members = cast("dict[str, object]", document)
    if members.get("choices") == [] and isinstance(members.get("usage"), dict):
        return b""
    text = carried.decode()
    for path in _PATHS:
        if at_path(document, path) is not NOT_JSON:
            text = without_member(text, path)
    new = text.encode()
    if new == carried:
        return raw
    return sse_lines.with_data(raw, new) if kind == "sse" else raw.replace(carried, new, 1)


_WITHOUT: dict[Part, Callable[[RecordKind, bytes], bytes]] = {
    "done": lambda kind, raw: b"" if terminal(kind, raw) else raw,
    "usage": _without_usage,
    "ids": lambda _, raw: sse_lines.without_field(raw, b"id"),
    "comments": lambda _, raw: sse_lines.without_field(raw, b""),
}
