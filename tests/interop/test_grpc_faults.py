"""What grpcio makes of a call that goes wrong: the table on the page of `grpc_status`, row by row.

One server and one proxy for all; the name of the method chooses the fault. Of messages that have arrived and were not yet
handed out grpcio gives up those that a reset or a missing status overtakes: there only what came has to be a beginning.
"""

import asyncio
import contextlib
import time
from collections.abc import Iterator
from concurrent import futures

import grpc
import pytest

SERVICE = "chaos.Echo"
MESSAGES = [b"message %d " % number * 20 for number in range(10)]
PREFIX, SIZE = 5, len(MESSAGES[0]) + 5
WITHIN = 30


def cut(at: object, then: object) -> dict[str, object]:
    return {"cut": {"at": at, "then": then}}


def status(at: object, code: object, **more: object) -> dict[str, object]:
    return {"grpc_status": {"at": at, "code": code, **more}}


THIRD = {"event": 3}
LOST = {"strip": "trailers"}
# name -> the faults, how many messages come (None: at most as many as were let through), the status
CASES: dict[str, tuple[list[dict[str, object]], int | None, str]] = {
    "none": ([], 10, "OK"),
    "behind-3": ([status(THIRD, "UNAVAILABLE", message="draining")], 3, "UNAVAILABLE"),
    "trailers-only": ([status("request", "RESOURCE_EXHAUSTED")], 0, "RESOURCE_EXHAUSTED"),
    "behind-the-head": ([status("headers", "UNAVAILABLE")], 0, "UNAVAILABLE"),
    "unknown-code": ([status("headers", 99)], 0, "UNKNOWN"),
    "ok-too-early": ([status(THIRD, "OK")], 3, "OK"),
    "cut-in-a-message": ([status({"bytes": 2 * SIZE + 12}, "OK")], 2, "OK"),
    "cut-in-a-prefix": ([cut({"bytes": 2 * SIZE + 3}, "clean")], 2, "OK"),
    "instead-of-ok": ([status("end", "DATA_LOSS")], 10, "DATA_LOSS"),
    "late": ([{"stall": {"at": "end", "for": "300ms"}}], 10, "OK"),
    "no-trailers": ([LOST], None, "UNKNOWN"),
    "no-trailers-behind-3": ([cut(THIRD, "clean"), LOST], None, "UNKNOWN"),
    "cut-in-a-message-no-trailers": ([cut({"bytes": 2 * SIZE + 12}, "clean"), LOST], None, "UNKNOWN"),
    "cancel": ([cut(THIRD, {"stream": "CANCEL"})], None, "CANCELLED"),
    "internal": ([cut(THIRD, {"stream": "INTERNAL_ERROR"})], None, "INTERNAL"),
    "refused": ([cut(THIRD, {"stream": "REFUSED_STREAM"})], None, "UNAVAILABLE"),
    "503": ([{"respond": 503}], 0, "UNAVAILABLE"),
    "429": ([{"respond": 429}], 0, "UNAVAILABLE"),
    "gzip-cut": ([{"mutate": {"at": THIRD, "replace": {r"\C{20}\z": ""}}}], None, "INTERNAL"),
    "gzip-short": ([{"mutate": {"at": THIRD, "strip_tail": 8}}], None, "INTERNAL"),
    "deadline": ([{"stall": {"at": THIRD, "for": "forever"}}], None, "DEADLINE_EXCEEDED"),
    "reset": ([cut(THIRD, "rst")], None, "UNAVAILABLE"),
}
"""The last ends its connection."""


def scenario() -> dict[str, object]:
    return {
        "rules": [
            {"match": {"path": f"/{SERVICE}/{name}"}, "hops": [{"faults": [fault]} for fault in faults]}
            for name, (faults, _, _) in CASES.items()
            if faults
        ]
    }


class Counting(grpc.GenericRpcHandler):
    """Whatever is asked: ten messages, gzipped where the method's name says so, or a tenth of a second apart."""

    def service(self, details):
        name = details.method.rpartition("/")[2]

        def count(_: bytes, context) -> Iterator[bytes]:
            if name.startswith("gzip"):
                context.set_compression(grpc.Compression.Gzip)
            for message in MESSAGES:
                yield message
                if name == "slowly":
                    time.sleep(0.1)

        return grpc.unary_stream_rpc_method_handler(count)


