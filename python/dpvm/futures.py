"""The interface of concurrent.futures, with workers on all hosts of the virtual machine.

    with dpvm.futures.Executor() as executor:
        print(list(executor.map(function, range(1000), chunksize=10)))
"""

from __future__ import annotations

import atexit
import concurrent.futures
import itertools
import sys
import threading
import time
import weakref
from collections import deque
from concurrent.futures import BrokenExecutor, Future
from functools import partial
from typing import Any, Callable, Deque, Dict, Iterable, Iterator, List, Optional, Sequence, Tuple

from . import constants as c
from . import pickled
from .errors import PvmError
from .machine import Host, Machine
from .message import Message
from .pickled import RemoteError
from .pool import Tag
from .task import Task

__all__ = ["BrokenExecutor", "Executor", "RemoteError", "WorkerLost"]

_STARTS_MAX = 3
"""So many workers in a row may end before they are ready; then something is wrong with all of them."""

_END_S = 10.0
"""How long workers may take to end, and their output to arrive, once they have nothing more to do."""

_spawning = threading.Lock()
"""The options that say where output goes are those of the whole process."""


class WorkerLost(Exception):
    """A call was given up, because the workers that made it ended, again and again."""


class _Call:
    def __init__(self, number: int, data: bytes, buffers: List[Any]) -> None:
        self.number = number
        self.data = data
        self.buffers = buffers
        self.future: "Future[Any]" = Future()
        self.losses = 0  # workers that ended during the call


class _Worker:
    def __init__(self, task: Task, host: Host) -> None:
        self.task = task
        self.host = host
        self.is_ready = False
        self.call: Optional[_Call] = None


def _call_each(function: Callable[..., Any], chunk: Sequence[Tuple[Any, ...]]) -> List[Any]:
    return [function(*arguments) for arguments in chunk]


def _chunks(size: int, *iterables: Iterable[Any]) -> Iterator[Tuple[Any, ...]]:
    rows = zip(*iterables)
    return iter(lambda: tuple(itertools.islice(rows, size)), ())


def _chain(results: Iterator[List[Any]]) -> Iterator[Any]:
    for part in results:
        yield from part


