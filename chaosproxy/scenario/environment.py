"""`${NAME}` and `${NAME:-default}` in strings, filled in after the text was parsed, and never parsed again as YAML.

Rules: pure; the environment is handed in. As in a shell `:-` also replaces an empty value. `$${` is a plain `${`.
Must not know: files, fields.
"""

import re
from collections.abc import Mapping

MOST_TEXT = 1024 * 1024
"""What all variables of one source may add up to, in characters."""

_REFERENCE = re.compile(r"\$\$\{|\$\{(?:(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?P<default>:-[^${}]*)?\})?", re.ASCII)


class Expanded(str):
    """A string that held a variable. What it is, a number or a text, is for the field to say."""

    __slots__ = ("written",)
    written: str
    """As it stands in the source: what a variable holds may be a secret, and is shown nowhere."""


class Environment:
    """The variables of one run, and how much text they may still bring."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self._left = MOST_TEXT

    def expand(self, text: str) -> str:
        """`text` with its variables filled in: Expanded, or the same if there are none. ValueError if that fails."""
        if "${" not in text:
            return text
        expanded = Expanded(_REFERENCE.sub(self._fill, text))
        expanded.written = text
        return expanded

    def _fill(self, found: re.Match[str]) -> str:
        if found[0] == "$${":
            return "${"
        name, default = found["name"], found["default"]
        if name is None:
            raise ValueError("write ${NAME} or ${NAME:-default}, or $${ for the two characters themselves")
        value = self._variables.get(name, "")
        if not value and default is not None:
            value = default[2:]
        elif name not in self._variables:
            raise ValueError(
                f"the environment variable {name} is not set, and ${{{name}}} has no default (${{{name}:-default}})"
            )
        self._left -= len(value)
        if self._left < 0:
            raise ValueError("the environment variables add up to more than 1 MiB")
        return value
