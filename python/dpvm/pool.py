"""A worker of futures.Executor: a task that makes calls for its parent and sends back what they return."""

from __future__ import annotations

import os
import queue
import threading
from enum import IntEnum
from typing import Any, List, Tuple

from . import constants as c
from . import pickled
from .errors import PvmError
from .machine import Machine


class Tag(IntEnum):
    """What messages between an executor and its workers are."""

    START = 1  # to a worker: the initializer
    CALL = 2  # to a worker: number, call
    STOP = 3  # to a worker: no more calls come
    READY = 4  # from a worker: it has this many processors
    FAILED = 5  # from a worker: the initializer's exception
    RESULT = 6  # from a worker: number, whether the call returned, its result or exception
    ENDED = 7  # a notice: a worker has ended, or in a worker: its parent has
    HOSTS = 8  # a notice: there are more hosts
    OUTPUT = 9  # output of workers
    WAKE = 10  # to the executor's thread, from the executor


def _receive(vm: Machine, context: int, calls: "queue.SimpleQueue[Any]") -> None:
    """Runs in a thread of its own, so that the worker also ends while it makes a call, if its parent is gone."""
    try:
        with vm.context(context):
            parent = vm.parent
            assert parent is not None
            vm.notify(c.PvmTaskExit, Tag.ENDED, [parent])
            while True:
                message = vm.receive()
                if message.tag == Tag.ENDED and message.upkint() == parent.tid:
                    os._exit(1)
                if message.source == parent and message.tag in (Tag.START, Tag.CALL):
                    calls.put(message.values)
                elif message.source == parent and message.tag == Tag.STOP:
                    calls.put(None)
                    return
    except PvmError:  # the daemon is gone
        os._exit(1)


def _run(data: bytes, buffers: List[Any]) -> Tuple[bool, pickled.Pickled]:
    try:
        function, arguments, keywords = pickled.loads(data, buffers)
        return True, pickled.dumps(function(*arguments, **keywords))
    except BaseException as error:  # also SystemExit: it ends the call, not the worker
        return False, pickled.dumps_error(error)


def serve(vm: Machine, context: int) -> None:
    """The worker. Its parent is the executor's process, which uses this context."""
    calls: "queue.SimpleQueue[Any]" = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(vm, context, calls), daemon=True).start()
    parent = vm.parent
    assert parent is not None
    with vm.context(context):
        while True:
            call = calls.get()
            if call is None:
                return
            number, data, *buffers = call
            good, (answer, parts) = _run(data, buffers)
            if number:
                parent.send(Tag.RESULT, number, good, answer, *parts)
            elif good:
                parent.send(Tag.READY, len(os.sched_getaffinity(0)))
            else:
                parent.send(Tag.FAILED, answer)
