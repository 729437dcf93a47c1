"""Globs: `*` is any run of characters, `/` too, `?` is exactly one; everything else stands for itself.

Rules: two pointers and one step back, so the time is at most len(pattern) * len(text) whatever a client sends; never a
regular expression. Must not know: what is matched.
"""


def glob(pattern: str, text: str) -> bool:
    """Whether `text` as a whole is what `pattern` describes."""
    at = behind = 0
    star = -1  # where the last `*` stands; what it has swallowed so far ends at `swallowed`
    swallowed = 0
    length, size = len(pattern), len(text)
    while at < size:
        if behind < length and pattern[behind] == "*":
            star, swallowed = behind, at
            behind += 1
        elif behind < length and (pattern[behind] == "?" or pattern[behind] == text[at]):
            behind += 1
            at += 1
        elif star >= 0:
            # Only the last star can need more: what stood before it is matched as far left as it can be.
            swallowed += 1
            at, behind = swallowed, star + 1
        else:
            return False
    while behind < length and pattern[behind] == "*":
        behind += 1
    return behind == length
