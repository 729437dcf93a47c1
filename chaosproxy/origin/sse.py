"""`GET /sse`: an event stream for EventSource (html.spec.whatwg.org, 9.2), resumed where the last one broke off.

Its events are numbered from 1. `Last-Event-ID` says which came last; who has them all is answered with 204, at which
an EventSource stops reconnecting. Must not know: slots, KV blocks, the interfaces of the providers.
"""

from collections.abc import Iterator, Mapping

from chaosproxy.origin.question import DIGITS, BadQuestionError, Knobs, Question, answer_words
from chaosproxy.origin.shape import MODEL, Json, Reply

BLANKS = " \t\r\n"
"""Taken off around a token; other characters of the kind, U+2028 say, are text."""
_NO_LINES = str.maketrans("\r\n", "  ")
"""A line end that stands between two of those is none of the stream's."""
RETRY = 1000
"""Milliseconds that a client is asked to wait before it reconnects."""


def read(knobs: Knobs) -> Question:
    """The question of a GET: its knobs."""
    words, _ = answer_words(knobs, None)
    return Question(MODEL, 0, words, knobs.first, knobs.gap, stream=True)


def had(headers: Mapping[str, str], events: int) -> int:
    """How many events the client has had. BadQuestionError if that is no number of ours."""
    given = headers.get("last-event-id", "")
    if not given:
        return 0
    if not (given.isascii() and given.isdigit() and len(given) <= DIGITS and int(given) <= events):
        raise BadQuestionError(f"Last-Event-ID: {given[:40]!r} is none of the {events} events", "Last-Event-ID")
    return int(given)


def piece(reply: Reply, index: int, skipped: int) -> Iterator[bytes]:
    """Event `index` of this connection, `skipped` before it had been received by others."""
    retry = f"retry: {RETRY}\n" if index == 0 else ""
    number = skipped + index
    said = reply.word(number).strip(BLANKS).translate(_NO_LINES)
    yield f"{retry}id: {number + 1}\ndata: {said}\n\n".encode()


def refusal(message: str) -> Json:
    """The body of a 400."""
    return {"error": message}
