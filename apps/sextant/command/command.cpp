// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/command/command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdlib>
#include <limits>

#include "sextant/core/error.h"
#include "sextant/io/geometry_file.h"

namespace sextant::app {

CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& description,
                      const std::string& example, CommonOptions& options) {
  CLI::App* command = app.add_subcommand(name, description);
  command->footer("\nExample:\n  " + example);
  command->add_option("--device", options.device, "cpu, cuda, cuda:N or best")
      ->capture_default_str();
  command
      ->add_option("--threads", options.threads,
                   "threads on the CPU; without it as many as the process may use")
      ->check(CLI::Range(1, std::numeric_limits<int>::max()))
      ->type_name("N");
  // Contexts for work beside the main one, and the peers that `reproduce` starts, follow this.
  command->parse_complete_callback([&options] {
    if (options.threads > 0) {
      setenv("OMP_NUM_THREADS", std::to_string(options.threads).c_str(), 1);
    }
  });
  command->add_flag("--json", options.json, "one JSON document on stdout");
  return command;
}

Context context_for(const CommonOptions& options) {
  const std::string& device = options.device;
  const Context cpu = Context::cpu(options.threads);
  if (device == "cpu") return cpu;
  if (device == "best") {
    const Context best = Context::best();
    return best.is_cpu() ? cpu : best;
  }
  if (device == "cuda") return Context::cuda();
  constexpr std::string_view kPrefix = "cuda:";
  if (device.rfind(kPrefix, 0) == 0) {
    int ordinal = -1;
    const char* end = device.data() + device.size();
    const auto [stopped, error] = std::from_chars(device.data() + kPrefix.size(), end, ordinal);
    if (error == std::errc() && stopped == end) return Context::cuda(ordinal);
  }
  fail("--device: '", device, "' is none of cpu, cuda, cuda:N and best");
}

void Result::wrote(const char* key, const std::string& file) {
  document[key] = file;
  text += fmt::format("wrote {}\n", file);
}

void Result::wrote(const char* key, const std::vector<std::string>& files) {
  document[key] = files;
  for (const std::string& file : files) text += fmt::format("wrote {}\n", file);
}

void print_result(const CommonOptions& options, const Result& result) {
  // Names and comments of files are bytes of any kind; a document is UTF-8.
  const auto replace = nlohmann::json::error_handler_t::replace;
  const std::string output =
      options.json ? result.document.dump(2, ' ', false, replace) + "\n" : result.text;
  const bool written = std::fwrite(output.data(), 1, output.size(), stdout) == output.size() &&
                       std::fflush(stdout) == 0;
  require(written, "cannot write to standard output");
}

void require_an_output(std::initializer_list<std::string_view> files, const std::string& flags) {
  for (const std::string_view file : files) {
    if (!file.empty()) return;
  }
  throw CLI::ValidationError("nothing to write: pass " + flags);
}

void note(const std::string& text) { fmt::print(stderr, "{}\n", text); }

void note_dropped(const std::string& file, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    note(fmt::format("{}: this format cannot hold {}; left out", file, part));
  }
}

void note_left_out(const std::string& file, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    note(fmt::format("{}: {} has no place in a mesh; left out", file, part));
  }
}

void note_origin(const std::string& file, const Cloud& cloud) {
  const Vec3d& o = cloud.origin_m;
  if (o == Vec3d{}) return;
  note(
      fmt::format("{}: floats cannot hold these coordinates; they are taken about the origin {} "
                  "{} {} m, which files of points get back",
                  file, o.x, o.y, o.z));
}

void write_geometry_noting(const std::string& file, const TriangleMesh& mesh) {
  note_dropped(file, write_geometry(file, mesh));
}

}  // namespace sextant::app
