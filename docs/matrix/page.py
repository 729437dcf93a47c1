"""`docs/client-matrix.md`, from what the cards said and what was measured by hand.

Must not know: how a client is run.
"""

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from docs.matrix.clients import CLIENTS, ROOT, Client
from docs.matrix.compared import Cell, Found, cells, measured
from docs.matrix.defaults import defaults

PAGE = ROOT / "docs" / "client-matrix.md"
_HEAD = """<!-- Made by `make client-matrix`. -->

# Client matrix

What {many} setups of real clients made of the cases of the [report card](report-card.md), each by the [probe](examples/clients/README.md) that its row leads to. Made on {date} by one command, `make client-matrix`, which installs the clients at the versions below; [client-matrix.json](client-matrix.json) has every verdict with what was seen, the number of requests and the waits.

**whole** it has the answer · **raised** it says by an exception, or its exit status, that it has not · **flagged** it says so to whoever looks (a finish reason, an event, a callback) · **truncated** it takes a part for the answer · **duplicated** some of it is there twice · **corrupted** it is another text · **late** all of it came at the end · **hangs** it still waited · **loops** it asked again and again · - the case is not about this client · empty: it was not run.
A verdict in bold is a bad one. What each case is, and why: [the cases](report-card.md#the-cases). All of this is HTTP/1.1 without TLS, but for the cases of HTTP/2 and gRPC; what grpcio makes of each ending of a call, and in which words, is on the page of [grpc_status](faults/grpc_status.md).
A client that no case of a table is about has no row there.
"""
_ABOUT_TIME = """
A client that has a time-out was given one of {seconds:g} s, as its documentation says; the cases of silence hold it to that.
"""
_BESIDE = """## Beside what was measured by hand

On 2026-11-30 the same clients at the same versions were measured without this tool, against a server that was written for that ([the cells](matrix/measured.yaml)). Of {all} cells that were asked again, {same} have the same verdict.{rest}
"""


def page(said: Mapping[str, Any]) -> str:
    """All of it; `said` is what `client-matrix.json` has."""
    found = _by_case(said["clients"])
    parts = [_HEAD.format(many=len(found), date=said["date"]), _ABOUT_TIME.format(seconds=said["timeout"])]
    longest = sorted(said["clients"].values(), key=lambda card: -len(card["cases"]))
    cases = list({seen["case"]: seen for card in longest for seen in card["cases"]}.values())
    for theme, group in groupby(cases, lambda seen: seen["theme"]):
        columns = [case for case in dict.fromkeys(seen["case"] for seen in group) if _asked(found, case)]
        if columns:
            parts.append(f"## {theme[0].upper()}{theme[1:]}\n\n{_table(found, columns)}")
    if "defaults" in said:
        parts.append(defaults(_by_case(said["defaults"]), [(client.name, _row(client)) for client in CLIENTS]))
    parts += [_beside(list(cells(found))), _versions(said["versions"])]
    return "\n".join(parts)


def _by_case(cards: Mapping[str, Any]) -> Found:
    return {name: {seen["case"]: seen for seen in card["cases"]} for name, card in cards.items() if card["cases"]}


def _asked(found: Found, case: str) -> bool:
    """It is about one of them at least."""
    return any(_ran(card.get(case)) for card in found.values())


def _table(found: Found, columns: list[str]) -> str:
    lines = [f"| client | {' | '.join(columns)} |", f"|---|{'---|' * len(columns)}"]
    for client in CLIENTS:
        if client.name in found and any(_ran(found[client.name].get(case)) for case in columns):
            shown = [_shown(found[client.name].get(case)) for case in columns]
            lines.append(f"| {_row(client)} | {' | '.join(shown)} |")
    return "\n".join(lines) + "\n"


def _row(client: Client) -> str:
    return f"[{client.what}](examples/clients/{client.probe.name})"


def _ran(seen: Mapping[str, Any] | None) -> bool:
    return seen is not None and seen["verdict"] != "not_applicable"


def _shown(seen: Mapping[str, Any] | None) -> str:
    if seen is None:
        return ""
    if not _ran(seen):
        return "-"
    verdict = str(seen["verdict"])
    return f"**{verdict}**" if seen["good"] is False else verdict


def _beside(both: list[Cell]) -> str:
    asked = [cell for cell in both if cell.asked]
    other = [cell for cell in asked if not cell.same]
    rest = f" The other {len(other)}, with the reason for each:" if other else ""
    head = _BESIDE.format(all=len(asked), same=len(asked) - len(other), rest=rest)
    return "\n".join([head, *_differences(other), *_not_asked([cell for cell in both if not cell.asked])])


def _not_asked(left_out: list[Cell]) -> Iterator[str]:
    columns, _ = measured()
    groups: dict[tuple[str, str], list[str]] = {}
    for cell in left_out:
        seen = cell.seen.partition(" in the case ")[0]  # it does not leave in the case ...
        groups.setdefault((cell.column, seen), []).append(f"`{cell.client}`")
    if groups:
        yield f"Not asked again were {len(left_out)} cells:\n"
    for (column, seen), clients in groups.items():
        yield f"- {columns[column]['what']}: {seen} ({', '.join(clients)})."
    yield ""


def _differences(other: list[Cell]) -> Iterator[str]:
    reasons: dict[str, list[Cell]] = {}
    for cell in other:
        reasons.setdefault(cell.why or "Not explained.", []).append(cell)
    names = {client.name: client for client in CLIENTS}
    columns, _ = measured()
    for why, group in reasons.items():
        yield f"{why}\n\n| client | done to it | measured | case | now |\n|---|---|---|---|---|"
        for cell in group:
            told = " ".join(cell.seen.replace("|", "\\|").split())
            now = textwrap.shorten(f"{cell.verdict}: {told}", 160, placeholder=" ...")
            what = columns[cell.column]["what"]
            yield f"| {names[cell.client].name} | {what} | {cell.measured} | `{cell.case}` | {now} |"
        yield ""


def _versions(versions: Mapping[str, str]) -> str:
    rows: Iterable[str] = (f"| {name} | {version} |" for name, version in versions.items())
    return "\n".join(["## Versions", "", "| what | version |", "|---|---|", *rows, ""])


def write(said: Mapping[str, Any], to: Path = PAGE) -> None:
    """Write it down."""
    to.write_text(page(said), encoding="utf-8")
