"""OpenAI's responses (platform.openai.com/docs/api-reference/responses, and /responses-streaming): typed events.

Must not know: when a token leaves, the other interfaces.
"""

from collections.abc import Iterator

from chaosproxy.origin.openai import refusal
from chaosproxy.origin.question import BadQuestionError, Body, limit_of, messages_of
from chaosproxy.origin.shape import Json, Reply, Shape, typed_event

BEFORE = 4
"""Events before the first delta."""


class Responses(Shape):
    """`POST /v1/responses`."""

    def limit(self, body: Body) -> int | None:
        return limit_of(body, "max_output_tokens")

    def prompt(self, body: Body) -> object:
        given = body.get("input")
        if given is None or isinstance(given, str):
            return given
        if not isinstance(given, list):
            raise BadQuestionError("input must be a string or a list", "input")
        return messages_of(body, "input")

    def pieces(self, reply: Reply, index: int) -> Iterator[bytes]:
        events = [*(_opening(reply) if index == 0 else ()), _delta(reply, index)]
        first = 0 if index == 0 else BEFORE + index
        return _numbered(events, first)

    def closing(self, reply: Reply) -> Iterator[bytes]:
        return _numbered(_closing(reply), BEFORE + reply.tokens)

    def whole(self, reply: Reply) -> Json:
        return _response(reply, finished=True)

    def refusal(self, message: str, at: str | None) -> Json:
        return refusal(message, at)


def _numbered(events: list[Json], first: int) -> Iterator[bytes]:
    return (typed_event({**one, "sequence_number": number}) for number, one in enumerate(events, first))


def _place(reply: Reply) -> Json:
    return {"item_id": reply.name("msg_"), "output_index": 0, "content_index": 0}


def _opening(reply: Reply) -> list[Json]:
    response = _response(reply, finished=False)
    item = _item(reply, "in_progress", [])
    return [
        {"type": "response.created", "response": response},
        {"type": "response.in_progress", "response": response},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.content_part.added", **_place(reply), "part": _part("")},
    ]


def _delta(reply: Reply, index: int) -> Json:
    return {"type": "response.output_text.delta", **_place(reply), "delta": reply.word(index), "logprobs": []}


def _closing(reply: Reply) -> list[Json]:
    text = reply.question.words.text
    response = _response(reply, finished=True)
    item = _item(reply, str(response["status"]), [_part(text)])
    return [
        {"type": "response.output_text.done", **_place(reply), "text": text, "logprobs": []},
        {"type": "response.content_part.done", **_place(reply), "part": _part(text)},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": f"response.{response['status']}", "response": response},
    ]


def _part(text: str) -> Json:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _item(reply: Reply, status: str, content: list[Json]) -> Json:
    return {"id": reply.name("msg_"), "type": "message", "status": status, "role": "assistant", "content": content}


def _response(reply: Reply, *, finished: bool) -> Json:
    cut = reply.question.cut and finished
    status = "incomplete" if cut else "completed" if finished else "in_progress"
    return {
        "id": reply.name("resp_"),
        "object": "response",
        "created_at": int(reply.created),
        "status": status,
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "instructions": None,
        "metadata": {},
        "model": reply.question.model,
        "output": [_item(reply, status, [_part(reply.question.words.text)])] if finished else [],
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": _usage(reply) if finished else None,
    }


def _usage(reply: Reply) -> Json:
    prompt, tokens = reply.question.prompt, reply.tokens
    return {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": prompt + tokens,
    }
