"""The rest is in pyproject.toml. If dpvm/native is there, where script/wheel puts programs and libraries, they become a
part of the wheel, which is then for this kind of machine only.
"""

from pathlib import Path

from setuptools import setup

NATIVE = Path(__file__).resolve().parent / "dpvm" / "native"


def settings():
    from setuptools.dist import Distribution
    from wheel.bdist_wheel import bdist_wheel

    class WithPrograms(Distribution):
        def has_ext_modules(self):
            return True

    class ForEveryPython(bdist_wheel):
        def get_tag(self):
            return "py3", "none", super().get_tag()[2]

    commands = sorted(program.name for program in (NATIVE / "bin").iterdir())
    return {
        "distclass": WithPrograms,
        "cmdclass": {"bdist_wheel": ForEveryPython},
        "entry_points": {"console_scripts": [f"{command} = dpvm.programs:run" for command in commands]},
    }


setup(**(settings() if NATIVE.is_dir() else {"entry_points": {}}))
