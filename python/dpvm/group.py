"""Groups of tasks: libgpvm3."""

from __future__ import annotations

import ctypes
import struct
from typing import Any, Callable, Optional, Union

from . import constants as c
from .buffers import Buffer
from .library import REDUCER, library, text
from .message import Packed
from .task import Task, tag_of

_OPERATORS = {"max": "PvmMax", "min": "PvmMin", "sum": "PvmSum", "product": "PvmProduct"}
_FORMATS = {
    c.PVM_BYTE: "b", c.PVM_SHORT: "h", c.PVM_USHORT: "H", c.PVM_INT: "i", c.PVM_UINT: "I", c.PVM_LONG: "l",
    c.PVM_ULONG: "L", c.PVM_FLOAT: "f", c.PVM_DOUBLE: "d", c.PVM_CPLX: "f", c.PVM_DCPLX: "d",
}  # fmt: skip

Operator = Union[str, Callable[[Any, Any], None]]


def _reducer(function: Callable[[Any, Any], None]) -> Any:
    """Wraps a function(x, y) of memoryviews, which stores the result in x, as a function for PVM."""

    def reduce(kind: Any, x: int, y: int, count: Any, info: Any) -> None:
        try:
            items = count[0] * (2 if kind[0] in (c.PVM_CPLX, c.PVM_DCPLX) else 1)
            code = _FORMATS[kind[0]]
            size = items * struct.calcsize(code)
            views = [memoryview((ctypes.c_char * size).from_address(at)).cast("B").cast(code) for at in (x, y)]
            function(*views)
        except BaseException as error:
            library().keep(error)

    return REDUCER(reduce)


class Group:
    """A group of which this task is a member: `instance` is its instance number, `name` the group's name.

    Only signals that end the process can interrupt calls that wait for other members.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._name = text(name)
        library().groups
        self.instance = library().call("joingroup", self._name)

    def __enter__(self) -> "Group":
        return self

    def __exit__(self, *error: object) -> None:
        self.leave()

    def __len__(self) -> int:
        """The number of members."""
        return library().call("gsize", self._name)

    def leave(self) -> None:
        library().call("lvgroup", self._name)

    def task(self, instance: int) -> Task:
        """The member with this instance number."""
        return Task(library().call("gettid", self._name, instance))

    def instance_of(self, task: Union[Task, int]) -> int:
        """The instance number of a member."""
        return library().call("getinst", self._name, int(task))

    def freeze(self, size: int) -> int:
        """Waits until `size` tasks have joined, and freezes the group; all members must call it."""
        return library().call("freezegroup", self._name, size)

    def barrier(self, count: Optional[int] = None) -> None:
        """Waits until `count` members have called it (None: all members)."""
        library().call("barrier", self._name, -1 if count is None else count)

    def bcast(self, tag: int, *values: Any) -> None:
        """Sends values to all other members."""
        with Packed(values):
            library().call("bcast", self._name, tag_of(tag))

    def reduce(self, array: Any, operator: Operator = "sum", root: int = 0, tag: int = 1) -> None:
        """Combines the arrays of all members, item by item; the array of the member `root` receives the result.

        `operator` is "sum", "product", "max" or "min", or a function(x, y) of two memoryviews of items (of complex
        numbers: their parts) that stores its result in x. It must be the same for all members.
        """
        if isinstance(operator, str):
            if operator not in _OPERATORS:
                raise ValueError(f"no operator {operator!r}: give one of {', '.join(_OPERATORS)}, or a function")
            function = ctypes.cast(getattr(library().groups, _OPERATORS[operator]), ctypes.c_void_p)
            callback = None
        else:
            callback = _reducer(operator)
            function = ctypes.cast(callback, ctypes.c_void_p)
        with Buffer(array, writable=True) as b:
            library().call("reduce", function, b.address, b.count, b.type, tag_of(tag), self._name, root)
        del callback
        library().raise_kept()

    def gather(self, part: Any, whole: Any = None, root: int = 0, tag: int = 1) -> None:
        """Collects the members' parts, which have equal lengths, in the array `whole` of the member `root`."""
        with Buffer(part) as source:
            address = None
            if self.instance == root:
                with self._whole(whole, source) as target:
                    self._collect("gather", target.address, source, tag, root)
                return
            self._collect("gather", address, source, tag, root)

    def _collect(self, name: str, address: Optional[int], part: Buffer, tag: int, root: int) -> None:
        library().call(name, address, part.address, part.count, part.type, tag_of(tag), self._name, root)

    def scatter(self, part: Any, whole: Any = None, root: int = 0, tag: int = 1) -> None:
        """Distributes the array `whole` of the member `root`: each member gets a part of equal length."""
        with Buffer(part, writable=True) as target:
            source = self._whole(whole, target) if self.instance == root else None
            try:
                library().call(
                    "scatter", target.address, source.address if source else None, target.count, target.type,
                    tag_of(tag), self._name, root,
                )  # fmt: skip
            finally:
                if source:
                    source.release()

    def _whole(self, whole: Any, part: Buffer) -> Buffer:
        """Checks that the root's array has room for the parts of all members."""
        if whole is None:
            raise ValueError("the root must give the whole array")
        buffer = Buffer(whole, writable=True)
        needed = part.count * len(self)
        if buffer.type != part.type or buffer.count < needed:
            buffer.release()
            raise ValueError(f"the whole array needs {needed} items, {part.count} for each member, of the parts' type")
        return buffer
