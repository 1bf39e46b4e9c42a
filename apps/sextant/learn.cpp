// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "apps/sextant/command/command.h"
#include "apps/sextant/command/files.h"
#include "apps/sextant/command/options_cli.h"
#include "apps/sextant/learn/appearance.h"
#include "apps/sextant/learn/learn_bars.h"
#include "apps/sextant/learn/learn_inputs.h"
#include "apps/sextant/learn/photo_flags.h"
#include "apps/sextant/subcommands.h"
#include "sextant/geometry/object_size.h"
#include "sextant/io/camera_json.h"
#include "sextant/io/geometry_file.h"
#include "sextant/io/sha256.h"
#include "sextant/learn/learn.h"
#include "sextant/learn/learn_views.h"
#include "sextant/recognize/lookalikes.h"

namespace sextant::app {

namespace {

struct LearnCommand {
  CommonOptions common;
  std::string library;
  std::vector<std::string> inputs;
  std::string name;
  LearnUnits units;
  std::string planar_width;
  std::string camera;
  bool replace = false;
  LearnMeshOptions options;
  LearnPictureOptions picture;
  LearnPhotosFlags photos;
  ReconstructOptions reconstruct;
  ViewsFolderOptions folder;
  int clutter_frames = 16;
};

/// Frames of clutter, made once for all objects of one size.
class Clutter {
 public:
  Clutter(const Context& context, int frames) : context_(context), frames_(frames) {}

  std::span<const ClutterFrame> of_size(double diameter_m, const LearnProgress& progress) {
    const double scale = clutter_scale(diameter_m);
    if (scale != scale_) {
      made_ = make_clutter(context_, frames_, scale, 0, progress);
      scale_ = scale;
    }
    return made_;
  }

