"""The commands of a wheel: pvm, pvmd3 and others, which are inside the package."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

NATIVE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "native")
"""What the wheel carries, laid out as an installation; missing in other packages."""


def run() -> NoReturn:
    """Becomes the program of the same name."""
    program = os.path.join(NATIVE, "bin", os.path.basename(sys.argv[0]))
    os.execv(program, [program, *sys.argv[1:]])
