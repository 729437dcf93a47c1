"""The scenarios of the scenes about faults: each alone, at rest and acting, six in a row, and those asked for an exact time.

One proxy serves them all, by the first segment of the path: so they differ in nothing but the faults.
Rules: what rests is asked for something that never comes, or only `if` something is that never is.
"""

from dataclasses import dataclass

_NEVER = "at: {event: 1000000000}"
_ELSEWHERE = "if: {status: 503}"


@dataclass(frozen=True, slots=True)
class Variant:
    """One fault: at rest, and acting on a stream that goes on."""

    rests: str
    acts: str | None
    """None: it can act only once, with the stream's end or in its place."""
    gzip: bool = False
    """The reader has to decode what comes."""


FAULTS = {
    "abort_upstream": Variant(f"{{{_NEVER}}}", None),
    "auth": Variant("{if: {client_headers: {x-never: yes}}}", None),
    "bandwidth": Variant(f"{{rate: 1MiB/s, {_ELSEWHERE}}}", "1MiB/s"),
    "blackhole": Variant(f"{{{_NEVER}}}", None),
    "broken_end": Variant("clean", None),
    "absorb": Variant(f"{{bytes: 1MiB, {_ELSEWHERE}}}", "1MiB"),
    "buffer": Variant(f"{{every: 100ms, {_ELSEWHERE}}}", "{every: 100ms}"),
    "chunk_syntax": Variant(f"{{zeros: 1, {_ELSEWHERE}}}", "1"),
    "cache": Variant("{if: {client_headers: {x-never: yes}}}", "{limit: 0}"),
    "client_abort": Variant("propagate", None),
    "compress": Variant("gzip", "{coding: gzip, flush: sync, when_accepted: false}", gzip=True),
    "concurrency": Variant("{limit: 1000, if: {client_headers: {x-never: yes}}}", "{limit: 1000}"),
    "cork": Variant(f"{{after: 200ms, {_ELSEWHERE}}}", "200ms"),
    "cut": Variant(f"{{{_NEVER}}}", None),
    "drop": Variant(f"{{{_NEVER}}}", "{at: {event: 2, every: 2}}"),
    "duplicate": Variant(f"{{{_NEVER}}}", "{at: {event: 1, every: 2}}"),
    "error_event": Variant(f"{{{_NEVER}}}", None),
    "frames": Variant(f"{{data: 16384, {_ELSEWHERE}}}", "{padding: 8}"),
    "framing": Variant(f"{{as: chunked, {_ELSEWHERE}}}", "{content_length: 1000000000}"),
    "goaway": Variant(f"{{{_NEVER}}}", None),
    "grpc_status": Variant(f"{{{_NEVER}}}", None),
    "headers": Variant(f"{{add: {{x-added: one}}, {_ELSEWHERE}}}", "{add: {x-added: one}}"),
    "hold_head": Variant(f"{{until: first_byte, {_ELSEWHERE}}}", "first_byte"),
    "inject": Variant(f"{{comment: ping, {_NEVER}}}", "{comment: ping, at: {event: 1, every: 2}}"),
    "latency": Variant(f"{{delay: 5ms, {_ELSEWHERE}}}", "5ms"),
    "line_endings": Variant(f"{{mode: crlf, {_ELSEWHERE}}}", "crlf"),
    "mutate": Variant(f"{{json: {{changed: true}}, {_NEVER}}}", "{replace: {'[.]': '-'}}"),
    "linger": Variant(f"{{for: 1ms, {_ELSEWHERE}}}", "1ms"),
    "pace": Variant(f"{{events: 1, every: 10ms, {_ELSEWHERE}}}", "{events: 1, every: 10ms}"),
    "rate_limit": Variant("{limit: 1000000/s, if: {client_headers: {x-never: yes}}}", "{limit: 1000000/s}"),
    "replace_body": Variant(f"{{events: gone, {_ELSEWHERE}}}", None),
    "refuse": Variant(f"{{{_ELSEWHERE}}}", None),
    "resegment": Variant(f"{{bytes: 1KiB, {_ELSEWHERE}}}", "{split: event, pause: 0s}"),
    "reorder": Variant(f"{{{_NEVER}}}", "{at: {event: 1, every: 2}}"),
    "respond": Variant("{status: 503, if: {client_headers: {x-never: yes}}}", None),
    "retry_upstream": Variant("{on: error, if: {client_headers: {x-never: yes}}}", "5xx"),
    "route": Variant("{if: {client_headers: {x-never: yes}}}", "{replicas: 2}"),
    "slow_reader": Variant(f"{{rate: 1MiB/s, {_ELSEWHERE}}}", "1MiB/s"),
    "stall": Variant(f"{{for: 10ms, {_NEVER}}}", "{for: 10ms, at: {event: 1, every: 2}}"),
    "strip": Variant(f"{{what: done, {_ELSEWHERE}}}", "[done, usage, comments]"),
    "timeout": Variant("{idle: 60s}", None),
}

