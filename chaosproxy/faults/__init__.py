"""The faults, one a file: a frozen spec (its YAML, its reference) and a running object (its state).

Importing this package makes them known to `chain.fault.REGISTRY`. Rules: a fault never counts, cuts, sleeps or reads a
clock; it only answers. Must not know: each other, sessions, the scenario's text.
"""

from chaosproxy.faults.abort_upstream import AbortUpstream
from chaosproxy.faults.absorb import Absorb
from chaosproxy.faults.accept import Accept
from chaosproxy.faults.age import Age
from chaosproxy.faults.auth import Auth
from chaosproxy.faults.bandwidth import Bandwidth
from chaosproxy.faults.blackhole import Blackhole
from chaosproxy.faults.broken_end import BrokenEnd
from chaosproxy.faults.buffer import Buffer
from chaosproxy.faults.cache import Cache
from chaosproxy.faults.chunk_syntax import ChunkSyntax
from chaosproxy.faults.client_abort import ClientAbort
from chaosproxy.faults.compress import Compress
from chaosproxy.faults.concurrency import Concurrency
from chaosproxy.faults.cork import Cork
from chaosproxy.faults.cut import Cut
from chaosproxy.faults.drop import Drop
from chaosproxy.faults.duplicate import Duplicate
from chaosproxy.faults.error_event import ErrorEvent
from chaosproxy.faults.frames import Frames
from chaosproxy.faults.framing import Framing
from chaosproxy.faults.garbage import Garbage
from chaosproxy.faults.goaway import Goaway
from chaosproxy.faults.grpc_status import GrpcStatus
from chaosproxy.faults.headers import Headers
from chaosproxy.faults.hold_head import HoldHead
from chaosproxy.faults.inject import Inject
from chaosproxy.faults.keepalive import Keepalive
from chaosproxy.faults.latency import Latency
from chaosproxy.faults.line_endings import LineEndings
from chaosproxy.faults.linger import Linger
from chaosproxy.faults.mutate import Mutate
from chaosproxy.faults.pace import Pace
from chaosproxy.faults.ping import PingAnswers
from chaosproxy.faults.rate_limit import RateLimit
from chaosproxy.faults.refuse import RefuseStreams
from chaosproxy.faults.reorder import Reorder
from chaosproxy.faults.replace_body import ReplaceBody
from chaosproxy.faults.resegment import Resegment
from chaosproxy.faults.respond import Respond
from chaosproxy.faults.retry_upstream import RetryUpstream
from chaosproxy.faults.route import Route
from chaosproxy.faults.settings import ConnectionSettings
from chaosproxy.faults.slow_reader import SlowReader
from chaosproxy.faults.stall import Stall
from chaosproxy.faults.strip import Strip
from chaosproxy.faults.timeout import Timeout
from chaosproxy.faults.tls import Tls
from chaosproxy.faults.window import Window

__all__ = [
    "AbortUpstream",
    "Absorb",
    "Accept",
    "Age",
    "Auth",
    "Bandwidth",
    "Blackhole",
    "BrokenEnd",
    "Buffer",
    "Cache",
    "ChunkSyntax",
    "ClientAbort",
    "Compress",
    "Concurrency",
    "ConnectionSettings",
    "Cork",
    "Cut",
    "Drop",
    "Duplicate",
    "ErrorEvent",
    "Frames",
    "Framing",
    "Garbage",
    "Goaway",
    "GrpcStatus",
    "Headers",
    "HoldHead",
    "Inject",
    "Keepalive",
    "Latency",
    "LineEndings",
    "Linger",
    "Mutate",
    "Pace",
    "PingAnswers",
    "RateLimit",
    "RefuseStreams",
    "Reorder",
    "ReplaceBody",
    "Resegment",
    "Respond",
    "RetryUpstream",
    "Route",
    "SlowReader",
    "Stall",
    "Strip",
    "Timeout",
    "Tls",
    "Window",
]
