"""gRPC clients: grpcio's blocking and its asynchronous one, which share a core, and grpclib, which stands on h2."""

import asyncio
import contextlib
import ssl
from collections.abc import Callable, Coroutine, Sequence

import grpc
import grpclib.client
import grpclib.config
import grpclib.exceptions
import trio
from grpclib.encoding.base import CodecBase

from tests.interop.asked import PING_EVERY, WAITS, Asked, in_threads, said

SERVICE = "chaos.Echo"
_KEEPALIVE = [
    ("grpc.keepalive_time_ms", int(PING_EVERY * 1000)),
    ("grpc.keepalive_timeout_ms", 20_000),
    ("grpc.http2.max_pings_without_data", 0),
]


def _options(one: Asked) -> list[tuple[str, object]]:
    alone = [("grpc.enable_http_proxy", 0), ("grpc.use_local_subchannel_pool", 1)]
    return [*alone, *(_KEEPALIVE if one.pings else [])]


def _target(one: Asked) -> str:
    host, port = one.address
    return f"{host}:{port}"


def _trusted(one: Asked) -> grpc.ChannelCredentials | None:
    return grpc.ssl_channel_credentials(one.ca.read_bytes()) if one.ca else None


def _reported(messages: int, code: grpc.StatusCode) -> str:
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:  # no row has a status of that name: it is the client's own
        return WAITS
    return said(messages) if code is grpc.StatusCode.OK else code.name


async def blocking(asked: Sequence[Asked]) -> list[str]:
    """Each in a thread, for it blocks."""

    def ask(one: Asked) -> str:
        trusted, target, options = _trusted(one), _target(one), _options(one)
        opened = grpc.secure_channel(target, trusted, options) if trusted else grpc.insecure_channel(target, options)
        with opened as channel:
            answers = channel.unary_stream(f"/{SERVICE}/{one.name}")(one.body or b"", timeout=one.patience)
            got = 0
            with contextlib.suppress(grpc.RpcError):
                for _ in answers:
                    got += 1
            return _reported(got, answers.code())

    return await in_threads(ask, asked)


async def asynchronous(asked: Sequence[Asked]) -> list[str]:
    """All on one loop."""

    async def ask(one: Asked) -> str:
        trusted, target, options = _trusted(one), _target(one), _options(one)
        opened = (
            grpc.aio.secure_channel(target, trusted, options) if trusted else grpc.aio.insecure_channel(target, options)
        )
        async with opened as channel:
            answers = channel.unary_stream(f"/{SERVICE}/{one.name}")(one.body or b"", timeout=one.patience)
            got = 0
            try:
                async for _ in answers:
                    got += 1
            except grpc.RpcError:
                pass
            return _reported(got, await answers.code())

    return await _on_a_loop(ask, asked)


class Octets(CodecBase):
    """Messages as they are: no code has to be generated."""

    __content_subtype__ = "proto"

    def encode(self, message: bytes, message_type: object) -> bytes:
        return message

    def decode(self, data: bytes, message_type: object) -> bytes:
        return data


async def on_h2(asked: Sequence[Asked]) -> list[str]:
    """All on one loop: grpclib, in pure Python."""

    async def ask(one: Asked) -> str:
        host, port = one.address
        context = ssl.create_default_context(cafile=one.ca) if one.ca else None
        if context is not None:
            context.set_alpn_protocols(["h2"])
        pinging = grpclib.config.Configuration(
            _keepalive_time=PING_EVERY,
            _keepalive_timeout=20,
            _http2_max_pings_without_data=0,
            _http2_min_sent_ping_interval_without_data=PING_EVERY / 2,
        )
        config = pinging if one.pings else None
        channel = grpclib.client.Channel(host, port, codec=Octets(), ssl=context, config=config)
        method = grpclib.client.UnaryStreamMethod(channel, f"/{SERVICE}/{one.name}", bytes, bytes)
        got = 0
        try:
            async with asyncio.timeout(one.patience), method.open() as stream:
                await stream.send_message(one.body or b"", end=True)
                async for _ in stream:
                    got += 1
            return said(got)
        except grpclib.exceptions.GRPCError as error:
            return error.status.name
        except TimeoutError:
            return WAITS
        except Exception as error:  # noqa: BLE001 -- whatever it raises is what it reports: an AssertionError too
            return type(error).__name__
        finally:
            channel.close()

    return await _on_a_loop(ask, asked)


async def _on_a_loop(ask: Callable[[Asked], Coroutine[None, None, str]], asked: Sequence[Asked]) -> list[str]:
    async def all_of_them() -> list[str]:
        return await asyncio.gather(*[ask(one) for one in asked])

    return await trio.to_thread.run_sync(lambda: asyncio.run(all_of_them()))


ASKERS = {"grpcio": blocking, "grpcio.aio": asynchronous, "grpclib": on_h2}
