"""Tasks, hosts, groups, mailbox, options, notices, output, starting and ending."""

import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import workers
from conftest import BUILD, LIMIT_S, PACKAGE

import dpvm

HERE = Path(__file__).resolve().parent


def wait_until(condition):
    limit = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.02)


# ---- tasks ----


def test_who_we_are(vm):
    assert vm.parent is None
    assert vm.me == dpvm.Task(int(vm.me)) and vm.me != 5 and len({vm.me, dpvm.Task(int(vm.me))}) == 1
    assert repr(vm.me) == f"t{int(vm.me):x}"
    status = [s for s in vm.tasks() if s.task == vm.me][0]
    assert status.pid == os.getpid() and status.parent is None and status.host == vm.hosts[0].tid
    assert int(vm.me.host) == vm.hosts[0].tid and vm.me.is_running
    with pytest.raises(RuntimeError, match="already"):
        dpvm.machine().__enter__()


def test_arguments_of_functions(vm, gone):
    values = (1, "two", [3.5, None], {"a": b"b"})
    tasks = vm.spawn_python("workers:arguments", 2, values)
    assert all(m.values[1] == values for m in vm.messages(tag=1, count=2))
    assert [s.parent for s in vm.tasks() if s.task in tasks] in ([vm.me] * n for n in range(3))
    gone(*tasks)


def test_scripts(vm, gone):
    tasks = vm.spawn_python(str(HERE / "script.py"), arguments=["a b", 5])
    assert vm.receive(tasks[0]).values == (["a b", "5"], str(HERE / "script.py"))
    gone(*tasks)


def test_siblings(vm, gone):
    tasks = vm.spawn_python(workers.siblings, 3)
    for message in vm.messages(tag=1, count=3):
        assert message.values[0] == [int(task) for task in tasks]
    gone(*tasks)


def test_python_tasks_refuse(vm):
    with pytest.raises(TypeError, match="could import"):
        vm.spawn_python(lambda vm: None)
    with pytest.raises(TypeError, match="cannot be an argument"):
        vm.spawn_python(workers.echo, arguments=[np.arange(3)])
    with pytest.raises(ValueError, match="give a script"):
        vm.spawn_python("workers")


def test_spawn(vm, gone):
    (task,) = vm.spawn("/bin/sh", "-c", "exit 0", host=vm.hosts[0].name, directory="/")
    gone(task)
    assert not task.is_running
    (task,) = vm.spawn("/bin/true", arch=vm.hosts[0].arch)
    gone(task)
    with pytest.raises(dpvm.PvmNoFile, match="No such file .PvmNoFile.: /nosuch, 0 of 2 started") as error:
        vm.spawn("/nosuch", count=2)
    assert error.value.code == -7 and error.value.tasks == []
    with pytest.raises(dpvm.PvmNoHost):
        vm.spawn("/bin/true", host="nosuch.invalid")
    with pytest.raises(dpvm.PvmBadParam):
        vm.spawn("/bin/true", count=0)
    with pytest.raises(ValueError, match="zero byte"):
        vm.spawn("/bin/true", "a\0b")
    with pytest.raises(ValueError, match="not both"):
        vm.spawn("/bin/true", host=".", arch="LINUX64")


def test_kill_and_notify(vm, gone):
    tasks = vm.spawn_python(workers.waits, 2)
    list(vm.messages(tag=1, count=2))
    ended = []
    with tasks[0].on_exit(ended.append), vm.on_exit(tasks, ended.append):
        vm.notify(dpvm.PvmTaskExit, 77, tasks)
        tasks[0].kill()
        tasks[1].kill()
        told = {m.upkint() for m in vm.messages(tag=77, count=2, timeout=LIMIT_S)}
        wait_until(lambda: vm.poll() is None and len(ended) == 3)
    assert told == set(map(int, tasks)) and sorted(map(int, ended)) == sorted(map(int, [*tasks, tasks[0]]))
    tasks[0].kill()  # has ended: nothing happens


def test_signals(vm, gone):
    (task,) = vm.spawn_python(workers.counts_signals)
    assert vm.receive(task, 1).value == "ready"
    task.signal(signal.SIGUSR1)
    assert vm.receive(task, 2).value == "signal"
    task.send(5)
    gone(task)
    with pytest.raises(dpvm.PvmBadParam):
        task.signal(999)


