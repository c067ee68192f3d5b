"""Functions that executors of the tests call."""

import os
import signal
import sys
import threading
import time

prepared = None


def prepare(value):
    global prepared
    prepared = value


def get_prepared():
    return prepared


def square(x):
    return x * x


def add(x, y=0):
    return x + y


def divide(x, y):
    return x / y


def slowly(x):
    time.sleep(0.05 * (x % 3))
    return x


def double(array):
    array *= 2  # the worker's own copy
    return array


def where():
    import dpvm

    return int(dpvm.Task(dpvm.library.library().call("mytid")).host)


def leave():
    sys.exit(3)


class Stubborn(Exception):
    """Cannot be unpickled."""

    def __init__(self, one, two):
        super().__init__("stubborn")


def stubborn():
    raise Stubborn(1, 2)


def lock():
    return threading.Lock()


def die_once(path):
    """The first call kills its worker."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return "made anew"
    os.kill(os.getpid(), signal.SIGKILL)


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def wait_for(path):
    """Creates path.here, and waits for path."""
    open(f"{path}.here", "a").close()
    while not os.path.exists(path):
        time.sleep(0.01)
    return os.getpid()


def say(text):
    print(text, end="")
    os.write(2, b" and from C\n")


def fail_at_start():
    raise RuntimeError("cannot begin")
