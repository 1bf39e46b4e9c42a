// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "apps/sextant/command/command.h"
#include "apps/sextant/command/files.h"
#include "apps/sextant/command/options_cli.h"
#include "apps/sextant/command/progress_bar.h"
#include "apps/sextant/describe/described_surface.h"
#include "apps/sextant/input/file_kind.h"
#include "apps/sextant/match/match_files.h"
#include "apps/sextant/match/match_picture.h"
#include "apps/sextant/subcommands.h"
#include "sextant/io/image_file.h"
#include "sextant/match/library_matches.h"

namespace sextant::app {

namespace {

enum class MatchKind { kAll, kShot, kTensors };
constexpr Choice<MatchKind> kMatchKinds[] = {
    {"all", MatchKind::kAll}, {"shot", MatchKind::kShot}, {"tensors", MatchKind::kTensors}};

struct MatchWhat {
  MatchKind descriptors = MatchKind::kAll;

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("descriptors", self.descriptors, "which are matched", kMatchKinds);
  }
};

struct MatchCommand {
  CommonOptions common;
  std::string library;
  DescribedSurfaceOptions surface;
  MatchWhat what;
  ShotMatchOptions shot;
  ViewTensorOptions view;
  TensorMatchOptions tensors;
  std::string output;
  std::string picture;
};

/// What of ViewTensorOptions belongs to the library, not to the user.
const std::vector<std::string_view> kOfLibrary{"resolution_m", "bin_resolutions"};

bool wants_shot(const MatchCommand& command) {
  return command.what.descriptors != MatchKind::kTensors;
}
bool wants_tensors(const MatchCommand& command) {
  return command.what.descriptors != MatchKind::kShot;
}

void check_usage(const CLI::App& flags, MatchCommand& command) {
  refuse_flags(flags, {"--color"}, "shape alone is matched");
  check_surface_flags(flags, command.surface);
  std::vector<InputFile> inputs = input_files(command.surface.input);
  inputs.push_back({"LIBRARY", command.library});
  check_files(inputs, {{"--output", command.output, kMatchFiles},
                       {"--picture", command.picture, kPictureFiles}});
  if (!wants_shot(command)) {
    refuse_flags(flags, flags_of<ShotMatchOptions>("shot"),
                 "--descriptors tensors leaves SHOT out");
  }
  if (!wants_tensors(command)) {
    for (const auto& all :
         {flags_of<ViewTensorOptions>("view"), flags_of<TensorMatchOptions>("tensor")}) {
      refuse_flags(flags, all, "--descriptors shot leaves tensors out");
    }
  }
}

/// The depths of an organised surface that a camera at the origin saw.
Image<float> depth_of(const Context& context, const Surface& surface) {
  Image<float> depth_m(Context::cpu(), surface.width, surface.height);
  const std::vector<Vec3f> points = to_host(context, surface.points);
  std::transform(points.begin(), points.end(), depth_m.pixels().host().begin(),
                 [](const Vec3f& p) { return p.z; });
  return copy(context, depth_m);
}

/// The scene as it was read, and its mesh in host memory where it is one.
struct Scene {
  Surface surface;
  TriangleMesh mesh;

  bool is_mesh() const { return !mesh.triangles.empty(); }
};

/// What one kind of descriptor found, or why there was nothing to compare.
struct Found {
  const char* kind;
  LibraryMatches matches;
  std::string lacking;
};

/// How many matches each object has.
std::vector<std::int64_t> counts_of(const LibraryMatches& matches, std::size_t objects) {
  std::vector<std::int64_t> counts(objects);
  for (const LibraryMatch& match : matches.matches)
    ++counts[static_cast<std::size_t>(match.object)];
  return counts;
}

/// The objects with the most matches, which are raw: the text says so.
std::string text_of(const Found& part, const ResidentLibrary& library,
                    const std::vector<std::int64_t>& counts) {
  if (!part.lacking.empty()) return fmt::format("  {}: not matched\n", part.kind);
  std::string text = fmt::format("  {}: {} descriptors of the scene, {} raw matches\n", part.kind,
                                 part.matches.described, part.matches.matches.size());
  std::vector<std::size_t> order(counts.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return counts[a] > counts[b]; });
  constexpr std::size_t kMostLines = 10;
  for (std::size_t i = 0; i < std::min(kMostLines, order.size()); ++i) {
    if (counts[order[i]] == 0) break;
    text += fmt::format("    {:6d}  {}\n", counts[order[i]], library.objects[order[i]].name);
  }
  return text;
}

