"""Coroutines that wait for messages and for the ends of tasks."""

import asyncio
import threading
import time

import calls
import numpy as np
import pytest
import workers
from conftest import LIMIT_S

import dpvm
from dpvm import futures


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, LIMIT_S))


async def settle():
    """Lets other coroutines come to where they wait."""
    for _ in range(10):
        await asyncio.sleep(0)


def test_messages_find_their_coroutines(vm, gone):
    tasks = vm.spawn_python(workers.echo, 3, [20])

    async def talk(task, number):
        got = []
        for i in range(20):
            task.send(2 * i, number, i)
            got.append((await vm.areceive(task, 2 * i + 1)).values)
        return got

    async def main():
        return await asyncio.gather(*(talk(task, number) for number, task in enumerate(tasks)))

    assert run(main()) == [[(number, i) for i in range(20)] for number in range(3)]
    gone(*tasks)


def test_the_loop_goes_on_meanwhile(vm, gone):
    (task,) = vm.spawn_python(workers.counts)
    steps = 0

    async def step():
        nonlocal steps
        while True:
            await asyncio.sleep(0.001)
            steps += 1

    async def main():
        other = asyncio.ensure_future(step())
        got = [message.value async for message in vm.amessages(task, count=20)]
        other.cancel()
        return got

    assert run(main()) == list(range(20))
    assert steps > 20
    gone(task)


def test_waiting_takes_no_time(vm):
    async def main():
        with pytest.raises(TimeoutError, match="no message from any task with tag 9 in 1 s"):
            await vm.areceive(tag=9, timeout=1)

    vm.send(vm.me, 1, "of another tag")
    began = time.process_time(), time.monotonic()
    run(main())
    used, passed = time.process_time() - began[0], time.monotonic() - began[1]
    assert 1 <= passed and used < passed / 2
    assert vm.receive(tag=1).value == "of another tag"


def test_limits(vm):
    async def main():
        with pytest.raises(TimeoutError):
            await vm.areceive(tag=9, timeout=0)
        assert [m async for m in vm.amessages(tag=9, timeout=0.01)] == []
        with pytest.raises(TimeoutError):
            [m async for m in vm.amessages(tag=9, timeout=0.01, count=1)]
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(vm.areceive(tag=9), 0.01)
        with pytest.raises(TimeoutError):
            await vm.me.exited(timeout=0.01)

    run(main())


@pytest.mark.parametrize("steps", range(6))
def test_cancelling_loses_no_message(vm, steps):
    """Whether the coroutine waits, has been told of the message, or has taken it."""

    async def main():
        waiting = asyncio.ensure_future(vm.areceive(vm.me, 1))
        await settle()
        vm.send(vm.me, 1, "kept")
        for _ in range(steps):
            await asyncio.sleep(0)
        waiting.cancel()
        try:
            message = await waiting
        except asyncio.CancelledError:
            message = await vm.areceive(vm.me, 1)
        return message.value

    assert run(main()) == "kept"


def test_what_others_take_in(vm):
    """A coroutine's message is taken in by a call that wants another one."""

    async def main():
        waiting = [asyncio.ensure_future(vm.areceive(tag=tag)) for tag in (1, 2, 3)]
        await settle()
        for tag in (3, 1, 2):
            vm.send(vm.me, tag, tag)
            assert vm.poll(tag=9) is None and vm.probe(tag=9) is None
        return [message.value for message in await asyncio.gather(*waiting)]

    assert run(main()) == [1, 2, 3]


def test_beside_an_executor(vm):
    """Its thread waits for messages, too, and takes in those of coroutines."""

    async def main(executor):
        loop, times = asyncio.get_running_loop(), []
        for i in range(20):
            call = loop.run_in_executor(executor, calls.slowly, 2)
            waiting = asyncio.ensure_future(vm.areceive(vm.me, 1))
            await settle()
            began = time.monotonic()
            vm.send(vm.me, 1, i)
            assert (await waiting).value == i
            times.append(time.monotonic() - began)
            await call
        return times

    with futures.Executor(max_workers=1) as executor:
        assert sorted(run(main(executor)))[10] < 0.08


