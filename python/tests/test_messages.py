"""Values, arrays, explicit packing, receiving."""

import array
import gc
import math
import os
import select
import signal
import threading
import time

import numpy as np
import pytest
import workers
from conftest import LIMIT_S

import dpvm
from dpvm.values import MAGIC

VALUES = [
    0, -1, 2**63 - 1, -(2**63), 2**63, -(2**200), 1.5, -0.0, math.inf, 1 - 2j, "", "gr\u00fc\u00df \U0001f600 \0 end",
    b"", b"\0\xff", None, True, False, [], (), {}, [1, 2, 3, 4, 5], [1.5] * 7, [True] * 5, [1, 2.5, 3, 4],
    [2**70, 1, 2, 3, 4], (1, "two", [3, (4, None)]), {"a": [1, {"b": (2,)}], 3: b"c"}, "x" * 100000, list(range(10000)),
]  # fmt: skip


def same(got, wanted):
    assert type(got) is type(wanted)
    if isinstance(wanted, (list, tuple)):
        assert len(got) == len(wanted)
        for pair in zip(got, wanted):
            same(*pair)
    else:
        assert got == wanted and repr(got) == repr(wanted)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: repr(value)[:30])
def test_a_value_comes_back(vm, value):
    vm.send(vm.me, 1, value)
    same(vm.receive(vm.me, 1).value, value)


def test_many_values_to_another_task(vm, gone):
    (task,) = vm.spawn_python(workers.echo)
    task.send(6, *VALUES)
    message = vm.receive(task)
    assert (message.source, message.tag) == (task, 7)
    assert message.values == tuple(VALUES)
    assert message.values is message.values
    with pytest.raises(ValueError, match="28 values, not one|values, not one"):
        message.value
    gone(task)


def test_no_values(vm):
    vm.send(vm.me, 0)
    assert vm.receive().values == ()


@pytest.mark.parametrize("code", ["b", "B", "h", "H", "i", "I", "l", "L", "f", "d", "F", "D", "?", "i8", "<f4"])
@pytest.mark.parametrize("shape", [(0,), (1,), (7,), (3, 4), (2, 0, 3), (2, 3, 4)])
def test_arrays(vm, code, shape):
    sent = (np.arange(np.prod(shape)) % 120).reshape(shape).astype(code)
    vm.send(vm.me, 1, sent, "behind it")
    got, behind = vm.receive().values
    assert got.dtype == sent.dtype and got.shape == shape and behind == "behind it"
    assert (got == sent).all()


def test_arrays_that_are_not_contiguous(vm):
    a = np.arange(24.0).reshape(2, 3, 4)
    for view in (a.T, a[:, 1], a[::-1], a[..., ::2], np.asfortranarray(a)):
        vm.send(vm.me, 1, view)
        assert (vm.receive().value == view).all()
        into = np.empty(view.shape)
        vm.psend(vm.me, 1, view)
        vm.recv_into(into)
        assert (into == view).all()


def test_numbers_of_numpy(vm):
    vm.send(vm.me, 1, np.float32(0.5), np.int64(-3), np.bool_(True), np.complex128(1j), np.array(5))
    got = vm.receive().values
    assert got == (0.5, -3, True, 1j, 5)
    assert [type(value) for value in got] == [float, int, bool, complex, int]


def test_other_buffers(vm):
    vm.send(vm.me, 1, array.array("h", [1, -2]), memoryview(b"abc"), bytearray(b"de"))
    shorts, letters, others = vm.receive().values
    assert shorts.tolist() == [1, -2] and bytes(letters) == b"abc" and others == b"de"


@pytest.mark.parametrize("megabytes", [1, 40])
def test_large_arrays_are_right(vm, gone, megabytes):
    a = np.random.default_rng(1).random(megabytes << 17)
    (task,) = vm.spawn_python(workers.echo, arguments=[2])
    task.send(1, "first", a, [1, 2, 3])
    vm.send(task, 1, a)
    word, got, numbers = vm.receive(task, 2).values
    assert word == "first" and numbers == [1, 2, 3] and (got == a).all()
    assert (vm.receive(task, 2).value == a).all()
    gone(task)


