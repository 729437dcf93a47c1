"""What a team knows of its client and has accepted: bad cases with their verdicts, in a file.

Rules: what is known does not fail; what is new does, another verdict in a known case too. Must not know: how a card is
made.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from chaosproxy import files
from chaosproxy.check.card import Card
from chaosproxy.errors import UnavailableError, UsageError

VERSION = 1
LARGEST = 1024 * 1024
"""Bytes; every case that there is takes some thousand."""


def read(file: Path) -> Mapping[str, str]:
    """Case to verdict. UsageError if it is no such file."""
    try:
        said = json.loads(files.read(file, LARGEST).decode("utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read the baseline {file}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{file} is no baseline: {error}") from error
    known = said.get("known") if isinstance(said, dict) and said.get("version") == VERSION else None
    if not isinstance(known, dict) or not all(isinstance(verdict, str) for verdict in known.values()):
        raise UsageError(f"{file} is no baseline: `--write-baseline` writes one")
    return known


def write(file: Path, card: Card) -> Mapping[str, str]:
    """The bad cases of a card, as `read` gives them. UnavailableError if it cannot be written."""
    known = {result.case.id: result.judged.verdict for result in card.results if result.judged.good is False}
    try:
        files.write(file, [json.dumps({"version": VERSION, "known": known}, indent=2) + "\n"])
    except OSError as error:
        raise UnavailableError(f"cannot write the baseline {file}: {error.strerror}") from error
    return known


def accepted(card: Card, known: Mapping[str, str]) -> Card:
    """The card in which what is known does not count as bad."""
    results = tuple(
        replace(result, known=result.judged.good is False and known.get(result.case.id) == result.judged.verdict)
        for result in card.results
    )
    mended = tuple(result.case for result in results if result.judged.good and result.case.id in known)
    return replace(card, results=results, mended=mended)
