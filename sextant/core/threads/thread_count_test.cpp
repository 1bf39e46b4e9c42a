// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/threads/thread_count.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "sextant/core/context.h"
#include "tests/temporary_folder.h"

namespace sextant::detail {
namespace {

namespace fs = std::filesystem;

TEST(ThreadCount, TakesTheFirstNumberOfAList) {
  EXPECT_EQ(parse_thread_list("4"), 4);
  EXPECT_EQ(parse_thread_list("4,2"), 4);
  EXPECT_EQ(parse_thread_list(" 12 , 3"), 12);
  for (const char* text : {"", " ", "0", "-3", "four", "4x", ",4", "99999999999999999999"}) {
    EXPECT_EQ(parse_thread_list(text), std::nullopt) << text;
  }
}

TEST(ThreadCount, RoundsQuotasUp) {
  EXPECT_EQ(parse_quota("200000 100000\n"), 2);
  EXPECT_EQ(parse_quota("150000 100000\n"), 2);
  EXPECT_EQ(parse_quota("1000 100000\n"), 1);
  EXPECT_EQ(parse_quota("50000\n 100000\n"), 1);  // as version 1 has it in two files
  for (const char* text : {"", "max 100000\n", "-1\n 100000\n", "200000", "200000 0", "0 100000",
                           "200000 x", "quota"}) {
    EXPECT_EQ(parse_quota(text), std::nullopt) << text;
  }
}

TEST(ThreadCount, FindsGroupsOfVersion2) {
  const char* mounts =
      "22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
      "30 22 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
  EXPECT_EQ(control_group_directories("0::/user.slice/robot.service\n", mounts),
            (std::vector<std::string>{"/sys/fs/cgroup/user.slice/robot.service",
                                      "/sys/fs/cgroup/user.slice", "/sys/fs/cgroup"}));
  EXPECT_EQ(control_group_directories("0::/\n", mounts),
            std::vector<std::string>{"/sys/fs/cgroup"});
  // A group above the one that is mounted, as a namespace shows it.
  EXPECT_EQ(control_group_directories("0::/../other\n", mounts),
            std::vector<std::string>{"/sys/fs/cgroup"});
}

TEST(ThreadCount, FindsGroupsOfVersion1) {
  const char* mounts =
      "31 22 0:27 /docker/abc /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
      "32 22 0:28 /docker/abc /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
      "33 22 0:29 / /sys/fs/my\\040cgroup rw - cgroup2 cgroup rw\n";
  const char* groups = "5:cpuset:/docker/abc\n4:cpu,cpuacct:/docker/abc/part\n0::/x\n";
  EXPECT_EQ(
      control_group_directories(groups, mounts),
      (std::vector<std::string>{"/sys/fs/cgroup/cpu,cpuacct/part", "/sys/fs/cgroup/cpu,cpuacct",
                                "/sys/fs/my cgroup/x", "/sys/fs/my cgroup"}));
  // "/docker/abcd" is not below "/docker/abc".
  EXPECT_EQ(control_group_directories("4:cpu:/docker/abcd\n", mounts),
            std::vector<std::string>{"/sys/fs/cgroup/cpu,cpuacct"});
}

TEST(ThreadCount, SurvivesGarbage) {
  EXPECT_TRUE(control_group_directories("", "").empty());
  EXPECT_TRUE(control_group_directories("::\n:\n0::/a\n1:cpu\n", "a b - c\n- - -\n\n").empty());
  EXPECT_EQ(control_group_threads("/nowhere"), std::nullopt);
}

class Quota : public ::testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) {
    const fs::path path = folder_.path() / file;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  std::optional<int> threads() { return control_group_threads(folder_.path() / "process"); }

  testing::TemporaryFolder folder_;
};

TEST_F(Quota, IsTheLeastOnTheWayUp) {
  const std::string mount = folder_.path() / "groups";
  write("process/cgroup", "0::/robot/vision\n");
  write("process/mountinfo", "30 22 0:26 / " + mount + " rw - cgroup2 cgroup2 rw\n");
  EXPECT_EQ(threads(), std::nullopt);
  write("groups/robot/vision/cpu.max", "max 100000\n");
  EXPECT_EQ(threads(), std::nullopt);
  write("groups/robot/cpu.max", "250000 100000\n");
  EXPECT_EQ(threads(), 3);
  write("groups/robot/vision/cpu.max", "400000 100000\n");
  EXPECT_EQ(threads(), 3);
  write("groups/robot/vision/cpu.max", "90000 100000\n");
  EXPECT_EQ(threads(), 1);
}

TEST_F(Quota, OfVersion1IsRead) {
  const std::string mount = folder_.path() / "cpu";
  write("process/cgroup", "4:cpuacct,cpu:/robot\n");
  write("process/mountinfo", "30 22 0:26 / " + mount + " rw - cgroup cgroup rw,cpuacct,cpu\n");
  write("cpu/robot/cpu.cfs_period_us", "50000\n");
  write("cpu/robot/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(threads(), std::nullopt);
  write("cpu/robot/cpu.cfs_quota_us", "175000\n");
  EXPECT_EQ(threads(), 4);
}

TEST(ThreadCount, FollowsTheAffinityMask) {
  // The mask belongs to a thread, so that this one changes nobody else's.
  std::thread([] {
    cpu_set_t before;
    ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
    EXPECT_LE(hardware_threads(), CPU_COUNT(&before));
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &before)) continue;
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
      break;
    }
    EXPECT_EQ(hardware_threads(), 1);
    EXPECT_EQ(Context::cpu().threads(), 1);
    EXPECT_EQ(list_devices().devices.front().processors, 1);
  }).join();
}

TEST(ThreadCount, DefaultsToNoMoreThanTheEnvironmentSays) {
  const char* const set = std::getenv("OMP_NUM_THREADS");
  const std::string before = set ? set : "";
  const int all = hardware_threads();
  setenv("OMP_NUM_THREADS", "1,4", 1);
  EXPECT_EQ(Context::cpu().threads(), 1);
  EXPECT_EQ(Context::cpu(3).threads(), 3);  // who asks for a number gets it
  EXPECT_EQ(hardware_threads(), all);
  setenv("OMP_NUM_THREADS", "100000", 1);
  EXPECT_EQ(Context::cpu().threads(), all);
  setenv("OMP_NUM_THREADS", "many", 1);
  EXPECT_EQ(Context::cpu().threads(), all);
  if (set) {
    setenv("OMP_NUM_THREADS", before.c_str(), 1);
  } else {
    unsetenv("OMP_NUM_THREADS");
  }
}

}  // namespace
}  // namespace sextant::detail
