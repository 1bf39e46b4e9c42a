// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/synth/bop_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "apps/sextant/command/progress_bar.h"
#include "apps/sextant/datasets/dataset_writer.h"
#include "sextant/core/for_each.h"
#include "sextant/core/random.h"
#include "sextant/surface/symmetries.h"

namespace sextant::app {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kFramesPerScene = 1000;  // as many as the benchmark's own synthetic sets have
constexpr double kDistanceVaries = 0.25;

/// What is drawn for the set and not for a frame has the last items.
constexpr std::uint64_t kStrangersItem = ~std::uint64_t{0}, kCutOutItem = kStrangersItem - 1;

/// For what runs on the host alone.
Context host_of(const Context& context) { return context.is_cpu() ? context : Context::cpu(); }

std::uint64_t seed_of(std::uint64_t set_seed, int frame, int attempt) {
  const Random::Words w = Random{set_seed, static_cast<std::uint64_t>(frame)}.words(
      static_cast<std::uint64_t>(attempt));
  return std::uint64_t{w.word[0]} << 32 | w.word[1];
}

/// What no depth map shows, such as playing cards, is never looked for.
bool is_flat(const TriangleMesh& mesh) {
  const Bounds box = bounds(Context::cpu(), mesh.vertices.points);
  const Vec3f size = box.high - box.low;
  return std::min({size.x, size.y, size.z}) < 0.02f * std::max({size.x, size.y, size.z});
}

bool is_of(ObjectSet set, const CatalogueEntry& entry) {
  return set == ObjectSet::kAll || set == entry.set;
}

/// An object of the catalogue that can be looked for.
struct Known {
  std::string name;
  TriangleMesh mesh;
};

/// Everything of the set that has a shape, less the strangers, in the order of the catalogue.
std::vector<Known> draw_known(const BopTablesOptions& options) {
  std::vector<Known> known;
  for (const CatalogueEntry& entry : object_catalogue()) {
    if (!is_of(options.table.set, entry) || !is_of(options.known, entry)) continue;
    TriangleMesh mesh = make_object(entry.name);
    if (!is_flat(mesh)) known.push_back({std::string(entry.name), std::move(mesh)});
  }
  require(options.strangers < static_cast<int>(known.size()), "strangers: ", options.strangers,
          " of the ", known.size(), " kinds of objects of the set leave none to be found");
  const Random random{options.seed, kStrangersItem};
  for (int i = 0; i < options.strangers; ++i) {
    known.erase(known.begin() + random.below(static_cast<std::uint32_t>(known.size()),
                                             static_cast<std::uint64_t>(i)));
  }
  return known;
}

/// Everything of the set that is not known.
std::vector<std::string> strangers_of(ObjectSet set, const std::vector<Known>& known) {
  std::vector<std::string> names;
  for (const CatalogueEntry& entry : object_catalogue()) {
    const bool is_known = std::any_of(known.begin(), known.end(),
                                      [&](const Known& k) { return k.name == entry.name; });
    if (!is_known && is_of(set, entry)) names.emplace_back(entry.name);
  }
  return names;
}

/// The known kinds get the numbers 1, 2 …
std::map<std::string, int> add_models(const Context& context, std::vector<Known> known,
                                      DatasetWriter& writer) {
  std::map<std::string, int> ids;
  ProgressBar bar("symmetries", {"objects", 1});
  const Progress progress = bar.callback();
  for (Known& object : known) {
    const int id = static_cast<int>(ids.size()) + 1;
    ids[object.name] = id;
    const Symmetries symmetries = find_symmetries(host_of(context), object.mesh).shape;
    object.mesh.materials.clear();  // the models of BOP have no textures of their own
    object.mesh.triangle_materials = {};
    object.mesh.texture_coordinates = {};
    object.mesh.texture_triangles = {};
    writer.add_object(id, object.name, std::move(object.mesh), symmetries);
    report(progress, id, static_cast<std::int64_t>(known.size()));
  }
  return ids;
}

/// A table may be too full for its objects; then another one takes its place.
TableScene make_scene(const Context& context, const BopTablesOptions& options,
                      const TableObjects& objects, int frame, std::uint64_t& seed) {
  constexpr int kAttempts = 10;
  for (int attempt = 0;; ++attempt) {
    seed = seed_of(options.seed, frame, attempt);
    TableSceneOptions table = options.table;
    const float share = 2 * Random{seed, kStrangersItem}.uniform(0) - 1;
    table.distance_m *= 1 + static_cast<float>(kDistanceVaries) * share;
    table.distance_m = std::max(table.distance_m, 0.3f);
    try {
      return make_table_scene(context, table, seed, objects);
    } catch (const Cancelled&) {
      throw;
    } catch (const Error&) {
      if (attempt + 1 == kAttempts) throw;
    }
  }
}

/// Takes the pixels off that have a neighbour outside.
void erode(Image<std::uint8_t>& mask) {
  const Image<std::uint8_t> before = copy(Context::cpu(), mask);
  const auto inside = [&](int u, int v) {
    return u >= 0 && v >= 0 && u < before.width() && v < before.height() && before(u, v) != 0;
  };
  for (int v = 0; v < mask.height(); ++v) {
    for (int u = 0; u < mask.width(); ++u) {
      const bool whole =
          inside(u - 1, v) && inside(u + 1, v) && inside(u, v - 1) && inside(u, v + 1);
      if (!whole) mask(u, v) = 0;
    }
  }
}

/// Of the things that enough is seen of for a mask, one.
std::optional<std::size_t> draw_thing(const TableScene& scene, const Random& random) {
  constexpr int kEnoughPx = 400;
  std::vector<std::size_t> seen;
  for (std::size_t i = 0; i < scene.objects.size(); ++i) {
    if (scene.objects[i].visibility.seen_px >= kEnoughPx) seen.push_back(i);
  }
  if (seen.empty()) return std::nullopt;
  return seen[random.below(static_cast<std::uint32_t>(seen.size()), 0)];
}

/// Leaves one thing in the depth map, less some of its rim, and says which; none where nothing is
/// seen enough of.
std::optional<std::size_t> cut_out(const TableScene& scene, const Image<std::int32_t>& ids,
                                   int most_px, std::uint64_t seed, Image<float>& depth_m) {
  const Random random{seed, kCutOutItem};
  const std::optional<std::size_t> thing = draw_thing(scene, random);
  Image<std::uint8_t> mask(Context::cpu(), ids.width(), ids.height());
  for (std::int64_t i = 0; i < ids.pixels().size(); ++i) {
    const bool is_thing = thing && ids.pixels().data()[i] == static_cast<std::int32_t>(*thing) + 1;
    mask.pixels().data()[i] = is_thing ? 1 : 0;
  }
  const auto gone_px = random.below(static_cast<std::uint32_t>(most_px) + 1, 1);
  for (std::uint32_t i = 0; i < gone_px; ++i) erode(mask);
  for (std::int64_t i = 0; i < ids.pixels().size(); ++i) {
    if (mask.pixels().data()[i] == 0) depth_m.pixels().data()[i] = 0;
  }
  return thing;
}

SetFrame make_frame(const Context& context, const BopTablesOptions& options,
                    const TableObjects& objects, const std::map<std::string, int>& ids,
                    int number) {
  std::uint64_t seed = 0;
  const TableScene scene = make_scene(context, options, objects, number, seed);
  TablePicture picture = take_picture(context, scene);
  SetFrame frame;
  frame.scene = 1 + number / kFramesPerScene;
  frame.id = number % kFramesPerScene;
  frame.camera = scene.camera;
  frame.depth_m =
      sensed_depth(context, scene.camera, picture.depth_m, picture.normals, options.sensor, seed);
  const PhotoNoiseOptions photo = options.sensor ? options.photo : PhotoNoiseOptions{0, 0, 0};
  frame.color = add_photo_noise(host_of(context), picture.colors, photo, seed);
  std::optional<std::size_t> alone;
  if (options.cut_out_px) {
    alone = cut_out(scene, picture.ids, *options.cut_out_px, seed, frame.depth_m);
  }
  for (std::size_t i = 0; i < scene.objects.size(); ++i) {
    const SceneObject& object = scene.objects[i];
    const auto known = ids.find(object.name);
    if (options.cut_out_px && alone != i) continue;
    if (known != ids.end()) frame.truth.push_back({known->second, object.camera_from_object});
  }
  return frame;
}

void add_frames(const Context& context, const BopTablesOptions& options,
                const std::map<std::string, int>& ids, DatasetWriter& writer) {
  constexpr int kBatch = 32;
  ProgressBar bar("tables", {"frames", 1});
  const Progress progress = bar.callback();
  const TableObjects objects(options.table.set);
  for (int first = 0; first < options.frames; first += kBatch) {
    std::vector<SetFrame> batch(static_cast<std::size_t>(std::min(kBatch, options.frames - first)));
    if (context.is_cpu()) {
      for_each_chunk(
          context, static_cast<std::int64_t>(batch.size()), 1, [&](std::int64_t i, std::int64_t) {
            batch[static_cast<std::size_t>(i)] =
                make_frame(Context::cpu(1), options, objects, ids, first + static_cast<int>(i));
          });
    } else {
      for (std::size_t i = 0; i < batch.size(); ++i) {
        batch[i] = make_frame(context, options, objects, ids, first + static_cast<int>(i));
      }
    }
    for (SetFrame& frame : batch) writer.add_frame(std::move(frame));
    report(progress, first + static_cast<std::int64_t>(batch.size()), options.frames);
  }
}

}  // namespace

