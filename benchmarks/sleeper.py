"""What waiting costs in precision by itself: bare `trio.sleep`, in a process that is otherwise the splice.

Prints the port of the splice; then for each line of its input, `STREAMS ASKED_MS SECONDS`, one JSON object. The tasks
sleep five times a second each, as the streams do that are held against them.
"""

import functools
import json
import random
import sys
import time

import trio

from benchmarks import splice
from benchmarks.reading_exact import summed

_INTERVAL = 0.2


async def sleep(asked: float, until: float, late: list[int]) -> None:
    """Sleep `asked` seconds each fifth of a second; the lateness in nanoseconds goes into `late`."""
    await trio.sleep(random.random() * _INTERVAL)
    while time.monotonic() < until:
        began = time.monotonic_ns()
        await trio.sleep(asked)
        late.append(time.monotonic_ns() - began - int(asked * 1e9))
        await trio.sleep(max(0, _INTERVAL - asked))


async def main(port: int) -> None:
    """Serve as the splice, and sleep when told."""
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    print(listener.socket.getsockname()[1], flush=True)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, functools.partial(splice.serve, port=port), [listener])
        while line := await trio.to_thread.run_sync(sys.stdin.readline, abandon_on_cancel=True):
            streams, asked_ms, seconds = line.split()
            late: list[int] = []
            async with trio.open_nursery() as sleepers:
                until = time.monotonic() + float(seconds)
                for _ in range(int(streams)):
                    sleepers.start_soon(sleep, float(asked_ms) / 1e3, until, late)
            print(json.dumps(summed(late)), flush=True)
        nursery.cancel_scope.cancel()


if __name__ == "__main__":
    trio.run(main, int(sys.argv[1]))
