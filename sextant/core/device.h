// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sextant {

enum class DeviceKind : std::int32_t { kCpu = 0, kCuda = 1 };

/// Where memory lies and code runs.
struct Device {
  DeviceKind kind = DeviceKind::kCpu;
  std::int32_t ordinal = 0;  ///< index among the devices of that kind

  friend constexpr bool operator==(Device, Device) = default;
};

/// "cpu" or "cuda:0".
std::string to_string(Device device);

/// What `sextant devices` reports of one device.
struct DeviceInfo {
  Device device;
  std::string name;
  std::int64_t memory_bytes = 0;
  int processors = 0;           ///< threads this process may use, or multiprocessors of a GPU
  std::string instruction_set;  ///< "avx512 with vnni", "avx512", "avx2", "x86-64-v2", "neon";
                                ///< "sm_90" for a GPU
};

/// What this build contains and what this machine offers. Never throws: a missing or broken driver
/// is reported in `cuda_status`.
struct DeviceReport {
  std::string version;
  bool built_with_cuda = false;
  std::string cuda_toolkit;         ///< "13.0"; empty without CUDA
  std::string cuda_architectures;   ///< what the kernels were compiled for
  std::string cuda_status;          ///< "ready", or why no GPU can be used
  std::vector<DeviceInfo> devices;  ///< the CPU first
};

DeviceReport list_devices();

}  // namespace sextant
