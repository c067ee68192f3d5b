"""What workers of program.py do."""

import os


def square(x):
    return x * x


def loaded():
    """The program and the libraries of this process."""
    return loaded_by(os.getpid())


def loaded_by(pid):
    with open(f"/proc/{pid}/maps") as maps:
        fields = [line.split(maxsplit=5) for line in maps]
    return {f[5].strip() for f in fields if len(f) == 6 and "x" in f[1] and f[5].startswith("/")}


def add(array):
    return sum(array)
