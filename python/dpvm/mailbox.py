"""The mailbox: values under names, stored by the master's daemon."""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from typing import Any, Iterator, List, MutableMapping, Optional

from . import constants as c
from .errors import PvmNotFound
from .library import MboxInfo, library, text
from .message import Message, Packed
from .task import Task, task_or_none


@dataclass(frozen=True)
class Entry:
    """Data of an entry; owner None: the owner has ended."""

    name: str
    index: int
    owner: Optional[Task]
    flags: int


class Mailbox(MutableMapping[str, Any]):
    """A dict for all tasks: mailbox["name"] = value stores a value that every task may replace, until this task ends.

    put() and receive() have PVM's other options: persistent entries, several under one name, waiting.
    """

    def put(
        self,
        name: str,
        *values: Any,
        index: Optional[int] = None,
        persistent: bool = False,
        multiple: bool = False,
        overwritable: bool = False,
    ) -> int:
        """Stores values under a name and returns the entry's index."""
        flags = c.PvmMboxPersistent if persistent else 0
        flags |= c.PvmMboxMultiInstance if multiple else 0
        flags |= c.PvmMboxOverWritable if overwritable else 0
        if index is not None:
            if not 0 <= index < c.PvmMboxMaxDirectIndex:
                raise ValueError(f"{index} is not an index: give 0 to {c.PvmMboxMaxDirectIndex - 1}")
            flags |= index << c.PvmMboxDirectIndexShift
        with Packed(values, may_be_in_place=False) as mid:
            return library().call("putinfo", text(name), mid, flags)

    def receive(
        self, name: str, index: int = 0, wait: bool = False, first: bool = False, delete: bool = False
    ) -> Message:
        """The entry as a message.

        first: the first entry with this index or a higher one; delete: also removes it. Raises PvmNotFound if there is
        none. With wait=True waits for an entry; only signals that end the process interrupt that.
        """
        flags = c.PvmMboxFirstAvail if first else 0
        flags |= c.PvmMboxWaitForInfo if wait else 0
        flags |= c.PvmMboxReadAndDelete if delete else 0
        lib = library()
        lib.call("setrbuf", 0)
        mid = lib.call("recvinfo", text(name), index, flags)
        lib.call("setrbuf", 0)
        return Message(mid)

    def delete(self, name: str, index: int = 0) -> None:
        library().call("delinfo", text(name), index, 0)

    def entries(self, pattern: str = "*") -> List[Entry]:
        """All entries with a matching name; * stands for any text."""
        count, infos = ctypes.c_int(), ctypes.POINTER(MboxInfo)()
        library().call("getmboxinfo", text(pattern, "pattern"), count, ctypes.byref(infos))
        return [
            Entry(os.fsdecode(i.name), i.indices[k], task_or_none(i.owners[k]), i.flags[k])
            for i in infos[: count.value]
            for k in range(i.entries)
        ]

    def __setitem__(self, name: str, value: Any) -> None:
        self.put(name, value, overwritable=True)

    def __getitem__(self, name: str) -> Any:
        try:
            return self.receive(name, first=True).value
        except PvmNotFound:
            raise KeyError(name) from None

    def __delitem__(self, name: str) -> None:
        try:
            self.delete(name)
        except PvmNotFound:
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(entry.name for entry in self.entries()))

    def __len__(self) -> int:
        return len(list(iter(self)))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and any(entry.name == name for entry in self.entries(name))
