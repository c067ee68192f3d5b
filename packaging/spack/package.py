# Copyright 2026 the dpvm maintainers. The licence is the one that comes with the source tree.
from spack.package import *


class Dpvm(CMakePackage):
    """The Parallel Virtual Machine 3.4, rewritten for today's machines: programs on any number of hosts send messages
    to each other. Runs programs that were written for PVM 3.4, in C, Fortran and Python."""

    homepage = "https://example.org/dpvm"
    git = "https://example.org/dpvm.git"

    version("main", branch="main")
    version("0.9.0", tag="v0.9.0")

    variant("rdma", default=False, description="Direct links between tasks over libibverbs")
    variant("ofi", default=False, description="Direct links between tasks over libfabric")
    variant("dp", default=True, description="Directed Point, and its transport")
    variant("atm", default=True, description="The simulated ATM network, the Fore API, and their transport")
    variant("fortran", default=True, description="The module pvm for Fortran")

    depends_on("c", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3:", type="build")
    depends_on("libev")
    depends_on("uthash", type="build")
    depends_on("libedit")
    depends_on("ncurses")
    depends_on("jansson")
    depends_on("openssl@3:")
    depends_on("libseccomp")
    depends_on("libmicrohttpd")
    depends_on("rdma-core", when="+rdma")
    depends_on("libfabric", when="+ofi")
    conflicts("platform=darwin", msg="dpvm is for Linux")

    generator("ninja")

    def cmake_args(self):
        args = [
            self.define_from_variant("DPVM_DP", "dp"),
            self.define_from_variant("DPVM_ATM", "atm"),
            self.define("DPVM_REPRODUCIBLE", True),
            self.define("DPVM_TESTS", False),
            self.define("DPVM_WERROR", False),
        ]
        for variant, package in (("rdma", "Verbs"), ("ofi", "Fabric")):
            args.append(self.define(f"CMAKE_DISABLE_FIND_PACKAGE_{package}", f"+{variant}" not in self.spec))
        return args

    def setup_run_environment(self, env):
        env.set("PVM_ROOT", join_path(self.prefix.lib, "pvm3"))
