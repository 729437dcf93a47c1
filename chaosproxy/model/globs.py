"""Globs: `*` is any run of characters, `/` too, `?` is exactly one; everything else stands for itself.

Rules: a `*` swallows as little as it can up to what follows it, and gives nothing back: only the last one of all may need
more. So the time is at most len(pattern) * len(text), whatever a client sends. A pattern of the user's is no regular
expression, and what is made of it holds nothing but pieces of text, escaped. Must not know: what is matched.
"""

import re
from functools import lru_cache


def glob(pattern: str, text: str) -> bool:
    """Whether `text` as a whole is what `pattern` describes."""
    return _compiled(pattern).fullmatch(text) is not None


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    first, *others = [".".join(map(re.escape, piece.split("?"))) for piece in pattern.split("*")]
    if others:
        *middle, last = others
        first += "".join(f"(?>.*?{piece})" for piece in middle if piece) + f".*{last}"
    return re.compile(first, re.DOTALL)