void tell(const ResidentLibrary& library, const std::vector<Found>& found, Result& result) {
  const std::size_t objects = library.objects.size();
  nlohmann::json& list = result.document["objects"] = nlohmann::json::array();
  for (const ResidentObject& object : library.objects) list.push_back({{"name", object.name}});
  bool any = false;
  for (const Found& part : found) {
    const std::vector<std::int64_t> counts = counts_of(part.matches, objects);
    for (std::size_t i = 0; i < objects; ++i) list[i][part.kind] = counts[i];
    nlohmann::json& told = result.document[part.kind];
    told = {{"described", part.matches.described},
            {"matches", matches_to_json(part.matches, library)}};
    if (!part.lacking.empty()) told["lacking"] = part.lacking;
    result.text += text_of(part, library, counts);
    any = any || !part.matches.matches.empty();
  }
  result.text +=
      any ? "  Many raw matches are wrong: how many an object has does not tell whether "
            "it is there.\n"
          : "  No match passes the limits, which does not tell that no object is there.\n";
}

Found find_shot(const Context& context, const MatchCommand& command, const ResidentLibrary& library,
                const Scene& scene, const Surface& on_host) {
  Found found{"shot", {}, ""};
  const bool known = std::any_of(library.shot.begin(), library.shot.end(),
                                 [](const ResidentShot& part) { return !part.points.empty(); });
  if (!known) {
    found.lacking = command.library + ": no object has SHOT; learn them again";
    return found;
  }
  found.matches = scene.is_mesh() ? match_library_shot(context, library, scene.mesh, command.shot)
                                  : match_library_shot(context, library, on_host.points,
                                                       on_host.normals, command.shot);
  if (found.matches.described == 0) {
    found.lacking = fmt::format(
        "{}: SHOT of radius {:.3g} mm can be made nowhere on it: too few points lie that close "
        "together; check its unit",
        command.surface.input.file, 1000 * library.shot.back().radius_m);
  }
  return found;
}

Found find_tensors(const Context& context, const MatchCommand& command,
                   const ResidentLibrary& library, const Scene& scene) {
  Found found{"tensors", {}, ""};
  if (!scene.surface.camera) {
    found.lacking = command.surface.input.file +
                    ": tensors of a scene are made of a depth map, which it is not";
    return found;
  }
  const bool known = std::any_of(library.tensors.begin(), library.tensors.end(),
                                 [](const ResidentTensors& part) { return part.bin_m > 0; });
  if (!known) {
    found.lacking = command.library + ": no object has tensors; learn them again";
    return found;
  }
  found.matches = match_library_tensors(context, library, depth_of(context, scene.surface),
                                        *scene.surface.camera, command.view, command.tensors);
  if (found.matches.described == 0) {
    found.lacking = fmt::format(
        "{}: tensors at a resolution of {:.3g} mm can be made nowhere on it: no two "
        "neighbouring places differ enough in their normals",
        command.surface.input.file, 1000 * library.tensors.back().resolution_m);
  }
  return found;
}

/// Error where neither kind has anything to compare; a note where one of them has not.
void check_found(const std::vector<Found>& found) {
  std::string reasons;
  bool any = false;
  for (const Found& part : found) {
    if (part.lacking.empty()) {
      any = true;
    } else {
      reasons += (reasons.empty() ? "" : "; ") + part.lacking;
    }
  }
  require(any, reasons);
  for (const Found& part : found) {
    if (!part.lacking.empty()) note(part.lacking + fmt::format("; no {} are matched", part.kind));
  }
}

ResidentLibrary load(const Context& context, const MatchCommand& command) {
  const Library file(command.library, LibraryAccess::kRead);
  ProgressBar bar("loading the library", {"objects", 1});
  ObjectParts parts = ObjectParts::none();
  parts.shot = wants_shot(command);
  parts.tensors = wants_tensors(command);
  ResidentLibrary library = load_resident(context, file, parts, bar.callback());
  require(!library.objects.empty(), command.library,
          ": there are no objects in it; 'sextant learn' puts some there");
  return library;
}

