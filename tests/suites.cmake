# SPDX-License-Identifier: Apache-2.0
# add_test_suites(target label): every suite of a GoogleTest program becomes one test of ctest, so
# that a process starts for each suite and not for each of the hundreds of tests in them. The list
# is made when the program is linked.
function(add_test_suites target label)
  set(list ${CMAKE_CURRENT_BINARY_DIR}/${target}_suites.cmake)
  set(list_if_built ${CMAKE_CURRENT_BINARY_DIR}/${target}_include.cmake)
  set(script ${PROJECT_SOURCE_DIR}/tests/list_suites.cmake)
  # Relinks, and so lists anew, when the script changes.
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${script})
  add_custom_command(TARGET ${target} POST_BUILD BYPRODUCTS ${list}
    COMMAND ${CMAKE_COMMAND} -Dprogram=$<TARGET_FILE:${target}> -Dlabel=${label} -Dfile=${list}
            -P ${script})
  file(WRITE ${list_if_built} "if(EXISTS [==[${list}]==])\n  include([==[${list}]==])\nelse()\n"
                              "  add_test(${target}_NOT_BUILT ${target}_NOT_BUILT)\nendif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${list_if_built})
endfunction()
