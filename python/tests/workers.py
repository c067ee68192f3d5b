"""Functions that the tests run in separate tasks."""

import os
import sys
import time


def echo(vm, times=1):
    """Echoes `times` messages with the tag increased by one."""
    for message in vm.messages(vm.parent, count=times):
        vm.parent.send(message.tag + 1, *message.values)


def reads_parts(vm, parts):
    """Answers each part of a message that its sender still packs, then tells the length."""
    message = vm.receive(vm.parent, 1)
    for _ in range(parts):
        vm.parent.send(2, sum(message.upkint(4096)))
    vm.parent.send(2, message.length)


def arguments(vm, *values):
    vm.parent.send(1, os.getpid(), values)


def counts(vm):
    for i in range(20):
        time.sleep(0.01)
        vm.parent.send(1, i)


def twice(vm, count):
    """Receives an array into one of ours and returns it doubled."""
    import numpy

    array = numpy.empty(count)
    for _ in range(3):
        vm.recv_into(array, vm.parent)
        array *= 2
        vm.parent.psend(2, array)


def siblings(vm):
    vm.parent.send(1, [int(task) for task in vm.siblings], int(vm.me))


def prints(vm):
    print("on stdout")
    print("on stderr", file=sys.stderr)


def fails(vm):
    raise ValueError("a worker fails")


def waits(vm):
    vm.parent.send(1, "ready")
    vm.receive(tag=5)


def counts_signals(vm):
    import signal

    signal.signal(signal.SIGUSR1, lambda *_: vm.parent.send(2, "signal"))
    vm.parent.send(1, "ready")
    vm.receive(tag=5)


def member(vm, size):
    """A member of a group that makes the same calls as the test."""
    import numpy

    with vm.group("numbers") as group:
        group.freeze(size)
        group.barrier(size)
        got = vm.receive(tag=3).value
        total = numpy.full(4, float(group.instance))
        group.reduce(total, "sum")
        group.reduce(numpy.array([group.instance + 1.0]), _multiply)
        group.gather(numpy.full(2, group.instance, dtype="i4"))
        part = numpy.empty(3, dtype="i8")
        group.scatter(part)
        vm.parent.send(4, group.instance, got, part)
        group.barrier(size)


def _multiply(x, y):
    for i in range(len(x)):
        x[i] *= y[i]


def keeps(vm):
    """Owns entries in the mailbox until it is told to end."""
    vm.mailbox.put("of a worker", "gone with it")
    vm.mailbox.put("stays", "still here", persistent=True, overwritable=True)
    vm.parent.send(1)
    vm.receive(tag=5)


def sends_arrays(vm):
    """Sends an array in the way and size that each message names, and then by how many bytes that has made it grow."""
    import numpy
    from peak import Peak

    import dpvm

    for message in vm.messages(tag=1):
        how, size = message.values
        array = numpy.arange(size / 8)
        packer = vm.packer(dpvm.PvmDataInPlace).pack(array)
        with Peak() as peak:
            if how == "send":
                vm.parent.send(2, array)
            elif how == "psend":
                vm.parent.psend(2, array)
            else:
                packer.send(vm.parent, 2)
        vm.parent.send(3, peak.bytes)