def test_output(python, tmp_path, elsewhere):
    code = """
import sys, dpvm, workers
with dpvm.machine() as vm:
    with open(sys.argv[1], "w") as file:
        vm.catchout(file)
    print(*vm.spawn_python(workers.prints), *vm.spawn_python(workers.fails))
"""
    paths = os.pathsep.join([str(PACKAGE), str(HERE)])
    done = python(code, str(tmp_path / "out"), PYTHONPATH=paths, PVM_TMP=elsewhere)
    assert (done.returncode, done.stderr) == (0, "")
    first, second = done.stdout.split()
    text = (tmp_path / "out").read_text()
    assert f"[{first}] on stdout\n" in text and f"[{first}] on stderr\n" in text
    assert f"[{second}] ValueError: a worker fails\n" in text
    assert text.count("] BEGIN\n") == 2 == text.count("] EOF\n")


def test_export(vm, gone, monkeypatch):
    monkeypatch.setenv("TOLD", "by export")
    vm.export("TOLD")
    (task,) = vm.spawn("/bin/sh", "-c", '[ "$TOLD" = "by export" ] && exec sleep 60')
    vm.unexport("TOLD")
    time.sleep(0.3)
    assert task.is_running
    task.kill()
    gone(task)


# ---- programs in C ----


def test_a_worker_in_c(vm, gone):
    """examples/echo.c: its child echoes every message."""
    (task,) = vm.spawn("echo")
    data = bytes(range(256)) * 40
    for mode in (dpvm.PvmDataDefault, dpvm.PvmDataRaw, dpvm.PvmDataInPlace, 3):
        vm.packer().pkint([mode, vm.options.route, len(data), 2]).send(task, 1)
        for _ in range(2):
            if mode == 3:
                back = bytearray(len(data))
                task.psend(2, data)
                vm.recv_into(back, task, 2)
            else:
                vm.packer(mode).pkbyte(data).send(task, 2)
                back = vm.receive(task, 2).upkbyte(len(data))
            assert back == data
    vm.packer().pkint([0, 0, 0, 0]).send(task, 1)
    gone(task)
    vm.poll(tag=3)  # it may have been notified of our end


def test_a_master_in_c(vm):
    talk = os.environ.get("DPVM_TALK")
    assert talk, "DPVM_TALK does not name the program made of talk.c"
    done = subprocess.run(
        [talk, sys.executable, str(HERE / "answers.py")], capture_output=True, text=True, timeout=LIMIT_S,
        env={**os.environ, "PVM_EXPORT": "PYTHONPATH", "PYTHONPATH": str(PACKAGE)},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "values same, array same\n"), done.stderr


# ---- hosts ----


def test_hosts(vm, gone):
    came, went = [], []
    vm.on_host_add(came.extend)
    with pytest.raises((dpvm.PvmNoHost, dpvm.PvmCantStart), match=": nosuch.invalid: .*esol") as error:
        vm.add_hosts("127.0.0.2 sp=500", "nosuch.invalid", vm.hosts[0].name, "127.0.0.3 sp=fast")
    good, bad, again, wrong = error.value.results
    assert "nosuch.invalid" in bad.reason and str(bad).endswith(bad.reason)
    assert "has a host of this name" in again.reason and isinstance(wrong, dpvm.PvmBadParam) and "sp=fast" in wrong.reason
    copy = pickle.loads(pickle.dumps(bad))
    assert copy.reason == bad.reason and copy.results[1] is copy and copy.code == bad.code
    with pytest.raises(dpvm.PvmDupHost, match="127.0.0.2: the machine has"):
        vm.add_hosts("127.0.0.2")
    assert bad is error.value
    assert good.name == "127.0.0.2" and good.speed == 500 and good in vm.hosts
    assert isinstance(bad, (dpvm.PvmNoHost, dpvm.PvmCantStart)) and isinstance(again, dpvm.PvmDupHost)
    vm.on_host_delete([good], went.append)
    (task,) = vm.spawn_python(workers.echo, host="127.0.0.2")
    assert int(task.host) == good.tid
    a = np.arange(100000.0)
    task.send(1, a)
    assert (vm.receive(task).value == a).all()
    gone(task)
    assert vm.tasks(good) == []
    vm.delete_hosts(good)
    wait_until(lambda: vm.poll() is None and went)
    assert came == [good.tid] == went and len(vm.hosts) == 1
    with pytest.raises(dpvm.PvmNoHost):
        vm.delete_hosts("127.0.0.2")


