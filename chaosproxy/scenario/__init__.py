"""The scenario language: what a user writes, read into immutable snapshots, and the rules that apply them.

Rules: every problem at once, each at its file, line and column; nothing is guessed. A fault is known by its registered
spec alone: its fields, types and flags are its language. Must not know: sockets, sessions, the driver, any particular
fault.
"""
