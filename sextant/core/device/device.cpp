// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/device.h"

#include <unistd.h>

#include <exception>
#include <fstream>

#include "sextant/core/build_config.h"
#include "sextant/core/cuda/backend.h"
#include "sextant/core/simd/instruction_set.h"
#include "sextant/core/threads/thread_count.h"

namespace sextant {

namespace {

std::string cpu_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

std::string cpu_instruction_set() {
  switch (detail::supported_instruction_set()) {
    case detail::InstructionSet::kAvx512Vnni:
      return "avx512 with vnni";
    case detail::InstructionSet::kAvx512:
      return "avx512";
    case detail::InstructionSet::kAvx2:
      return "avx2";
    case detail::InstructionSet::kPortable:
      break;
  }
#if defined(__x86_64__)
  return "x86-64-v2";
#elif defined(__aarch64__)
  return "neon";
#else
  return "generic";
#endif
}

DeviceInfo cpu_info() {
  DeviceInfo info;
  info.name = cpu_name();
  info.memory_bytes = std::int64_t{sysconf(_SC_PHYS_PAGES)} * std::int64_t{sysconf(_SC_PAGE_SIZE)};
  info.processors = detail::hardware_threads();
  info.instruction_set = cpu_instruction_set();
  return info;
}

}  // namespace

std::string to_string(Device device) {
  return device.kind == DeviceKind::kCpu ? "cpu" : "cuda:" + std::to_string(device.ordinal);
}

DeviceReport list_devices() {
  DeviceReport report;
  report.version = kVersion;
  report.built_with_cuda = kBuiltWithCuda;
  report.cuda_status = "this build has no CUDA back end";
  report.devices.push_back(cpu_info());
  if constexpr (kBuiltWithCuda) {
    report.cuda_toolkit = detail::cuda::toolkit_version();
    report.cuda_architectures = kCudaArchitectures;
    const int count = detail::cuda::device_count(report.cuda_status);
    for (int ordinal = 0; ordinal < count; ++ordinal) {
      try {
        report.devices.push_back(detail::cuda::device_info(ordinal));
      } catch (const std::exception& error) {
        report.cuda_status = error.what();
      }
    }
  }
  return report;
}

}  // namespace sextant
