// SPDX-License-Identifier: Apache-2.0
// Ctrl-C and SIGTERM end a command at once, whatever it does, and leave nothing half done.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

#include "tests/end_to_end/command_line.h"
#include "tests/end_to_end/slow_cloud.h"

namespace sextant {
namespace {

using Clock = std::chrono::steady_clock;

/// How a process ended, and how long after the signal.
struct End {
  int wait_status = 0;
  double seconds = 0;
};

class SignalsCli : public testing::CommandLine {
 protected:
  /// Starts the command line in the folder, sends it a signal when `when` is true, and waits.
  End interrupted(const std::string& arguments, int number, const std::function<bool()>& when) {
    const std::string script = "cd '" + folder_.path().string() + "' && exec '" +
                               testing::program() + "' " + arguments + " >stdout.txt 2>stderr.txt";
    const char* words[] = {"sh", "-c", script.c_str(), nullptr};
    pid_t child = 0;
    // What the test's own process ignores (nohup) does not count.
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t all{};
    sigfillset(&all);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    EXPECT_EQ(posix_spawnp(&child, "sh", nullptr, &attributes, const_cast<char**>(words), environ),
              0);
    posix_spawnattr_destroy(&attributes);
    End end;
    pid_t ended = 0;
    while ((ended = waitpid(child, &end.wait_status, WNOHANG)) == 0 && !when()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(ended, 0) << "it ended by itself: " << testing::text_of(folder_ / "stderr.txt");
    if (ended != 0) return end;
    const auto start = Clock::now();
    kill(child, number);
    waitpid(child, &end.wait_status, 0);
    end.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return end;
  }

  bool has_temporary() const {
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      if (entry.path().filename().string().starts_with(".sextant-")) return true;
    }
    return false;
  }
};

/// True for the first time after so many seconds.
std::function<bool()> after_s(double seconds) {
  return [start = Clock::now(), seconds] {
    return std::chrono::duration<double>(Clock::now() - start).count() > seconds;
  };
}

/// By the signal itself, which a shell reports as 128 + its number: 130 and 143.
void expect_ended_by(int number, const End& end) {
  EXPECT_TRUE(WIFSIGNALED(end.wait_status));
  EXPECT_EQ(WTERMSIG(end.wait_status), number);
  EXPECT_LT(end.seconds, 2);  // a hundredth of it on a machine with nothing else to do
}

TEST_F(SignalsCli, ComputingStopsAtOnce) {
  testing::write_slow_cloud(folder_ / "slow.ply");
  for (const int number : {SIGINT, SIGTERM}) {
    expect_ended_by(number, interrupted(testing::kSlowNormals, number, after_s(1)));
    EXPECT_FALSE(has_temporary());
    EXPECT_FALSE(std::filesystem::exists(folder_ / "out.ply"));
  }
}

TEST_F(SignalsCli, EveryLongCommandStopsAtOnce) {
  testing::write_slow_cloud(folder_ / "slow.ply");
  for (const char* command :
       {"curvature slow.ply -o out.ply", "segment slow.ply -o out.ply", "align slow.ply slow.ply",
        "describe slow.ply -o out.sxd", "learn objects.sxt slow.ply", "synth --bop --output set",
        "reproduce curvature-noise"}) {
    SCOPED_TRACE(command);
    expect_ended_by(SIGINT, interrupted(command, SIGINT, after_s(0.4)));
    EXPECT_FALSE(has_temporary());
    EXPECT_FALSE(std::filesystem::exists(folder_ / "out.ply"));
  }
}

TEST_F(SignalsCli, WritingLeavesTheOldFileAndNoOther) {
  testing::write_slow_cloud(folder_ / "slow.ply");
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    std::ofstream(folder_ / "out.ply") << "old";
    expect_ended_by(number, interrupted("convert slow.ply out.ply --encoding ascii", number,
                                        [this] { return has_temporary(); }));
    EXPECT_FALSE(has_temporary());
    EXPECT_TRUE(testing::text_of(folder_ / "out.ply") == "old");
  }
}

/// `reproduce` passes clouds to another program by way of a folder among the temporary ones.
TEST_F(SignalsCli, FoldersForOtherProgramsGoToo) {
  std::filesystem::create_directory(folder_ / "tmp");
  std::ofstream(folder_ / "peer.sh") << "#!/bin/sh\nexec sleep 3\n";
  std::filesystem::permissions(folder_ / "peer.sh", std::filesystem::perms::owner_all);
  setenv("TMPDIR", (folder_ / "tmp").c_str(), 1);
  setenv("SEXTANT_PEER_PCL", (folder_ / "peer.sh").c_str(), 1);
  const auto in_use = [this] { return !std::filesystem::is_empty(folder_ / "tmp"); };
  const End end = interrupted("reproduce curvature-accuracy --device cpu", SIGTERM, in_use);
  unsetenv("TMPDIR");
  unsetenv("SEXTANT_PEER_PCL");
  expect_ended_by(SIGTERM, end);
  EXPECT_FALSE(in_use());
}

TEST_F(SignalsCli, WaitingForAPipeStopsAtOnce) {
  ASSERT_EQ(mkfifo((folder_ / "pipe.ply").c_str(), 0600), 0);
  expect_ended_by(SIGINT, interrupted("info pipe.ply", SIGINT, after_s(0.5)));
}

TEST_F(SignalsCli, AShellSeesTheUsualStatus) {
  testing::write_slow_cloud(folder_ / "slow.ply");
  const std::string work = std::string("\"$SEXTANT\" ") + testing::kSlowNormals;
  EXPECT_EQ(shell("timeout --preserve-status -s INT 1 " + work), 130);
  EXPECT_EQ(shell("timeout --preserve-status -s TERM 1 " + work), 143);
  // Also of a process in the background of a script, which starts with SIGINT ignored.
  EXPECT_EQ(shell(work + " & p=$!; sleep 1; kill -INT $p; wait $p"), 130);
}

}  // namespace
}  // namespace sextant