class Executor(concurrent.futures.Executor):
    """Makes calls in Python tasks.

    max_workers: how many; None: as many as the hosts have processors, also of hosts that join later. hosts: names of the
    hosts to be used; None: all. initializer(*initargs) runs first in each worker. If a worker ends during a call, for
    instance with its host, only that call is made anew by another one, up to `retries` times; then its future raises
    WorkerLost. output: whether what workers print appears on sys.stdout, also in a notebook.

    Uses the virtual machine that this process is in; outside of one, takes part in this host's, which is started and
    halted if there is none.
    """

    def __init__(
        self,
        max_workers: Optional[int] = None,
        *,
        hosts: Optional[Sequence[str]] = None,
        initializer: Optional[Callable[..., Any]] = None,
        initargs: Tuple[Any, ...] = (),
        retries: int = 2,
        output: bool = True,
    ) -> None:
        if max_workers is not None and max_workers < 1:
            raise ValueError("max_workers must be greater than 0")
        if initializer is not None and not callable(initializer):
            raise TypeError("initializer must be callable")
        self._start_call = pickled.dumps_call(initializer or _nothing, initargs, {})
        self._max_workers = max_workers
        self._host_names = None if hosts is None else list(hosts)
        self._retries = retries
        self._output = output
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._pending: Deque[_Call] = deque()
        self._workers: Dict[int, _Worker] = {}
        self._processors: Dict[int, int] = {}  # of hosts that have told
        self._unready_ends = 0
        self._unfinished: Dict[int, bytes] = {}  # workers whose output has not ended, and the line that they have begun
        self._closing = False
        self._broken: Optional[BrokenExecutor] = None
        self._enter_machine()
        self._thread = threading.Thread(target=self._manage, name="dpvm.futures", daemon=True)
        self._thread.start()
        self._at_exit = partial(_shut_down, weakref.ref(self))
        atexit.register(self._at_exit)

    def _enter_machine(self) -> None:
        open_one = Machine._open
        self._is_ours = open_one is None
        self._machine = Machine().__enter__() if open_one is None else open_one
        try:
            self._hosts()
            self._context = self._machine.context()
        except BaseException:
            self._leave_machine()
            raise

    def _leave_machine(self) -> None:
        if self._is_ours:
            self._machine.close()

    def _hosts(self) -> List[Host]:
        """Those that may be used."""
        hosts = self._machine.hosts
        if self._host_names is None:
            return hosts
        by_name = {host.name: host for host in hosts}
        missing = [name for name in self._host_names if name not in by_name]
        if missing and not getattr(self, "_thread", None):
            raise ValueError(f"{missing[0]} is not a host of the machine; add it first: vm.add_hosts({missing[0]!r})")
        return [by_name[name] for name in self._host_names if name in by_name]

    # ---- the interface of concurrent.futures ----

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> "Future[Any]":
        """Arrays in the arguments are sent from where they are: leave them unchanged until the call has ended."""
        call = _Call(next(self._numbers), b"", [])
        try:
            call.data, call.buffers = pickled.dumps_call(function, arguments, keywords)
        except Exception as error:
            call.future.set_exception(error)
        with self._lock:
            if self._broken is not None:
                raise self._broken
            if self._closing:
                raise RuntimeError("cannot schedule new futures after shutdown")
            if call.future.done():
                return call.future
            self._pending.append(call)
            pairs = self._assign()
            waits = bool(self._pending)
        self._send(pairs)
        if waits:
            self._wake()
        return call.future

    def map(
        self,
        function: Callable[..., Any],
        *iterables: Iterable[Any],
        timeout: Optional[float] = None,
        chunksize: int = 1,
    ) -> Iterator[Any]:
        """Calls the function for `chunksize` items at a time. The results come in the order of the items."""
        if chunksize < 1:
            raise ValueError("chunksize must be >= 1.")
        chunks = _chunks(chunksize, *iterables)
        return _chain(super().map(partial(_call_each, function), chunks, timeout=timeout))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        with self._lock:
            self._closing = True
            cancelled = list(self._pending) if cancel_futures else []
            for call in cancelled:
                if call.future.cancel():
                    self._pending.remove(call)
        for call in cancelled:
            if call.future.cancelled():
                call.future.set_running_or_notify_cancel()
        self._wake()
        if wait and threading.current_thread() is not self._thread:
            self._thread.join()
        atexit.unregister(self._at_exit)

    # ---- from any thread ----

    def _wake(self) -> None:
        if not self._thread.is_alive():
            return
        try:
            with self._machine.context(self._context.number):
                self._machine.me.send(Tag.WAKE)
        except PvmError:
            pass  # its thread sees that, too

    def _assign(self) -> List[Tuple[_Worker, _Call]]:
        """Gives waiting calls to workers that have none. With the lock; _send() follows without it."""
        pairs = []
        idle = [worker for worker in self._workers.values() if worker.is_ready and worker.call is None]
        while idle and self._pending:
            call = self._pending.popleft()
            if call.losses == 0 and not call.future.set_running_or_notify_cancel():
                continue
            worker = idle.pop()
            worker.call = call
            pairs.append((worker, call))
        return pairs

    def _send(self, pairs: List[Tuple[_Worker, _Call]]) -> None:
        for worker, call in pairs:
            try:
                with self._machine.context(self._context.number):
                    worker.task.send(Tag.CALL, call.number, call.data, *call.buffers)
            except PvmError:
                pass  # the worker has ended: the notice of that is on its way
            except Exception as error:
                with self._lock:
                    worker.call = None
                call.future.set_exception(error)

    # ---- the thread ----

    def _manage(self) -> None:
        try:
            with self._context:
                if self._host_names is None:
                    self._machine.notify(c.PvmHostAdd, Tag.HOSTS, count=-1)
                while not self._is_done():
                    self._take(self._machine.receive())
                self._end_workers()
        except BaseException as error:
            self._break(f"the executor's thread has failed: {error}", error)
        finally:
            self._leave_machine()

    def _is_done(self) -> bool:
        with self._lock:
            busy = any(worker.call is not None for worker in self._workers.values())
            return self._broken is not None or (self._closing and not self._pending and not busy)

    def _take(self, message: Message) -> None:
        worker = self._workers.get(message.source.tid)
        if message.tag == Tag.OUTPUT:
            self._print(message)
        elif message.tag == Tag.ENDED:
            self._worker_ended(message.upkint())
        elif worker is not None and message.tag == Tag.RESULT:
            self._result(worker, *message.values)
        elif worker is not None and message.tag == Tag.READY:
            self._worker_is_ready(worker, message.value)
        elif worker is not None and message.tag == Tag.FAILED:
            self._break("the initializer failed in a worker", pickled.loads_error(message.value))
        self._go_on()

    def _go_on(self) -> None:
        with self._lock:
            pairs = self._assign()
            wanted = len(self._pending) - sum(not worker.is_ready for worker in self._workers.values())
            broken = self._broken is not None
        self._send(pairs)
        if wanted > 0 and not broken:
            self._start_workers(wanted)

    def _result(self, worker: _Worker, number: int, good: bool, data: bytes, *buffers: Any) -> None:
        with self._lock:
            call = worker.call
            if call is None or call.number != number:
                return
            worker.call = None
            pairs = self._assign()  # before the result is unpickled, which may take a while
        self._send(pairs)
        try:
            if not good:
                call.future.set_exception(pickled.loads_error(data))
            else:
                call.future.set_result(pickled.loads(data, buffers))
        except concurrent.futures.InvalidStateError:
            pass
        except BaseException as error:  # such as a class that cannot be imported here
            call.future.set_exception(error)

    # ---- workers ----

    def _room(self, hosts: List[Host]) -> List[Host]:
        """Where further workers belong, a host for each of them, the emptiest first."""
        here = {host.tid: 0 for host in hosts}
        for worker in self._workers.values():
            if worker.host.tid in here:
                here[worker.host.tid] += 1
        places: List[Host] = []
        while True:
            free = [h for h in hosts if self._max_workers is not None or here[h.tid] < self._processors.get(h.tid, 1)]
            if not free or (self._max_workers is not None and sum(here.values()) >= self._max_workers):
                return places
            host = min(free, key=lambda h: here[h.tid] / self._processors.get(h.tid, 1))
            here[host.tid] += 1
            places.append(host)

    def _start_workers(self, wanted: int) -> None:
        for host, places in itertools.groupby(sorted(self._room(self._hosts())[:wanted], key=lambda h: h.tid)):
            self._start_on(host, len(list(places)))
        if not self._workers:
            self._break("no host can run a worker")

    def _start_on(self, host: Host, count: int) -> None:
        try:
            tasks = self._spawn(host, count)
        except PvmError as error:
            tasks = getattr(error, "tasks", [])
            if not tasks and not self._workers:
                self._break(f"no worker can be started on {host.name}: {error}", error)
        with self._lock:
            for task in tasks:
                self._workers[task.tid] = _Worker(task, host)
        if self._output:
            self._unfinished.update({task.tid: b"" for task in tasks})
        if tasks:
            self._machine.notify(c.PvmTaskExit, Tag.ENDED, tasks)
            self._machine.mcast(tasks, Tag.START, 0, self._start_call[0], *self._start_call[1])

    def _spawn(self, host: Host, count: int) -> List[Task]:
        options = self._machine.options
        names = ("output_tid", "output_context", "output_code")
        with _spawning:
            before = [getattr(options, name) for name in names]
            if self._output:
                for name, value in zip(names, (self._machine.me.tid, self._context.number, Tag.OUTPUT)):
                    setattr(options, name, value)
            try:
                return self._machine.spawn_python("dpvm.pool:serve", count, [self._context.number], host=host.name)
            finally:
                for name, value in zip(names, before):
                    setattr(options, name, value)

    def _worker_is_ready(self, worker: _Worker, processors: int) -> None:
        with self._lock:
            worker.is_ready = True
            self._unready_ends = 0
            self._processors[worker.host.tid] = processors

    def _worker_ended(self, tid: int) -> None:
        with self._lock:
            worker = self._workers.pop(tid, None)
            call = worker.call if worker is not None else None
            if call is not None:
                call.losses += 1
            if call is not None and call.losses <= self._retries:
                self._pending.appendleft(call)
                call = None
            if worker is not None and not worker.is_ready:
                self._unready_ends += 1
        if worker is not None and worker.host not in self._machine.hosts:
            self._unfinished.pop(tid, None)  # its output has no end
        if worker is not None and call is not None:
            call.future.set_exception(
                WorkerLost(f"{worker.task} on {worker.host.name} ended during the call; {call.losses} workers have")
            )
        if self._unready_ends >= _STARTS_MAX:
            self._break(f"workers end before they are ready, the last one on {worker.host.name if worker else '?'}")

    # ---- output ----

    def _print(self, message: Message) -> None:
        tid, count = message.upkint(), message.upkint()
        if count > 0:
            *lines, rest = (self._unfinished.get(tid, b"") + message.upkbyte(count)).split(b"\n")
            self._unfinished[tid] = rest
            if lines:
                sys.stdout.write(b"".join(line + b"\n" for line in lines).decode("utf-8", "replace"))
        elif count == 0:
            rest = self._unfinished.pop(tid, b"")
            if rest:
                sys.stdout.write(rest.decode("utf-8", "replace") + "\n")

    # ---- the end ----

    def _break(self, why: str, cause: Optional[BaseException] = None) -> None:
        """Fails all calls, and those that come later."""
        error = BrokenExecutor(why)
        error.__cause__ = cause
        with self._lock:
            if self._broken is not None:
                return
            self._broken = error
            calls = list(self._pending) + [w.call for w in self._workers.values() if w.call is not None]
            self._pending.clear()
            for worker in self._workers.values():
                worker.call = None
        for call in calls:
            if not call.future.cancelled() and not call.future.done():
                call.future.set_exception(error)

    def _end_workers(self) -> None:
        tasks = [worker.task for worker in self._workers.values()]
        if self._broken is None:
            self._machine.mcast(tasks, Tag.STOP)
        else:
            for task in tasks:
                task.kill()
        if self._await_ends():
            return
        for worker in self._workers.values():
            worker.task.signal(9)
        self._await_ends()

    def _await_ends(self) -> bool:
        """Until all workers have ended and all their output is there; False if that takes too long."""
        until = time.monotonic() + _END_S
        while self._workers or self._unfinished:
            try:
                message = self._machine.receive(timeout=max(0.0, until - time.monotonic()))
            except TimeoutError:
                return False
            if message.tag == Tag.OUTPUT:
                self._print(message)
            elif message.tag == Tag.ENDED:
                self._worker_ended(message.upkint())
        return True


def _nothing() -> None:
    pass


def _shut_down(executor: "weakref.ref[Executor]") -> None:
    """At the end of the program, as other executors do."""
    alive = executor()
    if alive is not None:
        alive.shutdown()
