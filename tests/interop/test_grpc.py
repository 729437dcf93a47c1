"""gRPC through HTTP/2 on both sides: the four kinds of call, metadata, statuses, deadlines, a client that cancels."""

import threading
from collections.abc import Iterator
from concurrent import futures

import grpc
import pytest

SERVICE = "chaos.Echo"
LARGE = bytes(range(256)) * 8192


class Echo(grpc.GenericRpcHandler):
    """A service without generated code: messages are bytes."""

    def __init__(self) -> None:
        self.cancelled = threading.Event()

    def service(self, details):
        match details.method.rpartition("/")[2]:
            case "Unary":
                return grpc.unary_unary_rpc_method_handler(self.unary)
            case "Count":
                return grpc.unary_stream_rpc_method_handler(self.count)
            case "Gather":
                return grpc.stream_unary_rpc_method_handler(self.gather)
            case "Talk":
                return grpc.stream_stream_rpc_method_handler(self.talk)
            case "Fail":
                return grpc.unary_stream_rpc_method_handler(self.fail)
            case "Hang":
                return grpc.unary_stream_rpc_method_handler(self.hang)
        return None

    def unary(self, request: bytes, context) -> bytes:
        metadata = dict(context.invocation_metadata())
        context.send_initial_metadata((("x-echo", metadata.get("x-word", "")), ("x-blob-bin", b"\x00\xff\n")))
        context.set_trailing_metadata((("x-trailing", "behind"),))
        return request

    def count(self, request: bytes, context) -> Iterator[bytes]:
        yield from (b"%d" % number for number in range(int(request)))

    def gather(self, requests: Iterator[bytes], context) -> bytes:
        return b",".join(requests)

    def talk(self, requests: Iterator[bytes], context) -> Iterator[bytes]:
        for request in requests:
            yield b"re: " + request

    def fail(self, request: bytes, context) -> Iterator[bytes]:
        yield b"one"
        context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "no more: 100 %, ümlaut")

    def hang(self, request: bytes, context) -> Iterator[bytes]:
        context.add_callback(self.cancelled.set)
        yield b"one"
        self.cancelled.wait(10)


@pytest.fixture
def echo():
    service = Echo()
    server = grpc.server(futures.ThreadPoolExecutor(8), handlers=[service])
    service.port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield service
    service.cancelled.set()
    server.stop(0).wait()


@pytest.fixture
def channel(echo, proxy):
    between = proxy(f"h2c://127.0.0.1:{echo.port}")
    with grpc.insecure_channel(f"127.0.0.1:{between.port}", [("grpc.enable_http_proxy", 0)]) as opened:
        opened.between = between
        yield opened


def test_unary_with_metadata_on_both_ends_of_the_answer(channel):
    call = channel.unary_unary(f"/{SERVICE}/Unary")
    answer, details = call.with_call(b"hello", timeout=30, metadata=(("x-word", "heard"),))
    assert answer == b"hello"
    initial = dict(details.initial_metadata())
    assert (initial["x-echo"], initial["x-blob-bin"]) == ("heard", b"\x00\xff\n")
    assert dict(details.trailing_metadata())["x-trailing"] == "behind"
    (record,) = channel.between.journal(1)
    assert (record["client"]["protocol"], record["upstream"]["protocol"]) == ("h2", "h2")
    assert record["end"]["how"] == "clean"


def test_a_message_larger_than_any_window(channel):
    assert channel.unary_unary(f"/{SERVICE}/Unary")(LARGE, timeout=20) == LARGE


def test_a_server_s_stream(channel):
    answers = channel.unary_stream(f"/{SERVICE}/Count")(b"500", timeout=30)
    assert list(answers) == [b"%d" % number for number in range(500)]
    (record,) = channel.between.journal(1)
    assert record["end"]["how"] == "clean"


def test_a_client_s_stream(channel):
    call = channel.stream_unary(f"/{SERVICE}/Gather")
    assert call(iter([b"a", b"b", b"c"]), timeout=30) == b"a,b,c"


