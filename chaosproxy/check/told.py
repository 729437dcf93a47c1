"""What a client has said of its answer: by its exit status and the text it printed, or by a line of JSON.

Rules: whatever it prints is read as well as it can be; nothing of it is believed to be short, or text. Must not know:
cases, verdicts.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Outcome = Literal["ok", "raised", "flagged"]
KEYS = frozenset({"text", "finish", "outcome", "error"})
OUTCOMES: dict[str, Outcome] = {
    "ok": "ok",
    "whole": "ok",
    "complete": "ok",
    "returned": "ok",
    "raised": "raised",
    "error": "raised",
    "exception": "raised",
    "flagged": "flagged",
    "incomplete": "flagged",
}
FINISHED = frozenset({"stop", "end_turn", "stop_sequence", "completed", "eos", "eos_token", "tool_calls", "tool_use"})
"""Finish reasons of an answer that is whole; any other says that it is not."""


@dataclass(frozen=True, slots=True)
class Told:
    """How a client ended, and what it said."""

    text: str = ""
    outcome: Outcome = "ok"
    finish: str | None = None
    error: str = ""
    """What it raised, or the last line that it complained in."""
    status: int | None = 0
    """Its exit status; below 0 the signal that ended it; None: it did not end by itself."""
    first: float | None = None
    """When it printed first, in seconds since 1970."""
    ended: float = 0.0
    """So many seconds after it was started."""
    left: float | None = None
    """When it was interrupted, in seconds since 1970."""
    raw: bool = False
    """It printed the stream, not its text."""

    @property
    def ended_itself(self) -> bool:
        """It was not ended by who ran it."""
        return self.status is not None


def read(out: bytes, complaint: bytes, status: int | None) -> Told:
    """From what a command has printed, on both of its outputs, and how it ended."""
    text, said = _json(out.decode("utf-8", "replace"))
    last = _last_line(complaint)
    if said is None:
        failed = status != 0
        raw = text.lstrip().startswith(("data:", "event:", "{"))
        return Told(text, "raised" if failed else "ok", error=last if failed else "", status=status, raw=raw)
    return of_mapping(said, text, status, last)


def of_mapping(said: Mapping[str, object], text: str = "", status: int | None = 0, complaint: str = "") -> Told:
    """From the members of its line of JSON; `text` stands where that has none."""
    error, given = said.get("error"), said.get("outcome")
    words = _words(error) if error else ""
    outcome = OUTCOMES.get(given.lower() if isinstance(given, str) else "") or (
        "raised" if words or status != 0 else "ok"
    )
    finish = said.get("finish")
    own = said.get("text")
    return Told(
        own if isinstance(own, str) else text,
        outcome,
        None if finish is None else _words(finish),
        words or (complaint if outcome == "raised" else ""),
        status,
    )


def _words(value: object) -> str:
    """A text as it is, anything else as JSON writes it."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "nested too deep to be shown"


def says_incomplete(finish: str | None) -> bool:
    """A finish reason tells that the answer is not whole."""
    return bool(finish) and str(finish).lower() not in FINISHED


def _json(text: str) -> tuple[str, Mapping[str, object] | None]:
    """The text in front of the last line, and that line if it is one of JSON as a client tells it."""
    rest, _, last = text.rstrip().rpartition("\n")
    if last.startswith("{"):
        try:
            said = json.loads(last)
        except (ValueError, RecursionError):
            return text, None
        if isinstance(said, dict) and KEYS & said.keys() and not said.keys() - KEYS - {"n", "dt", "client", "version"}:
            return rest, said
    return text, None


def _last_line(complaint: bytes) -> str:
    lines = complaint.decode("utf-8", "replace").split("\n")
    return next((line.strip(" \t\r:") for line in reversed(lines) if line.strip()), "")
