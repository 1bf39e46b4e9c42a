// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <thread>

#include "sextant/core/random.h"
#include "sextant/library/library.h"
#include "tests/devices.h"
#include "tests/error_message.h"
#include "tests/learned_objects.h"
#include "tests/same_learned_object.h"
#include "tests/temporary_folder.h"

// Writers that are killed and readers beside them. Each is a process of its own: this program,
// started anew with one of the tests that are disabled otherwise, and told by its environment what
// to do.

namespace sextant {
namespace {

using testing::expect_same_object;
using testing::make_learned_object;
using testing::seed_of_test;

constexpr int kNames = 4;

/// Generation g of the objects that writers put; every one differs from all others.
LearnedObject generation(int g) {
  LearnedObject object =
      make_learned_object("object " + std::to_string(g % kNames), static_cast<std::uint64_t>(g),
                          {.rings = 6 + g % 7, .samples = 50, .shot = 20, .tensors = 10 + g % 40});
  object.bop_id = g;
  return object;
}

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// A process of this program that runs one disabled test, and what it writes.
class Child {
 public:
  Child(const std::string& test, const std::filesystem::path& library, int first_generation) {
    int out[2], in[2];
    if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(in, O_CLOEXEC) != 0) throw Error("no pipes");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out[1], 3);
    posix_spawn_file_actions_adddup2(&actions, in[0], 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    const std::string filter = "--gtest_filter=LibraryProcess.DISABLED_" + test;
    const char* arguments[] = {"sextant_tests", filter.c_str(), "--gtest_also_run_disabled_tests",
                               nullptr};
    ::setenv("SEXTANT_TEST_LIBRARY", library.c_str(), 1);
    ::setenv("SEXTANT_TEST_GENERATION", std::to_string(first_generation).c_str(), 1);
    const int result = ::posix_spawn(&process_, "/proc/self/exe", &actions, nullptr,
                                     const_cast<char**>(arguments), environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(out[1]);
    ::close(in[0]);
    out_ = out[0];
    in_ = in[1];
    if (result != 0) throw Error("no process");
  }
  ~Child() {
    if (process_ > 0) kill();
    ::close(out_);
    if (in_ >= 0) ::close(in_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Waits for a line that it writes; empty when it has ended.
  std::string line() {
    while (written_.find('\n') == std::string::npos) {
      char piece[256];
      const ssize_t got = ::read(out_, piece, sizeof(piece));
      if (got <= 0) return "";
      written_.append(piece, static_cast<std::size_t>(got));
    }
    const std::size_t end = written_.find('\n');
    const std::string first = written_.substr(0, end);
    written_.erase(0, end + 1);
    return first;
  }
  void kill() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = -1;
  }
  /// Asks it to end, and returns its exit status.
  int finish() {
    ::close(in_);
    in_ = -1;
    int status = 0;
    ::waitpid(process_, &status, 0);
    process_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t process_ = -1;
  std::string written_;  ///< and not yet returned
  int out_ = -1, in_ = -1;
};

void say(const std::string& line) {
  const std::string text = line + "\n";
  ASSERT_EQ(::write(3, text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

/// Whether the parent still wants this process to go on.
bool go_on() {
  pollfd poll{0, POLLIN, 0};
  return ::poll(&poll, 1, 0) == 0;
}

/// Puts one generation after the other, and says of each that it is there.
TEST(LibraryProcess, DISABLED_Writes) {
  const std::string path = from_environment("SEXTANT_TEST_LIBRARY");
  if (path.empty()) GTEST_SKIP() << "is run by LibraryProcess.SurvivesKills";
  Library library(path);
  say("ready");
  for (int g = std::stoi(from_environment("SEXTANT_TEST_GENERATION")); go_on(); ++g) {
    library.put(generation(g));
    say(std::to_string(g));
  }
}

/// Loads objects and compares them with what their generation was, until told to stop.
TEST(LibraryProcess, DISABLED_Reads) {
  const std::string path = from_environment("SEXTANT_TEST_LIBRARY");
  if (path.empty()) GTEST_SKIP() << "is run by LibraryProcess.SurvivesKills";
  int loaded = 0;
  for (; go_on() && !HasFailure(); std::this_thread::sleep_for(std::chrono::milliseconds(5))) {
    const Library library(path, LibraryAccess::kRead);
    for (const ObjectEntry& entry : library.list()) {
      const LearnedObject object = library.load(entry.name);
      expect_same_object(object, generation(object.bop_id));
      ++loaded;
    }
  }
  EXPECT_GT(loaded, 0);
}

TEST(LibraryProcess, SurvivesKills) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path file = folder / "objects.sxt";
  Library(file).put(generation(0));
  Child first_reader("Reads", file, 0), second_reader("Reads", file, 0);

  const Random random{seed_of_test()};
  std::map<int, int> reported = {{0, 0}};  // of each name, the last generation
  int next = 1;
  constexpr int kKills = 50;
  for (std::uint64_t kill = 0; kill < kKills; ++kill) {
    Child writer("Writes", file, next);
    const auto hear = [&] {
      const std::string line = writer.line();
      if (line.empty()) return false;
      const int g = std::stoi(line);
      reported[g % kNames] = g;
      next = g + 1;
      return true;
    };
    ASSERT_EQ(writer.line(), "ready");
    // Some puts, and then at any moment of the next one.
    const auto start = std::chrono::steady_clock::now();
    const std::uint32_t puts = 1 + random.below(3, 2 * kill);
    for (std::uint32_t i = 0; i < puts; ++i) ASSERT_TRUE(hear());
    const auto one_put = (std::chrono::steady_clock::now() - start) / puts;
    std::this_thread::sleep_for(one_put * random.uniform(2 * kill + 1));
    writer.kill();
    while (hear()) {
    }

    Library library(file);
    library.verify();
    for (const auto& [name, last] : reported) {
      const LearnedObject object = library.load("object " + std::to_string(name));
      // What was reported is there, or what was put after it and killed before its report.
      EXPECT_GE(object.bop_id, last);
      next = std::max(next, object.bop_id + 1);
      expect_same_object(object, generation(object.bop_id));
    }
    if (HasFailure()) break;
  }
  EXPECT_EQ(first_reader.finish(), 0);
  EXPECT_EQ(second_reader.finish(), 0);
}

TEST(LibraryProcess, SurvivesKillsWhileItIsMade) {
  const Random random{seed_of_test()};
  auto one_put = std::chrono::nanoseconds(std::chrono::milliseconds(20));
  for (std::uint64_t kill = 0; kill < 20; ++kill) {
    const testing::TemporaryFolder folder;
    const std::filesystem::path file = folder / "objects.sxt";
    Child writer("Writes", file, 0);
    ASSERT_EQ(writer.line(), "ready");
    const auto start = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(1.5 * one_put * random.uniform(kill));
    writer.kill();
    const bool said = writer.line() == "0";
    if (said) one_put = std::chrono::steady_clock::now() - start;
    Library library(file);
    library.verify();
    EXPECT_TRUE(library.contains("object 0") || !said);
    library.put(generation(1));
    expect_same_object(library.load("object 1"), generation(1));
  }
}

/// Writers take turns.
TEST(LibraryProcess, LetsSeveralWrite) {
  const testing::TemporaryFolder folder;
  const std::filesystem::path file = folder / "objects.sxt";
  Library(file).put(generation(0));
  Child first("Writes", file, 0), second("Writes", file, 1000), reader("Reads", file, 0);
  for (Child* writer : {&first, &second}) {
    ASSERT_EQ(writer->line(), "ready");
    for (int i = 0; i < 2 * kNames; ++i) ASSERT_NE(writer->line(), "");
  }
  EXPECT_EQ(first.finish(), 0);
  EXPECT_EQ(second.finish(), 0);
  EXPECT_EQ(reader.finish(), 0);
  Library(file).verify();
  EXPECT_EQ(Library(file).list().size(), static_cast<std::size_t>(kNames));
}

}  // namespace
}  // namespace sextant
