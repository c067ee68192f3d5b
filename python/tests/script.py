"""A script that is a task when it is spawned."""

import sys

import dpvm

if __name__ == "__main__":
    with dpvm.machine(start=False) as vm:
        vm.parent.send(1, sys.argv[1:], __file__)