@pytest.mark.parametrize(
    "value, error",
    [
        (object(), "a object cannot be sent"),
        ({1}, "a set cannot be sent"),
        (np.zeros(2, "f2"), "format 'e' cannot be"),
        (np.zeros(2, ">i4"), "format '>i' cannot be"),
        (np.zeros(2, "i4,f8"), "cannot be in a PVM message"),
        ([1, "x", [print]], "cannot be sent"),
    ],
)
def test_what_cannot_be_sent(vm, value, error):
    with pytest.raises(TypeError, match=error):
        vm.send(vm.me, 1, value)
    vm.send(vm.me, 1, "still good")
    assert vm.receive().value == "still good"


def test_tags_that_are_none(vm):
    for use in (lambda t: vm.send(vm.me, t), lambda t: vm.receive(tag=t), lambda t: vm.psend(vm.me, t, b"x"),
                lambda t: vm.recv_into(bytearray(1), tag=t), lambda t: vm.packer().send(vm.me, t)):  # fmt: skip
        with pytest.raises(ValueError, match="is not a tag"):
            use(2**32 + 1)
    with pytest.raises(dpvm.PvmBadParam):
        vm.send(vm.me, -1)


def test_too_deep(vm):
    nested = []
    nested.append(nested)
    with pytest.raises(ValueError, match="nested"):
        vm.send(vm.me, 1, nested)


def test_psend_and_recv_into(vm, gone):
    for count in (1, 1000, 300000):
        (task,) = vm.spawn_python(workers.twice, arguments=[count])
        a = np.arange(count, dtype=float)
        for _ in range(3):
            task.psend(1, a)
            told = vm.recv_into(a, task, 2)
            assert (told.source, told.tag, told.nbytes) == (task, 2, 8 * count)
        assert (a == 8.0 * np.arange(count)).all()
        gone(task)


def test_recv_into_refuses(vm):
    vm.psend(vm.me, 1, np.arange(4.0))
    with pytest.raises(BufferError, match="read-only or not contiguous"):
        vm.recv_into(b"12345678")
    with pytest.raises(BufferError):
        vm.recv_into(np.empty((4, 4))[:, 1])
    with pytest.raises(TypeError):
        vm.recv_into(np.empty(4, "f2"))
    small = np.zeros(2)
    with pytest.raises(OverflowError, match="32 bytes was cut to the 16"):
        vm.recv_into(small)
    assert small.tolist() == [0, 1]
    with pytest.raises(TimeoutError):
        vm.recv_into(small, timeout=0)


def test_every_type_by_hand(vm):
    p = vm.packer()
    p.pkint(-5).pkint([1, 2]).pkuint(2**32 - 1).pkshort(-7).pkushort([65535]).pklong(-(2**40)).pkulong(2**64 - 1)
    p.pkfloat(0.5).pkdouble([1.5, 2.5]).pkcplx(1 + 2j).pkdcplx([1j, 2]).pkbyte(b"ab\0").pkstr("text").pkstr("")
    p.pkint(np.arange(3, dtype="i4")).pkdouble(np.arange(2)).pack(np.eye(2))
    for _ in range(2):
        p.send(vm.me, 3)
    for m in vm.messages(tag=3, count=2):
        assert m.upkint() == -5 and m.upkint(2).tolist() == [1, 2] and m.upkuint() == 2**32 - 1
        assert m.upkshort() == -7 and m.upkushort(1)[0] == 65535
        assert m.upklong() == -(2**40) and m.upkulong() == 2**64 - 1
        assert m.upkfloat() == 0.5 and m.upkdouble(2).tolist() == [1.5, 2.5]
        assert m.upkcplx() == 1 + 2j and m.upkdcplx(2) == [1j, 2]
        assert m.upkbyte(3) == b"ab\0" and m.upkstr() == "text" and m.upkstr() == ""
        assert m.upkint(3).tolist() == [0, 1, 2] and m.upkdouble(2).tolist() == [0, 1]
        assert (m.unpack_into(np.empty((2, 2))) == np.eye(2)).all()
        with pytest.raises(dpvm.PvmNoData, match="pvm_upkint: End of buffer"):
            m.upkint()


