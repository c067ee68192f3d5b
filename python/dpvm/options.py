"""The options of pvm_setopt() as attributes."""

from __future__ import annotations

from typing import Any, Optional

from .library import library


class _Option:
    def __init__(self, number: int) -> None:
        self.number = number

    def __get__(self, options: Optional["Options"], owner: Any = None) -> int:
        return library().call("getopt", self.number)

    def __set__(self, options: "Options", value: int) -> None:
        library().call("setopt", self.number, value)


class Options:
    """Options of this task, named as in pvm_setopt(3): options.route = dpvm.PvmRouteDirect."""

    __slots__ = ()

    route = _Option(1)
    debug_mask = _Option(2)
    auto_err = _Option(3)
    output_tid = _Option(4)
    output_code = _Option(5)
    trace_tid = _Option(6)
    trace_code = _Option(7)
    trace_buffer = _Option(8)
    trace_options = _Option(9)
    frag_size = _Option(10)
    resv_tids = _Option(11)
    self_output_tid = _Option(12)
    self_output_code = _Option(13)
    self_trace_tid = _Option(14)
    self_trace_code = _Option(15)
    self_trace_buffer = _Option(16)
    self_trace_options = _Option(17)
    show_tids = _Option(18)
    poll_type = _Option(19)
    poll_time = _Option(20)
    output_context = _Option(21)
    trace_context = _Option(22)
    self_output_context = _Option(23)
    self_trace_context = _Option(24)
    no_reset = _Option(25)
