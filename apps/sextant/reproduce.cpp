// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "apps/sextant/command/command.h"
#include "apps/sextant/command/progress_bar.h"
#include "apps/sextant/experiments/experiments.h"
#include "apps/sextant/subcommands.h"
#include "sextant/core/error.h"

namespace sextant::app {

namespace {

constexpr Experiment kExperiments[] = {
    {"normals-bilateral",
     "Table 1 of the tensor paper: error of normals on a plane, raw and after the bilateral filter",
     normals_bilateral},
    {"surface-speed", "Table 3 of the tensor paper, first five rows: time of each step",
     surface_speed},
    {"voting-error", "Figs 2 and 3 of the voting paper: error of normals on a noisy surface",
     voting_error},
    {"voting-kernel", "Fig 6 of the voting paper: votes and time against sigma", voting_kernel},
    {"voting-scan", "which normals are best on a synthetic scan, noise by noise", voting_scan},
    {"voting-speed", "Table II, Figs 7 and 8 of the voting paper: time of voting", voting_speed},
    {"voting-sigma",
     "Fig 4 of the voting paper: steps and slopes of stairs, and error, against sigma",
     voting_sigma},
    {"voting-steps", "Table II of the voting paper: time of grid, votes and split, on stairs",
     voting_steps},
    {"voting-clouds",
     "captured clouds of the voting paper: the authors' saliencies beside ours, votes and times",
     voting_clouds},
    {"tensor-speed",
     "Table 3 of the tensor paper, pairs and tensors, and its figures 11 to 13: 1 to 2000 tensors",
     tensor_speed},
    {"tensor-matching", "Table 4 of the tensor paper: time against the size of the library",
     tensor_matching},
    {"tensor-recognition",
     "Fig. 15 of the tensor paper: which of seven objects a single tensor is taken for",
     tensor_recognition},
    {"tensor-occlusion",
     "Figs. 16 and 17 of the tensor paper: what is found of hidden objects, source by source",
     tensor_occlusion},
    {"pose-covariance",
     "errors of found poses against their covariances, over draws of the sensors' noise",
     pose_covariance},
    {"recognition-tables",
     "seven toys among strangers on 100 tables: what is found by how much is hidden, and errors",
     recognition_tables},
    {"recognition-time",
     "section 4.3.3 of the tensor paper: time from a depth map to poses, step by step",
     recognition_time},
    {"shot-speed", "the G-SHOT paper's speed-ups over serial PCL, exact and approximate",
     shot_speed},
    {"shot-descriptiveness",
     "recall against 1 - precision of SHOT on noisy copies, exact and approximate",
     shot_descriptiveness},
    {"curvature-accuracy",
     "Table 1 and Figs. 5-6 of the curvature paper: error on ten objects, by five methods",
     curvature_accuracy},
    {"curvature-distance", "Fig. 7 of the curvature paper: error against distance",
     curvature_distance},
    {"curvature-sensors",
     "a ball and two tori from 0.5 to 4 m, as a Kinect and a RealSense see them: valid share, bias",
     curvature_sensors},
    {"curvature-noise",
     "Figs. 8 and 10 of the curvature paper: error of curvature and normals against noise",
     curvature_noise},
    {"curvature-speed", "Table 2 of the curvature paper: time by patch and image size",
     curvature_speed},
    {"curvature-correspondence",
     "Tables 3-4 of the curvature paper: which objects have like curvature in other views",
     curvature_correspondence},
    {"real-surfaces",
     "normals, filter, curvature and segmentation on frames of real sensors, against what is known",
     real_surfaces},
    {"learn-captured", "captured models learned: symmetries, views, tensors and seconds of each",
     learn_captured},
    {"moped-matching",
     "Table 2 and Fig. 6 of MOPED: strategies of matching on its own photographs and models",
     moped_matching},
    {"moped-poses", "poses in MOPED's own photographs, by its models", moped_poses},
    {"photo-score", "whether the scores of recognition in photographs are probabilities",
     photo_score},
};

struct ReproduceCommand {
  CommonOptions common;
  std::string name;
};

std::string or_dash(const std::optional<double>& value) {
  return value ? fmt::format("{:.4g}", *value) : "-";
}

std::string to_text(const Experiment& experiment, const std::string& device,
                    const std::vector<measure::Row>& rows) {
  std::string text = fmt::format("{}: {}\non {}\n\n", experiment.name, experiment.what, device);
  std::size_t width = 0;
  for (const measure::Row& row : rows)
    width = std::max(width, row.what.size() + row.unit.size() + 3);
  text +=
      fmt::format("{:<{}} {:>9} {:>9} {:>9} {:>9}\n", "", width, "paper", "peer", "ours", "goal");
  for (const measure::Row& row : rows) {
    const char* verdict = row.met ? (*row.met ? "met" : "missed") : "";
    text += fmt::format("{:<{}} {:>9} {:>9} {:>9.4g} {:>9} {:>9}\n",
                        fmt::format("{} [{}]", row.what, row.unit), width, or_dash(row.paper),
                        or_dash(row.peer), row.ours, or_dash(row.goal), verdict);
  }
  return text;
}

const Experiment& find(const std::string& name) {
  for (const Experiment& experiment : kExperiments) {
    if (name == experiment.name) return experiment;
  }
  fail("there is no experiment '", name, "'; 'sextant reproduce' lists them");
}

void list(const CommonOptions& options) {
  nlohmann::json names = nlohmann::json::array();
  std::string text;
  for (const Experiment& experiment : kExperiments) {
    names.push_back({{"name", experiment.name}, {"what", experiment.what}});
    text += fmt::format("{:<26} {}\n", experiment.name, experiment.what);
  }
  print_result(options, {{{"experiments", names}}, text});
}

void run(const ReproduceCommand& command) {
  if (command.name.empty()) return list(command.common);
  const Experiment& experiment = find(command.name);
  const Context context = context_for(command.common);
  std::string device;
  for (const DeviceInfo& info : list_devices().devices) {
    if (info.device == context.device()) device = info.name;
  }
  const std::vector<measure::Row> rows = [&] {
    const ElapsedLine line(experiment.name);
    return experiment.run(context);
  }();
  print_result(command.common, {measure::to_json(experiment.name, device, rows),
                                to_text(experiment, device, rows)});
}

}  // namespace

void add_reproduce(CLI::App& app) {
  auto state = std::make_shared<ReproduceCommand>();
  CLI::App* command =
      add_command(app, "reproduce", "Runs an experiment of a paper: its figures beside ours",
                  "sextant reproduce normals-bilateral --device cpu", state->common);
  command->add_option("NAME", state->name, "the experiment; without it they are listed");
  command->callback([state]() { run(*state); });
}

}  // namespace sextant::app
