"""Messages: received ones (Message), and those packed value by value for programs in C (Packer)."""

from __future__ import annotations

import ctypes
import math
from array import array
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

from . import constants as c
from . import values as v
from .buffers import IN_PLACE_MIN, ITEMS_MAX, PACKERS, Buffer, array_at, dtype_of, pvm_type
from .errors import PvmNoData
from .library import ints, library, three_ints
from .task import Task, tag_of, tid_of

_CODES = {"short": "h", "ushort": "H", "int": "i", "uint": "I", "long": "l", "ulong": "L", "float": "f", "double": "d"}
_COMPLEX = {"cplx": "f", "dcplx": "d"}

Numbers = Any
"""A number, a sequence of numbers, or an object with the buffer protocol."""


def _pack(kind: str, source: Any) -> None:
    """Appends all items of a buffer to the active send buffer; `kind` "" means their own type."""
    if kind and type(source) is array:  # these two kinds have a fast path, since they are the most frequent
        address, count = source.buffer_info()
        library().call("pk" + kind, address, count // 2 if kind in _COMPLEX else count, 1)
        return
    if kind == "byte" and type(source) is bytes:
        library().call("pkbyte", source, len(source), 1)
        return
    buffer = source if isinstance(source, Buffer) else Buffer(source)
    try:
        size = 2 if kind in _COMPLEX and buffer.type in (c.PVM_FLOAT, c.PVM_DOUBLE) else 1
        library().call("pk" + (kind or PACKERS[buffer.type]), buffer.address, buffer.count // size, 1)
    finally:
        if buffer is not source:
            buffer.release()


def _unpack(kind: str, target: Any) -> None:
    """Fills a buffer with the next items of the active receive buffer."""
    if kind and type(target) is array:
        address, count = target.buffer_info()
        library().call("upk" + kind, address, count // 2 if kind in _COMPLEX else count, 1)
        return
    with Buffer(target, writable=True) as buffer:
        size = 2 if kind in _COMPLEX and buffer.type in (c.PVM_FLOAT, c.PVM_DOUBLE) else 1
        library().call("upk" + (kind or PACKERS[buffer.type]), buffer.address, buffer.count // size, 1)


class Packed:
    """Packs Python values into a new message.

    Within a with statement it is the active send buffer and can be sent.
    """

    def __init__(self, values: Tuple[Any, ...], may_be_in_place: bool = True) -> None:
        description, self._data = v.take_apart(values)
        self._head = array("i", [v.MAGIC, len(description)])
        in_place = may_be_in_place and any(not kind and b.nbytes >= IN_PLACE_MIN for kind, b in self._data)
        try:
            self.mid = library().call("initsend", c.PvmDataInPlace if in_place else c.PvmDataDefault)
            self._pack(description)
        except BaseException:
            v.release(self._data)
            raise
        self._description = description

    def _pack(self, description: bytes) -> None:
        _pack("int", self._head)
        if description:
            _pack("byte", description)
        for kind, piece in self._data:
            _pack(kind, piece)

    def __enter__(self) -> int:
        return self.mid

    def __exit__(self, *error: object) -> None:
        v.release(self._data)


class _Memory:
    """That of a received message, kept for the arrays in it."""

    view: Optional[int] = None

    def array(self, code: str, itemsize: int, shape: Tuple[int, ...]) -> Any:
        """The next items of the active receive buffer as an array in its memory; None if they must be unpacked."""
        kind, count, dtype = pvm_type(code, itemsize), math.prod(shape), dtype_of(code, itemsize)
        if kind is None or dtype is None or count > ITEMS_MAX:
            return None
        view, address = library().view(self.view, kind, count)
        if view is None or address is None:
            return None
        self.view = view
        return array_at(address, dtype, shape, self)

    def __del__(self) -> None:
        if self.view is not None:
            library().free_view(self.view)


class Message:
    """A received message: `source`, `tag`, `length` in bytes, and its contents, which may still be coming.

    `values` contains the arguments of this package's send(). Messages of other programs are unpacked in the order of
    packing, by upkint() and similar methods.
    """

    def __init__(self, mid: int, borrowed: bool = False) -> None:
        _, tag, source = three_ints()
        library().call("bufinfo", mid, None, tag, source)
        self.source = Task(source.value)
        self.tag = tag.value
        self._length: Optional[int] = None
        self._mid = mid
        self._borrowed = borrowed  # a handler's message, which the library frees
        self._values: Optional[Tuple[Any, ...]] = None

    def __repr__(self) -> str:
        size = "freed" if self._length is None and not self._mid else f"{self.length} bytes"
        return f"<Message from {self.source} tag {self.tag}, {size}>"

    @property
    def length(self) -> int:
        """Bytes. Waits for the end of a message whose sender still packs it (Machine.stream())."""
        if self._length is None:
            if not self._mid:
                raise ValueError("the message was freed before its length was known")
            length, tag, source = three_ints()
            library().call("bufinfo", self._mid, length, tag, source)
            self._length = length.value
        return self._length

    def __del__(self) -> None:
        self.free()

    def free(self) -> None:
        """Frees the message at once; otherwise this happens when nothing refers to it any more."""
        mid, self._mid = getattr(self, "_mid", 0), 0
        if mid and not self._borrowed:
            library().function("freebuf")(mid)

    def forget(self) -> None:
        """The library frees the message: it can no longer be read."""
        self._mid = 0

    def __enter__(self) -> "Message":
        lib = library()
        if not self._mid:
            raise ValueError("the message was freed; a handler's message can be read only in the handler")
        self._outer = lib.call("setrbuf", self._mid)
        return self

    def __exit__(self, *error: object) -> None:
        library().function("setrbuf")(self._outer)

    @property
    def values(self) -> Tuple[Any, ...]:
        """The arguments of send(), as a tuple. Raises values.NotValues if the message is not from this package's
        send().
        """
        if self._values is None:
            with self:
                self._values = self._take_values()
        return self._values

    def _take_values(self) -> Tuple[Any, ...]:
        head = array("i", [0, 0])
        try:
            _unpack("int", head)
        except PvmNoData:
            pass
        if head[0] != v.MAGIC or not 0 <= head[1] <= self.length:
            raise v.NotValues(
                f"{self!r} was not packed by dpvm's send(), or has been unpacked; "
                "use upkint(), upkdouble() and their kin"
            )
        description = bytearray(head[1])
        if description:
            _unpack("byte", description)
        return v.put_together(bytes(description), _unpack, _Memory().array, self.length)

    @property
    def value(self) -> Any:
        """The only value of the message."""
        if len(self.values) != 1:
            raise ValueError(f"the message has {len(self.values)} values, not one; use .values")
        return self.values[0]

    def unpack_into(self, target: Any) -> Any:
        """Fills an array (any object with a writable buffer) with the next items, which must have its type; returns it.
        """
        with self:
            _unpack("", target)
        return target

    def _numbers(self, kind: str, count: Optional[int]) -> Any:
        data = array(_CODES[kind], bytes(array(_CODES[kind]).itemsize * (1 if count is None else count)))
        with self:
            _unpack(kind, data)
        return data[0] if count is None else data

    def _complexes(self, kind: str, count: Optional[int]) -> Any:
        code = _COMPLEX[kind]
        data = array(code, bytes(array(code).itemsize * 2 * (1 if count is None else count)))
        with self:
            _unpack(kind, data)
        found = [complex(*data[i : i + 2]) for i in range(0, len(data), 2)]
        return found[0] if count is None else found

    def upkbyte(self, count: int) -> bytes:
        """The next `count` bytes."""
        data = bytearray(count)
        with self:
            _unpack("byte", data)
        return bytes(data)

    def upkshort(self, count: Optional[int] = None) -> Any:
        """The next short, or an array of `count` of them; likewise the others."""
        return self._numbers("short", count)

    def upkushort(self, count: Optional[int] = None) -> Any:
        return self._numbers("ushort", count)

    def upkint(self, count: Optional[int] = None) -> Any:
        return self._numbers("int", count)

    def upkuint(self, count: Optional[int] = None) -> Any:
        return self._numbers("uint", count)

    def upklong(self, count: Optional[int] = None) -> Any:
        return self._numbers("long", count)

    def upkulong(self, count: Optional[int] = None) -> Any:
        return self._numbers("ulong", count)

    def upkfloat(self, count: Optional[int] = None) -> Any:
        return self._numbers("float", count)

    def upkdouble(self, count: Optional[int] = None) -> Any:
        return self._numbers("double", count)

    def upkcplx(self, count: Optional[int] = None) -> Any:
        """The next complex number of two floats, or a list of `count` of them."""
        return self._complexes("cplx", count)

    def upkdcplx(self, count: Optional[int] = None) -> Any:
        return self._complexes("dcplx", count)

    def upkstr(self) -> str:
        """The next text, packed by pvm_pkstr()."""
        room = ctypes.create_string_buffer(self.length + 1)
        with self:
            library().call("upkstr", room)
        return room.value.decode("utf-8", "surrogateescape")


class Packer:
    """A message that is packed value by value, as programs in C expect it, then sent any number of times.

    With PvmDataInPlace arrays are not copied: send() sends their contents at that time.
    """

    def __init__(self, encoding: int = c.PvmDataDefault, to: Optional[Tuple[Union[Task, int], int]] = None) -> None:
        self._mid = self._begin_stream(encoding, *to) if to else library().call("mkbuf", encoding)
        self._in_place = encoding == c.PvmDataInPlace
        self._kept: List[Any] = []  # objects to which the message points

    def __del__(self) -> None:
        self.free()

    @staticmethod
    def _begin_stream(encoding: int, task: Union[Task, int], tag: int) -> int:
        """pvm_initsendto(), which would free the program's active send buffer."""
        lib = library()
        outer = lib.call("setsbuf", 0)
        try:
            return int(lib.call("initsendto", encoding, tid_of(task), tag_of(tag)))
        finally:
            lib.function("setsbuf")(outer)

    def free(self) -> None:
        """Frees the message at once; otherwise this happens when nothing refers to it any more."""
        mid, self._mid = getattr(self, "_mid", 0), 0
        if mid:
            library().function("freebuf")(mid)
        for buffer in getattr(self, "_kept", []):
            buffer.release()

    def __enter__(self) -> "Packer":
        if not self._mid:
            raise ValueError("the message was freed")
        self._outer = library().call("setsbuf", self._mid)
        return self

    def __exit__(self, *error: object) -> None:
        library().function("setsbuf")(self._outer)

    def _add(self, kind: str, source: Any) -> "Packer":
        with self:
            buffer = Buffer(source)
            if self._in_place:
                self._kept.append(buffer)
            try:
                _pack(kind, buffer)
            finally:
                if not self._in_place:
                    buffer.release()
        return self

    def _numbers(self, kind: str, value: Numbers) -> "Packer":
        code = _CODES[kind]
        if isinstance(value, (int, float)):
            return self._add(kind, array(code, [value]))
        try:
            buffer = Buffer(value)
        except TypeError:
            return self._add(kind, array(code, value))
        wrong = PACKERS[buffer.type] != kind
        buffer.release()
        return self._add(kind, array(code, memoryview(value).tolist()) if wrong else value)

    def _complexes(self, kind: str, value: Any) -> "Packer":
        numbers = [value] if isinstance(value, (int, float, complex)) else [complex(item) for item in value]
        parts = [part for number in numbers for part in (complex(number).real, complex(number).imag)]
        return self._add(kind, array(_COMPLEX[kind], parts))

    def pkbyte(self, data: Any) -> "Packer":
        """Appends bytes."""
        return self._add("byte", memoryview(data).cast("B") if memoryview(data).c_contiguous else bytes(data))

    def pkshort(self, value: Numbers) -> "Packer":
        """Appends a number, or all of a sequence or array; likewise the others. Raises OverflowError if one does not
        fit.
        """
        return self._numbers("short", value)

    def pkushort(self, value: Numbers) -> "Packer":
        return self._numbers("ushort", value)

    def pkint(self, value: Numbers) -> "Packer":
        return self._numbers("int", value)

    def pkuint(self, value: Numbers) -> "Packer":
        return self._numbers("uint", value)

    def pklong(self, value: Numbers) -> "Packer":
        return self._numbers("long", value)

    def pkulong(self, value: Numbers) -> "Packer":
        return self._numbers("ulong", value)

    def pkfloat(self, value: Numbers) -> "Packer":
        return self._numbers("float", value)

    def pkdouble(self, value: Numbers) -> "Packer":
        return self._numbers("double", value)

    def pkcplx(self, value: Any) -> "Packer":
        return self._complexes("cplx", value)

    def pkdcplx(self, value: Any) -> "Packer":
        return self._complexes("dcplx", value)

    def pkstr(self, text: str) -> "Packer":
        """Appends a text for pvm_upkstr()."""
        encoded = text.encode("utf-8", "surrogateescape")
        if b"\0" in encoded:
            raise ValueError("a text for pvm_upkstr() cannot have zero characters; pack it as bytes")
        with self:
            library().call("pkstr", encoded)
        return self

    def pack(self, array: Any) -> "Packer":
        """Appends all items of an array (any object with the buffer protocol) with their own type."""
        return self._add("", array)

    def send(self, task: Union[Task, int], tag: int) -> None:
        with self:
            library().call("send", tid_of(task), tag_of(tag))

    def mcast(self, tasks: Sequence[Union[Task, int]], tag: int) -> None:
        """Sends it to several tasks."""
        tids = [tid_of(task) for task in tasks]
        with self:
            library().call("mcast", ints(tids), len(tids), tag_of(tag))

    @property
    def mid(self) -> int:
        """The library's id of the message buffer."""
        return self._mid
