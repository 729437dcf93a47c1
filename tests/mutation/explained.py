"""The mutants that no test can see, or that none should, and why."""

KEPT = "self.kept and (isinstance(event, Abort) or not editing.last) -> isinstance(event, Abort) or not editing.last"
GOAWAY = (
    "ending.kind == 'goaway' and context.protocol == 'h2' and (context.stream <= _last(ending, out))"
    " -> context.protocol == 'h2' and context.stream <= _last(ending, out)"
)

IDLE = "type(first) is Span and first.next is exit_ and (now < self.due) -> first.next is exit_ and now < self.due"

RESTS = (
    "self.rest is not None and self.before is not None and (not self.outbox) and (not self.closed) and (not self.mute)"
    " and (self.fault.held == 0) and (not (self.fault.looks or self.away)) and (max(self.floor, self.pause) <= now)"
    " and self.line.lazy"
)
RESTS_HOLDING = f"{RESTS} -> {RESTS.replace(' and (self.fault.held == 0)', '')}"

EXPLAINED: dict[tuple[str, str], str] = {
    ("framing/sse.py _is_crlf_event", "2 -> 3"): "the long way finds the same",
    ("framing/sse.py _is_crlf_event", "3 -> 4"): "the long way finds the same",
    ("http2/output.py Output.body", "if type(event) is not Data or len(event.payload) > most -> if True"): (
        "the ordinary way writes the same bytes"
    ),
    ("http2/receiving.py ", "100 -> 101"): "a figure of choice; nothing depends on the pair",
    ("http2/windows.py ", "1024 -> 1025"): "a figure of choice; nothing depends on the byte",
    ("chain/acting.py Actor.idles", "if self.closed -> if False"): "`hears_room` asks again before it acts",
    ("chain/edited.py Edited._body_over", KEPT): "nothing kept makes an empty piece, which no place lets go",
    ("chain/editing.py Editing._marked", "if not self.edited -> if False"): "the same pieces, made anew",
    ("chain/exit.py Exit.close", "self.size = 0 -> pass"): "closed it has room, whatever its size",
    ("chain/exit.py ", "64 -> 65"): "a figure of choice; nothing depends on the byte",
    ("chain/fault.py ", "1 -> 2"): "stand-ins for tests: a real exchange says its own stream",
    ("chain/leaving.py Leaving.unheard", "frozenset(found) if found else NOBODY -> frozenset(found)"): (
        "both are empty; the one takes no room of its own"
    ),
    ("chain/line.py Line.idle", IDLE): "where places may rest the first node is a span",
    ("chain/line.py Line.take", "full and exit_.has_room(now) -> full"): "who moves up asks for room again",
    ("chain/line.py Line.take", "full and exit_.has_room(now) -> full or exit_.has_room(now)"): "it looks in vain",
    ("chain/pieces.py _part", "first < behind -> first <= behind"): "of no ends it makes the same empty tuple",
    ("chain/stage.py Stage.drowse", RESTS_HOLDING): "no fault rests while it holds something",
    ("chain/resolve.py survives", GOAWAY): "the `last` of any other ending is 0, and no stream's number is",
}
