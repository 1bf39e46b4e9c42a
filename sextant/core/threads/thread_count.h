// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::detail {

/// How many hardware threads this process may use at once: its affinity mask and the quota of its
/// control group, rounded up. The quota is read once.
int hardware_threads();

/// Whether a control group limits the processor time of this process.
bool has_quota();

/// The same, and no more than OMP_NUM_THREADS says: what a context takes by default.
int default_threads();

/// The first number of "4" or "4,2"; nothing where that is no positive number.
std::optional<int> parse_thread_list(std::string_view text);

/// Processors that a quota amounts to, rounded up: the text of `cpu.max` ("150000 100000" is 2), or
/// of `cpu.cfs_quota_us` and `cpu.cfs_period_us` with a blank between. Nothing for "max", for a
/// negative quota and for anything else that limits nothing.
std::optional<int> parse_quota(std::string_view text);

/// The directories whose quotas bind a process, innermost first, from the texts of
/// /proc/self/cgroup and /proc/self/mountinfo, for version 1 and version 2 of control groups.
std::vector<std::string> control_group_directories(std::string_view groups,
                                                   std::string_view mounts);

/// The least quota of the control groups that the files `cgroup` and `mountinfo` in
/// `process_directory` name; nothing where there is none.
std::optional<int> control_group_threads(const std::string& process_directory);

}  // namespace sextant::detail
