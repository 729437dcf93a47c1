"""Inputs that are nearly right: something that is, with a few bytes turned, taken out, put in, or taken from another.

Must not know: what they are.
"""

from collections.abc import Callable, Sequence

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


def counted(run: Callable[[bytes], None]) -> tuple[Callable[[bytes], None], Callable[[], int]]:
    """`run`, and how often it was run through."""
    runs = 0

    def one(data: bytes) -> None:
        nonlocal runs
        run(data)
        runs += 1

    return one, lambda: runs
