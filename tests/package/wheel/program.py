"""What a user of the wheel does: starts a machine, adds a host, makes calls in workers there, uses a group, and ends.

Prints what went wrong. Everything that the processes have loaded must be in the folder of the package, except for what
Python has loaded without it, and the C library.
"""

import array
import os
import sys

import work

import dpvm
from dpvm.futures import Executor

C_LIBRARY = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "[vdso]"}
python = work.loaded()
home = os.path.dirname(os.path.dirname(os.path.abspath(dpvm.__file__)))
wrong = []


def check(what, good):
    if not good:
        wrong.append(what)


def check_loaded(who, paths):
    for path in paths:
        ours = path.startswith(home) or os.path.basename(path) in C_LIBRARY or path in python
        check(f"{who} has loaded {path}", ours or "lib-dynload" in path or "/memfd:" in path or "/dev/" in path)


def daemons():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{pid}/exe") == f"{home}/dpvm/native/bin/pvmd3":
                yield pid
        except OSError:
            pass


with dpvm.machine() as vm:
    vm.options.route = dpvm.PvmRouteDirect
    vm.add_hosts("127.0.0.2")
    check("no daemon of the package runs", len(list(daemons())) >= 2)
    with Executor(max_workers=2, hosts=["127.0.0.2"]) as executor:
        check("a wrong result", list(executor.map(work.square, range(200))) == [x * x for x in range(200)])
        check("a wrong sum", executor.submit(work.add, array.array("d", [0.5]) * 300000).result() == 150000)
        others = executor.submit(work.loaded).result()
    with vm.group("all") as group:
        group.barrier(1)
        servers = [status.pid for status in vm.tasks() if status.name.endswith("pvmgs")]
        check("no group server", len(servers) == 1)
        if "--all" in sys.argv:
            for pid in [*servers, *daemons()]:
                check_loaded(f"process {pid}", work.loaded_by(pid))
            check_loaded("the worker", others)
            check_loaded("this process", work.loaded())
    for name in ("libpvm3.so.3", "libdpvm_tls.so"):
        check(f"{name} is not loaded from the package", f"{home}/dpvm/native/lib/{name}" in work.loaded())
print("\n".join(wrong) or "all is well")
sys.exit(bool(wrong))
