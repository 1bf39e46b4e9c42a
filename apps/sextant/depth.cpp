// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "apps/sextant/command/command.h"
#include "apps/sextant/command/files.h"
#include "apps/sextant/command/options_cli.h"
#include "apps/sextant/command/step_times.h"
#include "apps/sextant/input/depth_map.h"
#include "apps/sextant/input/file_kind.h"
#include "apps/sextant/subcommands.h"
#include "sextant/depth/bilateral.h"
#include "sextant/depth/color_points.h"
#include "sextant/depth/deproject.h"
#include "sextant/depth/disparity.h"
#include "sextant/geometry/mesh.h"
#include "sextant/io/depth_file.h"
#include "sextant/io/image_file.h"
#include "sextant/io/json_file.h"
#include "sextant/render/color_map.h"

namespace sextant::app {

namespace {

struct DepthCommand {
  CommonOptions common;
  std::string input;
  double unit_m = 0;  ///< 0: what the camera file says, else millimetres
  bool disparity = false;
  KinectDisparityOptions kinect;
  bool filter = false;
  BilateralOptions bilateral;
  std::string camera;
  std::string color;
  std::string color_camera;
  std::string color_from_depth;
  std::string depth_output;
  double output_unit_m = 0;  ///< 0: 0.001, and metres in a TIFF
  std::string cloud_output;
  std::string picture;
  double picture_near_m = 0;  ///< 0: from the depth itself
  double picture_far_m = 0;
};

/// A raw disparity map: the integers of a file as they are. The reader makes a hole of 0, which
/// here is a very near point.
Image<std::uint16_t> disparity_of(const Image<float>& read) {
  Image<std::uint16_t> raw(Context::cpu(1), read.width(), read.height());
  std::transform(read.pixels().host().begin(), read.pixels().host().end(),
                 raw.pixels().host().begin(), [](float value) {
                   return std::isnan(value) ? std::uint16_t{0} : static_cast<std::uint16_t>(value);
                 });
  return raw;
}

/// The depth on the context's device, and the camera where there is one.
DepthMap read_input(const DepthCommand& command, const Context& context, StepTimes& times) {
  DepthMap map;
  Image<std::uint16_t> raw;
  times.time("read", context, [&] {
    map = read_depth_map(command.input, command.camera, command.unit_m, command.disparity);
    if (command.disparity) {
      raw = copy(context, disparity_of(map.depth_m));
    } else {
      map.depth_m = copy(context, map.depth_m);
    }
  });
  if (command.disparity) {
    map.depth_m = times.time("disparity", context, [&] {
      return depth_from_kinect_disparity(context, raw, command.kinect);
    });
  }
  return map;
}

/// {"rotation": nine numbers row by row, "translation_m": three}.
Rigid3d read_rigid(const std::string& path) {
  const nlohmann::json document = read_json_file(path);
  const auto numbers = [&](const char* key, std::size_t count) {
    require(document.is_object() && document.contains(key), path, ": has no ", key);
    const nlohmann::json& list = document.at(key);
    const bool fits = list.is_array() && list.size() == count &&
                      std::all_of(list.begin(), list.end(),
                                  [](const nlohmann::json& item) { return item.is_number(); });
    require(fits, path, ": ", key, " is not a list of ", count, " numbers");
    return list.get<std::vector<double>>();
  };
  const std::vector<double> r = numbers("rotation", 9);
  const std::vector<double> t = numbers("translation_m", 3);
  return {Mat3d{{{r[0], r[1], r[2]}, {r[3], r[4], r[5]}, {r[6], r[7], r[8]}}}, {t[0], t[1], t[2]}};
}

Cloud make_cloud(const DepthCommand& command, const Context& context, const Image<float>& depth_m,
                 const Camera& camera, StepTimes& times) {
  Cloud cloud =
      times.time("deproject", context, [&] { return deproject(context, depth_m, camera); });
  if (command.color.empty()) return cloud;
  const Image<Rgb8> image = copy(context, read_color_image(command.color));
  cloud.colors = times.time("color", context, [&] {
    if (command.color_camera.empty() && command.color_from_depth.empty()) {
      require(image.width() == depth_m.width() && image.height() == depth_m.height(), command.color,
              ": ", image.width(), " x ", image.height(), " px, but the depth has ",
              depth_m.width(), " x ", depth_m.height(),
              "; an image of another camera needs --color-camera");
      return color_points(context, cloud.points, image);
    }
    ColorCamera color{camera, {}};
    if (!command.color_camera.empty()) {
      const CameraImage seen{command.color, image.width(), image.height()};
      color.camera = read_camera_json(command.color_camera, seen).camera;
    }
    if (!command.color_from_depth.empty()) {
      color.color_from_points = read_rigid(command.color_from_depth);
    }
    return color_points(context, cloud.points, image, color);
  });
  return cloud;
}

void write_picture(const DepthCommand& command, const Image<float>& depth_m) {
  const ValueRange range = value_range(depth_m);
  const float near_m = command.picture_near_m > 0 ? float(command.picture_near_m) : range.low;
  const float far_m = command.picture_far_m > 0 ? float(command.picture_far_m) : range.high;
  write_image(command.picture, color_map(depth_m, far_m, near_m));
}

/// Writes what was asked for and returns the names of the files.
std::vector<std::string> write_outputs(const DepthCommand& command, const Image<float>& depth_m,
                                       Cloud cloud) {
  std::vector<std::string> written;
  if (!command.depth_output.empty()) {
    write_depth(command.depth_output, depth_m, command.output_unit_m);
    written.push_back(command.depth_output);
  }
  if (!command.picture.empty()) {
    write_picture(command, depth_m);
    written.push_back(command.picture);
  }
  if (!command.cloud_output.empty()) {
    TriangleMesh mesh;
    mesh.vertices = std::move(cloud);
    write_geometry_noting(command.cloud_output, mesh);
    written.push_back(command.cloud_output);
  }
  return written;
}

void run(const DepthCommand& command) {
  const Context context = context_for(command.common);
  StepTimes times;
  DepthMap map = read_input(command, context, times);
  Image<float>& depth_m = map.depth_m;
  if (command.filter) {
    depth_m = times.time("filter", context,
                         [&] { return bilateral_filter(context, depth_m, command.bilateral); });
  }
  Cloud cloud;
  if (!command.cloud_output.empty()) {
    cloud = make_cloud(command, context, depth_m, map.camera->camera, times);
  }
  const Image<float> on_host = to_host(context, depth_m);
  const std::vector<std::string> written = times.time(
      "write", context, [&] { return write_outputs(command, on_host, to_host(context, cloud)); });
  Result result;
  nlohmann::json& document = result.document;
  const DepthSummary summary = summarize_depth(on_host);
  summary.add_to(document);
  document["width"] = on_host.width();
  document["height"] = on_host.height();
  document["input"] = command.input;
  document["device"] = to_string(context.device());
  document["filtered"] = command.filter;
  document["times_ms"] = times.to_json();
  result.text = fmt::format("{}: {} x {} pixels, {} valid{}\n  {} on {}\n", command.input,
                            on_host.width(), on_host.height(), summary.valid_pixels, summary.text(),
                            times.text(), to_string(context.device()));
  result.wrote("outputs", written);
  print_result(command.common, result);
}

void check_usage(const CLI::App& flags, const DepthCommand& command) {
  if (!command.cloud_output.empty() && command.camera.empty()) {
    throw CLI::ValidationError("--cloud-output needs --camera");
  }
  if (!command.color.empty() && command.cloud_output.empty()) {
    throw CLI::ValidationError("--color paints the cloud: give --cloud-output too");
  }
  if (command.color.empty() &&
      !(command.color_camera.empty() && command.color_from_depth.empty())) {
    throw CLI::ValidationError("--color-camera and --color-from-depth belong to --color");
  }
  if (command.disparity) {
    refuse_flags(flags, {"--unit-m"}, "raw disparity is no length");
  } else {
    refuse_flags(flags, flags_of<KinectDisparityOptions>(), "it belongs to --disparity");
  }
  if (!command.filter) refuse_flags(flags, flags_of<BilateralOptions>(), "it belongs to --filter");
  if (command.depth_output.empty()) {
    refuse_flags(flags, {"--output-unit-m"}, "it belongs to --depth-output");
  }
  if (const std::string extension = lower_extension(command.depth_output);
      extension == ".tif" || extension == ".tiff") {
    refuse_flags(flags, {"--output-unit-m"}, "a TIFF holds metres");
  }
  if (command.picture.empty()) {
    refuse_flags(flags, {"--picture-near-m", "--picture-far-m"}, "it belongs to --picture");
  }
  if (command.disparity && command.cloud_output.empty()) {
    refuse_flags(flags, {"--camera"}, "it belongs to --cloud-output, or says the unit of depth");
  }
  check_files({{"INPUT", command.input},
               {"--camera", command.camera},
               {"--color", command.color},
               {"--color-camera", command.color_camera},
               {"--color-from-depth", command.color_from_depth}},
              {{"--depth-output", command.depth_output, kDepthFiles},
               {"--cloud-output", command.cloud_output, kCloudFiles},
               {"--picture", command.picture, kPictureFiles}});
}

void add_inputs(CLI::App& command, DepthCommand& state) {
  command
      .add_option("INPUT", state.input,
                  "depth map: PNG, PGM or TIFF with 16-bit integers, or TIFF with floats; with "
                  "--disparity, raw disparity")
      ->required();
  command
      .add_option("--unit-m", state.unit_m,
                  "metres per step of the input (default: the camera file's depth_scale, else "
                  "0.001 for integers and 1 for floats)")
      ->check(within<double>({1e-9, 1e3}));
  command.add_flag("--disparity", state.disparity, "the input is raw Kinect disparity (11 bits)");
  command.add_option("--camera", state.camera, "camera file of the depth map");
  command.add_option("--color", state.color, "colour image for the cloud, registered to the depth");
  command.add_option("--color-camera", state.color_camera,
                     "camera file of --color, if not the same");
  command.add_option("--color-from-depth", state.color_from_depth,
                     "JSON with rotation (9 numbers, row by row) and translation_m (3)");
  add_flags(command, state.kinect);
  command.add_flag("--filter", state.filter, "bilateral filter");
  add_flags(command, state.bilateral);
}

void add_outputs(CLI::App& command, DepthCommand& state) {
  command.add_option("--depth-output", state.depth_output,
                     "depth map: PNG or PGM in steps, or TIFF with floats in metres");
  command
      .add_option(
          "--output-unit-m", state.output_unit_m,
          "metres per step of a PNG or PGM (default: 0.001); 0.0001 keeps what the filter gained")
      ->check(within<double>({1e-9, 1e3}));
  command.add_option("--cloud-output", state.cloud_output, "organised cloud: PLY or PCD");
  command.add_option("--picture", state.picture, "image: near light, far dark, holes black");
  command
      .add_option("--picture-near-m", state.picture_near_m,
                  "depth shown lightest (default: 1 % of the pixels are nearer)")
      ->check(within<double>({1e-9, 1e9}));
  command
      .add_option("--picture-far-m", state.picture_far_m,
                  "depth shown darkest (default: 1 % of the pixels are farther)")
      ->check(within<double>({1e-9, 1e9}));
}

}  // namespace

void add_depth(CLI::App& app) {
  auto state = std::make_shared<DepthCommand>();
  CLI::App* command =
      add_command(app, "depth", "Disparity to depth, bilateral filter, depth to cloud",
                  "sextant depth depth.png --filter --picture depth_seen.png\n"
                  "  sextant depth depth.png --filter --camera camera.json --color color.png "
                  "--cloud-output cloud.ply\n"
                  "  sextant depth raw.png --disparity --depth-output depth.png",
                  state->common);
  add_inputs(*command, *state);
  add_outputs(*command, *state);
  command->callback([state, command]() {
    check_usage(*command, *state);
    run(*state);
  });
}

}  // namespace sextant::app
