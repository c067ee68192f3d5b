"""Waiting for messages in an asyncio event loop.

A coroutine tries to receive; if there is nothing, it sleeps until a message may have come, and tries again. So a message
is taken only by a coroutine that returns it in the same step, and cancelling loses none. A message may have come if the
library's descriptor is readable, or if another call has taken messages in: news() tells of that.
"""

from __future__ import annotations

import select
import threading
import time
from typing import TYPE_CHECKING, Callable, Dict, Optional, Set, TypeVar

from . import ending

if TYPE_CHECKING:  # otherwise functions import it, which takes long
    import asyncio

Result = TypeVar("Result")

_GLANCE_S = 0.1
"""How often a waiting coroutine tries in any case: calls that wait in C, such as barriers, take messages in, too."""

_MEMORY_S = 10.0
"""How long is_watched() is true after the last wait: another is likely to follow."""

_last_s = float("-inf")

_watches: "Dict[asyncio.AbstractEventLoop, _Watch]" = {}


def _call(loop: "asyncio.AbstractEventLoop", function: Callable[[], None]) -> None:
    """In the loop's thread."""
    try:
        loop.call_soon_threadsafe(function)
    except RuntimeError:  # it is closed: its coroutines wait no more
        _watches.pop(loop, None)


class _Watch:
    """The coroutines of one event loop that wait."""

    def __init__(self, loop: "asyncio.AbstractEventLoop") -> None:
        self._loop = loop
        self._thread = threading.get_ident()
        self._users = 0
        self._sleeping: Set["asyncio.Future[None]"] = set()
        self._is_told = False

    def __enter__(self) -> "_Watch":
        if self._users == 0:
            self._descriptor = ending.descriptors()[0]
            self._poll = select.poll()
            self._poll.register(self._descriptor, select.POLLIN)
            self._loop.add_reader(self._descriptor, self._wake)
            self._glance_later()
            _watches[self._loop] = self
        self._users += 1
        return self

    def __exit__(self, *error: object) -> None:
        self._users -= 1
        if self._users == 0:
            self.close()

    def close(self) -> None:
        """In the loop's thread, before the descriptor is closed."""
        global _last_s
        _last_s = time.monotonic()
        if _watches.get(self._loop) is self:
            del _watches[self._loop]
            self._loop.remove_reader(self._descriptor)
            self._timer.cancel()
        self._wake()

    def is_readable(self) -> bool:
        return bool(self._poll.poll(0))

    def _glance_later(self) -> None:
        self._timer = self._loop.call_later(_GLANCE_S, self._glance)

    def _glance(self) -> None:
        self._wake()
        self._glance_later()

    def _wake(self) -> None:
        self._is_told = False
        for sleeper in self._sleeping:
            if not sleeper.done():
                sleeper.set_result(None)

    def tell(self) -> None:
        """From any thread: wakes all sleepers, once for many calls."""
        if self._is_told or not self._sleeping:
            return
        self._is_told = True
        if threading.get_ident() == self._thread:
            self._loop.call_soon(self._wake)
        else:
            _call(self._loop, self._wake)

    async def sleep(self, limit_s: Optional[float]) -> None:
        import asyncio

        sleeper = self._loop.create_future()
        self._sleeping.add(sleeper)
        try:
            await asyncio.wait([sleeper], timeout=limit_s)
        finally:
            self._sleeping.discard(sleeper)


def news() -> None:
    """A call has received, and may have taken in messages that a coroutine waits for."""
    for watch in list(_watches.values()):
        watch.tell()


def is_watched() -> bool:
    """Whether any coroutine waits, or has done so lately."""
    return bool(_watches) or time.monotonic() < _last_s + _MEMORY_S


def close_all() -> None:
    """This process leaves the machine: coroutines that wait try again, and fail."""
    for loop, watch in list(_watches.items()):
        if threading.get_ident() == watch._thread:
            watch.close()
        else:
            _call(loop, watch.close)


async def until(attempt: Callable[[], Optional[Result]], timeout: Optional[float]) -> Optional[Result]:
    """What the attempt returns as soon as that is not None; None after `timeout` seconds."""
    import asyncio

    loop = asyncio.get_running_loop()
    end = None if timeout is None else time.monotonic() + timeout
    with _watches.get(loop) or _Watch(loop) as watch:
        takes = True
        while True:
            result = attempt()
            if takes or result is not None:
                watch.tell()  # the attempt may have taken in what others wait for
            left = None if end is None else end - time.monotonic()
            if result is not None or (left is not None and left <= 0):
                return result
            await watch.sleep(left)
            takes = watch.is_readable()