Result write_bop_tables(const Context& context, const BopTablesOptions& options,
                        const fs::path& folder) {
  check_options(options.table);
  const std::string name = fs::absolute(folder).lexically_normal().filename().string();
  DatasetWriter writer(folder, name.empty() ? "synth" : name, false);
  std::vector<Known> known = draw_known(options);
  const std::vector<std::string> strangers = strangers_of(options.table.set, known);
  SetNotes& notes = writer.notes();
  notes.source = "sextant synth";
  notes.truth = "exact";
  notes.criterion = {.measure = PoseMeasure::kMssd, .share = 0.1};
  for (const std::string& stranger : strangers) {
    notes.remarks.push_back(stranger + " stands on the tables, but is no object of the set");
  }
  const std::map<std::string, int> ids = add_models(context, std::move(known), writer);
  add_frames(context, options, ids, writer);
  {
    ProgressBar bar("visible shares", {"frames", 1});
    writer.finish(context, bar.callback());
  }
  Result result;
  result.document = {{"set", name},
                     {"folder", folder.string()},
                     {"frames", writer.frames()},
                     {"instances", writer.instances()},
                     {"objects", ids},
                     {"strangers", strangers}};
  result.text =
      fmt::format("{}: {} frames, {} instances of {} objects, {} strangers\n", folder.string(),
                  writer.frames(), writer.instances(), ids.size(), strangers.size());
  return result;
}

}  // namespace sextant::app
