"""The timelines on the pages of the faults: each is a real play of the example above it, in virtual time."""

import math
from collections import deque

from chaosproxy.model.headers import first
from chaosproxy.model.messages import Abort, Data, End, Event, RequestHead, ResponseHead, Trailers
from chaosproxy.model.vocabulary import Framing, Manner, Peer
from chaosproxy.scenario.load import load
from chaosproxy.testing import Played, Upload, play
from chaosproxy.testing.play import GET, POST, SSE, Step

SHOWN = 50
LEAVES = "(leaves)"
NOTE = "  "
HEAD = ResponseHead(200, ((b"content-type", b"text/event-stream"), (b"server", b"origin")), b"OK", Framing.CHUNKED)
HEADS = {SSE: "200 text/event-stream", HEAD: "200 text/event-stream, server: origin"}


def _event(number: int, size: int = 0) -> bytes:
    text = b"data: %d" % number
    return text + (b" .".ljust(size, b".")[: max(size - len(text) - 2, 0)]) + b"\n\n"


def _stream(count: int, gap: float, size: int = 0) -> list[Step]:
    events: list[Step] = [(round(number * gap, 9), _event(number, size)) for number in range(1, count + 1)]
    return [(0.0, SSE), *events, (events[-1][0], End())]


def _delta(text: str) -> bytes:
    return b'data: {"choices":[{"delta":{"content":"%s"}}]}\n\n' % text.encode()


BROKEN = Abort("upstream:fin", Peer.UPSTREAM, manner=Manner.FIN)
USAGE = b'data: {"choices":[],"usage":{"total_tokens":3}}\n\n'
SCRIPTS: dict[str, list[Step]] = {
    "no upstream": [],
    "a stream": _stream(6, 0.1),
    "a stream with a server field": [(0.0, HEAD), *_stream(3, 0.1)[1:]],
    "large events": _stream(10, 0.1, 512),
    "a silence": [*_stream(2, 0.1)[:-1], (9.0, _event(3)), (9.1, _event(4)), (9.1, End())],
    "heartbeats": [
        *_stream(2, 0.1)[:-1],
        *((float(second), b": keep-alive\n\n") for second in range(1, 7)),
        (6.5, _event(3)),
        (6.5, End()),
    ],
    "a late head": [(3.0, SSE), (3.1, _event(1)), (3.1, End())],
    "the client leaves": [*_stream(2, 0.1)[:-1], (0.25, "hangup"), *_stream(6, 0.1)[3:]],
    "a broken stream, and another": [
        *_stream(2, 0.1)[:-1],
        (0.25, BROKEN),
        (0.4, SSE),
        (0.5, _event(1)),
        (0.6, _event(2)),
        (0.7, _event(3)),
        (0.7, End()),
    ],
    "the upstream breaks off": [*_stream(3, 0.1)[:-1], (0.35, BROKEN)],
    "a chat": [
        (0.0, SSE),
        (0.1, _delta("Hello")),
        (0.2, _delta("there")),
        (0.3, USAGE),
        (0.4, b"data: [DONE]\n\n"),
        (0.4, End()),
    ],
    "an upload": [
        *((0.1 * number, Upload(b"part %d;" % number)) for number in range(1, 6)),
        (0.5, Upload(End())),
        (0.6, SSE),
        (0.7, _event(1)),
        (0.7, End()),
    ],
}
"""What the upstream sends (and the client does), by the name that a page asks for."""


def timeline(scenario: str, name: str) -> str:
    """What the first rule of `scenario` makes of the script `name`; two columns, times in seconds."""
    if name not in SCRIPTS:
        raise LookupError(f"no script {name!r}; there are {', '.join(SCRIPTS)} (docs/timeline.py)")
    script = SCRIPTS[name]
    uploads = any(isinstance(what, Upload) for _, what in script)
    hops = [hop.faults for hop in load(scenario).rules[0].hops]
    played = play(hops, script, request=POST if uploads else GET)
    rows = _uploaded(played, script) if uploads else _streamed(played, script)
    left, right = ("the client sends", "the upstream gets") if uploads else ("the upstream sends", "the client gets")
    wide = max(len(left), *(len(sent) for _, sent, _ in rows if not sent.startswith(NOTE)))
    lines = [f"{'s':>7}  {left:{wide}}  {right}"]
    for time, sent, got in rows:
        lines.append(f"{time:7.3f}  {sent:{wide}}  {got}".rstrip())
    return "\n".join(lines)


