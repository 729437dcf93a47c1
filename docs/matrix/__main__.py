"""`make client-matrix`: runs every client through the card, writes `docs/client-matrix.json`, and the page from it.

Clients that are named run alone, and the others stay as they are. What each has said is written down at once, so that a
run that is broken off can go on with the rest.
"""

import argparse
import datetime as dt
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from chaosproxy.check.table import CASES
from docs.matrix import page
from docs.matrix.clients import CLIENTS, Client, command
from docs.matrix.install import install, versions

FILE = page.PAGE.with_suffix(".json")
GOOD_OR_BAD = (0, 1)
"""Exit statuses of a card that was made."""
KEPT = ("case", "theme", "verdict", "good", "seen", "requests", "connections", "protocols", "waits", "seconds")
"""Of a case; its title, its rule and its mend are the same for all."""


def main(arguments: Sequence[str] | None = None) -> int:
    """As a command line says."""
    parser = argparse.ArgumentParser(prog="python -m docs.matrix", description=__doc__)
    parser.add_argument("clients", nargs="*", help="globs of rows, such as 'openai_*.py'; default all")
    parser.add_argument("--suite", default="full", help="slow: without a time-out, all of them at once")
    parser.add_argument("--only", action="append", default=[], help="these cases alone; what is known of others stays")
    parser.add_argument("--timeout", type=float, default=3.0, help="that clients are given, in seconds")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="cases side by side")
    parser.add_argument("--tls", action="store_true", help="over TLS, as the cases of HTTP/2 are always run")
    parser.add_argument("--missing", action="store_true", help="only clients that have said nothing yet")
    parser.add_argument("--page", action="store_true", help="write the page anew, run nothing")
    options = parser.parse_args(arguments)
    said = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {"clients": {}}
    if not options.page:
        install()
        date = dt.datetime.now(dt.UTC).date().isoformat()
        said |= {"date": date, "timeout": options.timeout, "versions": versions()}
        if options.suite == "slow":
            _all_at_once(options, said)
        else:
            _one_by_one(options, said)
    page.write(said)
    return 0


def _one_by_one(options: argparse.Namespace, said: dict[str, Any]) -> None:
    options.given = options.timeout
    for client in _wanted(options, said["clients"]):
        before = said["clients"].get(client.name) if options.only else None
        said["clients"][client.name] = _joined(before, _card(client, options))
        _write(FILE, said)


def _all_at_once(options: argparse.Namespace, said: dict[str, Any]) -> None:
    """They only wait."""
    options.given, options.jobs = None, len(CASES)
    cards = said.setdefault("defaults", {})
    wanted = _wanted(options, cards)
    with ThreadPoolExecutor(len(wanted) or 1) as pool:
        for client, card in zip(wanted, pool.map(lambda client: _card(client, options), wanted), strict=True):
            cards[client.name] = _joined(cards.get(client.name) if options.only else None, card)
            _write(FILE, said)


def _wanted(options: argparse.Namespace, known: Mapping[str, Any]) -> list[Client]:
    wanted = []
    for client in CLIENTS:
        if options.clients and not any(fnmatchcase(client.name, glob) for glob in options.clients):
            continue
        if options.missing and client.name in known:
            continue
        if client.program and not shutil.which(client.program):
            print(f"{client.name}: there is no {client.program} here; left out", file=sys.stderr)
            continue
        wanted.append(client)
    return wanted


def _card(client: Client, options: argparse.Namespace) -> dict[str, Any]:
    """What the command says of one client; of HTTP/2 where it speaks that."""
    began = time.monotonic()
    card = _asked(client, options, *(word for case in options.only for word in ("--only", case)))
    if client.h2 and options.suite != "slow" and not options.only:
        card = _joined(card, _asked(client, options, "--tls", "--only", "h2-*"))
    took = time.monotonic() - began
    print(f"{client.name}: {len(card['cases'])} cases in {took:.0f} s", file=sys.stderr, flush=True)
    cases = [{key: seen[key] for key in KEPT if key in seen} for seen in card["cases"]]
    return {"suite": card["suite"], "seconds": round(took), "cases": cases}


def _asked(client: Client, options: argparse.Namespace, *further: str) -> dict[str, Any]:
    argv = [sys.executable, "-m", "chaosproxy", "check", options.suite, "--json", "--jobs", str(options.jobs)]
    argv += [f"--timeout={options.given:g}s"] if options.given else []
    argv += [*(["--tls"] if options.tls else []), *further]
    done = subprocess.run([*argv, "--", *command(client, options.given)], stdout=subprocess.PIPE, check=False)
    if done.returncode not in GOOD_OR_BAD:
        raise SystemExit(f"the card of {client.name} ended with status {done.returncode}")
    card: dict[str, Any] = json.loads(done.stdout)
    return card


def _joined(before: dict[str, Any] | None, card: dict[str, Any]) -> dict[str, Any]:
    """Cases that were run anew take the places of those that they were."""
    if before is None:
        return card
    anew = {seen["case"]: seen for seen in card["cases"]}
    kept = [anew.pop(seen["case"], seen) for seen in before["cases"]]
    return {**before, "cases": [*kept, *anew.values()]}


def _write(file: Path, said: Mapping[str, Any]) -> None:
    """Whole or not at all; a line for each case."""
    part = file.with_suffix(".part")
    lines = (
        json.dumps(said, ensure_ascii=False).replace('{"case": ', '\n{"case": ').replace('{"suite": ', '\n{"suite": ')
    )
    part.write_text(lines + "\n", encoding="utf-8")
    part.replace(file)


if __name__ == "__main__":
    sys.exit(main())
