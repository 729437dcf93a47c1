"""The command line: options in, exit statuses out; every command is one file.

Rules: results go to stdout, everything else to stderr; no traceback for anything a user can cause. Exit status: 0 good,
1 the answer is bad, 2 wrong usage, 3 port taken, upstream unreachable or internal error. Must not know: how a proxy is
put together, how a fault works.
"""
