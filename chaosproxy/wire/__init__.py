"""Byte pipes: sockets, TLS, faults of whole connections, how a connection ends, listening and dialling.

Rules: `recv` and `send` answer at once, only `readable` and `writable` wait. A transport takes any other below it.
Must not know: HTTP.
"""
