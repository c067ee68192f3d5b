"""The virtual machine as seen by one task: dpvm.machine() makes this process a task and returns the object for
everything else.
"""

from __future__ import annotations

import ctypes
import html
import os
import time
from dataclasses import dataclass
from typing import Any, AsyncIterator, Callable, Iterator, List, Optional, Sequence, Tuple, TypeVar, Union

from . import aio
from . import constants as c
from . import ending, events
from .buffers import Buffer
from .errors import PvmDupHost, PvmError, PvmNoParent, PvmParentNotSet
from .group import Group
from .library import HostInfo, Library, TaskInfo, Timeval, ints, library, strings, text
from .mailbox import Mailbox
from .message import Message, Packed, Packer
from .options import Options
from .task import Task, tag_of, task_or_none, tid_of
from .worker import command_for

AnyTask = Union[Task, int]
Received = TypeVar("Received")

_SLICE_S = 0.1
"""How often a blocking receive returns to Python, so that Ctrl-C and other signals take effect."""

_SHORT_SLICE_S = 0.01
"""The same in programs whose coroutines wait in another thread: this receive may take in their messages."""


@dataclass(frozen=True)
class Host:
    """A host of the machine; `tid` is that of its daemon, `speed` relative to 1000."""

    tid: int
    name: str
    arch: str
    speed: int


@dataclass(frozen=True)
class TaskStatus:
    """A line of `ps`: a task, its parent, the daemon of its host, its program and process."""

    task: Task
    parent: Optional[Task]
    host: int
    flags: int
    name: str
    pid: int


@dataclass(frozen=True)
class Envelope:
    """The sender, tag and length of a message that recv_into() has received."""

    source: Task
    tag: int
    nbytes: int


def send(tasks: Sequence[AnyTask], tag: int, values: Tuple[Any, ...]) -> None:
    """Sends values to one task or several."""
    lib = library()
    with Packed(values):
        if len(tasks) == 1:
            lib.call("send", int(tasks[0]), tag_of(tag))
        else:
            lib.call("mcast", ints([int(task) for task in tasks]), len(tasks), tag_of(tag))


def psend(task: AnyTask, tag: int, array: Any) -> None:
    """Sends the items of an array without copying them."""
    with Buffer(array) as buffer:
        library().call("psend", int(task), tag_of(tag), buffer.address, buffer.count, buffer.type)


class _Clock:
    """Divides the time until a limit into slices."""

    def __init__(self, timeout: Optional[float]) -> None:
        self._end = None if timeout is None else time.monotonic() + timeout
        self._slice = Timeval()

    def next(self) -> Timeval:
        slice = _SHORT_SLICE_S if aio.is_watched() else _SLICE_S
        left = slice if self._end is None else min(slice, max(0.0, self._end - time.monotonic()))
        self._slice.sec, self._slice.usec = 0, int(left * 1e6)
        return self._slice

    @property
    def is_over(self) -> bool:
        return self._end is not None and time.monotonic() >= self._end


def _late(source: Optional[AnyTask], tag: int, timeout: Optional[float]) -> TimeoutError:
    return TimeoutError(f"no message from {source or 'any task'} with tag {tag} in {timeout} s")


async def exited(task: Task, timeout: Optional[float]) -> None:
    """Waits for the end of a task in an event loop."""
    Machine.check_open()
    exit = events.exit_of(task)

    def look() -> Optional[bool]:
        Machine.check_open()
        library().call("probe", int(task), 0)  # runs handlers
        library().raise_kept()
        return exit.has_come or None

    if await aio.until(look, timeout) is None:
        raise TimeoutError(f"{task} has not ended in {timeout} s")
    exit.forget()


