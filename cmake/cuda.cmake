# SPDX-License-Identifier: Apache-2.0
# Finds nvcc unless SEXTANT_CUDA is OFF, and chooses the architectures.
set(SEXTANT_WITH_CUDA OFF)
if(NOT SEXTANT_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  if(NOT CMAKE_CUDA_COMPILER AND EXISTS /usr/local/cuda/bin/nvcc)
    set(CMAKE_CUDA_COMPILER /usr/local/cuda/bin/nvcc)
  endif()
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    # Every generation since Turing, and PTX for those to come. CMake's own list knows only the
    # toolkits that are older than itself.
    set(CMAKE_CUDA_ARCHITECTURES
        75-real 80-real 86-real 89-real 90-real 100-real 120
        CACHE STRING "CUDA architectures")
  endif()
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    set(SEXTANT_WITH_CUDA ON)
  elseif(SEXTANT_CUDA STREQUAL "ON")
    message(FATAL_ERROR "SEXTANT_CUDA is ON but no nvcc was found: install the CUDA toolkit, "
                        "set CMAKE_CUDA_COMPILER, or configure with -DSEXTANT_CUDA=OFF")
  endif()
endif()
message(STATUS "Sextant: CUDA back end ${SEXTANT_WITH_CUDA}")
