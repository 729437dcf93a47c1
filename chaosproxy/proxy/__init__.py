"""The thin Trio driver between sockets, sessions and chains.

Rules: everything that moves bytes is synchronous: a reader calls `receive`, the exchange pushes, takes and sends, the
connection flushes inline; tasks exist only to wait (a reader per connection, a writer while a socket is full, a dial,
one alarm, one watch for clients that leave unread).
Must not know: what a fault does, the text of a scenario, who reads the journal.
"""
