"""The journal for people: an exchange as one line, moment by moment, and whole reports (`pages.write`) in four formats.

Rules: reads records and verdicts and nothing else, of running exchanges too. Must not know: how anything came about,
terminals.
"""
