"""The report card: what a client makes of each way in which a stream can go wrong.

Rules: each case is run against a proxy and an origin of its own; what the application believed, it says itself. Must not
know: options of the command line, how a fault works.
"""

from chaosproxy.check.trying import Trial, cases

__all__ = ["Trial", "cases"]
