"""OpenAI's chat completions and completions (platform.openai.com/docs/api-reference/chat, and /completions).

The first chunk of a chat also carries the role, the last the finish reason; a gap later `[DONE]`. With
`stream_options.include_usage` a chunk without choices stands right before it.
Must not know: when a token leaves, the other interfaces.
"""

from abc import abstractmethod
from collections.abc import Iterator
from typing import ClassVar

from chaosproxy.origin.question import BadQuestionError, Body, field, limit_of, messages_of
from chaosproxy.origin.shape import Json, Reply, Shape, event

DONE = b"data: [DONE]\n\n"


class OpenAi(Shape):
    """What the two have in common."""

    prefix: ClassVar[str]
    kinds: ClassVar[tuple[str, str]]
    """The `object` of an answer in one piece, and of a chunk."""

    def prompt(self, body: Body) -> object:
        if field(body, "n", int, 1) != 1:
            raise BadQuestionError("n must be 1: there is one choice", "n")
        return self.text_of(body)

    def usage(self, body: Body) -> bool:
        return field(field(body, "stream_options", dict, {}), "include_usage", bool, False)

    def pieces(self, reply: Reply, index: int) -> Iterator[bytes]:
        choice = {"index": 0, **self.delta(reply, index), "logprobs": None, "finish_reason": finish(reply, index)}
        yield self._chunk(reply, [choice], None)

    def closing(self, reply: Reply) -> Iterator[bytes]:
        if reply.question.usage:
            yield self._chunk(reply, [], usage_of(reply))
        yield DONE

    def whole(self, reply: Reply) -> Json:
        last = reply.tokens - 1
        choice = {"index": 0, **self.content(reply), "logprobs": None, "finish_reason": finish(reply, last)}
        return {**self._head(reply, self.kinds[0]), "choices": [choice], "usage": usage_of(reply)}

    def refusal(self, message: str, at: str | None) -> Json:
        return refusal(message, at)

    @abstractmethod
    def text_of(self, body: Body) -> object:
        """The prompt."""

    @abstractmethod
    def delta(self, reply: Reply, index: int) -> Json:
        """Of a chunk's choice, what is the interface's own."""

    @abstractmethod
    def content(self, reply: Reply) -> Json:
        """Of an answer's choice, what is the interface's own."""

    def _chunk(self, reply: Reply, choices: list[Json], usage: Json | None) -> bytes:
        asked = {"usage": usage} if reply.question.usage else {}
        return event({**self._head(reply, self.kinds[1]), "choices": choices, **asked})

    def _head(self, reply: Reply, kind: str) -> Json:
        created = int(reply.created)
        return {"id": reply.name(self.prefix), "object": kind, "created": created, "model": reply.question.model}


class Chat(OpenAi):
    """`POST /v1/chat/completions`."""

    prefix = "chatcmpl-"
    kinds = ("chat.completion", "chat.completion.chunk")

    def limit(self, body: Body) -> int | None:
        return limit_of(body, "max_completion_tokens", "max_tokens")

    def text_of(self, body: Body) -> object:
        return messages_of(body, "messages")

    def delta(self, reply: Reply, index: int) -> Json:
        role = {} if index else {"role": "assistant"}
        return {"delta": {**role, "content": reply.word(index)}}

    def content(self, reply: Reply) -> Json:
        return {"message": {"role": "assistant", "content": reply.question.words.text, "refusal": None}}


class Completions(OpenAi):
    """`POST /v1/completions`."""

    prefix = "cmpl-"
    kinds = ("text_completion", "text_completion")

    def text_of(self, body: Body) -> object:
        prompt = body.get("prompt", "")
        if prompt is None or isinstance(prompt, str):
            return prompt
        if isinstance(prompt, list) and len(prompt) == 1 and isinstance(prompt[0], str):
            return prompt
        raise BadQuestionError("prompt must be a string, or a list of one", "prompt")

    def delta(self, reply: Reply, index: int) -> Json:
        return {"text": reply.word(index)}

    def content(self, reply: Reply) -> Json:
        return {"text": reply.question.words.text}


def finish(reply: Reply, index: int) -> str | None:
    """Why it ended with this token, if it did."""
    if not reply.is_last(index):
        return None
    return "length" if reply.question.cut else "stop"


def usage_of(reply: Reply) -> Json:
    """The tokens of prompt and answer."""
    prompt, tokens = reply.question.prompt, reply.tokens
    return {"prompt_tokens": prompt, "completion_tokens": tokens, "total_tokens": prompt + tokens}


def refusal(message: str, at: str | None, kind: str = "invalid_request_error") -> Json:
    """An error as OpenAI words it (platform.openai.com/docs/guides/error-codes)."""
    return {"error": {"message": message, "type": kind, "param": at, "code": None}}
