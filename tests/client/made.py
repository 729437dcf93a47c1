"""Answers as a client would have written them down, made by hand."""

from chaosproxy.client.answer import Answer, Piece


def answer(events, *, status=200, end="clean", ended=1.0, traffic=(), headers=(), **more) -> Answer:
    """`events`: (seconds, how many); `traffic`: (seconds, bytes) that brought none."""
    pieces = [Piece(time, 9 * count, 9 * count, count, whole=True) for time, count in events]
    pieces += [Piece(time, size, size, 0) for time, size in traffic]
    fields = tuple((name.encode(), value.encode()) for name, value in headers)
    return Answer(
        "http/1.1", status, fields, pieces=sorted(pieces, key=lambda one: one.time), end=end, ended=ended, **more
    )