def test_html(vm, tmp_path, gone):
    program = tmp_path / "<b>program"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o700)
    (task,) = vm.spawn(str(program))
    page = vm._repr_html_()
    assert vm.hosts[0].name in page and "&lt;b&gt;program" in page and "<b>" not in page
    task.kill()
    gone(task)
    assert "not in" in dpvm.machine()._repr_html_()


# ---- groups, mailbox, options ----


def test_groups(vm, gone):
    size = 4
    with vm.group("numbers") as group:
        assert group.instance == 0 and len(group) == 1
        tasks = vm.spawn_python(workers.member, size - 1, [size])
        assert group.freeze(size) == size == len(group)
        assert group.task(0) == vm.me and group.instance_of(vm.me) == 0
        group.barrier(size)
        group.bcast(3, "to all")
        total, product = np.zeros(4), np.ones(1)
        group.reduce(total, "sum")
        group.reduce(product, workers._multiply)
        assert total.tolist() == [6.0] * 4 and product[0] == 24
        numbers, part = np.zeros(2 * size, dtype="i4"), np.empty(3, dtype="i8")
        group.gather(np.zeros(2, dtype="i4"), numbers)
        assert numbers.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
        group.scatter(part, np.arange(3 * size))
        assert part.tolist() == [0, 1, 2]
        for message in vm.messages(tag=4, count=size - 1):
            instance, got, its = message.values
            assert got == "to all" and its.tolist() == [3 * instance, 3 * instance + 1, 3 * instance + 2]
        group.barrier(size)
    gone(*tasks)


def test_groups_refuse(vm):
    with vm.group("alone") as group:
        with pytest.raises(dpvm.PvmDupGroup):
            vm.group("alone")
        with pytest.raises(ValueError, match="no operator 'mean'"):
            group.reduce(np.zeros(1), "mean")
        with pytest.raises(ValueError, match="needs 5 items"):
            group.gather(np.zeros(5), np.zeros(4))
        with pytest.raises(ValueError, match="must give the whole"):
            group.scatter(np.zeros(5))

        def fails(x, y):
            raise ArithmeticError

        group.reduce(np.zeros(1), fails)  # with one member there is nothing to combine
        for operator in ("max", "min", "product"):
            a = np.arange(3.0)
            group.reduce(a, operator)
            assert a.tolist() == [0, 1, 2]
        with pytest.raises(dpvm.PvmNoInst):
            group.task(7)
    with pytest.raises(dpvm.PvmError):
        group.leave()


def test_mailbox_as_a_dict(vm):
    box = vm.mailbox
    assert "name" not in box
    box["name"] = {"a": [1, 2]}
    box["name"] = np.arange(3)
    assert "name" in box and "name" in list(box) and len(box) >= 1
    assert box["name"].tolist() == [0, 1, 2]
    del box["name"]
    for use in (lambda: box["name"], lambda: box.__delitem__("name")):
        with pytest.raises(KeyError):
            use()
    assert box.get("name", "none") == "none"


def test_mailbox_in_full(vm, gone):
    box = vm.mailbox
    assert box.put("many", 0, multiple=True) == 0 and box.put("many", 1, multiple=True) == 1
    assert box.put("many", 7, index=7, multiple=True) == 7
    assert [e.index for e in box.entries("man*")] == [0, 1, 7] and box.entries("many")[0].owner == vm.me
    assert box.receive("many", 2, first=True).value == 7
    assert box.receive("many", 1, delete=True).value == 1
    with pytest.raises(dpvm.PvmNotFound):
        box.receive("many", 1)
    for index in (0, 7):
        box.delete("many", index)
    (task,) = vm.spawn_python(workers.keeps)
    vm.receive(task, 1)
    assert box.receive("stays", wait=True).value == "still here" and "of a worker" in box
    with pytest.raises(dpvm.PvmDenied):
        box.put("of a worker", "mine")
    task.send(5)
    gone(task)
    wait_until(lambda: "of a worker" not in box)
    assert box.entries("stays")[0].owner is None and box["stays"] == "still here"
    box.delete("stays")
    with pytest.raises(ValueError, match="not an index"):
        box.put("x", index=1 << 21)


