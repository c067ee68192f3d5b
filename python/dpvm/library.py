"""libpvm3 and libgpvm3 through ctypes: their location, prototypes, and errors of calls as exceptions.

All calls release the GIL, and several threads may call the library (PVM_THREADS, which is set here unless the user has
set it). Python functions that the library calls cannot raise through it: their exceptions are stored, and the next call
that receives raises them.
"""

from __future__ import annotations

import ctypes
import glob
import os
import sysconfig
import threading
from ctypes import CFUNCTYPE, POINTER, c_char, c_char_p, c_int, c_long, c_void_p
from typing import Any, Dict, List, Optional, Tuple

from . import errors
from .programs import NATIVE

LIBPVM, LIBGPVM = "libpvm3.so.3", "libgpvm3.so.3"


class HostInfo(ctypes.Structure):
    _fields_ = [("tid", c_int), ("name", c_char_p), ("arch", c_char_p), ("speed", c_int), ("dsig", c_int)]


class TaskInfo(ctypes.Structure):
    _fields_ = [("tid", c_int), ("parent", c_int), ("host", c_int), ("flag", c_int), ("name", c_char_p), ("pid", c_int)]


class MboxInfo(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("entries", c_int), ("indices", POINTER(c_int)), ("owners", POINTER(c_int)),
                ("flags", POINTER(c_int))]  # fmt: skip


class Timeval(ctypes.Structure):
    _fields_ = [("sec", c_long), ("usec", c_long)]


HANDLER = CFUNCTYPE(c_int, c_int)
REDUCER = CFUNCTYPE(None, POINTER(c_int), c_void_p, c_void_p, POINTER(c_int), POINTER(c_int))

_ints = POINTER(c_int)
_strings = POINTER(c_char_p)

# The argument types of each function; all return an int.
_PVM: Dict[str, List[Any]] = {
    "mytid": [], "exit": [], "parent": [], "halt": [], "start_pvmd": [c_int, _strings, c_int],
    "spawn": [c_char_p, _strings, c_int, c_char_p, c_int, _ints], "kill": [c_int], "sendsig": [c_int, c_int],
    "config": [_ints, _ints, POINTER(POINTER(HostInfo))], "tasks": [c_int, _ints, POINTER(POINTER(TaskInfo))],
    "pstat": [c_int], "mstat": [c_char_p], "tidtohost": [c_int], "siblings": [POINTER(_ints)],
    "addhosts": [_strings, c_int, _ints], "delhosts": [_strings, c_int, _ints],
    "setopt": [c_int, c_int], "getopt": [c_int], "export": [c_char_p], "unexport": [c_char_p],
    "initsend": [c_int], "initsendto": [c_int, c_int, c_int], "mkbuf": [c_int], "freebuf": [c_int],
    "getsbuf": [], "setsbuf": [c_int], "getrbuf": [],
    "setrbuf": [c_int], "getfds": [POINTER(_ints)], "bufinfo": [c_int, _ints, _ints, _ints],
    "pkbyte": [c_void_p, c_int, c_int], "upkbyte": [c_void_p, c_int, c_int],
    "pkshort": [c_void_p, c_int, c_int], "upkshort": [c_void_p, c_int, c_int],
    "pkushort": [c_void_p, c_int, c_int], "upkushort": [c_void_p, c_int, c_int],
    "pkint": [c_void_p, c_int, c_int], "upkint": [c_void_p, c_int, c_int],
    "pkuint": [c_void_p, c_int, c_int], "upkuint": [c_void_p, c_int, c_int],
    "pklong": [c_void_p, c_int, c_int], "upklong": [c_void_p, c_int, c_int],
    "pkulong": [c_void_p, c_int, c_int], "upkulong": [c_void_p, c_int, c_int],
    "pkfloat": [c_void_p, c_int, c_int], "upkfloat": [c_void_p, c_int, c_int],
    "pkdouble": [c_void_p, c_int, c_int], "upkdouble": [c_void_p, c_int, c_int],
    "pkcplx": [c_void_p, c_int, c_int], "upkcplx": [c_void_p, c_int, c_int],
    "pkdcplx": [c_void_p, c_int, c_int], "upkdcplx": [c_void_p, c_int, c_int],
    "pkstr": [c_char_p], "upkstr": [POINTER(c_char)],
    "send": [c_int, c_int], "mcast": [_ints, c_int, c_int], "psend": [c_int, c_int, c_void_p, c_int, c_int],
    "nrecv": [c_int, c_int], "trecv": [c_int, c_int, POINTER(Timeval)], "probe": [c_int, c_int],
    "tprecv": [c_int, c_int, POINTER(Timeval), c_void_p, c_int, c_int, _ints, _ints, _ints],
    "newcontext": [], "freecontext": [c_int], "getcontext": [], "setcontext": [c_int],
    "addmhf": [c_int, c_int, c_int, HANDLER], "delmhf": [c_int], "notify": [c_int, c_int, c_int, _ints],
    "putinfo": [c_char_p, c_int, c_int], "recvinfo": [c_char_p, c_int, c_int], "delinfo": [c_char_p, c_int, c_int],
    "getmboxinfo": [c_char_p, _ints, POINTER(POINTER(MboxInfo))], "catchout": [c_void_p],
}  # fmt: skip

