// SPDX-License-Identifier: Apache-2.0
// Runs the recogniser over data sets in the layout of BOP and tells where right poses are lost, and
// what the verification says of every pose, right and wrong: what fit_terms fits the score to.
//
//   recognition_terms [--workers N] [--half even|odd|all] [--most N] [--terms FILE] [--verbose]
//                     [--lookalikes FILE] [--options JSON] [--image ID] SET[=LIBRARY]...
//
// Options are those of RecognizeOptions, such as '{"sources": "tensors", "refined": 300}'.
// Without a library the models of the set are taken as they are, without descriptors, and their
// lookalikes looked for.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sextant/core/for_each.h"
#include "sextant/core/options_json.h"
#include "sextant/evaluate/pose_error.h"
#include "sextant/io/bop_dataset.h"
#include "sextant/io/bop_models.h"
#include "sextant/io/depth_file.h"
#include "sextant/io/json_file.h"
#include "sextant/io/ply.h"
#include "sextant/library/library.h"
#include "sextant/recognize/lookalikes.h"
#include "sextant/recognize/recognizer.h"

using namespace sextant;
namespace fs = std::filesystem;

namespace {

constexpr int kClutterFrames = 16;  // as `sextant learn` takes

constexpr VerificationTerms kNoTerms;

struct Arguments {
  int workers = 2;
  std::string half = "all";
  int most = 1 << 30;
  int image = -1;  ///< or all
  std::string terms, lookalikes;
  RecognizeOptions options;
  std::vector<std::pair<fs::path, fs::path>> sets;
  bool verbose = false;
};

struct Set {
  std::string name;
  PoseCriterion criterion;
  std::map<int, EvaluatedModel> models;
  std::vector<int> object_ids;  ///< of the library's objects
  std::vector<BopScene> scenes;
  std::map<int, std::vector<int>> unlisted;
  std::map<int, std::string> names;
  bool may_be_unlisted(int scene, int object) const {
    for (const int key : {scene, -1}) {
      const auto found = unlisted.find(key);
      if (found == unlisted.end()) continue;
      for (const int o : found->second)
        if (o == object) return true;
    }
    return false;
  }
};

struct Tally {
  int frames = 0, instances = 0, voted = 0, refined = 0, pooled = 0, first = 0, right = 0,
      wrong = 0, spurious = 0, uncounted = 0;
  double seconds = 0;
  std::map<std::string, double> steps;
};

Set read_set(const fs::path& folder) {
  Set set;
  set.name = fs::absolute(folder).filename().string();
  if (set.name.empty()) set.name = fs::absolute(folder).parent_path().filename().string();
  if (fs::exists(folder / "sextant.json")) {
    const nlohmann::json notes = read_json_file(folder / "sextant.json");
    options_from_json(notes.at("criterion"), set.criterion);
    for (const auto& item : notes.at("objects").items()) {
      set.names[std::stoi(item.key())] = item.value();
    }
    for (const auto& item : notes.at("unlisted").items()) {
      set.unlisted[item.key() == "all" ? -1 : std::stoi(item.key())] =
          item.value().get<std::vector<int>>();
    }
  }
  for (const BopModel& model : read_bop_models(folder / "models" / "models_info.json")) {
    set.models[model.id] = make_evaluated_model(
        model.id, read_ply(bop_mesh_file(folder / "models", model.id), {.unit_m = 0.001}),
        model.symmetries, model.diameter_m);
  }
  for (const BopSceneFolder& scene : find_bop_scenes(folder)) {
    set.scenes.push_back(read_bop_scene(scene));
  }
  return set;
}

/// The models of a set as a library without features has them.
std::vector<LearnedObject> objects_of(const Set& set, const fs::path& folder) {
  std::vector<LearnedObject> objects;
  for (const BopModel& model : read_bop_models(folder / "models" / "models_info.json")) {
    LearnedObject object;
    object.name = bop_name(model.id);
    object.bop_id = model.id;
    object.mesh = read_ply(bop_mesh_file(folder / "models", model.id), {.unit_m = 0.001});
    // A cloud gets the triangles that errors are measured with.
    if (object.mesh.triangles.empty()) {
      const TriangleMesh& drawn = set.models.at(model.id).mesh;
      object.mesh.vertices.points = copy(Context::cpu(), drawn.vertices.points);
      object.mesh.triangles = copy(Context::cpu(), drawn.triangles);
    }
    object.diameter_m = model.diameter_m;
    object.shape_symmetries = model.symmetries;
    objects.push_back(std::move(object));
  }
  return objects;
}

/// A line for every pose of clutter.
void write_lookalikes(Set& set, const LearnedObject& object, std::ostream& out) {
  const LearnedLookalikes& found = object.lookalikes;
  for (std::int64_t i = 0; i < found.terms.size(); i += found.length) {
    const float* terms = found.terms.data() + i;
    if (std::isnan(*terms)) continue;
    out << set.name << ',' << set.names[object.bop_id] << ','
        << i / (found.length * found.frame_poses);
    for (int k = 0; k < found.length; ++k) out << ',' << terms[k];
    out << '\n';
  }
}

struct Truth {
  int object = 0;
  Rigid3d pose;
  bool wanted = true, voted = false, refined = false, pooled = false, first = false, found = false;
};

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto next = [&] { return std::string(i + 1 < argc ? argv[++i] : ""); };
    if (word == "--workers")
      arguments.workers = std::atoi(next().c_str());
    else if (word == "--half")
      arguments.half = next();
    else if (word == "--most")
      arguments.most = std::atoi(next().c_str());
    else if (word == "--terms")
      arguments.terms = next();
    else if (word == "--lookalikes")
      arguments.lookalikes = next();
    else if (word == "--image")
      arguments.image = std::atoi(next().c_str());
    else if (word == "--options")
      options_from_json(nlohmann::json::parse(next()), arguments.options);
    else if (word == "--verbose")
      arguments.verbose = true;
    else {
      const std::size_t sign = std::min(word.find('='), word.size());
      arguments.sets.push_back(
          {word.substr(0, sign), sign < word.size() ? word.substr(sign + 1) : ""});
    }
  }
  std::ofstream table;
  if (!arguments.terms.empty()) {
    table.open(arguments.terms);
    table
        << "set,scene,image,object,name,label,error,unlisted,accepted,score,visible,x,y,z,diameter";
    for_each_term(kNoTerms, [&](const char* name, float) { table << ',' << name; });
    table << '\n';
  }
  std::ofstream lookalikes;
  if (!arguments.lookalikes.empty()) {
    lookalikes.open(arguments.lookalikes);
    lookalikes << "set,name,frame";
    for_each_term(kNoTerms, [&](const char* name, float) { lookalikes << ',' << name; });
    lookalikes << '\n';
  }
  const Context side_by_side = Context::cpu(arguments.workers);
  std::vector<ClutterFrame> clutter;
  std::map<std::string, Tally> tallies;
  std::mutex mutex;
  for (const auto& [folder, library_file] : arguments.sets) {
    Set set = read_set(folder);
    std::vector<LearnedObject> objects;
    if (library_file.empty()) {
      objects = objects_of(set, folder);
      if (clutter.empty()) clutter = make_clutter(side_by_side, kClutterFrames);
      for_each_chunk(side_by_side, std::ssize(objects), 1, [&](std::int64_t i, std::int64_t) {
        LearnedObject& object = objects[static_cast<std::size_t>(i)];
        object.lookalikes = find_lookalikes(Context::cpu(1), object, clutter);
      });
    } else {
      Library(library_file, LibraryAccess::kRead)
          .load_all(side_by_side, parts_to_recognize(arguments.options),
                    {{}, [&](std::int64_t, LearnedObject object) {
                       objects.push_back(std::move(object));
                     }});
    }
    for (const LearnedObject& object : objects) set.object_ids.push_back(object.bop_id);
    for (const LearnedObject& object : objects) {
      write_lookalikes(set, object, lookalikes);
    }
    const Recognizer recognizer(Context::cpu(1), objects, arguments.options);
    struct Frame {
      const BopScene* scene;
      const BopImage* image;
    };
    std::vector<Frame> frames;
    int number = 0;
    for (const BopScene& scene : set.scenes) {
      for (const BopImage& image : scene.images) {
        const bool odd = number++ % 2 == 1;
        if (arguments.image >= 0 && image.id != arguments.image) continue;
        if ((arguments.half == "even" && odd) || (arguments.half == "odd" && !odd)) continue;
        if (static_cast<int>(frames.size()) < arguments.most) frames.push_back({&scene, &image});
      }
    }
    Tally& tally = tallies[set.name];
    for_each_chunk(
        side_by_side, static_cast<std::int64_t>(frames.size()), 1,
        [&](std::int64_t f, std::int64_t) {
          const auto [scene, image] = frames[static_cast<std::size_t>(f)];
          const Image<float> depth =
              read_depth(bop_depth_file(*scene, *image), {.unit_m = image->camera.depth_unit_m()});
          Camera camera = image->camera.camera;
          camera.width = depth.width();
          camera.height = depth.height();
          RecognitionTrace trace;
          const auto begin = std::chrono::steady_clock::now();
          const Recognition result = recognizer.recognize(depth, camera, {}, {}, &trace);
          const double seconds =
              std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
          std::vector<Truth> truths;
          for (std::size_t i = 0; i < image->truth.size(); ++i) {
            truths.push_back({image->truth[i].object_id, image->truth[i].camera_from_object});
            truths.back().wanted = image->info.empty() || image->info[i].visible_fraction >= 0.1;
          }
          const auto error = [&](int object, const Rigid3d& pose, const Truth& truth) {
            if (object != truth.object) return 9.0;
            const EvaluatedModel& model = set.models.at(object);
            if (norm(pose * model.middle_m - truth.pose * model.middle_m) > 0.5 * model.diameter_m)
              return 9.0;
            return std::min(criterion_error(model, pose, truth.pose, set.criterion), 8.99);
          };
          for (Truth& truth : truths) {
            for (const ObjectPose& p : trace.voted) {
              if (truth.voted) break;
              truth.voted |= error(set.object_ids[static_cast<std::size_t>(p.object_index)],
                                   p.camera_from_object, truth) < 2;
            }
            for (const ObjectPose& p : trace.refined) {
              if (truth.refined) break;
              truth.refined |= error(set.object_ids[static_cast<std::size_t>(p.object_index)],
                                     p.camera_from_object, truth) < 1;
            }
          }
          std::string line;
          std::ostringstream rows;
          int wrong = 0, spurious = 0, uncounted = 0;
          std::map<int, int> ranks;
          const auto judge = [&](const Detection& d, bool accepted) {
            const int object = set.object_ids[static_cast<std::size_t>(d.object_index)];
            double least = 9;
            Truth* nearest = nullptr;
            for (Truth& truth : truths) {
              const double e = error(object, d.camera_from_object, truth);
              if (e < least) {
                least = e;
                nearest = &truth;
              }
            }
            const bool label = least < 1;
            const bool unlisted = !label && set.may_be_unlisted(scene->id, object);
            if (label) nearest->pooled = true;
            if (label && ranks[object] <= 0) nearest->first = true;
            if (!label) ++ranks[object];
            if (accepted) {
              const bool again = label && nearest->found;
              if (label && !nearest->found)
                nearest->found = true;
              else if (unlisted)
                ++uncounted;
              else if (nearest)
                ++wrong;
              else
                ++spurious;
              char text[120];
              std::snprintf(text, sizeof text, " %s%d:%.2f",
                            label && !again ? "+"
                            : unlisted      ? "?"
                            : nearest       ? "~"
                                            : "!",
                            object, d.score);
              line += text;
            }
            rows << set.name << ',' << scene->id << ',' << image->id << ',' << object << ','
                 << set.names[object] << ',' << label << ',' << least << ',' << unlisted << ','
                 << accepted << ',' << d.score << ',' << d.visible;
            const EvaluatedModel& model = set.models.at(object);
            const Vec3d middle = d.camera_from_object * model.middle_m;
            rows << ',' << middle.x << ',' << middle.y << ',' << middle.z << ','
                 << model.diameter_m;
            for_each_term(d.terms, [&](const char*, float value) { rows << ',' << value; });
            rows << '\n';
          };
          for (const Detection& d : result.detections) judge(d, true);
          for (const Detection& d : result.rejected) judge(d, false);
          if (arguments.verbose) {
            for (std::size_t k = 0; k < truths.size(); ++k) {
              const Truth& truth = truths[k];
              double best[3] = {9, 9, 9};
              PoseDifference difference;
              const auto least = [&](int object, const Rigid3d& pose, int stage) {
                const double e = error(object, pose, truth);
                if (e < best[stage]) {
                  best[stage] = e;
                  difference = pose_difference(set.models.at(object), pose, truth.pose);
                }
              };
              const auto id = [&](int index) {
                return set.object_ids[static_cast<std::size_t>(index)];
              };
              for (const ObjectPose& p : trace.voted)
                least(id(p.object_index), p.camera_from_object, 0);
              for (const ObjectPose& p : trace.refined)
                least(id(p.object_index), p.camera_from_object, 1);
              double score = 0;
              for (const auto* list : {&result.detections, &result.rejected})
                for (const Detection& d : *list) {
                  const double before = best[2];
                  least(id(d.object_index), d.camera_from_object, 2);
                  if (best[2] < before) score = d.score;
                }
              std::printf(
                  "   %d visible %.2f: voted %.2f refined %.2f pooled %.2f (%.1f mm %.1f deg) "
                  "score %.2f\n",
                  truth.object, image->info.empty() ? 1.0 : image->info[k].visible_fraction,
                  best[0], best[1], best[2], difference.translation_m * 1000,
                  difference.rotation_rad * 57.3, score);
            }
          }
          int instances = 0, voted = 0, refined = 0, pooled = 0, first = 0, found = 0;
          for (const Truth& t : truths) {
            if (!t.wanted) continue;
            ++instances;
            voted += t.voted;
            refined += t.refined;
            pooled += t.pooled;
            first += t.first;
            found += t.found;
          }
          const std::lock_guard lock(mutex);
          if (table.is_open()) table << rows.str() << std::flush;
          std::printf(
              "%-8s %d/%-4d %2d inst: voted %2d refined %2d pooled %2d first %2d found %2d "
              "wrong %d false %d  %.1f s |%s\n",
              set.name.c_str(), scene->id, image->id, instances, voted, refined, pooled, first,
              found, wrong, spurious, seconds, line.c_str());
          std::fflush(stdout);
          ++tally.frames;
          tally.instances += instances;
          tally.voted += voted;
          tally.refined += refined;
          tally.pooled += pooled;
          tally.first += first;
          tally.right += found;
          tally.wrong += wrong;
          tally.spurious += spurious;
          tally.uncounted += uncounted;
          tally.seconds += seconds;
          for (const StepTime& step : result.times) tally.steps[step.step] += step.ms;
        });
  }
  std::printf("\n%-10s frames inst voted refined pooled first right wrong false other s/frame\n",
              "set");
  Tally sum;
  for (const auto& [name, t] : tallies) {
    std::printf("%-10s %6d %4d %5d %7d %6d %5d %5d %5d %5d %5d %7.2f |", name.c_str(), t.frames,
                t.instances, t.voted, t.refined, t.pooled, t.first, t.right, t.wrong, t.spurious,
                t.uncounted, t.seconds / std::max(t.frames, 1));
    for (const auto& [step, ms] : t.steps)
      std::printf(" %s %.0f", step.c_str(), ms / std::max(t.frames, 1));
    std::printf("\n");
    sum.instances += t.instances, sum.voted += t.voted, sum.refined += t.refined,
        sum.pooled += t.pooled, sum.first += t.first, sum.right += t.right, sum.wrong += t.wrong,
        sum.spurious += t.spurious;
  }
  std::printf("%-10s        %4d %5d %7d %6d %5d %5d %5d %5d\n", "all", sum.instances, sum.voted,
              sum.refined, sum.pooled, sum.first, sum.right, sum.wrong, sum.spurious);
  return 0;
}
