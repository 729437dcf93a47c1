"""The proxy inside another program: in a thread of its own (`serve`), in the caller's Trio run (`open_proxy`).

Rules: `parts` alone puts a proxy together, for the command line too; what was opened is closed when the block ends,
however it ends. Must not know: options of the command line, test frameworks, how a fault works.
"""
