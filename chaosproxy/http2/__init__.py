"""HTTP/2 (RFC 9113): frames cut and screened by us, HPACK and outbound state by h2, credit in two moments.

Rules: without I/O; any bytes in give signals, never an exception; the one clock is handed in. Must not know: `http1`,
the chain, faults, sockets.
"""
