"""Halts the machine. This ends each of its tasks by SIGTERM, but must not end this process."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import socket
import stat
import struct
from contextlib import contextmanager
from typing import Any, Iterator, List, Optional

from .library import library

_LIMIT_MS = 20000


def descriptors() -> List[int]:
    """The descriptors on which messages arrive; the library owns them."""
    fds = ctypes.POINTER(ctypes.c_int)()
    count = library().call("getfds", ctypes.byref(fds))
    return list(fds[:count])


def _peer(descriptor: int) -> Optional[int]:
    """The process at the other end of a Unix socket."""
    try:
        if not stat.S_ISSOCK(os.fstat(descriptor).st_mode):
            return None
        with socket.socket(fileno=os.dup(descriptor)) as link:
            credentials = link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
            return int(struct.unpack("3i", credentials)[0])
    except OSError:
        return None


def _daemon() -> Optional[int]:
    """A descriptor that becomes readable when our daemon has ended."""
    for descriptor in map(int, os.listdir("/proc/self/fd")):
        pid = _peer(descriptor)
        try:
            with open(f"/proc/{pid}/comm") as name:
                if name.read() == "pvmd3\n":
                    return os.pidfd_open(pid or 0)
        except OSError:
            continue
    return None


@contextmanager
def _unharmed() -> Iterator[None]:
    """Ignores SIGTERM meanwhile, with C's function, since only the main thread may call Python's."""
    libc_signal: Any = ctypes.CDLL(None).signal
    libc_signal.restype = ctypes.c_void_p
    libc_signal.argtypes = [ctypes.c_int, ctypes.c_void_p]
    ignore = 1  # SIG_IGN
    outer = libc_signal(signal.SIGTERM, ignore)
    try:
        yield
    finally:
        libc_signal(signal.SIGTERM, outer)


def halt() -> None:
    """Halts the machine and waits until this host's daemon has ended.

    Otherwise the next program to start a daemon would find this one.
    """
    lib, daemon = library(), _daemon()
    with _unharmed():
        code = lib.function("halt")()
        if daemon is not None:
            poll = select.poll()
            poll.register(daemon, select.POLLIN)
            poll.poll(_LIMIT_MS)
            os.close(daemon)
    lib.function("exit")()
    if code != -14:  # PvmSysErr: the daemon ended before it answered
        lib.check("halt", code)
