"""The memory that a piece of a program needs."""

import gc


class Peak:
    """The bytes by which this process has grown meanwhile, at most."""

    def __enter__(self):
        gc.collect()
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        self._before = self._read("VmRSS")
        return self

    def __exit__(self, *error):
        self.bytes = self._read("VmHWM") - self._before

    @staticmethod
    def _read(name):
        with open("/proc/self/status") as file:
            (line,) = [line for line in file if line.startswith(name)]
        return int(line.split()[1]) * 1024
