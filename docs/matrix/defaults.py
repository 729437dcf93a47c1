"""What clients do that nobody has told a time-out, beside what was measured by hand.

Must not know: how a client is run.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from docs.matrix.compared import Found, Seen, by_hand

WATCHED = 600
"""Seconds for which a case of silence watches a client."""
_HEAD = """## Without a time-out

The suite `slow`: nobody has told the client a time-out. It is watched for ten minutes while not a byte comes (`default-head`), while nothing comes behind the sixth event (`default-idle`), and while nothing comes there but a comment every 15 s (`default-content`); it is given tokens for six minutes (`default-total`), and told to ask again in 61 s (`429-minute`). The seconds are those of the whole case, the start of the client among them; or until it asked again, where it did. By hand: after how many seconds it was seen to give up, or to ask again, when it was watched for 640 s; clients in Node were older then.
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


def _shown(seen: Mapping[str, Any]) -> str:
    verdict = f"**{seen['verdict']}**" if seen["good"] is False else str(seen["verdict"])
    if seen["verdict"] == "not_applicable":
        return "-"
    again = f", asked again behind {_seconds(seen['waits'][0]['waited'])}" if seen["waits"] else ""
    return f"{verdict}{again or ', ' + _seconds(seen['seconds'])}"


def gave_up(seen: Seen) -> float | None:
    """Seconds until it gave up or asked again; None where it only waited."""
    if seen["waits"]:
        return float(seen["waits"][0]["waited"])
    return None if seen["verdict"] == "hangs" else float(seen["seconds"])


def _seconds(seconds: float | None) -> str:
    return "never" if seconds is None else f"{seconds:.0f} s"
