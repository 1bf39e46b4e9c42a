// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/experiments/peer.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "apps/sextant/command/command.h"
#include "apps/sextant/command/end_by_signal.h"
#include "sextant/core/error.h"
#include "sextant/io/pcd.h"

namespace sextant::app {

namespace {

namespace fs = std::filesystem;

/// The program, or nothing where it was not built.
std::optional<std::string> find_program() {
  const char* given = std::getenv("SEXTANT_PEER_PCL");
  std::error_code ignored;
  const fs::path path =
      given ? fs::path(given)
            : fs::read_symlink("/proc/self/exe", ignored).parent_path() / "sextant_peer_pcl";
  if (fs::is_regular_file(path, ignored)) return path.string();
  static bool said = false;
  if (!said) {
    note("PCL is not measured: " + path.string() + " is not there; './dev bench' builds it");
  }
  said = true;
  return std::nullopt;
}

std::string text_of(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

/// Runs the program with its output in two files; its exit status.
int run_program(std::vector<std::string> words, const std::string& out, const std::string& err) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const int write = O_WRONLY | O_CREAT | O_TRUNC;
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), write, 0600);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), write, 0600);
  pid_t child = 0;
  const int error = posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  require(error == 0, words[0], ": cannot be run: ", std::strerror(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) fail(words[0], ": cannot be waited for: ", std::strerror(errno));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

std::optional<PeerResult> run_pcl(const std::string& operation, const Cloud& cloud,
                                  const std::vector<std::string>& settings) {
  const std::optional<std::string> program = find_program();
  if (!program) return std::nullopt;
  const ScratchFolder folder("sextant_peer");
  const std::string input = folder.file("input.pcd");
  const std::string output = folder.file("output.floats");
  write_pcd(input, cloud);
  std::vector<std::string> words{*program, operation, input, output};
  words.insert(words.end(), settings.begin(), settings.end());
  const std::string out = folder.file("out.txt");
  const std::string err = folder.file("err.txt");
  const int status = run_program(words, out, err);
  require(status == 0, *program, ": ended with status ", status, ": ",
          text_of(err).substr(0, text_of(err).find('\n')));
  PeerResult result;
  const nlohmann::json line = nlohmann::json::parse(text_of(out), nullptr, false);
  require(line.is_object() && line.contains("library") && line.contains("floats_per_point") &&
              line.contains("times_ms"),
          *program, ": its output is not understood");
  result.library = line["library"];
  result.floats_per_point = line["floats_per_point"];
  result.times_ms = line["times_ms"];
  const std::string bytes = text_of(output);
  result.values.resize(bytes.size() / sizeof(float));
  std::memcpy(result.values.data(), bytes.data(), result.values.size() * sizeof(float));
  require(result.values.size() == static_cast<std::size_t>(cloud.size()) *
                                      static_cast<std::size_t>(result.floats_per_point),
          *program, ": gave ", result.values.size(), " numbers for ", cloud.size(), " points");
  return result;
}

}  // namespace sextant::app
