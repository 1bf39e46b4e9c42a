// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace sextant::app {

/// Makes sure that input, output and error stream are open, so that no file which is opened later
/// takes the place of one that the caller has closed (2>&-) and gets what is meant for a terminal.
/// What is written to a closed stdout is refused, what is written to a closed stderr is lost. A
/// reader that goes away is no signal any more but an error of the write that meets it.
void prepare_streams();

/// Prints on stdout, all of it or Error. Where the reader of a pipe has gone, the process ends as
/// every other in such a pipeline does, by SIGPIPE.
void print(const std::string& text);

/// Prints on stderr. A stream that is closed, full or gone is no reason to fail.
void say(const std::string& text);

}  // namespace sextant::app
