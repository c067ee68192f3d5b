"""dpvm.futures.Executor: as concurrent.futures' executors, on several hosts, and when workers and hosts are lost."""

import asyncio
import concurrent.futures
import os
import re
import subprocess
import sys
import time
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from pathlib import Path

import calls
import nbclient
import nbformat
import numpy as np
import pytest
from conftest import FOLDER, LIMIT_S, PACKAGE

import dpvm
from dpvm import futures, pickled

HERE = Path(__file__).resolve().parent


@pytest.fixture
def executor(vm):
    with futures.Executor(max_workers=2) as made:
        yield made


@pytest.fixture
def second_host(vm):
    (host,) = vm.add_hosts("127.0.0.2")
    yield host
    if host in vm.hosts:
        vm.delete_hosts(host)


def wait_until(condition):
    limit = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.01)


def outcome(function):
    """What a call returns, or its exception's type and text."""
    try:
        return function()
    except Exception as error:
        return type(error), str(error)


def script(executor):
    """What any executor must answer in the same way."""
    yield list(executor.map(calls.square, range(20)))
    yield list(executor.map(calls.slowly, range(9)))
    yield list(executor.map(calls.add, range(7), range(100, 200), chunksize=3))
    yield list(executor.map(calls.square, []))
    yield executor.submit(calls.add, 1, y=2).result()
    yield outcome(executor.submit(calls.divide, 1, 0).result)
    yield outcome(lambda: list(executor.map(calls.divide, [1, 2], [1, 0])))
    yield outcome(executor.submit(calls.leave).exception)
    yield outcome(lambda: executor.map(calls.square, [1], chunksize=0))
    many = [executor.submit(calls.slowly, i) for i in range(6)]
    yield sorted(future.result() for future in concurrent.futures.as_completed(many))
    executor.shutdown()
    yield outcome(lambda: executor.submit(calls.square, 1))


def plain(answers):
    return [(type(a), str(a)) if isinstance(a, BaseException) else a for a in answers]


def test_answers_as_another_executor_does(vm):
    with futures.Executor(max_workers=2) as ours, ProcessPoolExecutor(max_workers=2) as theirs:
        assert plain(script(ours)) == plain(script(theirs))


def test_the_traceback_is_that_of_the_worker(executor):
    error = executor.submit(calls.divide, 1, 0).exception()
    assert isinstance(error, ZeroDivisionError) and isinstance(error.__cause__, futures.RemoteError)
    assert "calls.py" in str(error.__cause__) and "in divide" in str(error.__cause__)


def test_what_cannot_travel_is_told(executor):
    assert "pickle" in str(executor.submit(calls.lock).exception())
    error = executor.submit(calls.stubborn).exception()
    assert isinstance(error, RuntimeError) and "stubborn" in str(error)
    assert "in stubborn" in str(error.__cause__)
    assert isinstance(executor.submit(calls.add, open(os.devnull)).exception(), TypeError)
    assert executor.submit(calls.add, 1).result() == 1


def test_functions_that_no_worker_can_import(executor, monkeypatch):
    offset = 3
    assert list(executor.map(lambda x: x + offset, range(3))) == [3, 4, 5]
    monkeypatch.setattr(pickled, "cloudpickle", None)
    assert "install cloudpickle" in str(executor.submit(lambda: 1).exception())
    assert executor.submit(calls.square, 3).result() == 9


@pytest.mark.parametrize("count", [0, 1, 1000, 3000000])
def test_arrays(executor, count):
    array = np.arange(count, dtype="f8")
    before = array.copy()
    assert (executor.submit(calls.double, array).result() == 2 * before).all()
    assert (array == before).all()


def test_cancelled_calls_are_not_made(vm, tmp_path):
    gate = str(tmp_path / "gate")
    with futures.Executor(max_workers=1) as executor:
        first = executor.submit(calls.wait_for, gate)
        wait_until(Path(gate + ".here").exists)
        second, third = executor.submit(calls.wait_for, gate + "2"), executor.submit(calls.square, 3)
        assert second.cancel() and not first.cancel()
        with pytest.raises(concurrent.futures.TimeoutError):
            first.result(timeout=0.05)
        with pytest.raises(concurrent.futures.TimeoutError):
            next(executor.map(calls.square, [1], timeout=0.05))
        Path(gate).touch()
        assert third.result() == 9 and first.result() > 0
    assert not os.path.exists(gate + "2.here")


