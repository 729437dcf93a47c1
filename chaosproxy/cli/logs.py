"""What is logged, as lines. Must not know: who logs, and what; where they go."""

import logging
from collections.abc import Callable

from chaosproxy.model.shown import message


class Plain(logging.Formatter):
    """Whatever a peer's words are in it, it has the lines that it was written with, a traceback's too, and no others."""

    def format(self, record: logging.LogRecord) -> str:
        return message(super().format(record))

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name is that of the base class
        record.message = record.message.replace("\n", "\\x0a")
        return super().formatMessage(record)


class _Said(logging.Handler):
    def __init__(self, say: Callable[[str], None]) -> None:
        super().__init__()
        self._say = say

    def emit(self, record: logging.LogRecord) -> None:
        try:
            text = self.format(record)
        except Exception:  # noqa: BLE001 - as every handler of logging does it: a line that cannot be made is told apart
            self.handleError(record)
        else:
            self._say(text)


def log_to(say: Callable[[str], None], level: int) -> None:
    """From this level on, unless somebody has set up logging already."""
    handler = _Said(say)
    handler.setFormatter(Plain("chaosproxy: %(message)s"))
    logging.basicConfig(handlers=[handler], level=level)
