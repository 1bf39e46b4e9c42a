// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/eval/refine_set.h"

#include <fmt/format.h>

#include <map>
#include <numbers>

#include "apps/sextant/command/progress_bar.h"
#include "apps/sextant/eval/set_models.h"
#include "measure/report.h"
#include "sextant/core/for_each.h"

namespace sextant::app {

namespace {

using nlohmann::json;

constexpr double kDegree = std::numbers::pi / 180;

struct Refinement {
  std::map<TruthRefinement, int> count;
  std::vector<double> moved_mm, turned_deg;  ///< of the truths that moved

  explicit Refinement(const std::vector<SetImage>& images) {
    for (const SetImage& image : images) {
      for (const RefinedTruth& truth : image.refined) {
        ++count[truth.outcome];
        if (truth.outcome != TruthRefinement::kMoved) continue;
        moved_mm.push_back(truth.moved.translation_m * 1000);
        turned_deg.push_back(truth.moved.rotation_rad / kDegree);
      }
    }
  }
};

json number(double value) { return std::isfinite(value) ? json(value) : json(); }

void refine(const EvaluatedModels& models, const RefineTruthOptions& options, SetImage& image) {
  if (image.depth_file.empty()) return;
  Camera camera;
  const Image<float> depth = read_pixels(image, camera);
  image.refined = refine_truth(Context::cpu(1), models, camera, depth, image.judged.truth, options);
  for (std::size_t i = 0; i < image.refined.size(); ++i) {
    image.judged.truth[i].camera_from_object = image.refined[i].camera_from_object;
  }
}

}  // namespace

void refine_set(const Context& context, const std::filesystem::path& set,
                const EvaluatedModels& models, const RefineTruthOptions& options,
                std::vector<SetImage>& images) {
  const Context host = context.is_cpu() ? context : Context::cpu();
  EvaluatedModels on_host;
  if (!context.is_cpu()) on_host = make_evaluated_models(host, read_set_models(set));
  ProgressBar bar("refining the truth", {"images", 1});
  const Progress progress = bar.callback();
  constexpr std::size_t kBatch = 32;
  for (std::size_t first = 0; first < images.size(); first += kBatch) {
    const std::size_t last = std::min(first + kBatch, images.size());
    for_each_chunk(host, static_cast<std::int64_t>(last - first), 1,
                   [&](std::int64_t i, std::int64_t) {
                     refine(context.is_cpu() ? models : on_host, options,
                            images[first + static_cast<std::size_t>(i)]);
                   });
    report(progress, static_cast<std::int64_t>(last), static_cast<std::int64_t>(images.size()));
  }
}

json refinement_json(const std::vector<SetImage>& images) {
  Refinement all(images);
  json document = json::object();
  for (const Choice<TruthRefinement>& choice : kTruthRefinements) {
    document[std::string(choice.name)] = all.count[choice.value];
  }
  const measure::Spread mm = measure::spread_of(all.moved_mm);
  const measure::Spread degrees = measure::spread_of(all.turned_deg);
  document["median_mm"] = mm.median;
  document["p95_mm"] = mm.p95;
  document["median_deg"] = degrees.median;
  document["p95_deg"] = degrees.p95;
  return document;
}

std::string refinement_text(const std::vector<SetImage>& images) {
  Refinement all(images);
  const measure::Spread mm = measure::spread_of(all.moved_mm);
  const measure::Spread degrees = measure::spread_of(all.turned_deg);
  return fmt::format(
      "truth on depth: {} moved by {:.1f} mm and {:.1f} deg in the median ({:.1f} mm and {:.1f} "
      "deg for 95 %); {} kept, since they would move too far, {} since they are hardly seen\n",
      all.count[TruthRefinement::kMoved], mm.median, degrees.median, mm.p95, degrees.p95,
      all.count[TruthRefinement::kTooFar], all.count[TruthRefinement::kHardlySeen]);
}

std::string refinement_lines(const std::vector<SetImage>& images) {
  std::string lines;
  for (const SetImage& image : images) {
    for (std::size_t i = 0; i < image.refined.size(); ++i) {
      const RefinedTruth& truth = image.refined[i];
      json rotation = json::array();
      for (const Vec3d& row : truth.camera_from_object.rotation.row) {
        rotation.insert(rotation.end(), {row.x, row.y, row.z});
      }
      const Vec3d t_mm = truth.camera_from_object.translation * 1000.0;
      lines += json{{"scene_id", image.judged.scene},
                    {"im_id", image.judged.image},
                    {"gt_id", i},
                    {"obj_id", image.judged.truth[i].object_id},
                    {"outcome", name_of(truth.outcome, kTruthRefinements)},
                    {"moved_mm", number(truth.moved.translation_m * 1000)},
                    {"turned_deg", number(truth.moved.rotation_rad / kDegree)},
                    {"sliding", truth.sliding},
                    {"cam_R_m2c", rotation},
                    {"cam_t_m2c", {t_mm.x, t_mm.y, t_mm.z}}}
                   .dump() +
               "\n";
    }
  }
  return lines;
}

}  // namespace sextant::app