_GPVM: Dict[str, List[Any]] = {
    "joingroup": [c_char_p], "lvgroup": [c_char_p], "gsize": [c_char_p], "gettid": [c_char_p, c_int],
    "getinst": [c_char_p, c_int], "barrier": [c_char_p, c_int], "bcast": [c_char_p, c_int],
    "freezegroup": [c_char_p, c_int],
    "reduce": [c_void_p, c_void_p, c_int, c_int, c_int, c_char_p, c_int],
    "gather": [c_void_p, c_void_p, c_int, c_int, c_int, c_char_p, c_int],
    "scatter": [c_void_p, c_void_p, c_int, c_int, c_int, c_char_p, c_int],
}  # fmt: skip


class LibraryNotFound(ImportError):
    """libpvm3 is missing, or not dpvm's; the text says where the package searched and what to do."""


_MARK = "libdpvm_tls.so"
"""A file beside every libpvm3 of dpvm, and no other."""


def _of_root(root: str) -> Optional[str]:
    """The library of the installation with this PVM_ROOT, if that is dpvm's."""
    for path in sorted(glob.glob(os.path.join(glob.escape(root), "lib", os.environ.get("PVM_ARCH") or "*", LIBPVM))):
        found = os.path.realpath(path)
        if os.path.exists(os.path.join(os.path.dirname(found), _MARK)):
            return found
    return None


def _carried(root: str) -> Optional[str]:
    """The library that a wheel carries. Daemons are started from PVM_ROOT, so that must not be another PVM's."""
    path, own = os.path.join(NATIVE, "lib", LIBPVM), os.path.join(NATIVE, "lib", "pvm3")
    if not os.path.exists(path):
        return None
    if root and os.path.realpath(root) != os.path.realpath(own):
        raise LibraryNotFound(
            f"dpvm: PVM_ROOT={root} is not the root of a dpvm. Unset it, since this package has all that it needs, "
            "or set it to the folder lib/pvm3 of an installation of dpvm."
        )
    return path


def _candidates() -> List[str]:
    """The places of libpvm3, best first; the system's loader finds a bare name (ldconfig, LD_LIBRARY_PATH)."""
    chosen = os.environ.get("DPVM_LIBRARY", "")
    if chosen:
        return [os.path.join(chosen, LIBPVM) if os.path.isdir(chosen) else chosen]
    root = os.environ.get("PVM_ROOT", "")
    first = (_of_root(root) if root else None) or _carried(root)
    if first:
        return [first]
    here = os.path.dirname(os.path.abspath(__file__))
    beside = [os.path.join(here, LIBPVM)]
    prefix = here
    while prefix != "/":  # installed: PREFIX/lib/python3/dist-packages/dpvm and PREFIX/lib[/TRIPLET]/libpvm3.so.3
        prefix = os.path.dirname(prefix)
        if os.path.basename(prefix) == "lib":
            triplet = str(sysconfig.get_config_var("MULTIARCH") or "")
            beside += [os.path.join(prefix, LIBPVM), os.path.join(prefix, triplet, LIBPVM)]
            break
    return [path for path in beside if os.path.exists(path)] + [LIBPVM]


def _load(path: str) -> ctypes.CDLL:
    try:
        library = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)  # libgpvm3 then uses this one, not another copy
    except OSError as error:
        raise LibraryNotFound(
            f"dpvm: cannot load {path}: {error}. Set DPVM_LIBRARY to the file libpvm3.so.3 of dpvm, or to its folder."
        ) from None
    if not hasattr(library, "pvm_tprecv"):
        raise LibraryNotFound(
            f"dpvm: {path} is not the library of dpvm, but that of another PVM. "
            "Set DPVM_LIBRARY to the file libpvm3.so.3 of dpvm, or to its folder."
        )
    return library


def _folder_of(library: ctypes.CDLL) -> str:
    """The folder that the library was loaded from."""

    class DlInfo(ctypes.Structure):
        _fields_ = [("file", c_char_p), ("base", c_void_p), ("symbol", c_char_p), ("address", c_void_p)]

    info = DlInfo()
    ctypes.CDLL(None).dladdr(ctypes.cast(library.pvm_mytid, c_void_p), ctypes.byref(info))
    return os.path.dirname(os.fsdecode(info.file or b""))