_CUT = f"cut: {{{_NEVER}, then: abort}}"
ROWS = {
    "six at rest": (
        (_CUT, "timeout: {idle: 60s}"),
        ("client_abort: propagate", "timeout: {first_event: 60s, total: 1h}"),
        ("cut: {at: {bytes: 1000000000000}}", f"buffer: {{bytes: 4KiB, {_ELSEWHERE}}}"),
    ),
    "six, two latencies": (
        (_CUT, "latency: 5ms"),
        ("timeout: {idle: 60s}", f"error_event: {{{_NEVER}}}"),
        ("latency: 5ms", "compress: gzip"),
    ),
}
"""Six faults in three hops. Of the second the latencies act, on every piece; the reader accepts no coding."""

TALE = 20
"""Events of a short stream."""
_LAST = f"at: {{event: {TALE}}}"
ENDINGS: dict[str, tuple[str | None, str]] = {
    "none": (None, "end"),
    "cut, clean": (f"cut: {{{_LAST}, then: clean}}", "end"),
    "cut, reset": (f"cut: {{{_LAST}, then: rst}}", "end"),
    "error_event": (f"error_event: {{{_LAST}}}", "end"),
    "goaway": (f"goaway: {{{_LAST}}}", "end"),
    "refuse": ("refuse: {}", "end"),
    "grpc_status": (f"grpc_status: {{{_LAST}}}", "end"),  # which these streams do not know: it stays at rest
    "timeout": ("timeout: {idle: 20ms}", "quiet"),
    "broken_end": ("broken_end: clean", "end"),  # these streams end well: it stays at rest
    "replace_body": ("replace_body: gone", "end"),
    "respond": ("respond: {status: 503}", "end"),
    "auth": ("auth: {}", "end"),
    "none, the client leaves": (None, "left"),
    "client_abort": ("client_abort: ignore", "left"),
    "abort_upstream": (f"abort_upstream: {{{_LAST}}}", "left"),
    "blackhole": (f"blackhole: {{{_LAST}}}", "left"),
}
"""What happens at the end of a short stream, or in its place; how the stream goes on behind its events: it ends, it says
nothing more, or the client leaves then."""

ASKED_MS = 50.0
EXACT = {
    "latency": ("latency: 50ms", 1),
    "stall": ("stall: {for: 50ms, at: {event: 1, every: 2}}", 2),
    "pace": ("pace: {events: 1, every: 50ms}", 2),
    "buffer": ("buffer: {every: 50ms}", 1),
    "timeout": ("timeout: {idle: 50ms, then: clean}", 0),
}
"""What is asked to come 50 ms late: the last of so many events that come together, or (0) the stream's end."""


def variants() -> dict[str, tuple[str, bool]]:
    """Row -> the path's prefix, and whether what comes has to be decoded."""
    rows = {"none": ("/none", False)}
    for name, fault in FAULTS.items():
        rows[f"{name} at rest"] = f"/{name}-rests", False
        if fault.acts is not None:
            rows[f"{name} acting"] = f"/{name}-acts", fault.gzip
    for name in ROWS:
        rows[name] = _segment(name), False
    return rows


def endings() -> dict[str, tuple[str, bool]]:
    """Row -> the path, and whether the client leaves behind the last event."""
    return {name: (f"{_ending(name)}/tale/{TALE}/{how}", how == "left") for name, (_, how) in ENDINGS.items()}


def _ending(name: str) -> str:
    return f"{_segment(name)}-ending"


def _segment(name: str) -> str:
    return "/" + name.replace(",", "").replace(" ", "-")


def _rule(segment: str, *hops: tuple[str, ...]) -> str:
    lines = [f"  - match: {{path: {segment}/*}}", "    hops:"]
    for faults in hops:
        lines += ["      - faults:", *(f"          - {fault}" for fault in faults)]
    return "\n".join(lines) + "\n"


def scenario() -> str:
    """Every fault, at rest and acting, and the rows."""
    rules = []
    for name, fault in FAULTS.items():
        rules.append(_rule(f"/{name}-rests", (f"{name}: {fault.rests}",)))
        if fault.acts is not None:
            rules.append(_rule(f"/{name}-acts", (f"{name}: {fault.acts}",)))
    rules += [_rule(_segment(name), *hops) for name, hops in ROWS.items()]
    rules += [_rule(_ending(name), (fault,)) for name, (fault, _) in ENDINGS.items() if fault is not None]
    return "version: 1\nrules:\n" + "".join(rules)


def exact_scenario() -> str:
    """What is asked for an exact time; everything else passes."""
    return "version: 1\nrules:\n" + "".join(_rule(f"/exact-{name}", (fault,)) for name, (fault, _) in EXACT.items())
