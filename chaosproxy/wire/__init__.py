"""Byte pipes: sockets, TLS, faults of whole connections, how a connection ends, listening and dialling.

Rules: `recv` and `send` answer at once, only `readable` and `writable` wait. Must not know: HTTP.
"""
