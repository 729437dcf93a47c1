"""grpcio with asyncio: a server's stream."""

import grpc
from answer import LIMIT, Left, run
from rpc import CANCELS, STREAM, TARGET, read, write

KEPT = []
"""The channel, as an application keeps it."""


async def ask(answer):
    channel = grpc.aio.insecure_channel(TARGET, [("grpc.enable_http_proxy", 0)])
    KEPT.append(channel)
    call = channel.unary_stream(STREAM, write, read)("hi", **LIMIT)
    try:
        async for text in call:
            answer.text += text
    except Left:
        if CANCELS:
            call.cancel()
        raise
    except grpc.RpcError as error:  # of whose many lines these are what matters
        raise grpc.RpcError(f"{error.code().name}: {error.details()}") from None


run(ask)
