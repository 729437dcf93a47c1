"""What a client of HTTP/1.1 was told, read to the letter of RFC 9112, with nothing of the product's.

Must not know: the proxy.
"""

import re
from dataclasses import dataclass

_HEAD = re.compile(rb"HTTP/1\.[01] ([1-5][0-9]{2}) [^\r\n\0]*\r\n((?:[^\s:\0]+:[^\r\n\0]*\r\n)*)\r\n")
_LENGTH = re.compile(rb"^content-length: ([0-9]+)\r$", re.MULTILINE)
_CHUNKED = re.compile(rb"^transfer-encoding: chunked\r$", re.MULTILINE)
_CHUNK = re.compile(rb"([0-9a-f]+)\r\n")
_LAST = re.compile(rb"(?:[^\s:\0]+:[^\r\n\0]*\r\n)*\r\n")


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer, interim ones among them; `fields` in lower case."""

    status: int
    fields: bytes = b""
    body: bytes = b""
    whole: bool = True


def read_answers(received: bytes, method: bytes = b"GET", *, ended: bool = False) -> tuple[list[Answer], bytes]:
    """The answers to requests of `method` in what was received, and the bytes that are none; `ended`: nothing follows."""
    answers = []
    while (match := _HEAD.match(received)) is not None:
        answer, received = _answer(int(match[1]), match[2].lower(), received[match.end() :], method, ended=ended)
        answers.append(answer)
        if not answer.whole:
            break
    return answers, received


def _answer(status: int, fields: bytes, rest: bytes, method: bytes, *, ended: bool) -> tuple[Answer, bytes]:
    if status < 200 or status in (204, 304) or method == b"HEAD":
        return Answer(status, fields), rest
    if _CHUNKED.search(fields):
        return _chunks(status, fields, rest)
    said = _LENGTH.search(fields)
    if said is None:
        return Answer(status, fields, rest, ended), b""
    length = int(said[1])
    return Answer(status, fields, rest[:length], len(rest) >= length), rest[length:]


def _chunks(status: int, fields: bytes, rest: bytes) -> tuple[Answer, bytes]:
    body = b""
    while (match := _CHUNK.match(rest)) is not None:
        size = int(match[1], 16)
        rest = rest[match.end() :]
        if not size:
            last = _LAST.match(rest)
            return Answer(status, fields, body, last is not None), rest[last.end() :] if last else rest
        body += rest[:size]
        if rest[size : size + 2] != b"\r\n":
            return Answer(status, fields, body, whole=False), rest[size:]
        rest = rest[size + 2 :]
    return Answer(status, fields, body, whole=False), rest
