"""What each kind of server says when it refuses a request before its answer begins: the body of a 401, 403, 429 or 503.

| whose       | asked at                                      | body                                                        |
|-------------|-----------------------------------------------|-------------------------------------------------------------|
| OpenAI's    | any path that is none of the others           | `{"error":{"message","type","param","code"}}`                |
| Anthropic's | `.../messages`, and below it                  | `{"type":"error","error":{"type","message"}}`                |
| Ollama's    | `/api/...`                                    | `{"error":"..."}`                                            |

Rules: pure data. Must not know: who refuses, or when.
"""

import json
from dataclasses import dataclass
from http import HTTPStatus

from chaosproxy.model.messages import RequestHead

_ANTHROPIC = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
    529: "overloaded_error",
}


@dataclass(frozen=True, slots=True)
class Refusal:
    """What is to be said, in the words of each."""

    openai: str
    anthropic: str
    ollama: str
    type: str = "requests"
    """OpenAI's `type` and `code`, where the status does not say more."""
    code: str | None = "rate_limit_exceeded"


def body_of(refusal: Refusal, status: int, request: RequestHead) -> bytes:
    """The body, as whoever is asked by this path writes it."""
    path = request.target.partition(b"?")[0].decode("latin-1")
    if "/messages" in path:
        error = {"type": _ANTHROPIC.get(status, "api_error"), "message": refusal.anthropic}
        return _json({"type": "error", "error": error})
    if path.startswith("/api/"):
        return _json({"error": refusal.ollama})
    kind, code = (refusal.type, refusal.code) if status < HTTPStatus.INTERNAL_SERVER_ERROR else ("server_error", None)
    return _json({"error": {"message": refusal.openai, "type": kind, "param": None, "code": code}})


def _json(members: dict[str, object]) -> bytes:
    return json.dumps(members, separators=(",", ":")).encode()
