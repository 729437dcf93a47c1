"""Anthropic's messages (docs.anthropic.com/en/api/messages, and /messages-streaming): typed events.

Must not know: when a token leaves, the other interfaces.
"""

from collections.abc import Iterator

from chaosproxy.origin.question import Body, messages_of
from chaosproxy.origin.shape import Json, Reply, Shape, typed_event


class Messages(Shape):
    """`POST /v1/messages`. Unlike the provider it does not insist on `max_tokens`."""

    def prompt(self, body: Body) -> object:
        return [*messages_of(body, "messages"), body.get("system")]

    def pieces(self, reply: Reply, index: int) -> Iterator[bytes]:
        if index == 0:
            yield typed_event({"type": "message_start", "message": _message(reply, finished=False)})
            block = {"type": "text", "text": ""}
            yield typed_event({"type": "content_block_start", "index": 0, "content_block": block})
        delta = {"type": "text_delta", "text": reply.word(index)}
        yield typed_event({"type": "content_block_delta", "index": 0, "delta": delta})

    def closing(self, reply: Reply) -> Iterator[bytes]:
        yield typed_event({"type": "content_block_stop", "index": 0})
        ending = {"stop_reason": _stop(reply), "stop_sequence": None}
        usage = {"output_tokens": reply.tokens}
        yield typed_event({"type": "message_delta", "delta": ending, "usage": usage})
        yield typed_event({"type": "message_stop"})

    def whole(self, reply: Reply) -> Json:
        return _message(reply, finished=True)

    def refusal(self, message: str, at: str | None) -> Json:
        return {"type": "error", "error": {"type": "invalid_request_error", "message": message}}


def _stop(reply: Reply) -> str:
    return "max_tokens" if reply.question.cut else "end_turn"


def _message(reply: Reply, *, finished: bool) -> Json:
    return {
        "id": reply.name("msg_"),
        "type": "message",
        "role": "assistant",
        "model": reply.question.model,
        "content": [{"type": "text", "text": reply.question.words.text}] if finished else [],
        "stop_reason": _stop(reply) if finished else None,
        "stop_sequence": None,
        "usage": {"input_tokens": reply.question.prompt, "output_tokens": reply.tokens if finished else 0},
    }
