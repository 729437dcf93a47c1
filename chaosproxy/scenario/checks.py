"""What no field can see by itself: a fault against its neighbours, a rule as a whole.

Rules: called with what was read so far, whole or not; says where. Must not know: any fault by more than its flags and
its fields, but for the warning about timeouts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import fields

from chaosproxy.chain.connection_spec import ConnectionSpec
from chaosproxy.chain.endings import Ending
from chaosproxy.chain.fault import FaultSpec
from chaosproxy.model.units import show_duration
from chaosproxy.model.vocabulary import Way
from chaosproxy.scenario.nodes import Path
from chaosproxy.scenario.reading import Reader
from chaosproxy.scenario.schema import ConnectionMatch, Rule
from chaosproxy.scenario.shapes import key_of

MOST = 64
"""Faults of one rule: a piece passes them in one call each, and the stack is not endless."""
_OF_ANSWERS = ("status", "clean", "end_stream")
"""Endings of an answer, which no connection has."""
_WAITS = ("first_byte", "first_event", "between_bytes", "response", "idle", "total")


def check_rule(rule: Rule, paths: Sequence[Sequence[Path]], reader: Reader) -> None:
    """Everything about one rule; `paths` says for each hop where each of its faults stands."""
    placed = [
        (number, fault, path)
        for number, (hop, at) in enumerate(zip(rule.hops, paths, strict=True))
        for fault, path in zip(hop.faults, at, strict=True)
    ]
    for _, fault, path in placed:
        if not fault.in_hops:
            reader.complain(
                f"`{fault.name}` is about a whole connection; it stands under `connections:`", path, key=True
            )
        _in_hop(fault, path, reader)
        _combinations(fault, path, reader)
    for _, fault, path in placed[1:]:
        if fault.asks_again:
            message = f"`{fault.name}` asks the upstream itself: nothing may stand nearer the upstream; put it first"
            reader.complain(f"{message} (an upstream that fails is a matter of `connections:`)", path, key=True)
    if len(placed) > MOST:
        reader.complain(f"a rule has at most {MOST} faults; here are {len(placed)}", placed[MOST][2], key=True)
    _records_behind_coding([(fault, path) for _, fault, path in placed], reader)
    _waits(placed, reader)


def check_connection(faults: Sequence[FaultSpec], paths: Sequence[Path], reader: Reader) -> None:
    """Everything about the faults of one entry of `connections`."""
    for fault, path in zip(faults, paths, strict=True):
        if fault.on_sessions:
            _on_session(fault, path, reader)
        elif not fault.on_connections:
            reader.complain(f"`{fault.name}` cannot act on a whole connection; it stands in a hop", path, key=True)
        elif fault.reads_records:
            where = (*path, "at") if fault.at is not None and fault.at.reads_records else path
            reader.complain("a connection has no records; use bytes or time", where)
        elif fault.reads_framing:
            reader.complain("a connection has no chunks that could be told; this stands in a hop", path)
        else:
            _endings_of_answers(fault, path, reader)
        _combinations(fault, path, reader)


def _endings_of_answers(fault: FaultSpec, path: Path, reader: Reader) -> None:
    for field in fields(fault):
        given = getattr(fault, field.name)
        if not (isinstance(given, tuple) and given and isinstance(given[0], Ending)):
            continue
        if all(ending.kind in _OF_ANSWERS for ending in given):
            message = f"`{given[0].kind}` is about an answer, and a connection has none: `fin` and `rst` end it"
            reader.complain(message, (*path, key_of(field.name)))


def check_side(match: ConnectionMatch, faults: Sequence[FaultSpec], paths: Sequence[Path], reader: Reader) -> None:
    """Some act on one side only, and some before what `match` asks for is known."""
    for fault, path in zip(faults, paths, strict=True):
        if not isinstance(fault, ConnectionSpec) or not isinstance(match, ConnectionMatch):
            continue
        if match.side is not None and match.side not in fault.sides:
            reader.complain(
                f"`{fault.name}` is about connections of clients; this entry is about the upstream's", path, key=True
            )
        elif fault.flaws and (match.protocol is not None or match.sni is not None):
            reader.complain(
                f"`{fault.name}` shows its certificate before the protocol and the name are known; match by number",
                path,
                key=True,
            )
        elif fault.of_all and match != ConnectionMatch(side="client"):
            reader.complain(
                f"`{fault.name}` is about the listening sockets here: `match: {{side: client}}`, and nothing else",
                path,
                key=True,
            )


def _on_session(fault: FaultSpec, path: Path, reader: Reader) -> None:
    if fault.if_ is not None:
        reader.complain("a connection has no head that `if` could look at; narrow it by `match`", (*path, "if"))
    if fault.at is not None and (fault.at.time is None or fault.at.every is not None):
        reader.complain("a session has one kind of place, a time since it began: {time: 2s}", (*path, "at"))


def _in_hop(fault: FaultSpec, path: Path, reader: Reader) -> None:
    usual = {field.name: field.default for field in fields(fault)}
    for key in fault.session_keys:
        if getattr(fault, key) != usual[key]:
            reader.complain("this is about a whole connection; such a fault stands under `connections:`", (*path, key))


def _combinations(fault: FaultSpec, path: Path, reader: Reader) -> None:
    for keys, message in fault.problems():
        reader.complain(message, (*path, *keys))


def _records_behind_coding(faults: Sequence[tuple[FaultSpec, Path]], reader: Reader) -> None:
    """A coded body shows no records to a fault that it meets later: nearer the client; of a request, the upstream."""
    for way, order, where in ((Way.RESPONSE, faults, "before"), (Way.REQUEST, faults[::-1], "behind")):
        coding = ""
        for fault, path in order:
            if fault.way is not way:
                continue
            if coding and fault.reads_records:
                message = f"`{fault.name}` reads records, but `{coding}` {where} it codes the body"
                reader.complain(f"{message}; put it {where} `{coding}`", path, key=True)
            if fault.codes_body:
                coding = fault.name


def _timeouts(fault: FaultSpec) -> Iterator[tuple[str, float]]:
    if fault.name == "timeout":
        for kind in _WAITS:
            seconds = getattr(fault, kind, None)
            if isinstance(seconds, float):
                yield kind, seconds


def _waits(faults: Sequence[tuple[int, FaultSpec, Path]], reader: Reader) -> None:
    """An outer hop that waits longer than an inner one never sees its own timeout: the inner one has ended it, and the
    outer one passes on what there is of the answer."""
    shortest: dict[str, tuple[float, int, Path]] = {}
    for hop, fault, path in faults:
        for kind, seconds in _timeouts(fault):
            where = (*path, kind)
            inner, inner_hop, inner_path = shortest.get(kind, (seconds, hop, where))
            if inner_hop < hop and seconds > inner:
                message = (
                    f"{kind}: this outer hop waits {show_duration(seconds)}, longer than the {show_duration(inner)} "
                    f"of an inner hop{reader.at_line(inner_path)}, which will always be first"
                )
                reader.complain(message, where, warning=True)
            if seconds <= inner:
                shortest[kind] = (seconds, hop, where)
