"""Asynchronous events: message handlers, and notices of tasks that end and of hosts that join or leave."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence, Union

from . import aio
from . import constants as c
from .library import HANDLER, ints, library
from .message import Message
from .task import Task, tag_of, tid_of

_handlers: Dict[int, "Handler"] = {}
_context: Optional[int] = None  # of the notices that have a function
_next_tag = 1


class Handler:
    """A function that receives messages in place of receive(), until remove() is called."""

    def __init__(self, function: Callable[[Message], Any], source: int, tag: int, context: int) -> None:
        self._function = function
        self._callback = HANDLER(self._call)
        self.number = library().call("addmhf", source, tag, context, self._callback)
        _handlers[self.number] = self

    def _call(self, mid: int) -> int:
        try:
            message = Message(mid, borrowed=True)
            try:
                self._function(message)
            finally:
                message.forget()
        except BaseException as error:
            library().keep(error)
        return 0

    def remove(self) -> None:
        if _handlers.pop(self.number, None):
            library().call("delmhf", self.number)

    def __enter__(self) -> "Handler":
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


def add_handler(function: Callable[[Message], Any], source: Union[Task, int, None], tag: int) -> Handler:
    return Handler(function, tid_of(source), tag_of(tag), library().call("getcontext"))


def forget_all() -> None:
    """Called when this process is no longer a task."""
    global _context
    _handlers.clear()
    _exits.clear()
    _context = None


def _notify(kind: int, count: int, tids: List[int], function: Callable[[Message], Any]) -> Handler:
    """Requests notices in a context and with a tag of their own."""
    global _context, _next_tag
    lib = library()
    if _context is None:
        _context = lib.call("newcontext")
    tag, _next_tag = _next_tag, _next_tag + 1
    handler = Handler(function, c.ANY, tag, _context)
    outer = lib.call("setcontext", _context)
    try:
        lib.call("notify", kind, tag, count, ints(tids) if tids else None)
    except BaseException:
        handler.remove()
        raise
    finally:
        lib.call("setcontext", outer)
    return handler


def on_exit(tasks: Sequence[Union[Task, int]], function: Callable[[Task], Any]) -> Handler:
    tids = [int(task) for task in tasks]
    return _notify(c.PvmTaskExit, len(tids), tids, lambda message: function(Task(message.upkint())))


def on_host_delete(hosts: Sequence[int], function: Callable[[int], Any]) -> Handler:
    return _notify(c.PvmHostDelete, len(hosts), list(hosts), lambda message: function(message.upkint()))


def on_host_add(function: Callable[[List[int]], Any]) -> Handler:
    return _notify(c.PvmHostAdd, -1, [], lambda message: function(list(message.upkint(message.upkint()))))


class Exit:
    """The end of a task that coroutines wait for; one handler for all of them."""

    def __init__(self, tid: int) -> None:
        self.has_come = False
        self._tid = tid
        self._handler = on_exit([tid], self._note)

    def _note(self, task: Task) -> None:
        self.has_come = True
        aio.news()

    def forget(self) -> None:
        if _exits.pop(self._tid, None) is self:
            self._handler.remove()


_exits: Dict[int, Exit] = {}


def exit_of(task: Union[Task, int]) -> Exit:
    tid = int(task)
    if tid not in _exits:
        _exits[tid] = Exit(tid)
    return _exits[tid]
