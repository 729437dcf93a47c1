"""How each kind of server says, in the middle of an answer that began with 200, that it has failed.

| format             | what is sent                                                                              |
|--------------------|-------------------------------------------------------------------------------------------|
| `openai`           | `data: {"error":{"message","type","param","code"}}`: OpenAI's chat and completions         |
| `openai_flat`      | `event: error`, `data: {"type":"error","code","message","param"}`: the shape without `error` around it that some servers send in a chat |
| `openai_responses` | the same with `sequence_number`: the `error` event of OpenAI's Responses API               |
| `anthropic`        | `event: error`, `data: {"type":"error","error":{"type","message"}}`: Anthropic's Messages  |
| `sse`              | `event: error`, `data: {"error":{"message","type","code"}}`: what most clients understand  |
| `ndjson`           | `{"error":"..."}`, one line: Ollama                                                        |

Rules: pure data. Must not know: when it is sent.
"""

import json
from typing import Literal, assert_never

from chaosproxy.model.messages import RequestHead

ErrorFormat = Literal["openai", "openai_flat", "openai_responses", "anthropic", "sse", "ndjson"]
ErrorCode = int | str | None

_MESSAGE = "The server had an error while processing your request"
_BY_PATH: dict[str, ErrorFormat] = {
    "/messages": "anthropic",
    "/responses": "openai_responses",
    "/completions": "openai",
}


def usual_format(request: RequestHead, kind: Literal["sse", "lines"]) -> ErrorFormat:
    """The format of whoever is asked: lines are `ndjson`; events by how the path ends, and `sse` for any other."""
    if kind == "lines":
        return "ndjson"
    path = request.target.partition(b"?")[0].decode("latin-1").rstrip("/")
    return next((name for end, name in _BY_PATH.items() if path.endswith(end)), "sse")


def error_record(name: ErrorFormat, code: ErrorCode, message: str | None, type_: str | None, number: int) -> bytes:
    """The bytes of one error. `number` is how many records came before it. What is None is what such a server says."""
    match name:
        case "ndjson":
            given = {"code": code, "type": type_}
            extra = {key: value for key, value in given.items() if value is not None}
            return _json({"error": message or "an error was encountered while running the model", **extra}) + b"\n"
        case "openai":
            return _event(None, {"error": _nested(code, message, type_)})
        case "openai_flat":
            return _event("error", _flat(code, message, type_))
        case "openai_responses":
            return _event("error", {**_flat(code, message, type_), "sequence_number": number})
        case "anthropic":
            error: dict[str, object] = {"type": type_ or "overloaded_error", "message": message or "Overloaded"}
            return _event("error", {"type": "error", "error": error if code is None else {**error, "code": code}})
        case "sse":
            return _event("error", {"error": _nested(code, message, type_)})
        case _:
            assert_never(name)


def _nested(code: ErrorCode, message: str | None, type_: str | None) -> dict[str, object]:
    return {"message": message or _MESSAGE, "type": type_ or "server_error", "param": None, "code": code}


def _flat(code: ErrorCode, message: str | None, type_: str | None) -> dict[str, object]:
    code = "server_error" if code is None else code
    return {"type": type_ or "error", "code": code, "message": message or _MESSAGE, "param": None}


def _event(name: str | None, members: dict[str, object]) -> bytes:
    return (b"event: %b\n" % name.encode() if name else b"") + b"data: " + _json(members) + b"\n\n"


def _json(members: dict[str, object]) -> bytes:
    return json.dumps(members, separators=(",", ":")).encode()
