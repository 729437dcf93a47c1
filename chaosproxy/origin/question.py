"""What a request asks for: how many tokens, how fast, which text; from its query, its headers and its JSON body.

The query goes before the headers, the headers before the body. Every mistake is a `BadQuestionError` that names the
field, which each provider's interface words in its own way. Must not know: any provider.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from chaosproxy.model.units import duration
from chaosproxy.origin.engine import Job
from chaosproxy.origin.words import SAYING, Words, how_many

TOKENS, FIRST, GAP = 8, 0.05, 0.02
HEADER = "x-chaosproxy-"
DIGITS = 18
"""More than any number of tokens needs."""

T = TypeVar("T")
Body = Mapping[str, object]


class BadQuestionError(ValueError):
    """What is wrong, and with which field."""

    def __init__(self, message: str, field: str | None = None) -> None:
        self.field = field
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Knobs:
    """What query and headers say; None where they say nothing. Durations in seconds."""

    tokens: int | None = None
    first: float = FIRST
    gap: float = GAP
    text: str | None = None


UNSAID = Knobs()
"""Where nobody says anything."""


@dataclass(frozen=True, slots=True)
class Question:
    """A request, understood."""

    model: str
    prompt: int
    """Tokens in it."""
    words: Words
    """The answer."""
    first: float
    gap: float
    stream: bool
    cut: bool = False
    """The limit on tokens ended a text of the asker's."""
    usage: bool = False
    """Usage is asked for (`stream_options.include_usage`)."""

    def job(self) -> Job:
        return Job(self.prompt, self.words.count, self.first, self.gap)


def read_knobs(query: Mapping[str, str], headers: Mapping[str, str], otherwise: Knobs = UNSAID) -> Knobs:
    """The knobs of a request, and what they are `otherwise`. BadQuestionError names the one that is wrong. Headers may hold
    UTF-8."""

    def knob(name: str, read: Callable[[str], T], default: T) -> T:
        where, given = name, query.get(name)
        if given is None:
            where, given = HEADER + name, headers.get(HEADER + name)
        if given is None:
            return default
        try:
            return read(given if where == name else given.encode("latin-1").decode("utf-8", "replace"))
        except ValueError as error:
            raise BadQuestionError(f"{where}: {error}", where) from error

    return Knobs(
        tokens=knob("tokens", _count, otherwise.tokens),
        first=knob("first", duration, otherwise.first),
        gap=knob("gap", duration, otherwise.gap),
        text=knob("text", _text, otherwise.text),
    )


def _count(text: str) -> int | None:
    if not (text.isascii() and text.isdigit() and len(text) <= DIGITS and int(text) >= 1):
        raise ValueError(f"{text[:40]!r} is no number of tokens; write 1 or more")
    return int(text)


def _text(text: str) -> str | None:
    if not text:
        raise ValueError("an empty text has no tokens")
    return text


def read_body(content: bytes) -> Body:
    """A JSON object; no body at all is an empty one."""
    if not content:
        return {}
    try:
        body = json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise BadQuestionError(f"the body is not valid JSON: {error}") from error
    if not isinstance(body, dict):
        raise BadQuestionError("the body must be a JSON object")
    return body


def answer_words(knobs: Knobs, limit: int | None) -> tuple[Words, bool]:
    """The tokens to say, and whether the limit cut them: `tokens` and, for the text that is said by itself, the body's
    limit are exact; a text of the asker's is said once, as far as the limit goes."""
    if knobs.tokens is not None:
        return Words.of(knobs.text or SAYING, knobs.tokens), False
    if knobs.text is None:
        return Words.of(SAYING, TOKENS if limit is None else limit), False
    words = Words.of(knobs.text, limit=limit)
    return words, words.count < len(words.once)


def field(body: Body, name: str, kind: type[T], default: T) -> T:
    """A field of the right type; absent and null are the default. BadQuestionError otherwise."""
    value = body.get(name)
    if value is None:
        return default
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise BadQuestionError(f"{name} must be {_KINDS[kind]}, not {_shown(value)}", name)
    return value


_KINDS: dict[type, str] = {
    bool: "true or false",
    int: "a whole number",
    str: "a string",
    dict: "an object",
    list: "a list",
}


def _shown(value: object) -> str:
    return _KINDS[type(value)] if isinstance(value, dict | list) else json.dumps(value)[:40]


def limit_of(body: Body, *names: str) -> int | None:
    """The first of these limits on tokens that is given."""
    for name in names:
        limit = field(body, name, int, 0)
        if body.get(name) is not None:
            if limit < 1:
                raise BadQuestionError(f"{name} must be 1 or more, not {limit}", name)
            return limit
    return None


def tokens_in(prompt: object) -> int:
    """The tokens of all texts in a prompt, however deep a provider nests them: strings, `content` and `text`."""
    count, rest = 0, [prompt]
    while rest:
        match rest.pop():
            case str(text):
                count += how_many(text)
            case list(parts):
                rest += parts
            case dict(part):
                rest += (part.get("content"), part.get("text"))
    return count


def messages_of(body: Body, name: str) -> list[object]:
    """A list of messages, each an object with a role."""
    given = field(body, name, list, [])
    if body.get(name) is not None and not given:
        raise BadQuestionError(f"{name} must not be empty", name)
    for index, one in enumerate(given):
        if not isinstance(one, dict) or not isinstance(one.get("role", ""), str):
            raise BadQuestionError(f"{name}[{index}] must be an object with a role", f"{name}[{index}]")
    return given
