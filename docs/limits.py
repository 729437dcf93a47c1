"""The limits on the page of security: each is a constant of the code, whose value is read where it stands."""

from dataclasses import dataclass
from importlib import import_module

KIB, MIB = 1024, 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limit:
    """A bound, what it bounds, and what becomes of what goes beyond it. `name` is `module.CONSTANT` below `chaosproxy`."""

    what: str
    name: str
    unit: str
    beyond: str

    @property
    def value(self) -> float:
        """As the code has it."""
        module, _, constant = self.name.rpartition(".")
        value: float = getattr(import_module(f"chaosproxy.{module}"), constant)
        return value

    @property
    def shown(self) -> str:
        """The value, for people."""
        value = self.value
        if self.unit == "bytes" and value >= KIB and not value % KIB:
            return f"{value // MIB:g} MiB" if not value % MIB else f"{value // KIB:g} KiB"
        if self.unit == "s":
            return f"{value:,.10g} s"
        return f"{value:,} {self.unit}".rstrip()


LIMITS = (
    Limit("an HTTP/1 head, or trailers", "http1.lines.LARGEST_HEAD", "bytes", "431 and close; of an answer 502"),
    Limit("a request line", "http1.lines.LONGEST_LINE", "bytes", "414 and close"),
    Limit("fields of an HTTP/1 head", "http1.lines.MOST_FIELDS", "", "431 and close; of an answer 502"),
    Limit("a header list of HTTP/2", "http2.heads.LARGEST_LIST", "bytes", "431 of that stream; of an answer 502"),
    Limit("fields of an HTTP/2 head", "http2.heads.MOST_FIELDS", "", "431 of that stream; of an answer 502"),
    Limit("a header block, also decoded", "http2.blocks.LARGEST_BLOCK", "bytes", "GOAWAY, `flood:`"),
    Limit("frames of a header block", "http2.blocks.MOST_FRAMES", "", "GOAWAY, `flood:`"),
    Limit("table size updates in a header block", "http2.blocks.MOST_SIZE_UPDATES", "", "GOAWAY(COMPRESSION_ERROR)"),
    Limit("the compression table used of what a peer offers", "http2.output.LARGEST_TABLE", "bytes", "is not used"),
    Limit("extensions of all chunks of a body", "http1.chunked.EXTENSIONS", "bytes", "400 and close; abort"),
    Limit("interim heads (1xx) before a final one", "http1.client.INTERIMS", "", "502"),
    Limit("the same over HTTP/2", "http2.messages.MOST_INTERIMS", "", "502"),
    Limit("pipelined requests that wait", "http1.server.WAITING", "bytes", "are not read yet"),
    Limit("streams of an HTTP/2 client", "http2.session.MAX_STREAMS", "", "RST_STREAM(REFUSED_STREAM)"),
    Limit("frames that wait for an HTTP/2 peer to read", "http2.output.ROOM", "bytes", "that peer is not read"),
    Limit("bytes that wait for a socket", "wire.sending.OUTGOING", "bytes", "no more are taken"),
    Limit(
        "useless work of an HTTP/2 peer: points", "http2.floods.POINTS", "", "GOAWAY(ENHANCE_YOUR_CALM), `flood:NAME`"
    ),
    Limit("the same, given back", "http2.floods.PER_SECOND", "a second", ""),
    Limit("points of a stream reset before its answer, or by us", "http2.floods.RESET", "", ""),
    Limit("points of a SETTINGS or GOAWAY frame", "http2.floods.SETTINGS", "", ""),
    Limit("points of PING, PRIORITY, an empty DATA frame, an interim head", "http2.floods.SMALL", "", ""),
    Limit("points of a SETTINGS frame of many pairs", "http2.floods.MANY_SETTINGS", "", ""),
    Limit("points of a window opened further than ever", "http2.floods.WIDER", "", ""),
    Limit("points of an unknown frame", "http2.floods.UNKNOWN", "", ""),
    Limit("points of each field of a head with far too many", "http2.floods.FIELD", "", ""),
    Limit("points of each field behind its stream's end", "http2.floods.LATE_FIELD", "", ""),
    Limit("what the first read of HTTP/2 brings; what is quick doubles it", "proxy.connection.FIRST", "bytes", ""),
    Limit(
        "lines of HTTP/1 handled at once where faults look at them",
        "proxy.slices.LINES",
        "",
        "the others have their turn; a chunk of more may travel as two",
    ),
    Limit("a connection's turn, while others wait", "proxy.connection.TURN", "s", "the others have theirs"),
    Limit("a client's silence, until the kernel asks for it", "wire.listen.SILENT", "s", "four questions, then gone"),
    Limit(
        "a request's head, a frame, or what HTTP/2 begins with, from its first byte",
        "proxy.patience.BEGUN",
        "s",
        "408, or GOAWAY, and close",
    ),
    Limit(
        "descriptors for listeners, journal, files that are read again, resolvers",
        "proxy.gate.SPARE",
        "",
        "clients wait in the backlog",
    ),
    Limit(
        "descriptors that a client is expected to take",
        "proxy.gate.EACH",
        "",
        "the same: half of `ulimit -n` are clients",
    ),
    Limit("TLS handshake", "proxy.listener.HANDSHAKE", "s", "closed"),
    Limit("a connection to an upstream", "wire.dial.WITHIN", "s", "502 `upstream:unreachable`"),
    Limit("idle connections kept to an upstream", "proxy.upstream.IDLE", "", "the oldest is closed"),
    Limit("reading on behind our FIN", "wire.close.LINGER", "s", "closed"),
    Limit(
        "lines of stdout, stderr or a journal that is a pipe, unread",
        "embedded.outlet.ROOM",
        "bytes",
        "counted as lost; exit status 3 for a journal",
    ),
    Limit("waiting for who reads a journal, at the end", "journal.jsonl.LAST", "s", "the same"),
    Limit(
        "time made up for after the process stood still",
        "faults.pacing.STOOD_STILL",
        "s",
        "what is later stays late, without a burst; of a slower pace, its own interval",
    ),
    Limit("the same, of bytes that are dribbled", "wire.dribbling.STOOD_STILL", "s", "the same"),
    Limit("a record that triggers and checks read", "framing.blocks.LIMIT", "bytes", "`record too long`"),
    Limit("a request body that `if:` and `match:` read", "proxy.held.LIMIT", "bytes", "does not match"),
    Limit("a request kept for asking again", "chain.tape.KEPT", "bytes", "`request too long`"),
    Limit("pieces of a body in the journal, the first", "journal.marks.FIRST", "", "only counted"),
    Limit("the same, the last", "journal.marks.LAST", "", ""),
    Limit("events that the checks know, each way", "journal.evidence.MOST_EVENTS", "", "a check knows nothing of them"),
    Limit("exchanges kept in memory by `run`", "cli.run.KEPT", "", "the oldest goes, `dropped` counts"),
    Limit("exchanges kept in memory by `serve`", "embedded.setup.KEPT", "", "the same"),
    Limit(
        "bytes of heads that an exchange in memory may have, on the average",
        "journal.kept.EACH",
        "bytes",
        "the oldest goes, `dropped` counts",
    ),
    Limit("a scenario file", "scenario.source.LARGEST_FILE", "bytes", "an error with its place"),
    Limit("nodes of a scenario, each alias counted anew", "scenario.nodes.MOST_NODES", "", "the same"),
    Limit("depth of a scenario", "scenario.nodes.DEEPEST", "", "the same"),
    Limit("a number in a scenario", "scenario.nodes.LARGEST_NUMBER", "", "the same"),
    Limit("a duration", "model.units.LONGEST", "s", "the same; `forever` says so"),
    Limit("instructions of a pattern", "chain.patterns.LARGEST_PROGRAM", "", "the same"),
    Limit("a pattern", "scenario.forms.LONGEST_PATTERN", "bytes", "the same"),
    Limit("environment variables in a scenario, together", "scenario.environment.MOST_TEXT", "bytes", "the same"),
    Limit("a line of a journal that `report` reads", "journal.reader.LONGEST", "bytes", "an error with its line"),
    Limit("a baseline of `check`", "check.baseline.LARGEST", "bytes", "an error"),
    Limit("a certificate or key file", "wire.tls.LARGEST", "bytes", "an error"),
    Limit("a field in a line, a message or a report", "model.shown.LONGEST", "characters", "ends in an ellipsis"),
    Limit("a line of a message", "model.shown.LONGEST_LINE", "characters", "the same"),
    Limit(
        "what `check` and `diagnose` unpack of a coded answer",
        "client.body.MOST_UNPACKED",
        "bytes",
        "the rest is not read, and that is said",
    ),
    Limit("the same, to what it was packed in", "client.body.MOST_RATIO", "times", "the same, beyond the first MiB"),
    Limit("text that `check` and `diagnose` unpack of an answer", "client.body.KEPT", "bytes", "the rest is not read"),
)