class Library:
    """The loaded libraries. `lib.call("send", tid, tag)` calls pvm_send() and raises its error."""

    def __init__(self) -> None:
        os.environ.setdefault("PVM_THREADS", "1")
        self._pvm = _load(_candidates()[0])
        self.folder = _folder_of(self._pvm)
        self._gpvm: Optional[ctypes.CDLL] = None
        self._functions: Dict[str, Any] = {}
        self._kept = threading.local()
        self._declare(self._pvm, _PVM)

    def _declare(self, library: ctypes.CDLL, table: Dict[str, List[Any]]) -> None:
        for name, arguments in table.items():
            function = getattr(library, "pvm_" + name)
            function.argtypes = arguments
            function.restype = c_int
            self._functions[name] = function

    @property
    def groups(self) -> ctypes.CDLL:
        """libgpvm3, which is loaded on first use."""
        if self._gpvm is None:
            path = os.path.join(self.folder, LIBGPVM)
            try:
                library = ctypes.CDLL(path)
            except OSError as error:
                raise LibraryNotFound(f"dpvm: cannot load {path}, which must be beside {LIBPVM}: {error}") from None
            self._declare(library, _GPVM)
            self._gpvm = library
        return self._gpvm

    def function(self, name: str) -> Any:
        """The C function, for callers that check its result themselves."""
        return self._functions[name]

    def text(self, code: int) -> str:
        """The library's own text for an error code."""
        count = c_int.in_dll(self._pvm, "pvm_nerr").value
        if not 0 <= -code < count:
            return "Unknown Error"
        texts = (c_char_p * count).in_dll(self._pvm, "pvm_errlist")
        return (texts[-code] or b"").decode()

    def why_not_added(self, index: int) -> str:
        """What the daemon says of a host that the last pvm_addhosts() could not add; "" if it was added."""
        function: Any = self._pvm.pvm_addhosterr
        function.argtypes, function.restype = [c_int], c_char_p
        return (function(index) or b"").decode("utf-8", "replace").strip()

    def free_view(self, view: int) -> None:
        self._pvm.pvm_freeview(c_void_p(view))

    def view(self, view: Optional[int], kind: int, count: int) -> Tuple[Optional[int], Optional[int]]:
        """pvm_upkview(): the view and the address of the items, or None twice if they must be unpacked."""
        function: Any = self._pvm.pvm_upkview
        function.argtypes, function.restype = [c_void_p, c_int, c_int, POINTER(c_void_p)], c_void_p
        items = c_void_p()
        found = function(view, kind, count, ctypes.byref(items))
        return (found, items.value) if found else (None, None)

    def error(self, name: str, code: int) -> errors.PvmError:
        """The exception for a code that pvm_`name` returned."""
        return errors.BY_CODE.get(code, errors.PvmError)("pvm_" + name, code, self.text(code))

    def check(self, name: str, result: int) -> int:
        """The result of pvm_`name`; raises it if it is an error."""
        if result < 0:
            raise self.error(name, result)
        return result

    def call(self, name: str, *arguments: Any) -> int:
        """Calls pvm_`name`; a negative result is raised."""
        return self.check(name, self._functions[name](*arguments))

    def keep(self, error: BaseException) -> None:
        """For functions that the library calls: stores their exceptions for raise_kept()."""
        if not hasattr(self._kept, "errors"):
            self._kept.errors = []
        self._kept.errors.append(error)

    def raise_kept(self) -> None:
        """Raises the stored exception of this thread. Only for calls that then lose nothing."""
        errors = getattr(self._kept, "errors", None)
        if errors:
            raise errors.pop(0)


_library: Optional[Library] = None
_loading = threading.Lock()


def library() -> Library:
    """The libraries, loaded at the first call. Raises LibraryNotFound if they are missing."""
    global _library
    if _library is None:
        with _loading:
            if _library is None:
                _library = Library()
    return _library


def strings(texts: List[str]) -> Any:
    """An array of C strings that ends with NULL."""
    encoded = [os.fsencode(text) for text in texts]
    for text in encoded:
        if b"\0" in text:
            raise ValueError(f"{text!r} has a zero byte, which C strings cannot contain")
    return (c_char_p * (len(encoded) + 1))(*encoded, None)


def ints(values: List[int]) -> Any:
    """An array of C ints."""
    return (c_int * max(1, len(values)))(*values)


def text(value: str, what: str = "name") -> bytes:
    """A text as a C string."""
    encoded = os.fsencode(value)
    if b"\0" in encoded:
        raise ValueError(f"the {what} {value!r} has a zero byte, which C strings cannot contain")
    return encoded


def three_ints() -> Tuple[c_int, c_int, c_int]:
    return c_int(), c_int(), c_int()
