"""Pure data that every layer speaks: the events of an exchange, header lists, units.

Rules: immutable values and functions of them; imports nothing of ours. Must not know: who speaks, why, when.
"""
