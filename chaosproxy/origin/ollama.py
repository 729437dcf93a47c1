"""Ollama's chat (github.com/ollama/ollama, docs/api.md): a JSON object a line, streamed unless `stream` is false.

Must not know: when a token leaves, the other interfaces.
"""

from collections.abc import Iterator

from chaosproxy.origin.question import Body, field, limit_of, messages_of
from chaosproxy.origin.shape import Json, Reply, Shape, dump

NANOSECONDS = 1e9


class OllamaChat(Shape):
    """`POST /api/chat`."""

    media_type = "application/x-ndjson"
    streams = True

    def prompt(self, body: Body) -> object:
        return messages_of(body, "messages")

    def limit(self, body: Body) -> int | None:
        options = field(body, "options", dict, {})
        if field(options, "num_predict", int, -1) < 0:  # -1: no limit, -2: until the context is full
            return None
        return limit_of(options, "num_predict")

    def pieces(self, reply: Reply, index: int) -> Iterator[bytes]:
        yield dump({**_line(reply, reply.word(index)), "done": False}) + b"\n"

    def closing(self, reply: Reply) -> Iterator[bytes]:
        yield dump({**_line(reply, ""), **_end(reply)}) + b"\n"

    def whole(self, reply: Reply) -> Json:
        return {**_line(reply, reply.question.words.text), **_end(reply)}

    def refusal(self, message: str, at: str | None) -> Json:
        return {"error": message}


def _line(reply: Reply, text: str) -> Json:
    message = {"role": "assistant", "content": text}
    return {"model": reply.question.model, "created_at": reply.time, "message": message}


def _end(reply: Reply) -> Json:
    question = reply.question
    gaps = question.gap * (reply.tokens - 1) if reply.tokens > 1 else 0.0  # `gap=forever` ends nothing that has no gap
    first, rest = (int(seconds * NANOSECONDS) for seconds in (question.first, gaps))
    return {
        "done": True,
        "done_reason": "length" if question.cut else "stop",
        "total_duration": first + rest,
        "load_duration": 0,
        "prompt_eval_count": question.prompt,
        "prompt_eval_duration": first,
        "eval_count": reply.tokens,
        "eval_duration": rest,
    }
