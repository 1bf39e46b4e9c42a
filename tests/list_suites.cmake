# SPDX-License-Identifier: Apache-2.0
# cmake -Dprogram=PROGRAM -Dlabel=LABEL -Dfile=FILE -P list_suites.cmake: asks a GoogleTest program
# for its suites and writes one test of ctest for each. The instances of a typed suite go together.
execute_process(COMMAND ${program} --gtest_list_tests OUTPUT_VARIABLE list
                COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "(^|\n)[A-Za-z0-9_]+(/[0-9]+)?\\." names "${list}")
set(suites)
foreach(name IN LISTS names)
  string(REGEX REPLACE "[\n.]|/[0-9]+" "" suite "${name}")
  list(APPEND suites ${suite})
endforeach()
list(REMOVE_DUPLICATES suites)
if(NOT suites)
  message(FATAL_ERROR "${program} lists no test")
endif()
set(script)
foreach(suite IN LISTS suites)
  string(APPEND script "add_test(${suite} [==[${program}]==] "
                       "--gtest_filter=${suite}.*:${suite}/*)\n"
                       "set_tests_properties(${suite} PROPERTIES LABELS ${label})\n")
endforeach()
file(WRITE ${file} "${script}")
