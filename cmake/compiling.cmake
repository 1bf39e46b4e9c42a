# SPDX-License-Identifier: Apache-2.0
# How every target of ours is compiled: warnings are errors, floating point is not reassociated or
# contracted (same answer on every machine), and the host code runs on any x86-64-v2.
function(sextant_compile_settings target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set(warnings -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual)
  set(host_flags -ffp-contract=off)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    list(APPEND host_flags -march=x86-64-v2)
  endif()
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:${warnings} -Wconversion -Wno-sign-conversion ${host_flags}>)
  if(PROJECT_IS_TOP_LEVEL)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
  endif()
  if(SEXTANT_WITH_CUDA)
    # CMake 3.25 does not know the C++20 flag of nvcc 13. Host code in .cu files takes the same
    # floating-point rules; Wpedantic would reject what nvcc itself generates.
    list(JOIN host_flags "," host_flags_for_nvcc)
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20 --expt-relaxed-constexpr -Wno-deprecated-gpu-targets
        -Xcompiler=-Wall,-Wextra,${host_flags_for_nvcc} --diag-suppress=20012,20013,20014,20015>)
    if(PROJECT_IS_TOP_LEVEL)
      target_compile_options(${target} PRIVATE
        $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Werror --Werror=all-warnings>)
    endif()
  endif()
  if(SEXTANT_SANITIZE STREQUAL "address")
    set(sanitize -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  elseif(SEXTANT_SANITIZE STREQUAL "thread")
    set(sanitize -fsanitize=thread -fno-omit-frame-pointer)
  endif()
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${sanitize}>)
  target_link_options(${target} PUBLIC $<BUILD_INTERFACE:${sanitize}>)
endfunction()

# For programs around the library, whose own loops are short: compiled twice as fast, and under
# sanitizers three times as fast.
function(sextant_compile_quickly target)
  set(level $<IF:$<BOOL:${SEXTANT_SANITIZE}>,-O0,$<$<CONFIG:Release>:-O1>>)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${level}>)
endfunction()