def test_shutdown_may_cancel(vm, tmp_path):
    gate = str(tmp_path / "gate")
    executor = futures.Executor(max_workers=1)
    first = executor.submit(calls.wait_for, gate)
    wait_until(Path(gate + ".here").exists)
    others = [executor.submit(calls.square, i) for i in range(5)]
    executor.shutdown(wait=False, cancel_futures=True)
    assert all(future.cancelled() for future in others)
    Path(gate).touch()
    assert first.result() > 0
    executor.shutdown()


def test_an_initializer(vm):
    with futures.Executor(max_workers=2, initializer=calls.prepare, initargs=("ready",)) as executor:
        assert {executor.submit(calls.get_prepared).result() for _ in range(8)} == {"ready"}
    with futures.Executor(max_workers=2, initializer=calls.fail_at_start) as executor:
        with pytest.raises(BrokenExecutor, match="initializer failed") as error:
            executor.submit(calls.square, 1).result()
        assert "cannot begin" in str(error.value.__cause__)
        with pytest.raises(BrokenExecutor):
            executor.submit(calls.square, 1)
    with pytest.raises(TypeError):
        futures.Executor(initializer="text")
    with pytest.raises(ValueError, match="greater than 0"):
        futures.Executor(max_workers=0)
    with pytest.raises(ValueError, match="nosuch is not a host"):
        futures.Executor(hosts=["nosuch"])


def test_a_lost_worker_costs_only_its_call(executor, tmp_path):
    gate = str(tmp_path / "gate")
    other = executor.submit(calls.wait_for, gate)
    assert executor.submit(calls.die_once, str(tmp_path / "died")).result() == "made anew"
    with pytest.raises(futures.WorkerLost, match=r"t[0-9a-f]+ on .* ended during the call; 3 workers have"):
        executor.submit(calls.die).result()
    assert executor.submit(calls.square, 2).result() == 4
    Path(gate).touch()
    assert other.result() > 0


def test_a_lost_host_costs_only_its_calls(vm, second_host, tmp_path):
    with futures.Executor(max_workers=2) as executor:
        gates = [str(tmp_path / f"gate{i}") for i in range(2)]
        running = [executor.submit(calls.wait_for, gate) for gate in gates]
        wait_until(lambda: all(os.path.exists(gate + ".here") for gate in gates))
        pids = {status.pid for status in vm.tasks(second_host)}
        assert len(pids) == 1
        vm.delete_hosts(second_host)
        for gate in gates:
            Path(gate).touch()
        assert pids.isdisjoint({future.result() for future in running})


def test_hosts(vm, second_host):
    with futures.Executor(hosts=["127.0.0.2"]) as executor:
        assert executor.submit(calls.where).result() == second_host.tid
    with futures.Executor(max_workers=2) as executor:
        assert set(executor.map(calls.where, range(0))) == set()
        both = {future.result() for future in [executor.submit(calls.where) for _ in range(40)]}
        assert both <= {host.tid for host in vm.hosts}


def test_hosts_that_join_later(vm, tmp_path):
    with futures.Executor() as executor:
        gate = str(tmp_path / "gate")
        processors = executor.submit(os.sched_getaffinity, 0).result()
        held = [executor.submit(calls.wait_for, gate) for _ in range(len(processors) + 1)]
        (host,) = vm.add_hosts("127.0.0.2")
        wait_until(lambda: vm.tasks(host))
        Path(gate).touch()
        assert all(future.result() for future in held)
    vm.delete_hosts(host)


def test_output(vm, capsys):
    with futures.Executor(max_workers=1) as executor:
        executor.submit(calls.say, "from Python").result()
        executor.submit(print, "without an end", end="").result()
    assert capsys.readouterr().out == "from Python and from C\nwithout an end\n"
    with futures.Executor(max_workers=1, output=False) as executor:
        executor.submit(print, "for the log").result()
    assert capsys.readouterr().out == ""
    wait_until(lambda: any("for the log" in log.read_text() for log in Path(FOLDER).glob("pvml.*")))


def test_asyncio(executor):
    async def main():
        loop = asyncio.get_running_loop()
        several = await asyncio.gather(*(loop.run_in_executor(executor, calls.square, i) for i in range(4)))
        return several, await asyncio.wrap_future(executor.submit(calls.square, 5))

    assert asyncio.run(main()) == ([0, 1, 4, 9], 25)


