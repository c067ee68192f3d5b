"""The memory of Python objects, passed to PVM without copying: any object with the buffer protocol."""

from __future__ import annotations

import ctypes
import sys
from typing import Any, Optional, Tuple

from . import constants as c


class _PyBuffer(ctypes.Structure):  # Py_buffer of Python's C API
    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("len", ctypes.c_ssize_t),
                ("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int), ("ndim", ctypes.c_int),
                ("format", ctypes.c_char_p), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
                ("suboffsets", ctypes.c_void_p), ("internal", ctypes.c_void_p)]  # fmt: skip


_C_CONTIGUOUS, _WRITABLE, _FORMAT = 0x0020 | 0x0010 | 0x0008, 0x0001, 0x0004

_get_buffer = ctypes.pythonapi.PyObject_GetBuffer
_get_buffer.argtypes = [ctypes.py_object, ctypes.POINTER(_PyBuffer), ctypes.c_int]
_release_buffer = ctypes.pythonapi.PyBuffer_Release
_release_buffer.argtypes = [ctypes.POINTER(_PyBuffer)]
_release_buffer.restype = None

# PVM's type of items, by kind and size; kinds as in NumPy.
_LONG = ctypes.sizeof(ctypes.c_long)
TYPES = {
    ("i", 1): c.PVM_BYTE, ("u", 1): c.PVM_BYTE, ("i", 2): c.PVM_SHORT, ("u", 2): c.PVM_USHORT, ("i", _LONG): c.PVM_LONG,
    ("u", _LONG): c.PVM_ULONG, ("i", 4): c.PVM_INT, ("u", 4): c.PVM_UINT, ("f", 4): c.PVM_FLOAT,
    ("f", 8): c.PVM_DOUBLE, ("c", 8): c.PVM_CPLX, ("c", 16): c.PVM_DCPLX,
}  # fmt: skip

PACKERS = {
    c.PVM_BYTE: "byte", c.PVM_SHORT: "short", c.PVM_USHORT: "ushort", c.PVM_INT: "int", c.PVM_UINT: "uint",
    c.PVM_LONG: "long", c.PVM_ULONG: "ulong", c.PVM_FLOAT: "float", c.PVM_DOUBLE: "double", c.PVM_CPLX: "cplx",
    c.PVM_DCPLX: "dcplx",
}  # fmt: skip

_KINDS = {**dict.fromkeys("bhilqn", "i"), **dict.fromkeys("BHILQN?c", "u"), **dict.fromkeys("fd", "f"),
          "Zf": "c", "Zd": "c"}  # fmt: skip
_SWAPPED = ">!" if sys.byteorder == "little" else "<"

ITEMS_MAX = 2**31 - 1  # limit of one PVM call


def pvm_type(format: str, itemsize: int) -> Optional[int]:
    """PVM's type for items of a format of the struct module in this machine's byte order; None if there is none."""
    if format[:1] in _SWAPPED and itemsize > 1:
        return None
    kind = _KINDS.get(format.lstrip("@=<>!"))
    return TYPES.get((kind, itemsize)) if kind else None


class Buffer:
    """The memory of an object, for a with statement: `address`, `count` items of PVM's `type`, `nbytes`, `shape`.

    Reading accepts any object with the buffer protocol; data that is not contiguous in C's order is copied. Writing
    needs a contiguous and writable object.
    """

    def __init__(self, obj: Any, writable: bool = False) -> None:
        view = memoryview(obj)
        self.format, self.itemsize, self.shape = view.format, view.itemsize, tuple(view.shape or ())
        kind = pvm_type(view.format, view.itemsize)
        if kind is None:
            raise TypeError(
                f"items of format {view.format!r} cannot be in a PVM message; "
                "use bytes, integers of 1 to 8 bytes, float32/64 or complex64/128 in this machine's byte order, "
                "as by array.astype()"
            )
        if writable and (view.readonly or not view.c_contiguous):
            raise BufferError(
                "PVM cannot write into an array that is read-only or not contiguous; use numpy.ascontiguousarray()"
            )
        self.type = kind
        self.nbytes = view.nbytes
        self.count = view.nbytes // view.itemsize
        if self.count > ITEMS_MAX:
            raise ValueError(f"{self.count} items are more than one message can hold ({ITEMS_MAX})")
        self._py = _PyBuffer()
        source = obj if view.c_contiguous else view.tobytes()
        _get_buffer(source, ctypes.byref(self._py), _C_CONTIGUOUS | _FORMAT | (_WRITABLE if writable else 0))
        self.address: Optional[int] = self._py.buf

    def release(self) -> None:
        """Releases the object, which may then be resized and freed."""
        if self._py is not None:
            _release_buffer(ctypes.byref(self._py))
            self._py = None  # type: ignore[assignment]

    def __enter__(self) -> "Buffer":
        return self

    def __exit__(self, *error: object) -> None:
        self.release()


IN_PLACE_MIN = 1 << 20
"""From this array size in bytes on no copies are made: all data of a message are sent from where they are, and arrays of
it stay in its memory where they were received."""

_NAMES = {"Zf": "F", "Zd": "D", "c": "S1"}


class _Lent:
    """Memory that belongs to `owner`, for NumPy."""

    def __init__(self, address: int, dtype: Any, shape: Tuple[int, ...], owner: Any) -> None:
        self.__array_interface__ = {"data": (address, False), "typestr": dtype.str, "shape": shape, "version": 3}
        self._owner = owner


def dtype_of(code: str, itemsize: int) -> Any:
    """NumPy's type for items of this format and size; None if it has none, or is not installed."""
    try:
        import numpy
    except ImportError:
        return None
    dtype = numpy.dtype(_NAMES.get(code, code))
    return dtype if dtype.itemsize == itemsize else None


def array_at(address: int, dtype: Any, shape: Tuple[int, ...], owner: Any) -> Any:
    """A NumPy array on this memory, which keeps the owner."""
    import numpy

    return numpy.asarray(_Lent(address, dtype, shape, owner))


def empty(code: str, shape: Tuple[int, ...], itemsize: int) -> Any:
    """A new array for items of format `code`: a NumPy array if NumPy is installed, else a memoryview."""
    try:
        import numpy
    except ImportError:
        if code.startswith("Z"):
            raise TypeError("complex arrays can only be received with NumPy; install it on this host") from None
        count = itemsize
        for length in shape:
            count *= length
        view = memoryview(bytearray(count))
        if not count or code == "B":
            return view
        return view.cast(code, shape) if len(shape) > 1 else view.cast(code)
    return numpy.empty(shape, dtype=_NAMES.get(code, code))
