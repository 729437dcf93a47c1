"""Texts that are the worst a regular expression can meet, made of the expression itself: its own characters again and
again, then something that fails. And how long that takes, in the processor's time of this thread.

Must not know: whose patterns they are.
"""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

MOST = 7
"""Characters of a pattern that are tried."""
WRONG = "\0"


def samples(parsed: Any) -> Iterator[str]:
    """A character of each place of a parsed pattern, in its order."""
    for operation, argument in parsed:
        match str(operation):
            case "LITERAL":
                yield chr(argument)
            case "NOT_LITERAL":
                yield "~" if argument != ord("~") else "!"
            case "ANY":
                yield "x"
            case "IN":
                yield from _of_set(argument)
            case "BRANCH":
                for branch in argument[1]:
                    yield from samples(branch)
            case _ if isinstance(argument, tuple):  # groups, repeats, assertions: what they hold comes last
                for one in argument:
                    if hasattr(one, "data"):
                        yield from samples(one)
            case _ if hasattr(argument, "data"):
                yield from samples(argument)
            case _:
                pass


def _of_set(members: Any) -> Iterator[str]:
    negated = str(members[0][0]) == "NEGATE"
    for operation, argument in members:
        match str(operation):
            case "LITERAL" if not negated:
                yield chr(argument)
            case "RANGE" if not negated:
                yield chr(argument[0])
            case "CATEGORY" if not negated:
                yield {"CATEGORY_SPACE": " ", "CATEGORY_DIGIT": "1"}.get(str(argument), "a")
            case _:
                pass
    if negated:
        taken = {chr(argument) for operation, argument in members if str(operation) == "LITERAL"}
        yield next(character for character in "x ~1" if character not in taken)


def subjects(pattern: re.Pattern[Any], size: int) -> Iterator[Any]:
    """Texts of about so many characters."""
    parsed = re._parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)
    characters = list(dict.fromkeys(samples(parsed)))[:MOST]
    pairs = [first + second for first, second in pairwise(characters)]
    pumps = [*characters, *pairs, *(f"{one}\n" for one in (*characters, *pairs)), "".join(characters)]
    for pump in filter(None, pumps):
        for before in ("", *characters[:1]):
            for behind in ("", WRONG):
                text = before + pump * (size // len(pump)) + behind
                yield text.encode("latin-1", "replace") if isinstance(pattern.pattern, bytes) else text


def run(pattern: re.Pattern[Any], way: str, text: Any) -> None:
    """As it is used: `match`, `fullmatch`, `search`, or all of a text's."""
    if way in {"match", "fullmatch", "search"}:
        getattr(pattern, way)(text)
    else:
        for _ in pattern.finditer(text):
            pass


def seconds(act: Callable[[], object]) -> float:
    began = time.thread_time()
    act()
    return time.thread_time() - began


def growth(act: Callable[[int], object], sizes: Sequence[int], enough: float = 0.02) -> float:
    """How many times as long the larger takes, the best of two; 1 where it takes no time worth speaking of."""
    small, large = (min(seconds(lambda size=size: act(size)) for _ in range(2)) for size in sizes)
    return large / max(small, 1e-6) if large > enough else 1.0
