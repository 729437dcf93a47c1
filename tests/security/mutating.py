"""Inputs that are nearly right: something that is, with a few bytes turned, taken out, put in, or taken from another.

Must not know: what they are.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

Edit = tuple[str, int, int, bytes]


def mutated(seeds: Sequence[bytes], tokens: Sequence[bytes], most: int = 6) -> st.SearchStrategy[bytes]:
    """One of `seeds`, with up to `most` edits; `tokens` are what is put in, besides any bytes."""
    edit = st.tuples(
        st.sampled_from(["flip", "drop", "put", "repeat", "splice"]),
        st.integers(0, 1 << 16),
        st.integers(0, 40),
        st.sampled_from(tokens) | st.binary(max_size=4),
    )
    return st.builds(_edited, st.sampled_from(seeds), st.lists(edit, max_size=most), st.sampled_from(seeds))


def _edited(seed: bytes, edits: Sequence[Edit], other: bytes) -> bytes:
    for how, place, size, token in edits:
        at = place % (len(seed) + 1)
        match how:
            case "flip" if at < len(seed):
                seed = seed[:at] + bytes([seed[at] ^ 1 << size % 8]) + seed[at + 1 :]
            case "drop":
                seed = seed[:at] + seed[at + size :]
            case "repeat":
                seed = seed[: at + size] + seed[at:]
            case "splice":
                seed = seed[:at] + other[at % (len(other) + 1) :]
            case _:
                seed = seed[:at] + token + seed[at:]
    return seed


@dataclass
class Counted:
    """`run`, and how often it was run through, and for how long at most."""

    run: Callable[[bytes], None]
    runs: int = 0
    longest: float = 0.0

    def __call__(self, data: bytes) -> None:
        began = time.process_time()
        self.run(data)
        self.longest = max(self.longest, time.process_time() - began)
        self.runs += 1

    @property
    def figure(self) -> str:
        return f"{1000 * self.longest:.0f} ms at most"


def asked(run: Callable[[bytes], object], inputs: st.SearchStrategy[bytes], examples: int) -> Counted:
    """`run` with so many of `inputs`."""
    counted = Counted(run)

    @settings(max_examples=examples)
    @given(inputs)
    def each(data: bytes) -> None:
        counted(data)

    each()
    return counted
