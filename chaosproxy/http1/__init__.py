"""HTTP/1.1 and 1.0 (RFC 9112): heads by h11, bodies by our own strict codec, a writer that adds nothing.

Must not know: `http2`, faults, sockets.
"""