 private:
  const Context& context_;
  int frames_;
  double scale_ = 0;
  std::vector<ClutterFrame> made_;
};

std::string text_of(const Symmetries& symmetries) {
  if (symmetries.none()) return "none";
  std::string text;
  if (symmetries.continuous.size() > 1) {
    text = "a ball's";
  } else if (symmetries.continuous.size() == 1) {
    text = "round about an axis";
  }
  if (!symmetries.discrete.empty()) {
    text += fmt::format("{}{} discrete", text.empty() ? "" : " and ", symmetries.discrete.size());
  }
  return text;
}

std::string what_is_known(const ObjectEntry& entry) {
  if (is_appearance_only(entry)) {
    return fmt::format("{} features of photographs, nothing that depth shows", entry.appearance);
  }
  return fmt::format(
      "{} triangles, symmetries: {}; {} views, {} tensors, {} SHOT, {} samples{}", entry.triangles,
      text_of(entry.shape_symmetries), entry.views, entry.tensors, entry.shot, entry.samples,
      entry.appearance > 0 ? fmt::format(", {} features of photographs", entry.appearance) : "");
}

nlohmann::json json_of(const Symmetries& symmetries) {
  return {{"discrete", symmetries.discrete.size()}, {"continuous", symmetries.continuous.size()}};
}

/// The sum of the names and sums of a folder's files.
std::string sha256_of_folder(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  Sha256 sum;
  for (const std::filesystem::path& file : files) {
    const std::string line = file.filename().string() + " " + sha256_of_file(file) + "\n";
    sum.add(std::as_bytes(std::span(line)));
  }
  return sum.hex();
}

LearnedObject learn_surface(const Context& context, const LearnCommand& command,
                            const LearnInput& input, const Camera& camera,
                            const LearnProgress& progress, PhotoLesson& lesson) {
  if (input.kind == LearnInput::Kind::kPhotos) {
    lesson = learn_photo_folder(context, input.name, input.path, command.camera, command.photos,
                                progress);
    lesson.object.source.sha256 = sha256_of_folder(input.path);
    return std::move(lesson.object);
  }
  if (input.kind == LearnInput::Kind::kViews) {
    ReconstructOptions reconstruct = command.reconstruct;
    reconstruct.seed = static_cast<std::uint32_t>(command.options.seed);
    const std::vector<RgbdView> views = read_views_folder(input.path, command.folder);
    LearnedObject object =
        learn_views(context, input.name, views, reconstruct, command.options, progress);
    object.source.sha256 = sha256_of_folder(input.path);
    return object;
  }
  if (input.is_appearance()) {
    report(progress, "features", 0, 1);
    LearnedObject object =
        learn_appearance(context, input, command.units.planar_width_m, command.picture);
    object.source.sha256 = sha256_of_file(input.path);
    return object;
  }
  const TriangleMesh mesh = read_geometry(input.path, {.unit_m = input.unit_m});
  LearnedObject object = learn_mesh(context, input.name, mesh, command.options, progress, camera);
  object.source.sha256 = sha256_of_file(input.path);
  object.source.unit_m = input.unit_m;
  return object;
}

LearnedObject learn_input(const Context& context, const LearnCommand& command,
                          const LearnInput& input, const Camera& camera,
                          const LearnProgress& progress, Clutter& clutter, PhotoLesson& lesson) {
  LearnedObject object = learn_surface(context, command, input, camera, progress, lesson);
  if (command.clutter_frames > 0 && !input.is_appearance()) {
    object.lookalikes =
        find_lookalikes(context, object, clutter.of_size(object.diameter_m, progress), progress);
  }
  return object;
}

void check_usage(const CLI::App& flags, LearnCommand& command) {
  if (is_given(flags, "--device") && command.common.device.rfind("cuda", 0) == 0) {
    throw CLI::ValidationError("--device",
                               "has no effect: learning runs on the host's threads, so that a "
                               "library is the same wherever it was made");
  }
  if (command.units.diameter_m > 0 && !command.units.unit.empty()) {
    throw CLI::ValidationError("--unit",
                               "has no effect: --diameter-m says how large the object is");
  }
  if (!command.planar_width.empty()) {
    try {
      command.units.planar_width_m = length_m_of(command.planar_width);
    } catch (const Error& error) {
      throw CLI::ValidationError("--planar-width", error.what());
    }
    if (!(command.units.planar_width_m > 0)) {
      throw CLI::ValidationError("--planar-width",
                                 "'" + command.planar_width + "' is no positive length");
    }
  }
  if (!command.options.noise) {
    refuse_flags(flags, {"--sensor"}, "it names the noise of --noise");
  }
  if (!command.units.unit.empty() && command.units.unit != "auto") {
    try {
      unit_m_of(command.units.unit);
    } catch (const Error& error) {
      throw CLI::ValidationError("--unit", std::string(error.what()) + ", or auto");
    }
  }
}

/// What models_info.json says of the appearance counts, as people have looked at it; a shape has
/// these symmetries at least. A difference to what was found is said.
void take_given_symmetries(const Symmetries& given, LearnedObject& object) {
  if (given.discrete.size() != object.appearance_symmetries.discrete.size() ||
      given.continuous.size() != object.appearance_symmetries.continuous.size()) {
    object.source.remarks.push_back(fmt::format(
        "The symmetries of models_info.json ({}) are taken for the appearance; found were: {}.",
        text_of(given), text_of(object.appearance_symmetries)));
  }
  object.appearance_symmetries = given;
  if (object.shape_symmetries.none()) object.shape_symmetries = given;
}

/// Names that are taken, before any work.
void check_names(const LearnCommand& command, const std::vector<LearnInput>& inputs,
                 const Library& library) {
  if (command.replace) return;
  for (const LearnInput& input : inputs) {
    require(!library.contains(input.name), command.library, ": has an object '", input.name,
            "' already; --replace learns it anew, --name gives this one another name");
  }
}

/// Flags of meshes where there are views alone, and the other way round.
void refuse_what_has_no_effect(const CLI::App& flags, const std::vector<LearnInput>& inputs) {
  using Kind = LearnInput::Kind;
  const auto any = [&](Kind kind) {
    return std::any_of(inputs.begin(), inputs.end(),
                       [&](const LearnInput& input) { return input.kind == kind; });
  };
  if (!any(Kind::kViews)) {
    std::vector<std::string> own = flags_of<ReconstructOptions>("reconstruct");
    own.insert(own.end(), {"--no-masks", "--no-poses", "--pose-file"});
    refuse_flags_for_input(flags, own, "no input is a folder of RGB-D views");
  }
  if (!any(Kind::kMesh) && !any(Kind::kMoped)) {
    refuse_flags_for_input(flags, {"--unit", "--diameter-m"},
                           any(Kind::kViews) ? "views have their own unit"
                                             : "--planar-width says how large a picture is");
  }
  if (!any(Kind::kMesh) && !any(Kind::kPhotos)) {
    refuse_flags_for_input(flags, {"--camera"},
                           any(Kind::kViews) ? "views have their own camera"
                                             : "no input has a shape that a sensor could see");
  }
  if (!any(Kind::kMesh) && !any(Kind::kViews)) {
    std::vector<std::string> shape = flags_of<LearnMeshOptions>();
    for (std::size_t i = 0, count = shape.size(); i < count; ++i) {
      shape.push_back("--no-" + shape[i].substr(2));
    }
    shape.emplace_back("--clutter-frames");
    refuse_flags_for_input(flags, shape, "no input has a shape that a sensor could see");
  }
  if (!any(Kind::kPicture)) {
    std::vector<std::string> own = flags_of<LearnPictureOptions>("picture");
    own.emplace_back("--planar-width");
    refuse_flags_for_input(flags, own, "no input is a picture");
  }
}

Camera camera_of(const LearnCommand& command) {
  if (command.camera.empty() || command.units.photos) return learning_camera();
  Camera camera = read_camera_json(command.camera).camera;
  if (!camera.distortion.is_zero()) {
    camera.distortion = {};
    note("sextant: " + command.camera + ": its distortion is left out; learned views have none");
  }
  return camera;
}

void run(const CLI::App& flags, LearnCommand& command) {
  const Context context = context_for(command.common);
  std::vector<InputFile> files{{"--camera", command.camera}, {"--board", command.photos.board}};
  for (const std::string& input : command.inputs) files.push_back({"INPUT", input});
  check_files(files, {{"LIBRARY", command.library},
                      {"--picture", command.photos.picture, kPictureFiles},
                      {"--save-camera", command.photos.save_camera, kJsonFiles}});
  command.units.photos = learns_photos(command.photos, command.camera);
  check_photo_flags(flags, command.photos, command.units.photos, !command.camera.empty());
  const Camera camera = camera_of(command);
  Library library(command.library);
  const std::vector<LearnInput> inputs =
      find_learn_inputs(command.inputs, command.name, command.units);
  check_names(command, inputs, library);
  refuse_what_has_no_effect(flags, inputs);
  const bool writes = !command.photos.picture.empty() || !command.photos.save_camera.empty();
  require(inputs.size() == 1 || !writes, "--picture, --save-camera: ", inputs.size(),
          " inputs would be written to one file; learn one folder of photographs at a time");
  Result result;
  result.document = {{"library", command.library}, {"objects", nlohmann::json::array()}};
  Clutter clutter(context, command.clutter_frames);
  for (const LearnInput& input : inputs) {
    const auto start = std::chrono::steady_clock::now();
    LearnedObject object;
    PhotoLesson lesson;
    {
      LearnBars bars(input.name);
      try {
        object = learn_input(context, command, input, camera, bars.callback(), clutter, lesson);
      } catch (const Cancelled&) {
        throw;
      } catch (const Error& error) {
        fail(input.path.string(), ": ", error.what(),
             inputs.size() > 1 ? fmt::format(" ({} of {} objects were learned before)",
                                             result.document["objects"].size(), inputs.size())
                               : "");
      }
    }
    object.bop_id = input.bop_id;
    if (input.given_symmetries) take_given_symmetries(*input.given_symmetries, object);
    object.source.file = input.path.filename().string();
    object.source.remarks.insert(object.source.remarks.begin(), input.remarks.begin(),
                                 input.remarks.end());
    library.put(object);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    const ObjectEntry entry = library.entry(object.name);
    result.document["objects"].push_back(
        {{"name", object.name},
         {"file", input.path.string()},
         {"bop_id", object.bop_id},
         {"unit_m", object.source.unit_m},
         {"diameter_m", object.diameter_m},
         {"vertices", entry.vertices},
         {"triangles", entry.triangles},
         {"shape_symmetries", json_of(object.shape_symmetries)},
         {"appearance_symmetries", json_of(object.appearance_symmetries)},
         {"views", entry.views},
         {"tensors", entry.tensors},
         {"shot", entry.shot},
         {"samples", entry.samples},
         {"appearance", entry.appearance},
         {"remarks", object.source.remarks},
         {"seconds", taken.count()},
         {"stored_bytes", entry.stored_bytes}});
    if (!lesson.document.is_null()) {
      result.document["objects"].back()["photographs"] = lesson.document;
    }
    result.text += fmt::format("{}: {:.1f} mm, {}; {:.1f} MB in {:.1f} s\n", object.name,
                               1000 * object.diameter_m, what_is_known(entry),
                               1e-6 * static_cast<double>(entry.stored_bytes), taken.count());
    for (const std::string& remark : object.source.remarks) {
      result.text += fmt::format("  {}\n", remark);
    }
    if (!lesson.wrote.empty()) result.wrote("files", lesson.wrote);
  }
  print_result(command.common, result);
}

}  // namespace

void add_learn(CLI::App& app) {
  auto state = std::make_shared<LearnCommand>();
  CLI::App* command = add_command(
      app, "learn",
      "Learns objects from meshes, clouds, views, photographs, pictures or models of MOPED "
      "into a library",
      "sextant learn objects.sxt milk.ply --unit mm\n"
      "  sextant learn objects.sxt models/            # every mesh of a folder, also BOP's models\n"
      "  sextant learn objects.sxt views/ --name mug  # depth_*.png, camera.json and more\n"
      "  sextant learn objects.sxt scan.obj --diameter-m 0.2 --replace\n"
      "  sextant learn objects.sxt kettle.moped.xml   # a model of MOPED, for photographs\n"
      "  sextant learn objects.sxt card.png --planar-width 63mm\n"
      "  sextant learn objects.sxt photos/ --name tea --board board.json  # see 'sextant board'",
      state->common);
  command->add_option("library", state->library, "file of the library; made when missing")
      ->required();
  command
      ->add_option("input", state->inputs,
                   "meshes or clouds, folders of them, BOP models folders, folders of RGB-D views, "
                   "folders of photographs, models of MOPED, pictures of something flat")
      ->required();
  command->add_option("--name", state->name, "of the object; else that of its file or folder");
  command->add_option(
      "--unit", state->units.unit,
      "of the files: m, cm, mm, um, in, ft; auto takes m or mm by the size of each; "
      "else metres");
  command
      ->add_option("--diameter-m", state->units.diameter_m,
                   "scale each object to this diameter, where files have no unit")
      ->check(within<double>({kSmallestObject_m, kLargestObject_m}));
  command->add_option("--planar-width", state->planar_width,
                      "how wide what a picture shows is, with its unit: 63mm, 6.3cm, 0.063m");
  command->add_option("--camera", state->camera,
                      "camera.json of the sensor that will look for them, else a Kinect's; of "
                      "photographs, the one that took them, or a rig with the pose of each");
  command
      ->add_option("--clutter-frames", state->clutter_frames,
                   "frames of other things that the object is looked for in, to know what passes "
                   "for it; 0 leaves that out")
      ->check(within<int>({0, 1000}))
      ->capture_default_str();
  command->add_flag("--replace", state->replace, "learn objects anew that the library has already");
  add_flags(*command, state->options);
  add_flags(*command, state->picture, "picture");
  add_photo_flags(*command, state->photos);
  add_flags(*command, state->reconstruct, "reconstruct", {"seed"});
  command->add_flag("!--no-masks", state->folder.masks, "RGB-D views: do not use mask files");
  command->add_flag("!--no-poses", state->folder.poses,
                    "RGB-D views: find poses, whatever is known");
  command->add_option("--pose-file", state->folder.pose_file,
                      "RGB-D views: takes the poses from this file");
  command->callback([state, command]() {
    check_usage(*command, *state);
    run(*command, *state);
  });
}

}  // namespace sextant::app
