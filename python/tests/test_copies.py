"""Large arrays are sent from where they are, and stay where they were received. Peaks of memory would show a copy."""

import gc
import pickle
from pathlib import Path

import numpy as np
import pytest
import workers
from conftest import LIMIT_S, PACKAGE
from peak import Peak

from dpvm import futures

MIB = 1 << 20
SIZE = 64 * MIB
SLACK = 24 * MIB
"""What a message needs besides its own memory: rings, frames on their way, and pages that are not returned at once."""


@pytest.fixture(scope="module")
def source(machine):
    """A task that sends arrays, and its answers have warmed up the way."""
    (task,) = machine.spawn_python(workers.sends_arrays)
    for how in ("send", "psend", "packer"):
        task.send(1, how, 2 * MIB)
        assert machine.receive(task, 2, LIMIT_S).length >= 2 * MIB
        machine.receive(task, 3, LIMIT_S)
    yield task
    task.kill()


def ask(vm, source, how):
    source.send(1, how, SIZE)
    return vm.receive(source, 2, LIMIT_S)


def owner(array):
    while isinstance(array, np.ndarray):
        array = array.base
    return array


@pytest.mark.parametrize("how", ["send", "psend", "packer"])
def test_sending_copies_nothing(vm, source, how):
    ask(vm, source, how)
    assert vm.receive(source, 3, LIMIT_S).value < SLACK


def test_received_arrays_are_where_they_came(vm, source):
    with Peak() as peak:
        array = ask(vm, source, "send").value
        array[0] = 0
    assert peak.bytes < SIZE + SLACK
    assert array.nbytes == SIZE and array.flags.aligned and array.flags.writeable
    assert array[0] == 0 and (array[1:] == np.arange(1.0, len(array))).all()
    vm.receive(source, 3, LIMIT_S)


def test_received_into_an_array(vm, source):
    array = np.zeros(SIZE // 8)
    array[:] = 1
    with Peak() as peak:
        source.send(1, "psend", SIZE)
        vm.recv_into(array, source, 2, LIMIT_S)
    assert peak.bytes < SIZE + SLACK  # the message, which is then copied
    assert (array == np.arange(len(array))).all()
    vm.receive(source, 3, LIMIT_S)


def test_several_arrays_of_a_message(vm, gone):
    """Each is aligned, whatever precedes it, and they keep the memory for each other."""
    (task,) = vm.spawn_python(workers.echo)
    a, b, c = np.arange(MIB // 4, dtype="i4"), np.arange(MIB, dtype="u1"), np.arange(MIB / 8) * 1j
    task.send(1, "odd", a, 1, [b, {"c": c}], b"end")
    message = vm.receive(task, 2, LIMIT_S)
    word, got_a, one, (got_b, rest), end = message.values
    assert (word, one, end) == ("odd", 1, b"end")
    arrays = [got_a, got_b, rest["c"]]
    assert len({id(owner(array)._owner) for array in arrays}) == 1
    assert all(array.flags.aligned and array.flags.writeable for array in arrays)
    message.free()
    del message, got_a, got_b, word, rest
    gc.collect()
    assert all((got == sent).all() and got.dtype == sent.dtype for got, sent in zip(arrays, (a, b, c)))
    small = arrays[0][:10].copy()
    arrays[0][:10] = 7
    assert (small == a[:10]).all() and (arrays[1] == b).all()
    gone(task)


def test_small_and_shared_ones_are_copied(vm):
    small, large = np.arange(10.0), np.arange(MIB / 8)
    vm.send(vm.me, 1, small, large)
    large += 1  # what was sent must not change
    got = vm.receive(vm.me, 1).values
    assert (got[0] == small).all() and got[0].base is None
    assert (got[1] == np.arange(MIB / 8)).all() and got[1].flags.writeable
    vm.mailbox["array"] = large
    first, second = vm.mailbox["array"], vm.mailbox["array"]
    first += 1
    assert (second == large).all() and (vm.mailbox["array"] == large).all()
    del vm.mailbox["array"]


def test_the_memory_is_given_back(vm, source):
    with Peak() as peak:
        for _ in range(8):
            assert ask(vm, source, "send").value[1] == 1
            vm.receive(source, 3, LIMIT_S)
    assert peak.bytes < 2 * SIZE + SLACK


def test_arrays_outlive_the_machine(python, elsewhere):
    code = """
import dpvm, numpy, sys
import workers

with dpvm.machine() as vm:
    (task,) = vm.spawn_python(workers.sends_arrays)
    task.send(1, "send", 1 << 22)
    array = vm.receive(task, 2).value
    del vm
assert (array == numpy.arange(1 << 19)).all()
array += 1
with dpvm.machine() as vm:
    vm.send(vm.me, 1, array)
    assert (vm.receive().value == array).all()
print(array.sum())
"""
    done = python(code, PVM_TMP=elsewhere, PYTHONPATH=f"{PACKAGE}:{Path(__file__).parent}")
    assert (done.stdout, done.stderr) == (f"{float(sum(range(1, (1 << 19) + 1)))}\n", "")


def test_results_of_an_executor(vm):
    with futures.Executor(max_workers=1) as executor:
        for _ in range(2):
            executor.submit(np.ones, SIZE // 8).result()
        with Peak() as peak:
            array = executor.submit(np.ones, SIZE // 8).result()
        assert peak.bytes < SIZE + SLACK
        assert array.flags.writeable and (array == 1).all()
        assert (pickle.loads(pickle.dumps(array)) == array).all()