def test_options(vm):
    old = vm.options.frag_size
    vm.options.frag_size = 8192
    assert vm.options.frag_size == 8192
    vm.options.frag_size = old
    with pytest.raises(dpvm.PvmBadParam):
        vm.options.route = 99
    with pytest.raises(AttributeError):
        vm.options.rout = 1


def test_errors():
    assert dpvm.PvmNoHost.code == -6 and issubclass(dpvm.PvmNoHost, dpvm.PvmError)
    error = dpvm.library.library().error("spawn", -7)
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is dpvm.PvmNoFile and str(again) == str(error) == "pvm_spawn: No such file (PvmNoFile)"
    assert again.call == "pvm_spawn" and again.code == -7


# ---- as separate programs ----


def test_no_library(python, tmp_path):
    done = python("import dpvm; dpvm.machine().__enter__()", DPVM_LIBRARY=str(tmp_path))
    assert done.returncode == 1 and "Set DPVM_LIBRARY to the file libpvm3.so.3 of dpvm" in done.stderr


def test_library_of_another_pvm(python):
    other = "/usr/lib/x86_64-linux-gnu/libpvm3.so.3"
    assert os.path.exists(other), "the reference's library is missing: run script/bootstrap"
    done = python("import dpvm; dpvm.machine().__enter__()", DPVM_LIBRARY=other)
    assert done.returncode == 1 and "is not the library of dpvm" in done.stderr


def test_no_machine(python, elsewhere):
    done = python("import dpvm; dpvm.machine(start=False).__enter__()", PVM_TMP=elsewhere)
    assert done.returncode == 1 and "PvmSysErr: pvm_mytid: Can't contact local daemon" in done.stderr


def test_a_machine_of_its_own(python, elsewhere):
    code = "import dpvm\nfor _ in range(2):\n    with dpvm.machine() as vm: print(vm.me, len(vm.hosts))"
    done = python(code, PVM_TMP=elsewhere)
    assert (done.returncode, done.stdout, done.stderr) == (0, "t40001 1\nt40001 1\n", "")


def test_ctrl_c_ends_a_program(elsewhere):
    program = subprocess.Popen(
        [sys.executable, "-c", "import dpvm\nwith dpvm.machine() as vm:\n  print('ready', flush=True)\n  vm.receive()"],
        env={**os.environ, "PYTHONPATH": str(PACKAGE), "PVM_TMP": elsewhere}, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert program.stdout.readline() == "ready\n"
    program.send_signal(signal.SIGINT)
    _, errors = program.communicate(timeout=LIMIT_S)
    assert errors.endswith("KeyboardInterrupt\n") and program.returncode == -signal.SIGINT


def test_the_example_of_the_readme(python, elsewhere, tmp_path):
    lines = (PACKAGE / "README.md").read_text().split("```python\n", 1)[1].split("```", 1)[0]
    assert len([line for line in lines.splitlines() if line.strip()]) == 10
    (tmp_path / "example.py").write_text(lines)
    done = python(
        "import runpy, sys; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')",
        str(tmp_path / "example.py"), PVM_TMP=elsewhere,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "[0.0, 1.0, 5.0, 14.0]\n"


def test_a_second_program_joins_the_machine_without_a_word(machine, python):
    done = python("import dpvm\nwith dpvm.machine() as vm: print(len(vm.hosts))")
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")


def test_types():
    assert os.path.exists("/usr/bin/mypy"), "mypy is missing: run script/bootstrap"
    done = subprocess.run(
        ["/usr/bin/mypy", "--cache-dir=/dev/null", "--python-version", "3.9", "--config-file", "pyproject.toml", "dpvm"],
        cwd=PACKAGE, capture_output=True, text=True, timeout=10 * LIMIT_S,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
