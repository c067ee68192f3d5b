#!/usr/bin/env bash
# Called by conda-build in the source tree: PREFIX is the environment, CPU_COUNT how many processes may compile. The
# transports rdma and ofi are built if the host requirements have their libraries.
set -euo pipefail

# shellcheck disable=SC2086
cmake -S . -B build/conda -G Ninja ${CMAKE_ARGS:-} -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX" \
    -DCMAKE_PREFIX_PATH="$PREFIX" -DCMAKE_INSTALL_LIBDIR=lib -DDPVM_REPRODUCIBLE=ON -DDPVM_TESTS=OFF -DDPVM_WERROR=OFF
cmake --build build/conda --parallel "${CPU_COUNT:-1}"
cmake --install build/conda --strip
