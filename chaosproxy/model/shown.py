"""Text of elsewhere (a peer's, a file's, an argument's) where a terminal, a log or the program that runs a build reads it.

Rules: a line stays one line; nothing moves a cursor, opens a link, fills a clipboard or turns the direction of writing,
and nothing is an order to who runs a build. Must not know: what the text is, where it is shown.
"""

import re

LONGEST = 200
"""Characters of a field."""
LONGEST_LINE = 2000
"""Of a line of a message, which may have several fields in it."""
_UNSAFE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
    r"|#(?=#[a-z]{0,20}\[)"  # `##[error]`, `##vso[...]`, `##teamcity[...]`: orders to who runs a build, anywhere in a line
)
"""Controls, what turns the direction of writing, and what no XML may hold."""


def shown(text: str, longest: int = LONGEST) -> str:
    """`text` with control and direction characters as `\\xNN`, at most 200 characters."""
    safe = _UNSAFE.sub(lambda found: f"\\x{ord(found[0]):02x}", text[:longest])
    return safe if len(text) <= longest and len(safe) <= longest else safe[:longest] + "..."


def inert(line: str) -> str:
    """It does not begin as an order to who runs a build does (`::error::`); three columns longer if it did."""
    return line.replace("::", ":\\x3a", 1) if line.lstrip().startswith("::") else line


def message(text: str) -> str:
    """A message of ours, with whatever is in it, line by line."""
    return "\n".join(inert(shown(line, LONGEST_LINE)) for line in text.split("\n"))