def test_a_message_leaves_while_it_is_packed(vm):
    (task,) = vm.spawn_python(workers.reads_parts, arguments=[3])
    stream = vm.stream(task, 1)
    for i in range(3):
        stream.pkint(np.full(4096, i, "i4"))
        assert vm.receive(task, 2, LIMIT_S).value == i * 4096
    stream.send(task, 1)
    assert vm.receive(task, 2, LIMIT_S).value == 3 * 4096 * 4
    stream = vm.stream(vm.me, 4).pkint(1)
    stream.send(vm.me, 4)
    freed = vm.receive(vm.me, 4)
    freed.free()
    assert "freed" in repr(freed)
    with pytest.raises(ValueError, match="freed"):
        freed.length


def test_packing_refuses(vm):
    p = vm.packer()
    with pytest.raises(OverflowError):
        p.pkint(2**31)
    with pytest.raises(TypeError):
        p.pkint("text")
    with pytest.raises(ValueError, match="zero characters"):
        p.pkstr("a\0b")
    p.free()
    with pytest.raises(ValueError, match="freed"):
        p.pkint(1)


def test_in_place(vm):
    a = np.arange(5.0)
    p = vm.packer(dpvm.PvmDataInPlace).pack(a)
    a += 1
    p.send(vm.me, 1)
    a += 1
    p.send(vm.me, 1)
    assert [m.upkdouble(5)[0] for m in vm.messages(count=2)] == [1.0, 2.0]


def test_messages_stay_until_they_are_not_needed(vm):
    for i in range(3):
        vm.send(vm.me, i, i)
    kept = list(vm.messages(count=3))
    assert [m.value for m in reversed(kept)] == [2, 1, 0]
    kept[0].free()
    assert kept[0].value == 0  # the message has been unpacked
    other = kept[1]
    other.free()
    other._values = None
    with pytest.raises(ValueError, match="freed"):
        other.values


def test_no_buffers_are_lost(vm):
    def mid():
        p = vm.packer()
        number = p.mid
        p.free()
        return number

    for _ in range(200):  # the library reuses message ids that were freed
        vm.send(vm.me, 1, list(range(10)))
        vm.receive().values
    gc.collect()
    first = mid()
    for _ in range(200):
        vm.send(vm.me, 1, list(range(10)))
        vm.receive().values
    assert mid() - first < 50


def test_matching(vm):
    vm.send(vm.me, 1, "one")
    vm.send(vm.me, 2, "two")
    assert vm.poll(tag=3) is None and vm.probe(tag=3) is None
    told = vm.probe(tag=2)
    assert told.source == vm.me and told.tag == 2 and told.nbytes > 8
    assert vm.receive(vm.me, tag=2).value == "two"
    assert vm.poll(vm.me).value == "one"


def test_time_limits(vm):
    began = time.monotonic()
    with pytest.raises(TimeoutError, match="no message from any task with tag 9 in 0.25 s"):
        vm.receive(tag=9, timeout=0.25)
    assert 0.25 <= time.monotonic() - began < 5
    assert list(vm.messages(tag=9, timeout=0)) == []
    with pytest.raises(TimeoutError):
        list(vm.messages(tag=9, timeout=0, count=1))


def test_waiting_costs_no_latency(vm, gone):
    """A receive ends when the message arrives, not when a slice of the wait ends."""
    (task,) = vm.spawn_python(workers.echo, arguments=[100])
    times = []
    for _ in range(100):
        began = time.monotonic()
        task.send(1)
        vm.receive(task)
        times.append(time.monotonic() - began)
    assert sorted(times)[50] < 0.02
    gone(task)


def test_foreign_messages_have_no_values(vm):
    vm.packer().pkint([1, 2, 3]).send(vm.me, 1)
    with pytest.raises(dpvm.NotValues, match="was not packed by dpvm's send"):
        vm.receive().values
    vm.packer().pkint(MAGIC).send(vm.me, 1)
    with pytest.raises(dpvm.NotValues):
        vm.receive().values


