// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "apps/sextant/command/command.h"
#include "apps/sextant/subcommands.h"

namespace sextant::app {

namespace {

nlohmann::json to_json(const DeviceReport& report) {
  nlohmann::json devices = nlohmann::json::array();
  for (const DeviceInfo& info : report.devices) {
    devices.push_back({{"device", to_string(info.device)},
                       {"name", info.name},
                       {"memory_bytes", info.memory_bytes},
                       {"processors", info.processors},
                       {"instruction_set", info.instruction_set}});
  }
  return {{"version", report.version},
          {"cuda",
           {{"built", report.built_with_cuda},
            {"toolkit", report.cuda_toolkit},
            {"architectures", report.cuda_architectures},
            {"status", report.cuda_status}}},
          {"devices", devices}};
}

std::string to_text(const DeviceReport& report) {
  std::string text = fmt::format("sextant {}\n", report.version);
  if (report.built_with_cuda) {
    text += fmt::format("CUDA {}, kernels for {}: {}\n", report.cuda_toolkit,
                        report.cuda_architectures, report.cuda_status);
  } else {
    text += "CUDA: not in this build\n";
  }
  for (const DeviceInfo& info : report.devices) {
    const bool cpu = info.device.kind == DeviceKind::kCpu;
    text += fmt::format("  {:<7} {}, {} {}, {:.1f} GiB, {}\n", to_string(info.device), info.name,
                        info.processors, cpu ? "threads" : "multiprocessors",
                        static_cast<double>(info.memory_bytes) / (1 << 30), info.instruction_set);
  }
  return text;
}

}  // namespace

void add_devices(CLI::App& app) {
  auto options = std::make_shared<CommonOptions>();
  CLI::App* command =
      add_command(app, "devices", "What this build contains and what this machine offers",
                  "sextant devices --json", *options);
  command->callback([options]() {
    context_for(*options);  // a device that was asked for and is not there is a failure
    const DeviceReport report = list_devices();
    print_result(*options, {to_json(report), to_text(report)});
  });
}

}  // namespace sextant::app
