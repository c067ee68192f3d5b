"""Parallel Virtual Machine for Python.

    with dpvm.machine() as vm:
        for task in vm.spawn_python(function, 4):
            task.send(1, "any", 2.5, array)
        for message in vm.messages(tag=2, count=4):
            print(message.source, message.values)

See README.md.
"""

from .constants import *  # noqa: F401,F403
from .constants import ANY
from .errors import *  # noqa: F401,F403
from .errors import PvmError
from .events import Handler
from .group import Group
from .library import LibraryNotFound
from .machine import Context, Envelope, Host, Machine, TaskStatus, machine
from .mailbox import Entry, Mailbox
from .message import Message, Packer
from .options import Options
from .task import Task
from .values import NotValues

__version__ = "0.9.0"

__all__ = [
    "ANY", "Context", "Entry", "Envelope", "Group", "Handler", "Host", "LibraryNotFound", "Machine", "Mailbox",
    "Message", "NotValues", "Options", "Packer", "PvmError", "Task", "TaskStatus", "machine",
]  # fmt: skip
__all__ += [name for name in globals() if name.startswith(("Pvm", "PVM_")) and name not in __all__]
