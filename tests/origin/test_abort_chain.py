"""A client that leaves: what becomes of its job, its slot and its blocks, and what if a link of the chain is left out."""

import contextlib
import json
import socket
from collections.abc import Iterator

import pytest

from chaosproxy.origin.engine import Link
from chaosproxy.origin.serving import OriginOptions, ServedOrigin, serving
from tests.origin.conftest import WITHIN

FREE = {"waiting": 0, "running": 0, "kv_blocks_used": 0, "answering": 0}


@contextlib.contextmanager
def asking(origin: ServedOrigin, *, stream: bool = True, path: str = "/v1/chat/completions", **query: str) -> Iterator:
    """A client that has asked, and leaves at the end; of a stream it has had the head."""
    host, port = origin.url.removeprefix("http://").split(":")
    target = f"{path}?{'&'.join(f'{name}={value}' for name, value in query.items())}"
    content = json.dumps({"stream": stream, "messages": [{"role": "user", "content": "word " * 20}]}).encode()
    with socket.create_connection((host, int(port)), timeout=WITHIN) as client, client.makefile("rb") as answer:
        client.sendall(
            f"POST {target} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(content)}\r\n\r\n".encode() + content
        )
        if stream:
            while answer.readline() != b"\r\n":
                pass
        yield answer


@pytest.fixture
def origin(request) -> Iterator[ServedOrigin]:
    broken = getattr(request, "param", None)
    with serving(OriginOptions(slots=1, kv_blocks=4, broken=frozenset([broken] if broken else []))) as served:
        yield served


def without(link: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("origin", [link], indirect=True)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("first", ["0ms", "forever"])
def test_a_client_that_leaves_frees_its_slot_and_its_blocks(origin, until, stream, first):
    with asking(origin, stream=stream, first=first, gap="forever"):
        until(origin, running=1, kv_blocks_used=2, answering=1)
    until(origin, **FREE, aborted=1, finished=0)


@pytest.mark.parametrize("how", ["fin", "rst", "half"])
def test_however_it_leaves(origin, until, how):
    with asking(origin, first="forever") as answer:
        until(origin, running=1)
        raw = socket.socket(fileno=socket.dup(answer.fileno()))
        if how == "half":
            raw.shutdown(socket.SHUT_WR)
        elif how == "rst":
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        raw.close()
        if how == "half":
            until(origin, **FREE, aborted=1)
    until(origin, **FREE, aborted=1)


def test_one_that_waits_leaves_the_queue(origin, until):
    with asking(origin, first="forever"):
        until(origin, running=1)
        with asking(origin, first="forever"):
            until(origin, waiting=1, running=1, answering=2)
        until(origin, waiting=0, running=1, aborted=1)


def test_the_next_in_the_queue_is_served(origin, until):
    with contextlib.ExitStack() as first:
        first.enter_context(asking(origin, first="forever"))
        until(origin, running=1)
        with asking(origin, first="0ms", gap="0ms") as answer:
            until(origin, waiting=1)
            first.close()
            assert b"Every" in b"".join(answer.readline() for _ in range(3))


def test_a_client_that_has_everything_aborts_nothing(origin, until):
    with asking(origin, first="0ms", gap="0ms") as answer:
        while answer.readline() != b"0\r\n":
            pass
    until(origin, **FREE, finished=1, aborted=0)


@pytest.mark.parametrize(
    "sent", [b"POST /api/chat HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{", b"nonsense\r\n\r\n"]
)
def test_a_client_that_leaves_or_errs_while_it_asks_harms_nobody(origin, until, sent, capfd):
    host, port = origin.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=WITHIN) as client:
        client.sendall(sent)
        client.shutdown(socket.SHUT_WR)
        while client.recv(65536):
            pass
    with asking(origin, first="0ms", gap="0ms") as answer:
        while answer.readline() != b"0\r\n":
            pass
    until(origin, **FREE, finished=1)
    assert "Traceback" not in capfd.readouterr().err


@without("disconnect")
@pytest.mark.parametrize("stream", [True, False])
def test_a_framework_that_never_looks_answers_nobody_to_the_end(origin, until, stream):
    with asking(origin, stream=stream, first="100ms", gap="10ms", tokens="10"):
        until(origin, tokens_at_least=1)
    assert until(origin, finished=1, answering=0)["tokens"] == 10
    assert origin.stats()["aborted"] == 0


@without("engine")
def test_an_engine_that_is_not_told_generates_for_nobody(origin, until):
    with asking(origin, first="100ms", gap="10ms", tokens="10"):
        pass
    assert until(origin, **FREE, finished=1, aborted=0)["tokens"] == 10
    with asking(origin, first="forever"):
        until(origin, running=1, answering=1)
    until(origin, answering=0)
    assert origin.stats().items() >= {"running": 1, "kv_blocks_used": 2, "aborted": 0}.items()


@without("scheduler")
def test_a_scheduler_that_does_not_forget_keeps_the_slot(origin, until):
    with asking(origin, first="forever"):
        until(origin, running=1)
    until(origin, aborted=1, running=1, kv_blocks_used=2, answering=0)
    with asking(origin, first="0ms"):
        until(origin, waiting=1, running=1)


@without("blocks")
def test_blocks_that_are_not_given_back_are_missing_in_the_end(origin, until):
    for _ in range(2):
        with asking(origin, first="forever"):
            until(origin, running=1)
        until(origin, running=0)
    until(origin, aborted=2, running=0, kv_blocks_used=4)
    with asking(origin, first="0ms"):
        until(origin, waiting=1, running=0)


def test_the_links_have_these_names():
    assert [link.value for link in Link] == ["disconnect", "engine", "scheduler", "blocks"]
    with pytest.raises(ValueError, match="nonsense"):
        OriginOptions(broken=frozenset(["nonsense"]))
