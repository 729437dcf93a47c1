"""What servers send to keep a silent stream alive, in the shape of whoever is asked.

| what           | server-sent events                                         | lines                           |
|----------------|------------------------------------------------------------|---------------------------------|
| `comments`     | `: keep-alive` (WHATWG event streams, 9.2.7)               | an empty line (NDJSON allows it) |
| `ping_events`  | Anthropic's `event: ping`                                  | nobody sends any                |
| `empty_deltas` | a chunk that says nothing: OpenAI's chat, completions or responses, Anthropic's messages, by the request's path | Ollama's chat or generate |

Not every client takes all of them: Ollama's for Python fails at an empty line, OpenAI's hands on a ping as a chunk.
Rules: pure data; what is made here is read back by `framing.traffic` as what it is. Must not know: when it is sent.
"""

import json

from chaosproxy.framing.splitter import RecordKind
from chaosproxy.framing.traffic import KeepAlive
from chaosproxy.model.messages import Data, RequestHead

_CHAT: dict[str, object] = {
    "id": "chatcmpl-keep-alive",
    "object": "chat.completion.chunk",
    "created": 0,
    "model": "",
    "choices": [{"index": 0, "delta": {}, "finish_reason": None}],
}
_EVENTS: dict[str, dict[str, object]] = {
    "/messages": {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": ""}},
    "/responses": {
        "type": "response.output_text.delta",
        "item_id": "",
        "output_index": 0,
        "content_index": 0,
        "delta": "",
        "sequence_number": 0,
    },
    "/chat/completions": _CHAT,
    "/completions": {
        "id": "cmpl-keep-alive",
        "object": "text_completion",
        "created": 0,
        "model": "",
        "choices": [{"index": 0, "text": "", "finish_reason": None}],
    },
}
"""By the end of the path; those with a `type` are named events. Whatever else is asked gets OpenAI's chat."""
_CREATED = "1970-01-01T00:00:00Z"
_LINES: dict[str, dict[str, object]] = {
    "/generate": {"model": "", "created_at": _CREATED, "response": "", "done": False},
    "/chat": {"model": "", "created_at": _CREATED, "message": {"role": "assistant", "content": ""}, "done": False},
}


def keep_alive(what: KeepAlive, kind: RecordKind | None, request: RequestHead) -> Data | None:
    """One of them, for a body of these records; None where there is no such thing."""
    path = request.target.partition(b"?")[0].decode("latin-1").rstrip("/")
    if kind == "sse":
        return _event(what, path)
    if kind == "lines":
        if what == "comments":
            return Data(b"\n")
        return (
            _record(_document(_LINES["/generate" if path.endswith("/generate") else "/chat"]) + b"\n")
            if what == "empty_deltas"
            else None
        )
    return None


def _event(what: KeepAlive, path: str) -> Data:
    if what == "comments":
        return Data(b": keep-alive\n\n")
    if what == "ping_events":
        return _record(b'event: ping\ndata: {"type": "ping"}\n\n')
    delta = next((delta for end, delta in _EVENTS.items() if path.endswith(end)), _CHAT)
    name = delta.get("type")
    field = f"event: {name}\n".encode() if name else b""
    return _record(field + b"data: " + _document(delta) + b"\n\n")


def _document(members: dict[str, object]) -> bytes:
    return json.dumps(members).encode()


def _record(raw: bytes) -> Data:
    return Data(raw, (len(raw),))
