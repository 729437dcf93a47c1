"""The journal for people: an exchange as one line, and moment by moment.

Rules: reads records and nothing else, of running exchanges too. Must not know: how anything came about, terminals.
"""