/// A mesh is described on its triangles, other surfaces at their points, which get normals.
Scene read_scene(const Context& context, const CLI::App& flags, const MatchCommand& command,
                 StepTimes& times) {
  Scene scene;
  scene.surface = read_described_surface(context, command.surface, times);
  if (scene.surface.triangles.empty()) {
    check_normals_flags(flags, command.surface, scene.surface);
    complete_surface(context, command.surface, false, scene.surface, times);
    return scene;
  }
  const std::string why =
      command.surface.input.file + " is a mesh, which has the normals of its triangles";
  refuse_flags_for_input(flags, {"--new-normals"}, why);
  refuse_flags_for_input(flags, flags_of<NormalsOptions>("normals"), why);
  refuse_flags_for_input(flags, flags_of<CloudNormalsOptions>("normals"), why);
  const Surface on_host = to_host(context, scene.surface);
  const Context cpu = Context::cpu();
  scene.mesh.vertices.points = copy(cpu, on_host.points);
  scene.mesh.triangles = copy(cpu, on_host.triangles);
  return scene;
}

/// What a picture shows: the points of the scene, those on the triangles of a mesh.
Surface shown_points(const Context& context, const ResidentLibrary& library, const Scene& scene,
                     Surface on_host) {
  if (!scene.is_mesh()) return on_host;
  PointSamples samples = library_shot_points(context, scene.mesh, library.shot.back().radius_m);
  Surface shown;
  shown.points = std::move(samples.points);
  shown.normals = std::move(samples.normals);
  return shown;
}

void run(const CLI::App& flags, const MatchCommand& command) {
  const Context context = context_for(command.common);
  StepTimes times;
  const ResidentLibrary library = load(context, command);
  const Scene scene = read_scene(context, flags, command, times);
  Surface on_host = to_host(context, scene.surface);
  std::vector<Found> found;
  if (wants_shot(command)) {
    found.push_back(times.time(
        "shot", context, [&] { return find_shot(context, command, library, scene, on_host); }));
  }
  if (wants_tensors(command)) {
    found.push_back(times.time("tensors", context,
                               [&] { return find_tensors(context, command, library, scene); }));
  }
  check_found(found);

  Result result;
  result.document = {{"library", command.library},
                     {"scene", command.surface.input.file},
                     {"device", to_string(context.device())}};
  if (!(scene.surface.origin_m == Vec3d{})) {
    const Vec3d& o = scene.surface.origin_m;
    result.document["origin_m"] = {o.x, o.y, o.z};
  }
  result.text = fmt::format("{}: {} {}, {} objects\n", command.surface.input.file,
                            scene.is_mesh() ? scene.mesh.triangles.size() : scene.surface.size(),
                            scene.is_mesh() ? "triangles" : "points", library.objects.size());
  tell(library, found, result);
  result.document["times_ms"] = times.to_json();
  if (!command.output.empty()) {
    std::vector<NamedMatches> named;
    for (const Found& part : found) named.push_back({part.kind, &part.matches});
    write_matches(command.output, named, library);
    result.wrote("output", command.output);
  }
  if (!command.picture.empty()) {
    std::vector<LibraryMatch> all;
    for (const Found& part : found) {
      all.insert(all.end(), part.matches.matches.begin(), part.matches.matches.end());
    }
    const Surface shown = shown_points(context, library, scene, std::move(on_host));
    write_image(command.picture, match_picture(shown, library, all));
    result.wrote("picture", command.picture);
  }
  print_result(command.common, result);
}

}  // namespace

void add_match(CLI::App& app) {
  auto state = std::make_shared<MatchCommand>();
  CLI::App* command = add_command(
      app, "match", "The raw correspondences between a scene and the objects of a library",
      "sextant match objects.sxt depth.png --camera camera.json -o matches.csv\n"
      "  sextant match objects.sxt scan.ply --descriptors shot --shot-ratio 0.9 --shot-mutual\n"
      "  sextant match objects.sxt depth.png --camera camera.json --picture matches.png --json",
      state->common);
  command->add_option("library", state->library, "file of the library, made by 'sextant learn'")
      ->required();
  add_described_surface(*command, state->surface, false);
  add_flags(*command, state->what);
  add_flags(*command, state->shot, "shot");
  add_flags(*command, state->view, "view", kOfLibrary);
  add_flags(*command, state->tensors, "tensor");
  command->add_option("-o,--output", state->output, "the matches (.csv, or .json)");
  command->add_option(
      "--picture", state->picture,
      "the scene, with what resembles an object in the object's colour (.png, .jpg)");
  command->callback([state, command] {
    check_usage(*command, *state);
    run(*command, *state);
  });
}

}  // namespace sextant::app
