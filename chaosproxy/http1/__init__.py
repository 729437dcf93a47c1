"""HTTP/1.1 and 1.0 (RFC 9112): heads by h11, bodies by our own strict codec, a writer that adds nothing.

Rules: without I/O; any bytes in give signals, never an exception. Must not know: `http2`, the chain, faults, sockets,
time.
"""
