# SPDX-License-Identifier: Apache-2.0
# cmake -Dtree=BUILD -Dprefix=FOLDER -P install_afresh.cmake: installs where nothing is left of an
# earlier time.
file(REMOVE_RECURSE ${prefix})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${tree} --prefix ${prefix}
                COMMAND_ERROR_IS_FATAL ANY)
