// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/temporary_folder.h"

namespace sextant::testing {

/// Where this build puts the command line.
const char* program();

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// What a run of the command line leaves behind.
struct Outcome {
  int status = -1;
  std::string out;
  std::string err;
};

/// The command line as a script uses it, in a folder of the test's own. Tests are skipped where it
/// was not built.
class CommandLine : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(program())) GTEST_SKIP() << program() << " is not here";
    prepare();
  }
  /// Writes what the tests read.
  virtual void prepare() {}

  Outcome run(const std::string& arguments) const {
    const std::string command = "cd '" + folder_.path().string() + "' && '" + program() + "' " +
                                arguments + " >stdout.txt 2>stderr.txt </dev/null";
    const int raw = std::system(command.c_str());
    return {WIFEXITED(raw) ? WEXITSTATUS(raw) : -1, text_of(folder_ / "stdout.txt"),
            text_of(folder_ / "stderr.txt")};
  }

  /// The exit status of a shell script in the folder, in which $SEXTANT is the command line.
  int shell(const std::string& script) const {
    const std::string command =
        "cd '" + folder_.path().string() + "' && SEXTANT='" + program() + "' && " + script;
    const int raw = std::system(command.c_str());
    return WIFEXITED(raw) ? WEXITSTATUS(raw) : -1;
  }

  TemporaryFolder folder_;
};

}  // namespace sextant::testing
