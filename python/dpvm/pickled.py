"""Python objects as bytes for another process: calls, results, and exceptions with their tracebacks.

Large buffers, such as those of NumPy arrays, stay outside of the bytes and are sent from where they are.
"""

from __future__ import annotations

import pickle
import traceback
from importlib import import_module
from typing import Any, List, Sequence, Tuple

cloudpickle: Any
try:
    cloudpickle = import_module("cloudpickle")
except ImportError:
    cloudpickle = None

Pickled = Tuple[bytes, List[Any]]
"""The bytes, and the buffers outside of them."""


class RemoteError(Exception):
    """The cause of an exception that comes from another process; its text is the traceback there."""

    def __str__(self) -> str:
        return f'\n"""\n{self.args[0]}"""'


def dumps(value: Any) -> Pickled:
    """With cloudpickle also functions and classes of notebooks and scripts, and lambdas."""
    buffers: List[Any] = []
    data = (cloudpickle or pickle).dumps(value, protocol=5, buffer_callback=buffers.append)
    return data, [buffer.raw() for buffer in buffers]


def dumps_call(function: Any, arguments: Sequence[Any], keywords: Any) -> Pickled:
    """Raises TypeError where only cloudpickle could help, and is missing."""
    is_local = getattr(function, "__module__", "") == "__main__" or "<" in getattr(function, "__qualname__", "")
    if cloudpickle is None and is_local:
        raise TypeError(
            f"{function!r} is not in a module that a worker could import; put it into one, or install cloudpickle here "
            "and on all hosts"
        )
    return dumps((function, arguments, keywords))


def loads(data: bytes, buffers: Sequence[Any]) -> Any:
    return pickle.loads(data, buffers=buffers)


# ---- exceptions ----


def dumps_error(error: BaseException) -> Pickled:
    """With its traceback. Never fails: an exception that cannot be pickled becomes its text."""
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    summary = "".join(traceback.format_exception_only(type(error), error)).strip()
    try:
        whole = (cloudpickle or pickle).dumps(error)
    except Exception:
        whole = b""
    return pickle.dumps((text, summary, whole)), []


def loads_error(data: bytes) -> BaseException:
    text, summary, whole = pickle.loads(data)
    try:
        found = pickle.loads(whole)
    except Exception:
        found = None
    error = found if isinstance(found, BaseException) else RuntimeError(summary)
    error.__cause__ = RemoteError(text)
    return error
