"""Python tasks: the command that starts one (spawn_python), and the code that runs in it."""

from __future__ import annotations

import ast
import importlib
import os
import runpy
import sys
from typing import Any, Callable, List, Tuple, Union

_BEGIN = "import sys; sys.path[:0] = {path!r}; from dpvm.worker import main; main({target!r}, {arguments!r})"


def _literal(value: Any) -> str:
    """A text from which ast.literal_eval() restores the value."""
    written = repr(value)
    try:
        same = bool(ast.literal_eval(written) == value)
    except (ValueError, SyntaxError):
        same = False
    if not same:
        raise TypeError(
            f"{written} cannot be an argument of a Python task; give numbers, texts, bytes, None, and lists, tuples, "
            "sets and dicts of them, and send the rest in a message"
        )
    return written


def _name_of(function: Callable[..., Any]) -> str:
    """"module:function" or "/path/script.py:function"."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", "")
    if not module or not name.isidentifier():
        raise TypeError(f"{function!r} is not a function of a module that a new task could import")
    if module != "__main__":
        return f"{module}:{name}"
    main = sys.modules["__main__"]
    spec, file = getattr(main, "__spec__", None), getattr(main, "__file__", None)
    if spec is not None:  # python -m module
        return f"{spec.name}:{name}"
    if file is None:
        raise TypeError(f"{name} is not in a file, from which a new task could import it")
    return f"{os.path.abspath(file)}:{name}"


def command_for(target: Union[str, Callable[..., Any]], arguments: List[Any]) -> Tuple[str, List[str]]:
    """The program and arguments for spawn() of a task that runs a script or function."""
    name = target if isinstance(target, str) else _name_of(target)
    script, colon, _ = name.rpartition(":")
    if not colon:
        if not name.endswith(".py"):
            raise ValueError(f"{name}: give a script that ends in .py, module:function, or a function")
        name = os.path.abspath(name)
    elif script.endswith(".py"):
        name = os.path.abspath(script) + name[len(script) :]
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    path = list(dict.fromkeys([package] + [os.path.abspath(folder) for folder in sys.path]))
    written = [_literal(argument) for argument in arguments] if colon else [str(argument) for argument in arguments]
    begin = _BEGIN.format(path=path, target=name, arguments=written)
    words = ["-u", "-c", begin]
    library = os.environ.get("DPVM_LIBRARY")
    if library:
        words[2] = f"import os; os.environ['DPVM_LIBRARY'] = {os.path.abspath(library)!r}; " + begin
    return sys.executable or "python3", words


def main(target: str, arguments: List[str]) -> None:
    """Runs a script, or a function with the machine as its first argument. Called in the new task."""
    place, colon, name = target.rpartition(":")
    if not colon:
        sys.argv = [target, *arguments]
        sys.path.insert(0, os.path.dirname(target))
        runpy.run_path(target, run_name="__main__")
        return
    if place.endswith(".py"):
        sys.path.insert(0, os.path.dirname(place))
        function = runpy.run_path(place, run_name="__dpvm_worker__")[name]
    else:
        function = getattr(importlib.import_module(place), name)
    from .machine import machine

    with machine(start=False) as vm:
        function(vm, *map(ast.literal_eval, arguments))