@pytest.fixture
def upstream():
    server = grpc.server(futures.ThreadPoolExecutor(4), handlers=[Counting()])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield f"h2c://127.0.0.1:{port}"
    server.stop(0).wait()


@pytest.fixture
def between(proxy, upstream):
    return proxy(upstream, scenario())


def within(name: str) -> float:
    """Only one case needs the deadline to come."""
    return 1 if name == "deadline" else WITHIN


def seen(messages: list[bytes], code: grpc.StatusCode, name: str) -> tuple[int | None, str]:
    """What came, as the table has it."""
    assert messages == MESSAGES[: len(messages)], name
    return (None if CASES[name][1] is None else len(messages)), code.name


EXPECTED = {name: (count, code) for name, (_, count, code) in CASES.items()}


def test_the_blocking_client(between):
    found = {}
    with grpc.insecure_channel(f"127.0.0.1:{between.port}", [("grpc.enable_http_proxy", 0)]) as channel:
        for name in CASES:
            answers = channel.unary_stream(f"/{SERVICE}/{name}")(b"", timeout=within(name))
            got: list[bytes] = []
            with contextlib.suppress(grpc.RpcError):
                got.extend(answers)
            if name == "behind-3":
                assert answers.details() == "draining"
            found[name] = seen(got, answers.code(), name)
    assert found == EXPECTED


def test_the_asynchronous_client(between):
    async def run() -> dict[str, tuple[int | None, str]]:
        found = {}
        target = f"127.0.0.1:{between.port}"
        async with grpc.aio.insecure_channel(target, [("grpc.enable_http_proxy", 0)]) as channel:
            for name in CASES:
                answers = channel.unary_stream(f"/{SERVICE}/{name}")(b"", timeout=within(name))
                got = []
                try:
                    async for message in answers:
                        got.append(message)  # noqa: PERF401 -- what came before it raised counts
                except grpc.RpcError:
                    pass
                found[name] = seen(got, await answers.code(), name)
        return found

    assert asyncio.run(run()) == EXPECTED


def test_each_fault_is_journalled_with_what_the_client_was_told(between):
    with grpc.insecure_channel(f"127.0.0.1:{between.port}", [("grpc.enable_http_proxy", 0)]) as channel:
        for name in ("behind-3", "trailers-only"):
            answers = channel.unary_stream(f"/{SERVICE}/{name}")(b"", timeout=WITHIN)
            with pytest.raises(grpc.RpcError):
                list(answers)
    behind, alone = between.journal(2)
    assert behind["end"] == alone["end"] == {"by": "proxy", "how": "clean", "cause": "grpc_status"}
    assert behind["response"]["events_out"] == 3
    assert alone["upstream"]["connection"] is None
    assert [one["detail"] for one in behind["faults"]] == ["clean with UNAVAILABLE after event 3"]


def test_a_connection_grows_old_and_the_call_on_it_ends_well(proxy, upstream):
    aged = proxy(upstream, {"connections": [{"match": {"side": "client"}, "faults": [{"age": "300ms"}]}]})
    with grpc.insecure_channel(f"127.0.0.1:{aged.port}", [("grpc.enable_http_proxy", 0)]) as channel:
        for _ in range(2):
            assert list(channel.unary_stream(f"/{SERVICE}/slowly")(b"", timeout=WITHIN)) == MESSAGES
    assert [record["client"]["connection"] for record in aged.journal(2)] == [1, 2]


def test_what_outlives_the_grace_of_an_old_connection_is_unavailable(proxy, upstream):
    old = {"age": {"max": "300ms", "grace": "200ms"}}
    aged = proxy(upstream, {"connections": [{"match": {"side": "client"}, "faults": [old]}]})
    with grpc.insecure_channel(f"127.0.0.1:{aged.port}", [("grpc.enable_http_proxy", 0)]) as channel:
        answers = channel.unary_stream(f"/{SERVICE}/slowly")(b"", timeout=WITHIN)
        with pytest.raises(grpc.RpcError):
            list(answers)
        assert answers.code() is grpc.StatusCode.UNAVAILABLE
    (record,) = aged.journal(1)
    assert record["end"] == {"by": "proxy", "how": "fin", "cause": "age"}
