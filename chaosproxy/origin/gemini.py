"""Gemini's generateContent (ai.google.dev/api/generate-content): one kind of event, and none behind the last token.

The path says the model, and whether the answer is streamed. Must not know: when a token leaves, the other interfaces.
"""

from collections.abc import Iterator

from chaosproxy.origin.question import Body, field, limit_of, messages_of
from chaosproxy.origin.shape import Json, Reply, Shape, event


class GenerateContent(Shape):
    """`POST /v1/models/MODEL:generateContent`, and under `/v1beta`."""

    def prompt(self, body: Body) -> object:
        contents = messages_of(body, "contents")
        return [field(content, "parts", list, []) for content in contents if isinstance(content, dict)]

    def limit(self, body: Body) -> int | None:
        return limit_of(field(body, "generationConfig", dict, {}), "maxOutputTokens")

    def pieces(self, reply: Reply, index: int) -> Iterator[bytes]:
        yield event(_content(reply, reply.word(index), index + 1))

    def closing(self, reply: Reply) -> Iterator[bytes]:
        yield from ()

    def whole(self, reply: Reply) -> Json:
        return _content(reply, reply.question.words.text, reply.tokens)

    def refusal(self, message: str, at: str | None) -> Json:
        return {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}


class StreamGenerateContent(GenerateContent):
    """`POST /v1/models/MODEL:streamGenerateContent`, and under `/v1beta`. An event stream whether or not the query says `alt=sse`: the
    provider's other form, one JSON list that grows, is not here."""

    streams = True


def _content(reply: Reply, text: str, tokens: int) -> Json:
    """So many tokens have been made, and the latest are these."""
    candidate: dict[str, object] = {"content": {"parts": [{"text": text}], "role": "model"}, "index": 0}
    if tokens == reply.tokens:
        candidate["finishReason"] = "MAX_TOKENS" if reply.question.cut else "STOP"
    prompt = reply.question.prompt
    return {
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": prompt,
            "candidatesTokenCount": tokens,
            "totalTokenCount": prompt + tokens,
        },
        "modelVersion": reply.question.model,
        "responseId": reply.name("resp-"),
    }
