"""Clients as they are written, good and bad, over what a raw reader has seen: what each would have made of it.

A reader is a function of `Told`. Each is as short as the code that it stands for; the good ones follow the standard, the
bad ones do what was found in the field. They share no code with the proxy's own parsers.
"""

import json
import re
from dataclasses import dataclass
from itertools import pairwise

from chaosproxy.testing.peers import Ending
from tests.virtual.shipped import LAST, Told, unchunked

_LINE_END = re.compile(rb"\r\n|\n|\r")


@dataclass(frozen=True)
class Made:
    """What an application has after the stream: `whole`, `broken` (it knows), or it still `waits`."""

    outcome: str
    text: str


def events(payload: bytes) -> list[bytes]:
    """The `data` of each event block that has ended, as the WHATWG standard reads it."""
    found, data = [], list[bytes]()
    for line in _LINE_END.split(payload.removeprefix(b"\xef\xbb\xbf"))[:-1]:
        if line.startswith(b"data:"):
            data.append(line[5:].removeprefix(b" "))
        elif not line and data:
            found.append(b"\n".join(data))
            data = []
    return found


def content(event: bytes) -> str:
    """The words of one event: of an OpenAI chunk its delta, of what is no JSON object and no last word all of it."""
    try:
        chunk = json.loads(event)
    except ValueError:
        return "" if event == b"[DONE]" else event.decode(errors="replace")
    if not isinstance(chunk, dict):
        return str(chunk)
    return "".join(choice["delta"].get("content") or "" for choice in chunk.get("choices", ()))


def text_of(seen: Told) -> str:
    return "".join(content(event) for event in events(seen.payload))


def trusting(seen: Told) -> Made:
    """Takes every end for the end of the answer, as a loop does that swallows the exception behind it."""
    over = seen.whole or seen.ending is not Ending.OPEN
    return Made("whole" if over else "waits", text_of(seen))


def strict(seen: Told) -> Made:
    """Believes HTTP: a body short of its framing is broken, one that ends by the rules is whole."""
    if seen.whole:
        return Made("whole", text_of(seen))
    return Made("waits" if seen.ending is Ending.OPEN else "broken", text_of(seen))


def careful(seen: Told) -> Made:
    """Believes the provider: an answer is whole when its last word has come, and not before."""
    if any(is_last_word(event) for event in events(seen.payload)):
        return Made("whole", text_of(seen))
    over = seen.whole or seen.ending is not Ending.OPEN
    return Made("broken" if over else "waits", text_of(seen))


def is_last_word(event: bytes) -> bool:
    if event == b"[DONE]":
        return True
    try:
        last = json.loads(event)
    except ValueError:
        return False
    return isinstance(last, dict) and (
        last.get("done") is True
        or last.get("type") in {"message_stop", "response.completed", "response.failed", "response.incomplete"}
    )


def gives_up_by_bytes(seen: Told, idle: float) -> float | None:
    """When a client gives up whose timer starts anew with every byte; None: it never does."""
    return _gives_up([time for time, _ in seen.pieces], idle, seen)


def gives_up_by_content(seen: Told, idle: float) -> float | None:
    """The same of a timer that starts anew only with an event that carries something."""
    times = [time for time, data in seen.pieces if any(content(event) for event in events(data.partition(b"\r\n")[2]))]
    return _gives_up([0.0, *times], idle, seen)


def _gives_up(times: list[float], idle: float, seen: Told) -> float | None:
    end = seen.ended if seen.ended is not None else (seen.pieces[-1][0] if seen.whole else seen.watched)
    return next((before + idle for before, after in pairwise([*times, end]) if after - before > idle), None)


def one_event_a_read(seen: Told) -> Made:
    """Takes each read for one event: of several it has the first, of a part of one it has nothing to parse."""
    reads = [unchunked(data) for _, data in seen.pieces[1:] if data != LAST]
    parsed = [re.match(rb"data: ?([^\r\n]*)\r?\n\r?\n", read) for read in reads]
    text = "".join(content(found[1]) for found in parsed if found)
    return Made("whole" if all(parsed) else "broken", text)


def gives_up_by_events(seen: Told, idle: float) -> float | None:
    """The same of a timer that starts anew with every event that a parser hands out, pings and empty deltas too."""
    times = [time for time, data in seen.pieces if events(data.partition(b"\r\n")[2])]
    return _gives_up([0.0, *times], idle, seen)


def ids_of(body: bytes) -> list[int]:
    """The ids of the events in a body, with whatever framing."""
    return [int(found) for found in re.findall(rb"id: (\d+)\n", body)]


def tool_calls(seen: Told, *, mends: bool) -> list[dict[str, object]]:
    """The arguments with which tools of Anthropic's shape are run: behind the block's end, or of what can be mended."""
    arguments, found = "", []
    for event in map(json.loads, events(seen.payload)):
        if event["type"] == "content_block_delta":
            arguments += event["delta"]["partial_json"]
        elif event["type"] == "content_block_stop":
            found.append(json.loads(arguments))
            arguments = ""
    return [*found, json.loads(arguments + '"}')] if mends and arguments else found


def error_of(seen: Told, *, flat: bool) -> str | None:
    """The message of an error inside the stream, of a client that knows only the nested shape or the flat one too."""
    for event in events(seen.payload):
        told = json.loads(event) if event.startswith(b"{") else {}
        if "error" in told:
            return told["error"]["message"] if isinstance(told["error"], dict) else told["error"]
        if flat and "message" in told and "code" in told:
            return told["message"]
    return None


def shown(seen: Told, *, looks: bool) -> str:
    """What a client draws that takes every line for text, or first looks at the status and the type."""
    if looks and (seen.status != 200 or b"\r\ncontent-type: text/event-stream" not in seen.raw.lower()):
        return ""
    return text_of(seen) or seen.body.decode()


def finds_last_chunk_in_one_read(seen: Told) -> bool:
    """Whether an answer is whole to a client that looks for the last chunk in each read by itself."""
    return any(data.endswith(b"0\r\n\r\n") for _, data in seen.pieces)


def reason_of(seen: Told) -> str | None:
    """Why an answer of OpenAI's shape ended, None where nobody said."""
    reasons = [
        json.loads(event)["choices"][0].get("finish_reason") for event in events(seen.payload) if event[:1] == b"{"
    ]
    return next((reason for reason in reasons if reason), None)


def events_at_the_end(payload: bytes) -> list[bytes]:
    """As `events`, and what has not ended when the stream does is one more, as lenient clients have it."""
    return events(payload + b"\n\n")