def test_a_conversation_in_which_each_side_waits_for_the_other(channel):
    said = threading.Semaphore(1)

    def requests() -> Iterator[bytes]:
        for number in range(20):
            assert said.acquire(timeout=30)
            yield b"%d" % number

    answers = []
    for answer in channel.stream_stream(f"/{SERVICE}/Talk")(requests(), timeout=20):
        answers.append(answer)
        said.release()
    assert answers == [b"re: %d" % number for number in range(20)]


def test_a_status_behind_a_message_and_one_without_any(channel):
    answers = channel.unary_stream(f"/{SERVICE}/Fail")(b"", timeout=30)
    assert next(answers) == b"one"
    with pytest.raises(grpc.RpcError) as caught:
        next(answers)
    assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert caught.value.details() == "no more: 100 %, ümlaut"
    with pytest.raises(grpc.RpcError) as caught:
        channel.unary_unary(f"/{SERVICE}/Nothing")(b"", timeout=30)
    assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


@pytest.mark.parametrize("how", ["cancel", "deadline"])
def test_a_client_that_gives_up_is_heard_by_the_server(how, channel, echo):
    answers = channel.unary_stream(f"/{SERVICE}/Hang")(b"", timeout=30 if how == "cancel" else 3)
    assert next(answers) == b"one"
    if how == "cancel":
        answers.cancel()
    with pytest.raises(grpc.RpcError) as caught:
        next(answers)
    assert caught.value.code().name == ("CANCELLED" if how == "cancel" else "DEADLINE_EXCEEDED")
    assert echo.cancelled.wait(30)
    (record,) = channel.between.journal(1)
    # A server knows its client's deadline and may be the first to act on it.
    assert record["end"]["by"] in ({"client"} if how == "cancel" else {"client", "upstream"})


def test_fifty_calls_at_once_share_one_connection(channel):
    call = channel.unary_stream(f"/{SERVICE}/Count")
    running = [call(b"20", timeout=20) for _ in range(50)]
    assert all(list(answers) == [b"%d" % number for number in range(20)] for answers in running)
    assert {record["client"]["connection"] for record in channel.between.journal(50)} == {1}


def test_a_proxy_that_eats_the_trailers(echo, proxy):
    """The call has failed: without its status nobody knows that it succeeded. (Messages not yet handed out are given up.)"""
    between = proxy(f"h2c://127.0.0.1:{echo.port}", {"faults": [{"strip": "trailers"}]})
    with grpc.insecure_channel(f"127.0.0.1:{between.port}", [("grpc.enable_http_proxy", 0)]) as opened:
        got = []
        with pytest.raises(grpc.RpcError) as caught:
            got.extend(opened.unary_stream(f"/{SERVICE}/Count")(b"3", timeout=30))
    assert got == [b"0", b"1", b"2"][: len(got)]
    assert caught.value.code() is grpc.StatusCode.UNKNOWN
    (record,) = between.journal(1)
    assert record["response"]["events_out"] == 3
    assert record["end"] == {"by": "upstream", "how": "clean", "cause": None}


def test_a_stream_cut_at_the_third_message(echo, proxy):
    scenario = {"faults": [{"cut": {"at": {"event": 3}, "then": {"stream": "REFUSED_STREAM"}}}]}
    between = proxy(f"h2c://127.0.0.1:{echo.port}", scenario)
    with grpc.insecure_channel(f"127.0.0.1:{between.port}", [("grpc.enable_http_proxy", 0)]) as opened:
        answers = opened.unary_stream(f"/{SERVICE}/Count")(b"10", timeout=30)
        got = []
        with pytest.raises(grpc.RpcError) as caught:
            got.extend(answers)
    # grpcio gives up messages that it has received and not yet handed out, once a reset arrives behind them.
    assert got == [b"0", b"1", b"2"][: len(got)]
    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
    (record,) = between.journal(1)
    assert record["end"] == {"by": "proxy", "how": "stream:REFUSED_STREAM", "cause": "cut"}
    assert record["response"]["events_out"] == 3
