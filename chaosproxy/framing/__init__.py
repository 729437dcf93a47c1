"""Bytes to records: lossless, independent of chunking, never holding."""

from chaosproxy.framing.choose import kind_of, splitter_for
from chaosproxy.framing.splitter import RecordKind, Splitter

__all__ = ["RecordKind", "Splitter", "kind_of", "splitter_for"]
