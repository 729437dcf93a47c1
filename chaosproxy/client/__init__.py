"""A client that writes down every moment of an answer: one request over a connection of its own, over either version of
HTTP.

Rules: whatever the peer does is an answer with an ending, never an error; only who cannot be reached is one. Must not
know: the proxy, what is asked, what becomes of what it saw.
"""
