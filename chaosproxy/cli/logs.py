"""What is logged, on stderr. Must not know: who logs, and what."""

import logging
import sys

from chaosproxy.model.shown import message


class Plain(logging.Formatter):
    """Whatever a peer's words are in it, it has the lines that it was written with, a traceback's too, and no others."""

    def format(self, record: logging.LogRecord) -> str:
        return message(super().format(record))

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the name is that of the base class
        record.message = record.message.replace("\n", "\\x0a")
        return super().formatMessage(record)


def log_to_stderr(level: int) -> None:
    """From this level on, unless somebody has set up logging already."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Plain("chaosproxy: %(message)s"))
    logging.basicConfig(handlers=[handler], level=level)
