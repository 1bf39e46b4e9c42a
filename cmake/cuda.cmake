# SPDX-License-Identifier: Apache-2.0
# Finds nvcc unless SEXTANT_CUDA is OFF, and chooses the architectures.

# The generations that we name, as far as this nvcc can compile for them, and PTX of the newest for
# those to come. CMake's own list knows only the toolkits that are older than itself.
function(sextant_default_architectures nvcc result)
  execute_process(COMMAND ${nvcc} --list-gpu-code OUTPUT_VARIABLE known RESULT_VARIABLE status
                  ERROR_QUIET)
  set(chosen)
  set(newest)
  foreach(number 75 80 86 89 90 100 120)
    if(status EQUAL 0 AND known MATCHES "sm_${number}([^0-9a-z]|$)")
      if(newest)
        list(APPEND chosen ${newest}-real)
      endif()
      set(newest ${number})
    endif()
  endforeach()
  if(newest)
    list(APPEND chosen ${newest})
  else()
    set(chosen 75 80) # an nvcc that does not list them; every one since 11.0 can compile for these
  endif()
  set(${result} ${chosen} PARENT_SCOPE)
endfunction()

set(SEXTANT_WITH_CUDA OFF)
if(NOT SEXTANT_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  if(NOT CMAKE_CUDA_COMPILER AND EXISTS /usr/local/cuda/bin/nvcc)
    set(CMAKE_CUDA_COMPILER /usr/local/cuda/bin/nvcc)
  endif()
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      sextant_default_architectures(${CMAKE_CUDA_COMPILER} architectures)
      set(CMAKE_CUDA_ARCHITECTURES ${architectures} CACHE STRING "CUDA architectures")
    endif()
    enable_language(CUDA)
    set(SEXTANT_WITH_CUDA ON)
  elseif(SEXTANT_CUDA STREQUAL "ON")
    message(FATAL_ERROR "SEXTANT_CUDA is ON but no nvcc was found: install the CUDA toolkit, "
                        "set CMAKE_CUDA_COMPILER, or configure with -DSEXTANT_CUDA=OFF")
  endif()
endif()
message(STATUS "Sextant: CUDA back end ${SEXTANT_WITH_CUDA}")
