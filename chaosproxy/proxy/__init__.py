"""The thin Trio driver between sockets, sessions and chains.

Rules: everything that moves bytes is synchronous: a reader calls `receive`, the exchange pushes, takes and sends, the
connection flushes inline; tasks exist only to wait (one reader per connection, a writer while a socket is full, one
alarm, one dial). Nothing here decides what a fault does.
"""