def tasks_of(vm):
    return {status.task for status in vm.tasks()}


def test_nothing_is_left(vm):
    before = tasks_of(vm)
    with futures.Executor(max_workers=2) as executor:
        list(executor.map(calls.square, range(4)))
        assert tasks_of(vm) > before
    assert tasks_of(vm) == before


ALONE = """
import calls, os, signal, sys, dpvm.futures
executor = dpvm.futures.Executor(max_workers=1)
print(executor.submit(calls.square, 7).result(), flush=True)
late = executor.submit(calls.wait_for, sys.argv[1])
if len(sys.argv) > 2:
    executor.submit(print)
    while not os.path.exists(sys.argv[1] + ".here"):
        pass
    os.kill(os.getpid(), signal.SIGKILL)
open(sys.argv[1], "w").close()
"""


def test_a_program_without_a_machine(python, elsewhere, tmp_path):
    """It starts one, forgets to shut down, and leaves nothing."""
    done = python(ALONE, str(tmp_path / "gate"), PVM_TMP=elsewhere, PYTHONPATH=f"{PACKAGE}:{HERE}")
    assert (done.stdout, done.stderr, done.returncode) == ("49\n", "", 0)


def test_workers_end_with_their_parent(vm, tmp_path):
    gate, before = str(tmp_path / "gate"), tasks_of(vm)
    done = subprocess.run(
        [sys.executable, "-c", ALONE, gate, "die"],
        env={**os.environ, "PYTHONPATH": f"{PACKAGE}:{HERE}"}, capture_output=True, text=True, timeout=LIMIT_S,
    )  # fmt: skip
    assert done.returncode == -9
    wait_until(lambda: tasks_of(vm) == before)


def test_the_script_of_mpi4py(tmp_path):
    """The same script under mpi4py's executor and ours."""
    variables = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    variables.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", TMPDIR=str(tmp_path))
    mpi = ["mpiexec.openmpi", "--oversubscribe", "-n", "3", sys.executable, "-m", "mpi4py.futures"]
    program = str(HERE / "both.py")
    theirs = subprocess.run([*mpi, program, "mpi4py"], env=variables, capture_output=True, text=True, timeout=LIMIT_S)
    assert theirs.returncode == 0, theirs.stderr
    ours = subprocess.run(
        [sys.executable, program, "dpvm"], env={**os.environ, "PYTHONPATH": str(PACKAGE)}, capture_output=True,
        text=True, timeout=LIMIT_S,
    )  # fmt: skip
    assert ours.returncode == 0, ours.stderr
    assert theirs.stdout == ours.stdout != ""


def test_what_the_readme_shows(tmp_path, elsewhere):
    """Its programs print what they should, each in a machine of its own."""
    programs = re.findall(r"^```python\n(.*?)^```", (PACKAGE / "README.md").read_text(), re.M | re.S)
    said = []
    for i, program in enumerate(programs):
        path = tmp_path / f"program{i}.py"
        path.write_text(program)
        done = subprocess.run(
            [sys.executable, str(path)], env={**os.environ, "PYTHONPATH": str(PACKAGE), "PVM_TMP": elsewhere},
            capture_output=True, text=True, timeout=LIMIT_S,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        said.append(done.stdout)
    assert said == ["[0.0, 1.0, 5.0, 14.0]\n", "332833500\n42\n", "[[1, 4, 9], [1, 8, 27]]\n"]


def test_a_notebook(vm, tmp_path, monkeypatch):
    cells = [
        "from dpvm.futures import Executor\nexecutor = Executor(max_workers=2)\nfactor = 3",
        "def times(x):\n    return factor * x\nlist(executor.map(times, range(5)))",
        "executor.submit(print, 'from a worker').result()\nexecutor.shutdown()",
        "executor.submit(times, 1)",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    for name, value in {"PYTHONPATH": PACKAGE, "IPYTHONDIR": tmp_path, "JUPYTER_RUNTIME_DIR": tmp_path}.items():
        monkeypatch.setenv(name, str(value))
    nbclient.NotebookClient(notebook, timeout=LIMIT_S, allow_errors=True, kernel_name="python3").execute()
    outputs = [cell.outputs for cell in notebook.cells]
    assert outputs[0] == [] and outputs[1][0].data["text/plain"] == "[0, 3, 6, 9, 12]"
    assert "from a worker\n" in "".join(output.text for output in outputs[2])
    assert outputs[3][0].ename == "RuntimeError"
