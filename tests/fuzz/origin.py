"""Questions of the embedded origin, of any bytes: an answer, or a refusal in the interface's own words; both are JSON.

Must not know: HTTP, who draws the bytes.
"""

import json
import math

from starlette.responses import JSONResponse

from chaosproxy.origin import sse
from chaosproxy.origin.app import SHAPES
from chaosproxy.origin.question import BadQuestionError, Knobs, read_body, read_knobs
from chaosproxy.origin.shape import Reply, Shape, dump
from tests.fuzz.draw import Draw
from tests.fuzz.targets import Target

LOOKED_AT = 5
"""Tokens of which the pieces are looked at; an answer of any length is made as it goes."""
WHOLE = 2000
"""Tokens above which no answer is made in one piece: the origin would refuse them."""
KNOBS = ("tokens", "first", "gap", "text")


def run(data: bytes) -> None:
    draw = Draw(data)
    path = draw.pick((*SHAPES, "/sse"))
    query = {name: draw.some().decode("utf-8", "replace") for name in KNOBS if draw.flag()}
    headers = {f"x-chaosproxy-{name}": draw.some().decode("latin-1") for name in KNOBS if draw.flag()}
    if path == "/sse":
        _events(query, {**headers, "last-event-id": draw.rest().decode("latin-1")})
        return
    shape = SHAPES[path]
    try:
        knobs = read_knobs(query, headers)
        body = {"model": "x", **read_body(draw.rest())} if "{model}" in path else read_body(draw.rest())
        question = shape.read(body, knobs)
    except BadQuestionError as error:
        _json(JSONResponse(shape.refusal(str(error), error.field), 400).body)
        return
    assert question.prompt >= 0
    job = question.job()
    assert job.tokens >= 1
    _answered(shape, Reply(question, 1, 1e9))


def _answered(shape: Shape, reply: Reply) -> None:
    pieces = [piece for index in range(min(reply.tokens, LOOKED_AT)) for piece in shape.pieces(reply, index)]
    question = reply.question
    ends = question.first < math.inf and (question.gap < math.inf or reply.tokens == 1)
    if ends and reply.tokens <= WHOLE:
        _json(dump(shape.whole(reply)))
        pieces += shape.closing(reply)
    for piece in pieces:
        for line in piece.decode().split("\n"):
            carried = line.removeprefix("data: ")
            if carried.startswith("{"):
                _json(carried.encode())
        assert piece.endswith(b"\n")


def _events(query: dict[str, str], headers: dict[str, str]) -> None:
    try:
        question = sse.read(read_knobs(query, headers, Knobs()))
        had = sse.had(headers, question.words.count)
    except BadQuestionError as error:
        _json(JSONResponse(sse.refusal(str(error)), 400).body)
        return
    assert 0 <= had <= question.words.count
    reply = Reply(question, 1, 1e9)
    for index in range(min(question.words.count - had, LOOKED_AT)):
        for piece in sse.piece(reply, index, skipped=had):
            lines = piece.splitlines()
            assert lines.pop() == b""
            assert [line.partition(b":")[0] for line in lines] in ([b"id", b"data"], [b"retry", b"id", b"data"])


def _json(text: bytes) -> object:
    return json.loads(text)


BODIES = (
    b'{"model": "m", "messages": [{"role": "user", "content": "hello there"}], "stream": true, "max_tokens": 3}',
    b'{"prompt": ["a"], "n": 1, "stream_options": {"include_usage": true}, "stream": true}',
    b'{"input": [{"role": "user", "content": [{"type": "input_text", "text": "a"}]}], "max_output_tokens": 5}',
    b'{"contents": [{"parts": [{"text": "a"}]}], "generationConfig": {"maxOutputTokens": 4}}',
    b'{"messages": [{"role": "user", "content": "x"}], "options": {"num_predict": 3}, "system": "y"}',
    b'{"model": "\\ud800", "messages": null}',
    b"",
)
TARGETS = {
    "origin": Target(
        "questions of the embedded origin",
        "an answer or a refusal, each of them JSON in UTF-8",
        run,
        lambda: (
            [
                bytes([shape]) + knobs + body
                for shape in range(len(SHAPES))
                for knobs in (bytes(8), b"\1\0013" + bytes(7))
                for body in BODIES
            ]
            + [bytes([len(SHAPES)]) + b"\1\0015" + bytes(7) + b"2"]
        ),
        (
            b'"max_tokens": 3',
            b"null",
            b"true",
            b"-1",
            b"9" * 99,
            b"[",
            b"{",
            b'"\\ud800"',
            b"1e400",
            b'"content"',
            b'"text"',
            b"\x0b\n",
            b",",
        ),
    )
}
