// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "apps/sextant/command/command.h"
#include "apps/sextant/command/options_cli.h"
#include "apps/sextant/command/progress_bar.h"
#include "apps/sextant/subcommands.h"
#include "apps/sextant/synth/bop_tables.h"
#include "apps/sextant/synth/table_picture.h"
#include "sextant/io/camera_json.h"
#include "sextant/io/file.h"
#include "sextant/io/json_file.h"
#include "sextant/io/ply.h"
#include "sextant/io/png.h"
#include "sextant/render/color_map.h"
#include "sextant/synth/analytic_frame.h"

namespace sextant::app {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct SynthCommand {
  CommonOptions common;
  bool list = false;
  std::string scene = "table";
  std::string output;
  std::string noise = "none";  ///< or the name of a SensorModel
  bool meshes = false;
  bool bop = false;
  int frames = BopTablesOptions{}.frames;
  int strangers = BopTablesOptions{}.strangers;
  ObjectSet known = BopTablesOptions{}.known;
  std::optional<int> cut_out_px;
  std::uint64_t seed = 0;
  double size_m = 0.1;
  double tilt_rad = 0.5;
  double depth_unit_m = 0.001;
  TableSceneOptions table;
  SensorNoiseOptions sensor;  ///< flags, and after parsing what is to be done
  PhotoNoiseOptions photo;
};

/// Pictures on the host, and what is known about them.
struct Frame {
  Camera camera;
  Image<float> depth_m;
  Image<Vec3f> normals;
  Image<std::int32_t> ids;
  Image<Rgb8> colors;  ///< empty for analytic shapes
  json truth;
};

json to_json(const Rigid3d& pose) {
  json rows = json::array();
  for (int i = 0; i < 3; ++i) {
    const Vec3d& r = pose.rotation.row[i];
    const double t[] = {pose.translation.x, pose.translation.y, pose.translation.z};
    rows.push_back({r.x, r.y, r.z, t[i]});
  }
  rows.push_back({0.0, 0.0, 0.0, 1.0});
  return rows;
}

/// The id of every pixel as a grey level; 255 where nothing is.
Image<std::uint8_t> picture_of(const Image<std::int32_t>& ids) {
  Image<std::uint8_t> picture(Context::cpu(), ids.width(), ids.height());
  for (std::int64_t i = 0; i < ids.pixels().size(); ++i) {
    picture.pixels().data()[i] = static_cast<std::uint8_t>(ids.pixels().data()[i]);
  }
  return picture;
}

std::vector<std::string> write_meshes(const TableScene& scene, const fs::path& folder) {
  make_folder((folder / "meshes").string());
  std::vector<std::string> files;
  std::set<int> written;
  for (const SceneObject& object : scene.objects) {
    if (!written.insert(object.mesh).second) continue;
    files.push_back((folder / "meshes" / (object.name + ".ply")).string());
    write_ply(files.back(), scene.meshes[static_cast<std::size_t>(object.mesh)]);
  }
  return files;
}

json truth_of(const TableScene& scene, const SynthCommand& command) {
  json objects = json::array();
  for (std::size_t i = 0; i < scene.objects.size(); ++i) {
    const SceneObject& object = scene.objects[i];
    objects.push_back({{"id", i + 1},
                       {"name", object.name},
                       {"camera_from_object", to_json(object.camera_from_object)},
                       {"visible_fraction", object.visibility.fraction()},
                       {"visible_px", object.visibility.seen_px},
                       {"support", object.support + 1}});
    if (command.meshes) objects.back()["mesh"] = "meshes/" + object.name + ".ply";
  }
  return {{"scene", "table"},
          {"seed", command.seed},
          {"camera_from_world", to_json(scene.camera_from_world)},
          {"objects", objects}};
}

Frame table_frame(const Context& context, const SynthCommand& command,
                  std::vector<std::string>& files) {
  const TableScene scene = make_table_scene(context, command.table, command.seed);
  TablePicture seen = take_picture(context, scene);
  if (command.meshes) files = write_meshes(scene, command.output);
  return {scene.camera,        std::move(seen.depth_m), std::move(seen.normals),
          std::move(seen.ids), std::move(seen.colors),  truth_of(scene, command)};
}

AnalyticShape shape_of(const SynthCommand& command) {
  const double size = command.size_m;
  const Vec3d axis = normalized(Vec3d{1, 0.4, 0.2});
  const Rigid3d pose{exp_rotation(axis * command.tilt_rad),
                     {0, 0, static_cast<double>(command.table.distance_m)}};
  if (command.scene == "sphere") return AnalyticShape::sphere(size, pose);
  if (command.scene == "cylinder") return AnalyticShape::cylinder(size, 3 * size, pose);
  if (command.scene == "torus") return AnalyticShape::torus(size, 0.4 * size, pose);
  if (command.scene == "box") return AnalyticShape::box({2 * size, 1.5 * size, size}, pose);
  return AnalyticShape::plane(pose);
}

/// Points with normals and the attributes k1_per_m and k2_per_m.
void write_cloud(const fs::path& path, const Camera& camera, const AnalyticFrame& frame) {
  const Context host = Context::cpu();
  Cloud cloud;
  cloud.width = camera.width;
  cloud.height = camera.height;
  cloud.points = Buffer<Vec3f>(host, frame.depth_m.pixels().size());
  for (int v = 0; v < camera.height; ++v) {
    for (int u = 0; u < camera.width; ++u) {
      const Vec3d ray = unproject(camera, Vec2d{static_cast<double>(u), static_cast<double>(v)});
      cloud.points.data()[std::int64_t{v} * camera.width + u] =
          cast<float>(ray) * frame.depth_m(u, v);
    }
  }
  cloud.normals = copy(host, frame.normals.pixels());
  cloud.attributes.push_back({"k1_per_m", copy(host, frame.k1_per_m.pixels())});
  cloud.attributes.push_back({"k2_per_m", copy(host, frame.k2_per_m.pixels())});
  write_ply(path, cloud);
}

Frame analytic_frame(const SynthCommand& command, std::vector<std::string>& files) {
  const TableSceneOptions& o = command.table;
  check_options(o);
  const Camera camera{
      o.width, o.height, o.focal_px, o.focal_px, (o.width - 1) / 2.0, (o.height - 1) / 2.0, {}};
  const AnalyticShape shape = shape_of(command);
  AnalyticFrame exact = render_analytic(Context::cpu(), camera, {&shape, 1});
  files.push_back((fs::path(command.output) / "cloud.ply").string());
  write_cloud(files.back(), camera, exact);
  json truth{{"scene", command.scene},
             {"seed", command.seed},
             {"size_m", {shape.size_m.x, shape.size_m.y, shape.size_m.z}},
             {"camera_from_shape", to_json(shape.camera_from_shape)}};
  return {camera, std::move(exact.depth_m), std::move(exact.normals), std::move(exact.ids),
          {},     std::move(truth)};
}

std::optional<SensorNoiseOptions> sensor_of(const SynthCommand& command) {
  if (command.noise == "none") return std::nullopt;
  return command.sensor;
}

/// Writes the pictures and returns the files' names.
void write_frame(const Context& context, const SynthCommand& command, const Frame& frame,
                 std::vector<std::string>& files) {
  const auto file = [&](const char* name) {
    files.push_back((fs::path(command.output) / name).string());
    return files.back();
  };
  const DepthPngOptions unit{command.depth_unit_m};
  write_depth_png(file("depth.png"),
                  sensed_depth(context, frame.camera, frame.depth_m, frame.normals,
                               sensor_of(command), command.seed),
                  unit);
  if (command.noise != "none") write_depth_png(file("depth_true.png"), frame.depth_m, unit);
  if (!frame.colors.empty()) {
    const bool noisy = command.noise != "none";
    const PhotoNoiseOptions photo = noisy ? command.photo : PhotoNoiseOptions{0, 0, 0};
    write_png(file("color.png"),
              add_photo_noise(Context::cpu(), frame.colors, photo, command.seed).view());
  }
  write_png(file("normals.png"), normal_map(frame.normals).view());
  write_png(file("ids.png"), picture_of(frame.ids).view());
  write_camera_json(file("camera.json"), {frame.camera, command.depth_unit_m * 1000});
  write_json_file(file("ground_truth.json"), frame.truth);
}

void list_objects(const SynthCommand& command) {
  json objects = json::array();
  std::string text;
  for (const CatalogueEntry& entry : object_catalogue()) {
    const std::string set(name_of(entry.set, kObjectSets));
    objects.push_back({{"name", entry.name}, {"set", set}, {"description", entry.description}});
    text += fmt::format("{:<16} {:<8} {}\n", entry.name, set, entry.description);
  }
  print_result(command.common, {{{"objects", objects}}, text});
}

void run(const SynthCommand& command) {
  if (command.list) return list_objects(command);
  const Context context = context_for(command.common);
  make_folder(command.output);
  if (command.bop) {
    check_writable(fs::path(command.output) / "camera.json");
    const BopTablesOptions options{command.table, sensor_of(command), command.photo,
                                   command.seed,  command.frames,     command.strangers,
                                   command.known, command.cut_out_px};
    print_result(command.common, write_bop_tables(context, options, command.output));
    return;
  }
  check_writable(fs::path(command.output) / "depth.png");
  const ElapsedLine line("synth");
  std::vector<std::string> files;
  const Frame frame = command.scene == "table" ? table_frame(context, command, files)
                                               : analytic_frame(command, files);
  write_frame(context, command, frame, files);
  Result result{frame.truth, {}};
  result.wrote("files", files);
  print_result(command.common, result);
}

/// The options of the sensor that --noise names, changed by the flags that were given.
void resolve_noise(const CLI::App& command, SynthCommand& state) {
  if (state.noise == "none") {
    constexpr const char* kWhy = "it changes a sensor's noise, and --noise must name the sensor";
    refuse_flags(command, flags_of<SensorNoiseOptions>(), kWhy);
    refuse_flags(command, flags_of<PhotoNoiseOptions>(), kWhy);
  }
  for (const Choice<SensorModel>& choice : kSensorModels) {
    if (choice.name != state.noise) continue;
    state.sensor = preset_with_flags(command, sensor_noise(choice.value), state.sensor);
  }
}

/// Refuses the flags of other scenes than the one that is made.
void check_usage(const CLI::App& command, const SynthCommand& state) {
  if (state.list) {
    std::vector<std::string> others{"--output", "--scene",    "--seed",         "--noise",
                                    "--meshes", "--bop",      "--frames",       "--strangers",
                                    "--size-m", "--tilt-rad", "--depth-unit-m", "--cut-out-px",
                                    "--known"};
    for (const auto& flags : {flags_of<TableSceneOptions>(), flags_of<SensorNoiseOptions>(),
                              flags_of<PhotoNoiseOptions>()}) {
      others.insert(others.end(), flags.begin(), flags.end());
    }
    refuse_flags(command, others, "--list makes no scene");
    return;
  }
  if (state.output.empty()) throw CLI::RequiredError("--output");
  if (state.bop) {
    refuse_flags(command, {"--meshes", "--depth-unit-m"}, "a BOP data set decides it");
  } else {
    refuse_flags(command, {"--frames", "--strangers", "--known", "--cut-out-px"},
                 "it belongs to --bop");
  }
  if (state.scene == "table") {
    refuse_flags(command, {"--size-m", "--tilt-rad"}, "it belongs to analytic shapes");
    return;
  }
  refuse_flags(
      command,
      {"--meshes", "--bop", "--objects", "--set", "--occlusion", "--stacking", "--spread-m"},
      "it belongs to --scene table");
  refuse_flags(command, flags_of<PhotoNoiseOptions>(), "only --scene table has a colour image");
  if (state.scene == "plane") refuse_flags(command, {"--size-m"}, "a plane has no size");
}

}  // namespace