Row = tuple[float, str, str]


def _streamed(played: Played, script: list[Step]) -> list[Row]:
    told = math.inf if played.cancelled_at is None else played.cancelled_at
    sent = [(time, _shown(event)) for time, event in played.arrived if time <= told]  # then it stops
    got = [(time, _shown(event)) for time, event in played.out]
    got += [(time, LEAVES) for time, what in script if what == "hangup"]
    rows = _beside(sent, sorted(got, key=lambda row: row[0]), "" if played.end_cause is None else "end")
    if played.end is None and not any(row[2] == LEAVES for row in rows):
        rows.append((rows[-1][0], "", "(nothing more; the connection stays open)"))
    return _with_notes(rows, played)


def _uploaded(played: Played, script: list[Step]) -> list[Row]:
    sent = [(0.0, "POST")]
    for time, what in script:
        if isinstance(what, Upload):
            sent.append((round(time, 9), _text(what.what) if isinstance(what.what, bytes) else _shown(what.what)))
    return _with_notes(_beside(sent, [(time, _shown(event)) for time, event in played.request], ""), played)


def _beside(sent: list[tuple[float, str]], got: list[tuple[float, str]], never: str) -> list[Row]:
    """In the order it happened; what left at the instant it came in, as it was, on one line (but for what is `never`
    the same)."""
    rows: list[Row] = []
    waiting = deque(got)
    for time, left in sent:
        while waiting and waiting[0][0] < time:
            rows.append((waiting[0][0], "", waiting.popleft()[1]))
        same = bool(waiting) and waiting[0] == (time, left) and left != never
        rows.append((time, left, waiting.popleft()[1] if same else ""))
    return [*rows, *((time, "", right) for time, right in waiting)]


def _with_notes(rows: list[Row], played: Played) -> list[Row]:
    """What the faults say of themselves; at one instant behind what came in, before what came of it."""
    notes = [(time, f"{NOTE}{fault}: {detail}", "") for time, fault, detail in played.fired]
    if played.cancelled_at is not None and played.arrived:
        notes.append((played.cancelled_at, f"{NOTE}(is told to stop)", ""))
    for note in notes:
        before = [
            at
            for at, (time, left, right) in enumerate(rows)
            if time < note[0] or (time == note[0] and (left or right == LEAVES))
        ]
        rows.insert(before[-1] + 1 if before else 0, note)
    return rows


def _shown(event: Event) -> str:
    match event:
        case Data(payload):
            return _text(payload)
        case ResponseHead():
            return HEADS.get(event) or _head(event)
        case RequestHead(method):
            return method.decode()
        case Abort():
            return _ending(event)
        case Trailers():
            return "trailers"
        case _:
            return "end"


def _head(head: ResponseHead) -> str:
    kind = (first(head.headers, b"content-type") or b"").decode()
    others = [
        f"{name.decode().lower()}: {value.decode()}"
        for name, value in head.headers
        if name.lower() not in {b"content-type", b"content-length"}
    ]
    return ", ".join([f"{head.status} {kind}".rstrip(), *others])


def _ending(event: Abort) -> str:
    how = {
        Manner.FIN: "FIN, no last chunk",
        Manner.RESET: "TCP RST" if event.scope.value == "connection" else "FIN, no last chunk",
        Manner.AT_ONCE: "FIN, no last chunk",
        Manner.MID_CHUNK: "FIN inside a chunk",
        Manner.NO_CLOSE_NOTIFY: "FIN without close_notify",
        Manner.GOAWAY: "GOAWAY",
        Manner.SILENCE: "(silence; the connection stays open)",
    }
    return how[event.manner]


def _text(payload: bytes) -> str:
    try:
        text = payload.decode()
    except UnicodeDecodeError:
        return f"{len(payload)} bytes, coded"
    text = " | ".join(line for line in text.split("\n") if line)
    text = "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in text)
    if len(text) > SHOWN:
        return f"{len(payload)} bytes: {text[: SHOWN - 14].rstrip(' .')} ..."
    return text
