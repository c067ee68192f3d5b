"""A program for mpi4py.futures and for dpvm.futures: both.py mpi4py|dpvm"""

import sys
from concurrent.futures import as_completed


def area(strip):
    low, high, steps = strip
    width = (high - low) / steps
    return sum(4 / (1 + (low + (i + 0.5) * width) ** 2) for i in range(steps)) * width


def fails(x):
    raise ValueError(f"no {x}")


def main(executor):
    strips = [(i / 10, (i + 1) / 10, 1000) for i in range(10)]
    print("%.9f" % sum(executor.map(area, strips)))
    print("%.9f" % sum(executor.map(area, strips, chunksize=4)))
    print("%.9f" % sum(sorted(f.result() for f in as_completed([executor.submit(area, s) for s in strips]))))
    try:
        executor.submit(fails, 5).result()
    except ValueError as error:
        print(error)


if __name__ == "__main__":
    if sys.argv[1] == "mpi4py":
        from mpi4py.futures import MPIPoolExecutor as Executor
    else:
        from dpvm.futures import Executor
    with Executor(max_workers=2) as made:
        main(made)