class Machine:
    """The virtual machine; machine() creates it."""

    _open: Optional["Machine"] = None

    def __init__(self, start: bool = True) -> None:
        self._start = start
        self._started = False
        self._output: Optional[int] = None
        self.options = Options()
        self.mailbox = Mailbox()

    # ---- enrolling and leaving ----

    def __enter__(self) -> "Machine":
        if Machine._open is not None:
            raise RuntimeError("this process is already in the machine; use the object that dpvm.machine() returned")
        self._enrol(library())
        Machine._open = self
        return self

    def _enrol(self, lib: Library) -> None:
        reports = lib.function("setopt")(3, 0)  # PvmAutoErr: errors are exceptions, not lines on stderr
        if lib.function("mytid")() > 0:
            return
        lib.function("setopt")(3, reports)  # but these lines say more than the exceptions
        if self._start and "PVMEPID" not in os.environ:
            code = lib.function("start_pvmd")(0, None, 1)
            if code != PvmDupHost.code:  # another program has just started one
                lib.check("start_pvmd", code)
                self._started = True
        lib.call("mytid")
        lib.call("setopt", 3, 0)

    def __exit__(self, *error: object) -> None:
        if error[0] is not None and self._output is not None and Machine._open is self:
            self.catchout(None)  # it would only be waited for in vain
        self.close()
        if error[0] is None:
            library().raise_kept()

    def close(self) -> None:
        """Leaves the machine, and halts it if this object has started it. Waits for the output of catchout()."""
        if Machine._open is not self:
            return
        Machine._open = None
        aio.close_all()
        lib = library()
        if self._output is not None or not self._started:
            lib.function("exit")()
            self._set_output(None)
        if self._started:
            lib.call("mytid")
            ending.halt()
        events.forget_all()
        self._started = False

    @classmethod
    def check_open(cls, machine: Optional["Machine"] = None) -> None:
        """Raises RuntimeError if this process has left the machine: a call would enter it again."""
        if cls._open is None or (machine is not None and cls._open is not machine):
            raise RuntimeError("this process is not in the machine")

    def halt(self) -> None:
        """Halts the whole machine with all its tasks."""
        self._started = True
        self.close()

    @property
    def me(self) -> Task:
        """This task."""
        return Task(library().call("mytid"))

    @property
    def parent(self) -> Optional[Task]:
        """The task that spawned this one; None if it was not spawned."""
        code = library().function("parent")()
        if code in (PvmNoParent.code, PvmParentNotSet.code):
            return None
        return Task(library().check("parent", code))

    @property
    def siblings(self) -> List[Task]:
        """The tasks that were spawned together with this one, including itself."""
        tids = ctypes.POINTER(ctypes.c_int)()
        count = library().call("siblings", ctypes.byref(tids))
        return [Task(tids[i]) for i in range(count)]

    # ---- starting tasks ----

    def spawn(
        self,
        program: str,
        *arguments: str,
        count: int = 1,
        host: Optional[str] = None,
        arch: Optional[str] = None,
        directory: Optional[str] = None,
        debug: bool = False,
        flags: int = c.PvmTaskDefault,
    ) -> List[Task]:
        """Starts `count` copies of a program: anywhere, on a host, or on hosts of an architecture.

        If some cannot be started, raises pvm_spawn()'s error for the first of them; the exception's attribute `tasks`
        lists those that were started.
        """
        if host is not None and arch is not None:
            raise ValueError("give a host or an arch, not both")
        if "/" in program:
            program = os.path.abspath(program)
        flags |= c.PvmTaskHost if host is not None else c.PvmTaskArch if arch is not None else 0
        flags |= c.PvmTaskDebug if debug else 0
        where = host if host is not None else arch if arch is not None else ""
        if directory is not None:
            where += ":" + os.path.abspath(directory)
        tids = (ctypes.c_int * max(1, count))()
        lib = library()
        started = lib.call(
            "spawn", text(program, "program"), strings(list(arguments)), flags, text(where, "place"), count, tids
        )
        tasks = [Task(tid) for tid in tids[:started]]
        if started < count:
            error = lib.error("spawn", tids[started])
            error.args = (f"{error.args[0]}: {program}, {started} of {count} started",)
            error.tasks = tasks  # type: ignore[attr-defined]
            raise error
        return tasks

    def spawn_python(
        self, target: Union[str, Callable[..., Any]], count: int = 1, arguments: Sequence[Any] = (), **where: Any
    ) -> List[Task]:
        """Starts `count` Python tasks.

        `target` is a script ("work.py"), "module:function", or a function of a module. A script runs as if started from
        a shell, with the arguments as texts. A function is called as function(vm, *arguments), where vm is the machine;
        its arguments can be any values that ast.literal_eval() accepts. Further keywords are those of spawn().
        """
        program, words = command_for(target, list(arguments))
        return self.spawn(program, *words, count=count, **where)

    # ---- messages ----

    def send(self, task: AnyTask, tag: int, *values: Any) -> None:
        """Sends Python values to a task, which finds them in Message.values."""
        send([task], tag, values)

    def mcast(self, tasks: Sequence[AnyTask], tag: int, *values: Any) -> None:
        """Sends the same values to several tasks."""
        if tasks:
            send(tasks, tag, values)

    def psend(self, task: AnyTask, tag: int, array: Any) -> None:
        """Sends the items of an array without a header, straight from its memory: for recv_into(), or pvm_precv() in C.
        """
        psend(task, tag, array)

    def packer(self, encoding: int = c.PvmDataDefault) -> Packer:
        """A message to pack value by value, for programs in C."""
        return Packer(encoding)

    def stream(self, task: AnyTask, tag: int, encoding: int = c.PvmDataDefault) -> Packer:
        """The same for one task and tag: the message leaves while it is packed, and send(task, tag) sends the rest.

        The receiver gets it with its first part, and unpacks what has come.
        """
        return Packer(encoding, (task, tag))

    def receive(
        self, source: Optional[AnyTask] = None, tag: int = c.ANY, timeout: Optional[float] = None
    ) -> Message:
        """The next message from `source` (None: any) with `tag` (ANY: any).

        Raises TimeoutError after `timeout` seconds.
        """
        lib, clock = library(), _Clock(timeout)
        trecv, tid, tag = lib.function("trecv"), tid_of(source), tag_of(tag)
        lib.call("setrbuf", 0)  # otherwise the library would free the active buffer
        while True:
            lib.raise_kept()
            mid = lib.check("trecv", trecv(tid, tag, clock.next()))
            aio.news()
            if mid:
                lib.call("setrbuf", 0)
                return Message(mid)
            if clock.is_over:
                lib.raise_kept()
                raise _late(source, tag, timeout)

    def poll(self, source: Optional[AnyTask] = None, tag: int = c.ANY) -> Optional[Message]:
        """The next message if it has already arrived, else None."""
        try:
            return self._poll(source, tag)
        finally:
            aio.news()

    def _poll(self, source: Optional[AnyTask], tag: int) -> Optional[Message]:
        lib = library()
        lib.raise_kept()
        lib.call("setrbuf", 0)
        mid = lib.call("nrecv", tid_of(source), tag_of(tag))
        if not mid:
            lib.raise_kept()
            return None
        lib.call("setrbuf", 0)
        return Message(mid)

    def probe(self, source: Optional[AnyTask] = None, tag: int = c.ANY) -> Optional[Envelope]:
        """The sender, tag and length of such a message, if one has arrived. The message stays to be received."""
        lib = library()
        mid = lib.call("probe", tid_of(source), tag_of(tag))
        aio.news()
        lib.raise_kept()
        if not mid:
            return None
        length, its_tag, sender = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        lib.call("bufinfo", mid, length, its_tag, sender)
        return Envelope(Task(sender.value), its_tag.value, length.value)

    def messages(
        self,
        source: Optional[AnyTask] = None,
        tag: int = c.ANY,
        timeout: Optional[float] = None,
        count: Optional[int] = None,
    ) -> Iterator[Message]:
        """Messages for a for loop: `count` of them, or until none arrives within `timeout` seconds."""
        while count is None or count > 0:
            try:
                message = self.receive(source, tag, timeout)
            except TimeoutError:
                if count is None:
                    return
                raise
            yield message
            count = None if count is None else count - 1

    def recv_into(
        self, array: Any, source: Optional[AnyTask] = None, tag: int = c.ANY, timeout: Optional[float] = None
    ) -> Envelope:
        """Receives the items of a message from psend() or pvm_psend() straight into an array.

        The array must have the items' type. Raises OverflowError if there are more items than fit; the array is then
        full.
        """
        clock = _Clock(timeout)
        with Buffer(array, writable=True) as buffer:
            while True:
                envelope = self._receive_into(buffer, source, tag, clock.next())
                aio.news()
                if envelope is not None:
                    return envelope
                if clock.is_over:
                    raise _late(source, tag, timeout)

    def _receive_into(
        self, buffer: Buffer, source: Optional[AnyTask], tag: int, limit: Timeval
    ) -> Optional[Envelope]:
        """None if there is no message within the limit."""
        lib = library()
        lib.raise_kept()
        sender, its_tag, length = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        if not lib.call(
            "tprecv", tid_of(source), tag_of(tag), limit, buffer.address, buffer.count, buffer.type,
            sender, its_tag, length,
        ):  # fmt: skip
            lib.raise_kept()
            return None
        if length.value > buffer.nbytes:
            raise OverflowError(f"a message of {length.value} bytes was cut to the {buffer.nbytes} of the array")
        return Envelope(Task(sender.value), its_tag.value, length.value)

    # ---- messages in an asyncio event loop ----

    async def _until(
        self, attempt: Callable[[], Optional[Received]], source: Optional[AnyTask], tag: int, timeout: Optional[float]
    ) -> Received:
        """Receives in the context of the caller, although other coroutines may have set another one meanwhile."""
        Machine.check_open(self)
        lib = library()
        context = lib.call("getcontext")

        def receive() -> Optional[Received]:
            Machine.check_open(self)
            outer = lib.call("setcontext", context)
            try:
                return attempt()
            finally:
                lib.call("setcontext", outer)

        received = await aio.until(receive, timeout)
        if received is None:
            raise _late(source, tag, timeout)
        return received

    async def areceive(
        self, source: Optional[AnyTask] = None, tag: int = c.ANY, timeout: Optional[float] = None
    ) -> Message:
        """As receive(), in an asyncio event loop. Cancelling it loses no message."""
        return await self._until(lambda: self._poll(source, tag), source, tag, timeout)

    async def amessages(
        self,
        source: Optional[AnyTask] = None,
        tag: int = c.ANY,
        timeout: Optional[float] = None,
        count: Optional[int] = None,
    ) -> AsyncIterator[Message]:
        """As messages(), for an `async for` loop."""
        while count is None or count > 0:
            try:
                message = await self.areceive(source, tag, timeout)
            except TimeoutError:
                if count is None:
                    return
                raise
            yield message
            count = None if count is None else count - 1

    async def arecv_into(
        self, array: Any, source: Optional[AnyTask] = None, tag: int = c.ANY, timeout: Optional[float] = None
    ) -> Envelope:
        """As recv_into(), in an asyncio event loop."""
        at_once = Timeval()
        with Buffer(array, writable=True) as buffer:
            return await self._until(lambda: self._receive_into(buffer, source, tag, at_once), source, tag, timeout)

    def handler(
        self, function: Callable[[Message], Any], source: Optional[AnyTask] = None, tag: int = c.ANY
    ) -> events.Handler:
        """Calls function(message) for such messages of the current context, from within some call of this package.

        The next call that receives raises its exceptions.
        """
        return events.add_handler(function, source, tag)

    def context(self, number: Optional[int] = None) -> "Context":
        """A context for a with statement: messages inside and outside of it do not mix. None: a new context."""
        return Context(number)

    def group(self, name: str) -> Group:
        """Joins a group; a with statement leaves it at its end."""
        return Group(name)

    def fileno(self) -> int:
        """A descriptor for select() and event loops: when it is readable, call poll() and receive until no message is
        left.
        """
        return ending.descriptors()[0]

    # ---- events ----

    def notify(self, kind: int, tag: int, tids: Sequence[AnyTask] = (), count: Optional[int] = None) -> None:
        """pvm_notify(): requests notices, which are messages with `tag` that contain ints."""
        ids = [int(tid) for tid in tids]
        library().call("notify", kind, tag_of(tag), len(ids) if count is None else count, ints(ids) if ids else None)

    def on_exit(self, tasks: Sequence[AnyTask], function: Callable[[Task], Any]) -> events.Handler:
        """Calls function(task), from within some call of this package, after the end of each of these tasks."""
        return events.on_exit(tasks, function)

    def on_host_add(self, function: Callable[[List[int]], Any]) -> events.Handler:
        """Calls function(tids of daemons) when hosts have been added."""
        return events.on_host_add(function)

    def on_host_delete(self, hosts: Sequence[Host], function: Callable[[int], Any]) -> events.Handler:
        """Calls function(tid of its daemon) when one of these hosts has left."""
        return events.on_host_delete([host.tid for host in hosts], function)

    def catchout(self, file: Any) -> None:
        """Writes the output of tasks spawned from now on, line by line, to a file that has a descriptor.

        Leaving the machine waits for the end of their output. None stops this at once, and the rest of the output is
        lost.
        """
        stream = None
        if file is not None:
            file.flush()
            libc = ctypes.CDLL(None)
            libc.fdopen.restype = ctypes.c_void_p
            libc.fdopen.argtypes = [ctypes.c_int, ctypes.c_char_p]
            stream = libc.fdopen(os.dup(file.fileno()), b"a")
            if not stream:
                raise OSError("too many open files")
        library().call("catchout", stream)
        self._set_output(stream)

    def _set_output(self, stream: Optional[int]) -> None:
        """Sets the C stream for output; closes the previous one."""
        outer, self._output = self._output, stream
        if outer is not None:
            libc = ctypes.CDLL(None)
            libc.fclose.argtypes = [ctypes.c_void_p]
            libc.fclose(outer)

    # ---- hosts and tasks ----

    @property
    def hosts(self) -> List[Host]:
        """The hosts of the machine."""
        count, formats = ctypes.c_int(), ctypes.c_int()
        infos = ctypes.POINTER(HostInfo)()
        library().call("config", count, formats, ctypes.byref(infos))
        return [
            Host(i.tid, os.fsdecode(i.name or b""), os.fsdecode(i.arch or b""), i.speed) for i in infos[: count.value]
        ]

    def _repr_html_(self) -> str:
        """A notebook's view of the machine: its hosts and their tasks."""
        if Machine._open is not self:
            return "<p>not in the virtual machine</p>"
        tasks = self.tasks()
        rows = []
        for host in self.hosts:
            names = [f"{status.task} {status.name or '-'}" for status in tasks if status.host == host.tid]
            cells = [host.name, host.arch, str(host.speed), ", ".join(names)]
            rows.append("".join(f"<td>{html.escape(cell)}</td>" for cell in cells))
        head = "".join(f"<th>{title}</th>" for title in ("host", "architecture", "speed", "tasks"))
        return f"<table><tr>{head}</tr>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"

    def add_hosts(self, *names: str) -> List[Host]:
        """Adds hosts; options may follow a name as in a hostfile. Returns them.

        If some cannot be added, raises the error of the first of them; the exception's attribute `results` has for each
        name the host or its error. The texts of the errors say why; the attribute `reason` is that alone.
        """
        status = ints([0] * len(names))
        library().call("addhosts", strings(list(names)), len(names), status)
        reasons = [library().why_not_added(i) for i in range(len(names))]
        by_tid = {host.tid: host for host in self.hosts}
        results: List[Union[Host, PvmError]] = []
        for name, code, reason in zip(names, status, reasons):
            error = library().error("addhosts", code)
            error.args = (": ".join(filter(None, (error.args[0], name, reason))),)
            error.reason = reason
            results.append(by_tid.get(code, error))
        for result in results:
            if isinstance(result, PvmError):
                result.results = results  # type: ignore[attr-defined]
                raise result
        return [result for result in results if isinstance(result, Host)]

    def delete_hosts(self, *hosts: Union[Host, str]) -> None:
        """Deletes hosts; their tasks end. Raises the error of the first one that cannot be deleted."""
        names = [host.name if isinstance(host, Host) else host for host in hosts]
        status = ints([0] * len(names))
        library().call("delhosts", strings(names), len(names), status)
        for code in status[: len(names)]:
            library().check("delhosts", code)

    def tasks(self, host: Union[Host, int, None] = None) -> List[TaskStatus]:
        """The tasks of the machine, or of one host."""
        where = host.tid if isinstance(host, Host) else int(host or 0)
        count, infos = ctypes.c_int(), ctypes.POINTER(TaskInfo)()
        library().call("tasks", where, count, ctypes.byref(infos))
        return [
            TaskStatus(Task(i.tid), task_or_none(i.parent), i.host, i.flag, os.fsdecode(i.name or b""), i.pid)
            for i in infos[: count.value]
        ]

    def export(self, name: str) -> None:
        """Makes tasks spawned from now on inherit this environment variable."""
        library().call("export", text(name))

    def unexport(self, name: str) -> None:
        """Undoes export()."""
        library().call("unexport", text(name))


class Context:
    """A context of messages, for a with statement; see Machine.context()."""

    def __init__(self, number: Optional[int] = None) -> None:
        self.is_ours = number is None
        self.number = library().call("newcontext") if number is None else number
        self._outer: List[int] = []

    def __enter__(self) -> "Context":
        self._outer.append(library().call("setcontext", self.number))
        return self

    def __exit__(self, *error: object) -> None:
        library().call("setcontext", self._outer.pop())

    def free(self) -> None:
        """Frees the number of a new context, which is no longer used."""
        if self.is_ours:
            library().call("freecontext", self.number)


def machine(start: bool = True) -> Machine:
    """The virtual machine, for a with statement, in which this process is a task.

    If no daemon runs on this host, starts one, and halts it at the end; with start=False that is an error.
    """
    return Machine(start)
