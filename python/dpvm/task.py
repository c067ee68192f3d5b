"""Tasks: small objects that represent a task id."""

from __future__ import annotations

import signal
from typing import Any, Callable, Optional, Union

from .library import library


class Task:
    """A task of the virtual machine. Two objects are equal if they have the same task id; int(task) is the id."""

    __slots__ = ("tid",)

    def __init__(self, tid: int) -> None:
        self.tid = tid

    def __repr__(self) -> str:
        return f"t{self.tid & 0xFFFFFFFF:x}"

    def __int__(self) -> int:
        return self.tid

    __index__ = __int__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Task) and self.tid == other.tid

    def __hash__(self) -> int:
        return hash(self.tid)

    def send(self, tag: int, *values: Any) -> None:
        """Sends Python values, which the task finds in Message.values."""
        from .machine import send

        send([self], tag, values)

    def psend(self, tag: int, array: Any) -> None:
        """Sends the items of an array without a header, straight from its memory: for recv_into(), or pvm_precv() in C.
        """
        from .machine import psend

        psend(self, tag, array)

    def kill(self) -> None:
        """Ends the task (SIGTERM); does nothing if it has ended."""
        library().call("kill", self.tid)

    def signal(self, number: Union[int, signal.Signals]) -> None:
        """Sends the task a signal."""
        library().call("sendsig", self.tid, int(number))

    @property
    def is_running(self) -> bool:
        code = library().function("pstat")(self.tid)
        if code in (0, -31):
            return bool(code == 0)
        raise library().error("pstat", code)

    @property
    def host(self) -> "Task":
        """The daemon of its host."""
        return Task(library().call("tidtohost", self.tid) or 0)

    def on_exit(self, function: Callable[["Task"], Any]) -> Any:
        """Calls function(task), from within some call of this package, after the task has ended."""
        from .events import on_exit

        return on_exit([self], function)

    async def exited(self, timeout: Optional[float] = None) -> None:
        """Waits in an asyncio event loop for the end of the task. Raises TimeoutError after `timeout` seconds."""
        from .machine import exited

        await exited(self, timeout)


def tag_of(tag: int) -> int:
    """Checks that C's int can hold the tag: ctypes would truncate it."""
    if not -1 <= tag < 2**31:
        raise ValueError(f"{tag} is not a tag: give 0 to {2**31 - 1}")
    return tag


def tid_of(task: Union[Task, int, None]) -> int:
    """The id of a task, an int, or None for any task."""
    return -1 if task is None else int(task)


def task_or_none(tid: int) -> Optional[Task]:
    return Task(tid) if tid > 0 else None
