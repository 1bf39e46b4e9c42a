# SPDX-License-Identifier: Apache-2.0
# The library: every .cpp (and .cu) in the rooms sextant/<module>/<operation>/ that is not a test.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PNG REQUIRED)
find_package(JPEG REQUIRED)
find_package(SQLite3 3.37 REQUIRED) # the first with STRICT tables
find_package(nlohmann_json REQUIRED)
find_package(fmt REQUIRED)
# Optional: without it boards are neither printed nor found, and say so. Some versions have a second
# library beside the first.
find_path(SEXTANT_APRILTAG_INCLUDE apriltag/apriltag.h)
find_library(SEXTANT_APRILTAG apriltag)
find_library(SEXTANT_APRILTAG_UTILS apriltag-utils)
mark_as_advanced(SEXTANT_APRILTAG_INCLUDE SEXTANT_APRILTAG SEXTANT_APRILTAG_UTILS)
set(SEXTANT_WITH_APRILTAG 0)
if(SEXTANT_APRILTAG_INCLUDE AND SEXTANT_APRILTAG)
  set(SEXTANT_WITH_APRILTAG 1)
endif()
message(STATUS "Sextant: AprilTag boards ${SEXTANT_WITH_APRILTAG}")
set_source_files_properties(${PROJECT_SOURCE_DIR}/sextant/descriptor/tags/tags.cpp PROPERTIES
                            COMPILE_DEFINITIONS SEXTANT_WITH_APRILTAG=${SEXTANT_WITH_APRILTAG})

file(GLOB sextant_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/sextant/*/*/*.cpp)
list(FILTER sextant_sources EXCLUDE REGEX "_test\\.cpp$")
if(SEXTANT_WITH_CUDA)
  file(GLOB sextant_cuda_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/sextant/*/*/*.cu)
  # What a file asks of nvcc stands in the file: "// nvcc: -fmad=false" and a reason.
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sextant_cuda_sources})
  foreach(source IN LISTS sextant_cuda_sources)
    file(STRINGS ${source} request REGEX "^// nvcc: -[^ ,]+" LIMIT_COUNT 1)
    if(request MATCHES "^// nvcc: (-[^ ,]+)")
      set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS ${CMAKE_MATCH_1})
    endif()
  endforeach()
endif()

if(SEXTANT_FUZZ)
  # Fuzzers learn which branches of the readers they reach; anything else it would only slow down.
  set(readers ${sextant_sources})
  list(FILTER readers INCLUDE REGEX "/io/|/descriptor_file|/sextant/library/")
  set_source_files_properties(${readers} PROPERTIES COMPILE_OPTIONS -fsanitize=fuzzer-no-link)
endif()

set(SEXTANT_CUDA_ARCHITECTURES_TEXT "${CMAKE_CUDA_ARCHITECTURES}")
configure_file(${PROJECT_SOURCE_DIR}/sextant/core/build_config.h.in
               ${PROJECT_BINARY_DIR}/generated/sextant/core/build_config.h @ONLY)

add_library(sextant ${sextant_sources} ${sextant_cuda_sources})
add_library(sextant::sextant ALIAS sextant)
sextant_compile_settings(sextant)
if(PROJECT_IS_TOP_LEVEL)
  # Half a second less for each file. As a subproject every file stands on its own includes, and a
  # test of the package builds it so.
  target_precompile_headers(sextant PRIVATE
    <algorithm> <filesystem> <functional> <optional> <sstream> <vector>
    ${PROJECT_SOURCE_DIR}/sextant/core/image.h ${PROJECT_SOURCE_DIR}/sextant/core/options.h)
  # Those that learn branches have other flags than the rest.
  set_source_files_properties(${readers} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endif()
set_target_properties(sextant PROPERTIES POSITION_INDEPENDENT_CODE ON VERSION ${PROJECT_VERSION}
                                         SOVERSION ${PROJECT_VERSION_MAJOR})
target_include_directories(sextant PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(sextant
  PUBLIC nlohmann_json::nlohmann_json
  PRIVATE Threads::Threads ZLIB::ZLIB PNG::PNG JPEG::JPEG SQLite::SQLite3 fmt::fmt)
if(SEXTANT_WITH_APRILTAG)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/sextant/descriptor/tags/tags.cpp PROPERTIES
                              COMPILE_OPTIONS -idirafter${SEXTANT_APRILTAG_INCLUDE})
  target_link_libraries(sextant PRIVATE ${SEXTANT_APRILTAG})
  if(SEXTANT_APRILTAG_UTILS)
    target_link_libraries(sextant PRIVATE ${SEXTANT_APRILTAG_UTILS})
  endif()
endif()
if(SEXTANT_WITH_CUDA)
  find_package(CUDAToolkit REQUIRED)
  target_link_libraries(sextant PRIVATE CUDA::cudart_static)
endif()

if(SEXTANT_INSTALL)
  install(TARGETS sextant EXPORT sextant-targets)
  # A header directly in a module's folder is public; what lies in subfolders is not.
  file(GLOB public_headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
       ${PROJECT_SOURCE_DIR}/sextant/*/*.h)
  foreach(header IN LISTS public_headers)
    get_filename_component(folder ${header} DIRECTORY)
    install(FILES ${PROJECT_SOURCE_DIR}/${header}
            DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
  endforeach()
  install(FILES ${PROJECT_BINARY_DIR}/generated/sextant/core/build_config.h
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sextant/core)
  install(EXPORT sextant-targets NAMESPACE sextant::
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sextant)
  configure_package_config_file(
    ${PROJECT_SOURCE_DIR}/cmake/sextant-config.cmake.in ${PROJECT_BINARY_DIR}/sextant-config.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sextant)
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/sextant-config-version.cmake
                                   COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/sextant-config.cmake
                ${PROJECT_BINARY_DIR}/sextant-config-version.cmake
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sextant)
endif()
