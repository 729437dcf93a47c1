"""Notices that a peer has closed or reset while nobody reads from it.

A reader that is held back by backpressure would learn of it only when there is room again, which may be never. The
kernel tells without reading (EPOLLRDHUP, Linux); elsewhere nothing is noticed before there is room.
Must not know: what the peer's leaving means.
"""

import contextlib
import select
from collections.abc import Callable

import trio

Left = Callable[[bool], None]


class HangupWatch:
    """Watches descriptors; `callback(reset)` is called once, and the descriptor is watched no longer."""

    def __init__(self) -> None:
        self._epoll = select.epoll() if hasattr(select, "EPOLLRDHUP") else None
        self._callbacks: dict[int, Left] = {}

    def add(self, descriptor: int, callback: Left, *, resets_only: bool = False) -> None:
        """Watch `descriptor` until it hangs up or is removed; to be removed before it is closed. `resets_only`: a FIN of it
        is no news."""
        if self._epoll is None or descriptor in self._callbacks:
            return
        self._callbacks[descriptor] = callback
        self._epoll.register(descriptor, 0 if resets_only else select.EPOLLRDHUP)  # a reset is always told

    def remove(self, descriptor: int) -> None:
        """Watch it no longer."""
        if self._callbacks.pop(descriptor, None) is not None and self._epoll is not None:
            with contextlib.suppress(OSError):  # a closed descriptor has left by itself
                self._epoll.unregister(descriptor)

    async def run(self) -> None:
        """The watch's task; runs until cancelled, and then nothing is watched any more."""
        epoll = self._epoll
        if epoll is None:
            return
        try:
            while True:
                await trio.lowlevel.wait_readable(epoll.fileno())
                for descriptor, mask in epoll.poll(0):
                    callback = self._callbacks.get(descriptor)
                    self.remove(descriptor)
                    if callback is not None:
                        callback(bool(mask & (select.EPOLLERR | select.EPOLLHUP)))
        finally:
            self._epoll = None
            epoll.close()