@pytest.mark.parametrize(
    "words",
    [b"i", b"q", b"s9", b"y-1", b"L99999999999999", b"[5 N", b"{1 N", b"ad8:99999999999", b"ad8:", b"ad8:-1", b"aq3:1",
     b"azz9:1", b"I3", b"s", b"\xff", b"NN", b"[999999999999", b"(1 (1 (1", b"a8:1", b"aS8:1", b"p9", b"p", b"p-1"],
)  # fmt: skip
def test_spoilt_descriptions(vm, words):
    vm.packer().pkint([MAGIC, len(words)]).pkbyte(words).pkbyte(b"xyz").send(vm.me, 1)
    with pytest.raises(dpvm.NotValues):
        vm.receive().values


def test_select(vm, gone):
    (task,) = vm.spawn_python(workers.counts)
    got = []
    while len(got) < 20:
        assert select.select([vm], [], [], 30)[0], "nothing comes"
        got.extend(message.value for message in iter(vm.poll, None))
    assert got == list(range(20))
    gone(task)


def test_mcast(vm, gone):
    tasks = vm.spawn_python(workers.echo, 3)
    vm.mcast(tasks, 1, "all", np.arange(3))
    got = {m.source: m.values[0] for m in vm.messages(tag=2, count=3)}
    assert got == dict.fromkeys(tasks, "all")
    vm.mcast([], 1, "nobody")
    gone(*tasks)


def test_contexts(vm):
    with vm.context() as context:
        vm.send(vm.me, 1, "inside")
        with vm.context(0):
            assert vm.poll() is None
            vm.send(vm.me, 1, "outside")
    assert vm.receive().value == "outside" and vm.poll() is None
    with context:
        assert vm.receive().value == "inside"
    context.free()


def test_handlers(vm):
    got = []

    def answer(message):
        got.append(message.values)
        vm.send(message.source, 9, "answer")

    with vm.handler(answer, vm.me, 8):
        vm.send(vm.me, 8, "question", np.arange(3))
        assert vm.receive(tag=9).value == "answer"
    assert got[0][0] == "question"
    vm.send(vm.me, 8, "not handled")
    assert vm.receive(tag=8).value == "not handled"


def test_a_handler_that_fails(vm):
    kept = []

    def fail(message):
        kept.append(message)
        raise KeyError("oh")

    with vm.handler(fail, tag=8):
        vm.send(vm.me, 8, 1)
        with pytest.raises(KeyError, match="oh"):
            vm.receive(tag=9, timeout=5)
    with pytest.raises(ValueError, match="freed"):
        kept[0].upkint()
    with vm.handler(fail, tag=8):
        with pytest.raises(dpvm.PvmExists):
            vm.handler(fail, tag=8)


@pytest.mark.parametrize("call", ["receive", "recv_into"])
def test_ctrl_c(vm, call):
    timer = threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT])
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        vm.receive(tag=1) if call == "receive" else vm.recv_into(bytearray(8))
    assert time.monotonic() - began < 5
    timer.join()
    vm.psend(vm.me, 1, b"12345678")
    assert vm.receive().upkbyte(8) == b"12345678"


def test_threads(vm):
    """Several threads send, one receives, all at once; each has its own buffers."""
    got, errors = [], []

    def receive():
        got.extend(message.value for message in vm.messages(tag=5, count=300, timeout=30))

    def send(number):
        try:
            for i in range(100):
                p = vm.packer().pkint(i)
                vm.send(vm.me, 5, (number, i, "x" * i))
                p.pkint(number).send(vm.me, 6)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=receive)] + [threading.Thread(target=send, args=[n]) for n in range(3)]
    for thread in threads:
        thread.start()
    pairs = [tuple(m.upkint(2)) for m in vm.messages(tag=6, count=300, timeout=30)]
    for thread in threads:
        thread.join()
    assert not errors
    assert sorted(got) == sorted((n, i, "x" * i) for n in range(3) for i in range(100))
    assert sorted(pairs) == sorted((i, n) for n in range(3) for i in range(100))


def test_a_large_first_message(vm, gone):
    """It changes to a direct link on its way: what comes there early is more than the reorder queue may hold."""
    array = np.arange(1.2e7)
    (task,) = vm.spawn_python(workers.echo)
    task.send(1, array)
    assert (vm.receive(task, 2, timeout=LIMIT_S).value == array).all()
    gone(task)
