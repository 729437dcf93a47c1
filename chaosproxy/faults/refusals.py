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
from typing import Literal

from chaosproxy.model.headers import Headers
from chaosproxy.model.messages import RequestHead
from chaosproxy.model.units import show_duration

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
    match _whose(request):
        case "anthropic":
            error = {"type": _ANTHROPIC.get(status, "api_error"), "message": refusal.anthropic}
            return _json({"type": "error", "error": error})
        case "ollama":
            return _json({"error": refusal.ollama})
        case _:
            server = status >= HTTPStatus.INTERNAL_SERVER_ERROR
            kind, code = ("server_error", None) if server else (refusal.type, refusal.code)
            return _json({"error": {"message": refusal.openai, "type": kind, "param": None, "code": code}})


def limit_fields(request: RequestHead, limit: int, wait: float) -> Headers:
    """The fields by which a provider tells how far the limit is reached, which is all of it; `wait` seconds until there
    is room again. (Anthropic's time of day is none of a pure function's.)"""
    match _whose(request):
        case "anthropic":
            names: tuple[str, ...] = ("anthropic-ratelimit-requests-limit", "anthropic-ratelimit-requests-remaining")
        case "openai":
            names = ("x-ratelimit-limit-requests", "x-ratelimit-remaining-requests", "x-ratelimit-reset-requests")
        case _:
            names = ()
    said = (str(limit), "0", show_duration(round(wait, 3)))
    return tuple((name.encode(), value.encode()) for name, value in zip(names, said, strict=False))


def _whose(request: RequestHead) -> Literal["openai", "anthropic", "ollama"]:
    path = request.target.partition(b"?")[0]
    if b"/messages" in path:
        return "anthropic"
    return "ollama" if path.startswith(b"/api/") else "openai"


def _json(members: dict[str, object]) -> bytes:
    return json.dumps(members, separators=(",", ":")).encode()