void add_synth(CLI::App& app) {
  auto state = std::make_shared<SynthCommand>();
  CLI::App* command = add_command(
      app, "synth", "Makes depth and colour images of scenes whose truth is known",
      "sextant synth --scene table --objects 8 --seed 1 --noise kinect --output out\n"
      "  sextant synth --scene table --noise realsense --output out\n"
      "  sextant synth --scene table --objects 6 --occlusion 0.4 --output out\n"
      "  sextant synth --scene torus --output out\n"
      "  sextant synth --bop --frames 200 --strangers 4 --noise kinect --output bop/tables\n"
      "  sextant synth --list",
      state->common);
  command->add_flag("--list", state->list, "list the objects and stop");
  command->add_option("--scene", state->scene, "table, or one analytic shape")
      ->check(CLI::IsMember({"table", "plane", "sphere", "cylinder", "torus", "box"}))
      ->capture_default_str();
  command->add_option("--output", state->output, "folder for the files; made when missing");
  command->add_option("--seed", state->seed, "another number is another scene and other noise")
      ->check(within<std::uint64_t>({0, 1e19}))
      ->capture_default_str();
  std::vector<std::string> models{"none"};
  for (const Choice<SensorModel>& choice : kSensorModels) models.emplace_back(choice.name);
  command
      ->add_option("--noise", state->noise,
                   "the sensor whose errors depth has; flags below change them (kinect's shown)")
      ->check(CLI::IsMember(models))
      ->capture_default_str();
  command->add_flag("--meshes", state->meshes, "also write the objects' meshes as PLY");
  command->add_flag("--bop", state->bop,
                    "write many tables as a BOP data set, for `sextant eval` to judge on");
  command->add_option("--frames", state->frames, "frames of the data set, each another table")
      ->check(within<int>({1, 1e6}))
      ->capture_default_str();
  command
      ->add_option("--strangers", state->strangers,
                   "kinds of objects in the images that models and truth of the set lack")
      ->check(within<int>({0, 1000}))
      ->capture_default_str();
  const FlagAdder add_flag{*command};
  add_flag("known", state->known,
           "of --bop, which objects the models are; all others are strangers", kObjectSets);
  command
      ->add_option(
          "--cut-out-px", state->cut_out_px,
          "leave one thing of each frame of --bop, less up to so many pixels of its rim, as "
          "a detector's mask does")
      ->check(within<int>({0, 100}));
  command->add_option("--size-m", state->size_m, "radius or half width of an analytic shape")
      ->check(within<double>({1e-3, 1e3}))
      ->capture_default_str();
  command->add_option("--tilt-rad", state->tilt_rad, "how far an analytic shape is turned")
      ->check(within<double>({-10, 10}))
      ->capture_default_str();
  command->add_option("--depth-unit-m", state->depth_unit_m, "metres per step of depth.png")
      ->check(within<double>({1e-9, 1e3}))
      ->capture_default_str();
  add_flags(*command, state->table);
  add_flags(*command, state->sensor);
  add_flags(*command, state->photo);
  command->callback([state, command]() {
    check_usage(*command, *state);
    resolve_noise(*command, *state);
    run(*state);
  });
}

}  // namespace sextant::app
