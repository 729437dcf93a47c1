"""Which pieces of traffic say something, for a timeout that looks through keep-alives.

Real hops and clients differ in what they count as life: any byte, any event, any token. The names here are the steps.
Rules: any bytes are taken; what is not recognised is a plain record. Must not know: time, faults.
"""

from typing import Literal, cast

from chaosproxy.framing import grpc, lines, sse
from chaosproxy.framing.splitter import RecordKind
from chaosproxy.model.json_values import parse

Traffic = Literal["record", "comment", "ping_event", "empty_delta", "other"]

KeepAlive = Literal["comments", "ping_events", "empty_deltas"]
"""What servers say so that nobody takes them for dead."""

KEEP_ALIVES: dict[KeepAlive, Traffic] = {
    "comments": "comment",
    "ping_events": "ping_event",
    "empty_deltas": "empty_delta",
}

Members = dict[str, object]

_HINTS = (b'"delta"', b'"choices"', b'"message"', b'"response"', b'"ping"')
"""One of these stands in whatever could be an empty delta or a ping."""


def traffic(kind: RecordKind, raw: bytes) -> Traffic:
    """What one block, line or message is.

    `comment`: a comment or an empty line. `ping_event`: Anthropic's `event: ping`. `empty_delta`: a chunk of an answer
    with no text, no tool call, no reason to finish and no usage. `other`: only `event`, `id` or `retry`, or trailers.
    """
    if kind == "sse":
        event = sse.parse(raw)
        if event.event == b"ping":
            return "ping_event"
        if event.data is None:
            fields = event.event or event.id is not None or event.retry is not None
            return "other" if fields else "comment"
        return _of_document(event.data)
    if kind == "lines":
        line = lines.content(raw)
        return "comment" if line is None else _of_document(line)
    if kind == "grpc":
        return "other" if grpc.is_trailers(raw) else "record"
    return "record"


def _of_document(carried: bytes) -> Traffic:
    if not any(hint in carried for hint in _HINTS):
        return "record"  # most bodies that are not of a language model: spare the parser
    document = parse(carried)
    if not isinstance(document, dict):
        return "record"
    members = cast("Members", document)
    if members.get("type") == "ping":
        return "ping_event"
    return "empty_delta" if _is_empty_delta(members) else "record"


def _is_empty_delta(members: Members) -> bool:
    """OpenAI (chat, completions, responses), Anthropic and Ollama, each by the fields that it alone has."""
    if members.get("usage") or members.get("error"):
        return False
    choices = members.get("choices")
    if isinstance(choices, list):
        return all(_is_empty_choice(choice) for choice in cast("list[object]", choices))
    if "delta" in members:
        return _says_nothing(members["delta"], beside="type")
    if members.get("done") is False and ("message" in members or "response" in members):
        return _says_nothing(members.get("message"), beside="role") and not members.get("response")
    return False


def _is_empty_choice(choice: object) -> bool:
    if not isinstance(choice, dict):
        return False
    members = cast("Members", choice)
    if members.get("finish_reason") or members.get("text"):
        return False
    return _says_nothing(members.get("delta"), beside="role")


def _says_nothing(delta: object, beside: str) -> bool:
    """Whether a delta is empty in every member except `beside`, which only labels it."""
    if isinstance(delta, dict):
        return not any(value for name, value in cast("Members", delta).items() if name != beside)
    return not delta
