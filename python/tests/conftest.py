"""Tests of dpvm with real daemons. DPVM_BUILD names dpvm's build folder; PVM_TRANSPORT may choose a route.

The tests share one machine, which the package starts and halts in a folder of its own; nothing may be left of it.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("DPVM_BUILD") or PACKAGE.parent / "build" / "release")
LIMIT_S = 60 * int(os.environ.get("DPVM_SLOWNESS", "1"))


def _surroundings():
    """The variables of a separate machine in a new folder."""
    for name in [name for name in os.environ if name.startswith("PVM") and name != "PVM_TRANSPORT"]:
        del os.environ[name]
    folder = tempfile.mkdtemp(prefix="dpvm-python-")
    os.environ.update(
        PVM_TMP=folder, HOME=folder, PVM_ALLOW_ROOT="1", PVM_ROOT=str(BUILD / "lib" / "pvm3"),
        PVM_PATH=str(BUILD / "bin" / "examples"), DPVM_LIBRARY=str(BUILD / "lib"), PYTHONDONTWRITEBYTECODE="1",
    )  # fmt: skip
    return folder


FOLDER = _surroundings()
sys.path.insert(0, str(PACKAGE))
import dpvm  # noqa: E402


def pytest_sessionfinish(session):
    if session.exitstatus:
        for log in Path(FOLDER).glob("pvml.*"):
            print(f"\n{log.name}:\n{log.read_text()}")


def pytest_unconfigure():
    shutil.rmtree(FOLDER)


def what_is_left(folder):
    return [name for name in os.listdir(folder) if not name.startswith("pvml.")]


@pytest.fixture(scope="session")
def machine():
    with dpvm.machine() as vm:
        yield vm
    assert not what_is_left(FOLDER)


@pytest.fixture
def vm(machine):
    yield machine
    left = machine.poll()
    assert left is None, f"nobody received {left}"


@pytest.fixture
def python():
    """Runs Python code as a separate program; returns the result of subprocess.run()."""

    def run(code, *arguments, **variables):
        environment = {**os.environ, "PYTHONPATH": str(PACKAGE), **variables}
        return subprocess.run(
            [sys.executable, "-c", code, *arguments], env=environment, capture_output=True, text=True, timeout=LIMIT_S
        )

    return run


@pytest.fixture
def elsewhere():
    """A folder for the daemon of another machine; checks that the daemon has ended."""
    folder = tempfile.mkdtemp(prefix="dpvm-python-")
    yield folder
    left = what_is_left(folder)
    shutil.rmtree(folder)
    assert not left


@pytest.fixture
def gone(vm):
    """Waits for the end of tasks, so that they do not disturb the next test."""

    def wait(*tasks):
        ended, limit = [], time.monotonic() + LIMIT_S
        with vm.on_exit(tasks, ended.append):
            while len(ended) < len(tasks):
                assert time.monotonic() < limit, f"{tasks} do not end"
                assert vm.poll(tag=987654) is None  # lets the handler run
                time.sleep(0.005)
        assert sorted(map(int, ended)) == sorted(map(int, tasks))

    return wait
