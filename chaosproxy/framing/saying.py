"""Which records say something to who reads the answer: text, reasoning, a tool's arguments; a token in its shape.

Rules: any bytes are taken. Of a language model's shapes (OpenAI, Anthropic, Ollama) the fields that carry the answer
count; what has none of these shapes is content of its own kind. Must not know: time, faults.
"""

from typing import cast

from chaosproxy.framing import lines, sse
from chaosproxy.framing.splitter import RecordKind
from chaosproxy.framing.traffic import traffic
from chaosproxy.model.json_values import parse

Members = dict[str, object]

_DONE = b"[DONE]"
_ENVELOPES = ("message_", "content_block_", "response.")
"""How the types of events begin of which only deltas say something: Anthropic, OpenAI's responses."""


def says(kind: RecordKind, raw: bytes) -> bool:
    """Whether this block, line or message says something: no comment, ping, empty delta, usage or end mark."""
    if traffic(kind, raw) != "record":
        return False
    carried = sse.parse(raw).data if kind == "sse" else lines.content(raw) if kind == "lines" else raw
    if not carried or carried.strip() == _DONE:
        return False
    document = parse(carried) if carried.lstrip()[:1] == b"{" else None
    return _has_content(cast("Members", document)) if isinstance(document, dict) else True


def _has_content(members: Members) -> bool:
    choices = members.get("choices")
    if isinstance(choices, list):
        return any(_is_spoken(choice) for choice in cast("list[object]", choices))
    if isinstance(named := members.get("type"), str) and named.startswith(_ENVELOPES):
        return named.endswith("delta") and _speaks(members.get("delta")) and named != "message_delta"
    if "done" in members and ("message" in members or "response" in members):
        return _speaks(members.get("message")) or bool(members.get("response"))
    return True


def _is_spoken(choice: object) -> bool:
    if not isinstance(choice, dict):
        return False
    members = cast("Members", choice)
    return bool(members.get("text")) or _speaks(members.get("delta"))


def _speaks(delta: object) -> bool:
    """Whether a member says something, other than those that only label it."""
    if isinstance(delta, dict):
        return any(value for name, value in cast("Members", delta).items() if name not in {"role", "type"})
    return bool(delta)
