"""Bytes to records: where SSE events, lines and gRPC messages end, and what one says.

Rules: any bytes are taken and nothing raises; lossless, and the same for any chunking. A splitter never holds a byte;
what reads whole units (`blocks`) holds the one that has not ended, at most 1 MiB. Must not know: heads, faults, time.
"""