def test_loops_of_several_threads(vm):
    got = {}

    async def receive(tag):
        return [(await vm.areceive(vm.me, tag, LIMIT_S)).value for _ in range(50)]

    def serve(tag):
        got[tag] = run(receive(tag))

    threads = [threading.Thread(target=serve, args=[tag]) for tag in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for i in range(50):
        for tag in (3, 1, 2):
            vm.send(vm.me, tag, (tag, i))
        time.sleep(0.002)
    for thread in threads:
        thread.join()
    assert got == {tag: [(tag, i) for i in range(50)] for tag in (1, 2, 3)}


def test_contexts(vm):
    async def inside(context):
        with context:
            waiting = asyncio.ensure_future(vm.areceive(vm.me, 1))
            await settle()
        return waiting

    async def main():
        context = vm.context()
        first = await inside(context)
        second = asyncio.ensure_future(vm.areceive(vm.me, 1))
        await settle()
        vm.send(vm.me, 1, "outside")
        with context:
            vm.send(vm.me, 1, "inside")
        answers = (await first).value, (await second).value
        context.free()
        return answers

    assert run(main()) == ("inside", "outside")


def test_into_arrays(vm):
    async def main():
        array = np.zeros(1000)
        waiting = asyncio.ensure_future(vm.arecv_into(array, vm.me, 1))
        await settle()
        vm.psend(vm.me, 1, np.arange(1000.0))
        told = await waiting
        with pytest.raises(TimeoutError):
            await vm.arecv_into(array, vm.me, 1, timeout=0.01)
        return told, array

    told, array = run(main())
    assert (told.source, told.tag, told.nbytes) == (vm.me, 1, 8000)
    assert (array == np.arange(1000.0)).all()


def test_the_ends_of_tasks(vm):
    tasks = vm.spawn_python(workers.waits, 3)
    list(vm.messages(tag=1, count=3))

    async def main():
        waiting = [asyncio.ensure_future(task.exited()) for task in [*tasks, tasks[0]]]
        await settle()
        for task in tasks:
            with pytest.raises(TimeoutError, match=f"{task} has not ended in 0.01 s"):
                await task.exited(timeout=0.01)
        waiting[1].cancel()
        tasks[0].kill()
        await asyncio.gather(waiting[0], waiting[3])
        tasks[1].kill()
        await tasks[1].exited()
        await tasks[1].exited()
        assert not waiting[2].done()
        tasks[2].kill()
        await waiting[2]

    run(main())


def test_handlers_fail_in_a_coroutine(vm):
    def fail(message):
        raise KeyError("oh")

    async def main():
        with vm.handler(fail, tag=8):
            vm.send(vm.me, 8)
            with pytest.raises(KeyError, match="oh"):
                await vm.areceive(tag=9)

    run(main())


def test_outside_of_the_machine(python, elsewhere):
    code = """
import asyncio, dpvm

async def fails(awaitable):
    try:
        await awaitable
    except RuntimeError as error:
        return str(error)

async def main():
    with dpvm.machine() as vm:
        me = vm.me
        waiting = [asyncio.ensure_future(fails(vm.areceive())), asyncio.ensure_future(fails(me.exited()))]
        await asyncio.sleep(0.1)
    return await asyncio.gather(*waiting, fails(vm.areceive()), fails(me.exited()))

print(set(asyncio.run(asyncio.wait_for(main(), 30))))
with dpvm.machine() as vm:
    vm.send(vm.me, 1, "again")
    print(asyncio.run(vm.areceive()).value)
"""
    done = python(code, PVM_TMP=elsewhere)
    assert (done.stdout, done.stderr) == ("{'this process is not in the machine'}\nagain\n", "")
