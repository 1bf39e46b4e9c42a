// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/command/command.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "apps/sextant/command/options_cli.h"
#include "apps/sextant/command/progress_bar.h"
#include "apps/sextant/command/streams.h"
#include "sextant/core/device.h"
#include "sextant/core/error.h"
#include "sextant/io/geometry_file.h"

namespace sextant::app {

namespace {

constexpr int kMostThreads = 1024;  // the library's limit

/// The GPU, or what is wrong in the words of the command line.
Context cuda_context(const std::string& device, int ordinal) {
  try {
    return Context::cuda(ordinal);
  } catch (const Error& error) {
    const DeviceReport report = list_devices();
    const std::size_t gpus = report.devices.size() - 1;
    require(gpus > 0, "--device ", device, ": ", report.cuda_status,
            "; --device cpu works everywhere");
    require(ordinal >= 0 && static_cast<std::size_t>(ordinal) < gpus, "--device ", device,
            ": this machine has cuda:0 to cuda:", gpus - 1);
    fail("--device ", device, ": ", error.what());
  }
}

/// All remarks of this run, for the document.
std::vector<std::string>& notes() {
  static std::vector<std::string> all;
  return all;
}

}  // namespace

CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& description,
                      const std::string& example, CommonOptions& options) {
  CLI::App* command = app.add_subcommand(name, description);
  command->footer("\nExample:\n  " + example);
  command->add_option("--device", options.device, "cpu, cuda, cuda:N or best")
      ->capture_default_str();
  command
      ->add_option("--threads", options.threads,
                   "threads on the CPU; without it as many as the process may use")
      ->check(within<int>({1, kMostThreads}))
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
  if (device == "cuda") return cuda_context(device, 0);
  constexpr std::string_view kPrefix = "cuda:";
  if (device.rfind(kPrefix, 0) == 0) {
    int ordinal = -1;
    const char* end = device.data() + device.size();
    const auto [stopped, error] = std::from_chars(device.data() + kPrefix.size(), end, ordinal);
    if (error == std::errc() && stopped == end) return cuda_context(device, ordinal);
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
  nlohmann::json document = result.document;
  if (!notes().empty()) document["notes"] = notes();
  print(options.json ? dump(document) : result.text);
}

std::string dump(const nlohmann::json& document) {
  // Names and comments of files are bytes of any kind, while JSON is UTF-8.
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

void require_an_output(std::initializer_list<std::string_view> files, const std::string& flags) {
  for (const std::string_view file : files) {
    if (!file.empty()) return;
  }
  throw CLI::ValidationError("nothing to write: pass " + flags);
}

void note(const std::string& text) {
  notes().push_back(text);
  erase_progress();
  say(text + "\n");
}

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
  const ElapsedLine line("writing " + file);
  note_dropped(file, write_geometry(file, mesh));
}

void make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  require(std::filesystem::is_directory(folder), folder,
          ": cannot be made: ", error ? error.message() : "a file has this name");
}

}  // namespace sextant::app
