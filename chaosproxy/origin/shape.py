"""What a provider's interface is made of: how it asks, how it answers at once and in pieces, how it refuses.

Each lives in a file of its own, with the page of the provider's documentation that says so. Nothing is sent before the
first token, whatever the shape, so that `first` means the same for all. Must not know: HTTP, time.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import ClassVar

from chaosproxy.origin.question import Body, Knobs, Question, answer_words, field, limit_of, tokens_in

MODEL = "miniature"
"""The model of those who name none."""

Json = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a question: `number` counts the origin's answers, `created` is seconds since 1970."""

    question: Question
    number: int
    created: float

    def name(self, prefix: str) -> str:
        """An identifier of the provider's form."""
        return f"{prefix}{self.number:08d}"

    def word(self, index: int) -> str:
        return self.question.words.word(index)

    def is_last(self, index: int) -> bool:
        return index == self.tokens - 1

    @property
    def tokens(self) -> int:
        return self.question.words.count

    @property
    def time(self) -> str:
        """When it was created, as RFC 3339 has it."""
        return datetime.fromtimestamp(self.created, UTC).isoformat().replace("+00:00", "Z")


class Shape(ABC):
    """One provider's interface."""

    media_type: ClassVar[str] = "text/event-stream"
    streams: ClassVar[bool] = False
    """Whether it streams where the request does not say."""

    def read(self, body: Body, knobs: Knobs) -> Question:
        """The question in a body. BadQuestionError says what is wrong with it."""
        words, cut = answer_words(knobs, self.limit(body))
        return Question(
            model=field(body, "model", str, MODEL),
            prompt=tokens_in(self.prompt(body)),
            words=words,
            first=knobs.first,
            gap=knobs.gap,
            stream=field(body, "stream", bool, self.streams),
            cut=cut,
            usage=self.usage(body),
        )

    @abstractmethod
    def prompt(self, body: Body) -> object:
        """What of the body the model reads, checked."""

    def limit(self, body: Body) -> int | None:
        """The limit on tokens."""
        return limit_of(body, "max_tokens")

    def usage(self, body: Body) -> bool:
        """Whether usage is asked for."""
        return False

    @abstractmethod
    def pieces(self, reply: Reply, index: int) -> Iterator[bytes]:
        """What is sent when token `index` is made, each to be written by itself."""

    @abstractmethod
    def closing(self, reply: Reply) -> Iterator[bytes]:
        """What is sent behind the last token, a gap later."""

    @abstractmethod
    def whole(self, reply: Reply) -> Json:
        """The answer in one piece."""

    @abstractmethod
    def refusal(self, message: str, at: str | None) -> Json:
        """The body of a 400; `at` is the field that is wrong."""


def dump(value: object) -> bytes:
    """JSON as providers write it: compact, and text as UTF-8."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def event(value: Json) -> bytes:
    """An event of the field `data` alone."""
    return b"data: " + dump(value) + b"\n\n"


def typed_event(value: Json) -> bytes:
    """An event that is called as its content's `type`."""
    return b"event: " + str(value["type"]).encode() + b"\n" + event(value)
