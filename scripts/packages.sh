# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034  # sourced by ./dev and scripts/measure_dependencies
# Packages by task. "package:program" also counts as present when the program is on the path.
# The names are the same on Debian 12 and Ubuntu 24.04.
packages_build=(g++:g++ cmake:cmake ninja-build:ninja zlib1g-dev libpng-dev libjpeg-dev
                libsqlite3-dev nlohmann-json3-dev libcli11-dev libfmt-dev libapriltag-dev)
packages_unit=(libgtest-dev libeigen3-dev)
packages_clang=(clang:clang++ libclang-rt-dev llvm:llvm-symbolizer)
packages_peers=(libpcl-dev libopencv-dev)
packages_bench_peers=(libopencv-contrib-dev libnanoflann-dev libfaiss-dev
                      libhnswlib-dev libopenblas-dev)
# Left out where the distribution does not have it.
packages_bench_wanted=(libopen3d-dev)
# Other versions of clang-format break lines elsewhere.
packages_format=(clang-format-14:clang-format-14)
packages_lint=(python3:python3)
packages_tidy=(clang-tidy:clang-tidy)
