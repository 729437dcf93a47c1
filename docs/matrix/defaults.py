"""What clients do that have been told no time-out, beside what was measured by hand.

Must not know: how a client is run.
"""

from collections.abc import Sequence

from docs.matrix.compared import Found, Seen, by_hand

START = 25
"""Seconds that the start of a client may have taken: some load for twenty where others load too."""
_HEAD = """## Without a time-out

The suite `slow`: nobody has told the client a time-out. It is watched for ten minutes while not a byte comes (`default-head`), while nothing comes behind the sixth event (`default-idle`), and while nothing comes there but a comment every 15 s (`default-content`); it is given tokens for six minutes (`default-total`), and told to ask again in 61 s (`429-minute`). The seconds are those of the whole case, the start of the client among them (up to twenty, as all started at once). By hand: after how many seconds it gave up, or asked again, when it was watched for 640 s; the clients in Node were of older versions then, and ran on Node 20.
"""


def defaults(found: Found, rows: Sequence[tuple[str, str]]) -> str:
    """The table; `rows` are clients, by name and as they are shown."""
    columns = list(dict.fromkeys(case for cases in found.values() for case in cases))
    heads = [head for case in columns for head in ((case, "by hand") if case in by_hand() else (case,))]
    lines = [_HEAD, f"| client | {' | '.join(heads)} |", f"|---|{'---|' * len(heads)}"]
    for name, shown in rows:
        if name in found:
            cells = [cell for case in columns for cell in _cells(name, case, found[name].get(case))]
            lines.append(f"| {shown} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cells(name: str, case: str, seen: Seen | None) -> list[str]:
    cells = ["" if seen is None else _shown(seen)]
    if case in by_hand():
        cells.append(_seconds(by_hand()[case][name]) if name in by_hand()[case] else "")
    return cells


def _shown(seen: Seen) -> str:
    if seen["verdict"] == "not_applicable":
        return "-"
    verdict = f"**{seen['verdict']}**" if seen["good"] is False else str(seen["verdict"])
    told = [wait for wait in seen["waits"] if wait["told"] is not None]
    if told:
        return f"{verdict}, asked again behind {_seconds(told[0]['waited'])}"
    requests = f"{seen['requests']} requests in " if seen["requests"] > 1 else ""
    return f"{verdict}, {requests}{_seconds(seen['seconds'])}"


def as_by_hand(seen: Seen, seconds: float | None) -> bool:
    """Whether a case of silence shows the same: it gave up then, or has asked again as often as it could by now."""
    further, took = seen["requests"] - 1, seen["seconds"]
    if seconds is None:
        return not further and seen["verdict"] == "hangs"
    if further:
        return bool(further * seconds < took < (further + 1) * seconds + START)
    return seen["verdict"] != "hangs" and seconds - 1 < took < seconds + START


def _seconds(seconds: float | None) -> str:
    return "never" if seconds is None else f"{seconds:.0f} s"
