"""What came of a cell, held against the rule; and what must be so of every cell: the other exchange has its bytes at its
moments, the journal is complete, and nothing stays behind.

Each check gives lines for a person. Must not know: how a cell is lived.
"""

from collections.abc import Iterator

from tests.security.matrix import rules
from tests.security.matrix.cell import HAPPENS, LATE, SOON, Cell, Lived
from tests.security.matrix.rules import LEFT, Expected
from tests.security.matrix.world import BEATS, beat


def problems(lived: Lived) -> Iterator[str]:
    """What is not as it must be."""
    cell = lived.cell
    want = rules.expected(cell.state, cell.event, cell.client, cell.upstream)
    yield from _exchange(lived, want)
    yield from _body(lived, want)
    yield from _others(lived)
    yield from _nothing_stays(lived, want)
    yield from _said(lived)


def _exchange(lived: Lived, want: Expected) -> Iterator[str]:
    late = lived.late
    seen = LEFT if want.client == LEFT and not late.view.whole else late.view.said
    if seen != want.client:
        yield f"the client sees {seen!r}, not {want.client!r}"
    if want.upstream is not None and late.heard not in _same(want.upstream):
        yield f"the upstream sees {late.heard!r}, not {want.upstream!r}"
    if late.end != want.end:
        yield f"end is {late.end}, not {want.end}"
    if late.upstream_end != want.upstream_end:
        yield f"upstream.end is {late.upstream_end}, not {want.upstream_end}"
    if want.end is not None and lived.soon.journalled is not want.at_once:
        yield f"in the journal {'at once' if lived.soon.journalled else 'later'}"
    if want.at_once and want.upstream is not None and lived.soon.heard not in _same(want.upstream):
        yield f"the upstream sees at once {lived.soon.heard!r}, not {want.upstream!r}"


def _same(heard: str) -> tuple[str, ...]:
    """A FIN behind which something is left unread is a reset (RFC 2525 section 2.17)."""
    return (heard, "rst") if heard == "fin" else (heard,)


def _body(lived: Lived, want: Expected) -> Iterator[str]:
    view, state = lived.late.view, lived.cell.state
    if view.status is not None and view.status >= 400:
        if not (view.body.startswith(b"chaosproxy: ") and view.body.count(b"\n") == 1):
            yield f"a reason of one line: {view.body!r}"
        return
    if not state.body.startswith(view.body):
        yield f"other bytes: {view.body[:100]!r}"
    by_upstream = want.end is not None and want.end[0] == "upstream"
    if by_upstream and want.client != LEFT and not view.body.startswith(lived.sent):
        yield f"{len(view.body)} bytes of {len(lived.sent)} that the upstream has sent"
    if want.end == rules.CLEAN and state.phase != "tunnel" and view.body != state.body:
        yield f"{len(view.body)} bytes of {len(state.body)}"


def _others(lived: Lived) -> Iterator[str]:
    """The other exchange, and who came later."""
    event = lived.cell.event.key
    wanted = [(number + 1.0, beat(number)) for number in range(BEATS)]
    got = [(round(time, 6), data) for time, data in lived.beats]
    if event == "second term":
        wanted = [(time, data) for time, data in wanted if time < HAPPENS]
    elif lived.sibling.said != "200 whole":
        yield f"the other exchange ends {lived.sibling.said!r}"
    if got != wanted:
        yield f"the other exchange has {got}"
    meanwhile = lived.meanwhile.said if lived.meanwhile is not None else None
    if meanwhile != _newcomer(lived.cell):
        yield f"a newcomer is answered {meanwhile!r}, not {_newcomer(lived.cell)!r}"
    if event not in ("term", "second term") and [view.said for view in lived.probes] != ["200 whole"] * 2:
        yield f"afterwards one is answered {[view.said for view in lived.probes]}"


def _newcomer(cell: Cell) -> str | None:
    """What who asks during the event is answered, where somebody does."""
    if cell.event.kind == "dial":
        there = cell.upstream == "h2" or cell.state.key == "idle"
        return "200 whole" if there else "502 whole"
    return {"reload": "418 whole", "bad reload": "200 whole"}.get(cell.event.key)


def _nothing_stays(lived: Lived, want: Expected) -> Iterator[str]:
    soon, after = lived.soon.remains, lived.after
    if want.at_once and want.end is not None and lived.cell.event.key != "second term" and soon.exchanges != 1:
        yield f"at once there are {soon.exchanges} exchanges"
    remains = after.remains
    if remains.exchanges or remains.clients or remains.tasks or remains.alarms:
        yield f"with everybody gone: {remains}"
    if after.open_links != remains.pooled:
        yield f"{after.open_links} connections open, {remains.pooled} of them kept"
    leaves = lived.cell.event.key in ("term", "second term")
    if leaves != (lived.left is not None) or (lived.left or 0) > (SOON if "second" in lived.cell.event.key else LATE):
        yield f"the proxy has left: {lived.left}"
    if lived.gone != (True, 0):
        yield f"the proxy has left: {lived.gone[0]}, with {lived.gone[1]} connections open"


def _said(lived: Lived) -> Iterator[str]:
    """In the log, and on stderr."""
    event = lived.cell.event
    if event.kind == "bug" and "a bug" not in lived.detail and event.key != "memory":
        yield f"the journal says {lived.detail!r}"
    bugs = [line for line in lived.logged if "x_trap" in line]
    if len(bugs) != (event.kind == "bug") or len(lived.logged) - len(bugs) > (event.key == "certificate"):
        yield f"logged: {lived.logged}"
    if event.key in ("full", "bad reload", "reload") and len(lived.complaints) != 1:
        yield f"complaints: {lived.complaints}"
    if event.key == "full" and lived.lost != len(lived.probes) + 1 + (lived.cell.state.phase != "over"):
        yield f"{lived.lost} lines lost"
