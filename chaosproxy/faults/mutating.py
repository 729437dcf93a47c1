"""What `mutate` makes of one record: of its raw text, or of what it carries and nothing else.

Rules: a record that does not have what is to be changed stays as it is; what is put in stands as it is, escaped by nobody.
Of a gRPC message the prefix tells the new length. Must not know: pieces, places.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from chaosproxy.chain.patterns import TOO_LARGE, compiled, pattern_problem
from chaosproxy.framing import sse_lines
from chaosproxy.framing.records import payload
from chaosproxy.framing.splitter import RecordKind
from chaosproxy.model.json_text import span, with_member, without_member
from chaosproxy.model.json_values import NOT_JSON, at_path, parse

TEXTS = (
    "choices.0.delta.content", "choices.0.text", "delta.text", "delta.partial_json", "delta", "message.content", "response",
)  # fmt: skip
"""Where a provider's record has the text of the answer: OpenAI's chat and completions, Anthropic, OpenAI's Responses,
Ollama's chat and generate."""
_FLAGS = 1
_LENGTH = 4

Change = Callable[[bytes], bytes]


def replacement_problem(pattern: str, replacement: bytes) -> str:
    """Why this cannot be replaced by that; empty if it can."""
    if reason := pattern_problem(pattern):
        return reason if reason == TOO_LARGE else f"{reason}; expected RE2's syntax"
    groups, pairs = compiled(pattern).groups, pairwise(replacement)
    wanted = max((digit - 48 for slash, digit in pairs if slash == 0x5C and 48 <= digit <= 57), default=0)
    return f"\\{wanted}, but the pattern has {groups} groups" if wanted > groups else ""


def replacing(pairs: Sequence[tuple[str, bytes]], kind: RecordKind) -> Change:
    """Every match, one pattern after the other, in all of the record: names of fields and line ends too."""
    patterns = [(compiled(pattern), replacement) for pattern, replacement in pairs]

    def change(raw: bytes) -> bytes:
        text = message = payload(kind, raw) if kind == "grpc" else raw
        if text is None:
            return raw
        for pattern, replacement in patterns:
            text = _replaced(pattern, replacement, text)
        return raw if text == message else _with_message(text, raw) if kind == "grpc" else text

    return change


def _replaced(pattern: Any, replacement: bytes, text: bytes) -> bytes:
    """`sub` of the library takes an empty match behind a line end twice."""
    parts: list[bytes] = []
    done, last = 0, (-1, -1)
    for match in pattern.finditer(text):
        if match.span() != last:
            last = match.span()
            parts += [text[done : last[0]], match.expand(replacement)]
            done = last[1]
    return b"".join(parts) + text[done:]


def inserting(new: bytes, path: str | None, kind: RecordKind) -> Change:
    """In the middle of the text at a path; without one, of the answer's text where that is known, else of all."""

    def change(carried: bytes) -> bytes:
        place = _middle(carried, path)
        return carried if place is None else carried[:place] + new + carried[place:]

    return _of_payload(change, kind)


def rewriting(members: Sequence[tuple[str, object]], deleted: Sequence[str], kind: RecordKind) -> Change:
    """Members of a JSON document set, others taken out."""

    def change(carried: bytes) -> bytes:
        if not isinstance(parse(carried), dict | list):
            return carried
        text = carried.decode()
        for path, value in members:
            text = with_member(text, path, value)
        for path in deleted:
            text = without_member(text, path)
        return text.encode()

    return _of_payload(change, kind)


def _of_payload(change: Change, kind: RecordKind) -> Change:
    def whole(raw: bytes) -> bytes:
        carried = payload(kind, raw)
        if carried is None:
            return raw
        new = change(carried)
        if new == carried:
            return raw
        if kind == "grpc":
            return _with_message(new, raw)
        start = raw.find(carried)
        if start < 0:  # an event's data over several lines
            return sse_lines.with_data(raw, new)
        return raw[:start] + new + raw[start + len(carried) :]

    return whole


def _with_message(message: bytes, raw: bytes) -> bytes:
    return raw[:_FLAGS] + len(message).to_bytes(_LENGTH, "big") + message


def _middle(carried: bytes, path: str | None) -> int | None:
    """Between two characters, and not inside of an escape."""
    document = parse(carried)
    text = None if document is NOT_JSON else carried.decode()
    found = None if text is None else _text_at(text, document, path)
    if text is None or found is None:
        if path is not None:
            return None
        place = len(carried) // 2
        while place and 0x80 <= carried[place : place + 1][0] < 0xC0:  # in the middle of a character
            place -= 1
        return place
    place, middle = found[0], (found[0] + found[1]) // 2
    while (following := place + _step(text, place)) <= middle:
        place = following
    return len(text[:place].encode())


def _text_at(text: str, document: object, path: str | None) -> tuple[int, int] | None:
    """Between its quotation marks. Only for a path that leads to one is all of the text gone through."""
    for one in TEXTS if path is None else (path,):
        found = span(text, one) if isinstance(at_path(document, one), str) else None
        if found is not None:
            return found[0] + 1, found[1] - 1
    return None


def _step(text: str, place: int) -> int:
    """How long one character is as it is written: a pair of surrogates is one."""
    if text[place] != "\\":
        return 1
    if text[place + 1] != "u":
        return 2
    pair = text[place + 2 : place + 4].lower() in ("d8", "d9", "da", "db")
    return 12 if pair else 6
