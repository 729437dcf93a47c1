"""HTTP/2 (RFC 9113): frames cut and screened by us, HPACK and outbound state by h2, credit in two moments.

Must not know: `http1`, faults, sockets.
"""
