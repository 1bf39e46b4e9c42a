// SPDX-License-Identifier: Apache-2.0
#include "sextant/evaluate/judge_image.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace sextant {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// How far the middle may be off with a pose within BOP's loosest thresholds, half a diameter and
/// 50 px: it moves no farther than the farthest vertex, and in the picture not much farther.
constexpr double kFarthestShare = 0.55;
constexpr double kFarthest_px = 75;

/// The reports and instances of one object, by their places in the image's lists.
struct Group {
  const EvaluatedModel* model = nullptr;
  int mesh = 0;
  std::vector<int> reports;
  std::vector<int> instances;
};

template <class T>
const T& item(std::span<const T> list, int index) {
  return list[static_cast<std::size_t>(index)];
}

double middle_distance(const EvaluatedModel& model, const Rigid3d& a, const Rigid3d& b) {
  return norm(a * model.middle_m - b * model.middle_m);
}

std::vector<Group> groups_of(const EvaluatedModels& models, std::span<const TrueInstance> truth,
                             std::span<const Report> reports) {
  std::set<int> ids;
  for (const Report& report : reports) ids.insert(report.object_id);
  for (const TrueInstance& instance : truth) ids.insert(instance.object_id);
  std::vector<Group> groups;
  for (const int id : ids) {
    Group group;
    group.mesh = models.find(id);
    require(group.mesh >= 0, "object ", id, ": is in the truth or the results but has no model");
    group.model = &models.models[static_cast<std::size_t>(group.mesh)];
    for (std::size_t i = 0; i < reports.size(); ++i) {
      if (reports[i].object_id == id) group.reports.push_back(static_cast<int>(i));
    }
    for (std::size_t i = 0; i < truth.size(); ++i) {
      if (truth[i].object_id == id) group.instances.push_back(static_cast<int>(i));
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

/// Criterion errors of pairs that lie near each other; infinite for the others.
ErrorTable criterion_table(const Group& group, std::span<const TrueInstance> truth,
                           std::span<const Report> reports, const JudgeOptions& options) {
  ErrorTable table{
      static_cast<int>(group.reports.size()), static_cast<int>(group.instances.size()), {}};
  for (const int r : group.reports) {
    for (const int t : group.instances) {
      const Rigid3d& estimate = item(reports, r).camera_from_object;
      const Rigid3d& pose = item(truth, t).camera_from_object;
      const bool near = middle_distance(*group.model, estimate, pose) <=
                        std::max(options.near, 1.0) * group.model->diameter_m;
      table.errors.push_back(near ? criterion_error(*group.model, estimate, pose, options.criterion)
                                  : kInfinity);
    }
  }
  return table;
}

void judge_group(const Group& group, std::span<const TrueInstance> truth,
                 std::span<const Report> reports, std::span<const char> may_be_unlisted,
                 const JudgeOptions& options, ImageJudgement& judgement) {
  const ErrorTable table = criterion_table(group, truth, reports, options);
  std::vector<double> scores;
  for (const int r : group.reports) scores.push_back(item(reports, r).score);
  const std::vector<int> matched = match_estimates(table, scores, 1.0);
  for (std::size_t i = 0; i < group.reports.size(); ++i) {
    const int r = group.reports[i];
    const Rigid3d& estimate = item(reports, r).camera_from_object;
    JudgedReport& judged = judgement.reports[static_cast<std::size_t>(r)];
    if (matched[i] >= 0) {
      judged.instance = group.instances[static_cast<std::size_t>(matched[i])];
      JudgedInstance& instance = judgement.instances[static_cast<std::size_t>(judged.instance)];
      judged.verdict = instance.wanted ? Verdict::kRight : Verdict::kHidden;
      instance.report = r;
    } else {
      double nearest = options.near * group.model->diameter_m;
      for (const int t : group.instances) {
        const double distance =
            middle_distance(*group.model, estimate, item(truth, t).camera_from_object);
        if (distance < nearest) {
          nearest = distance;
          judged.instance = t;
        }
      }
      const bool unlisted =
          !may_be_unlisted.empty() && may_be_unlisted[static_cast<std::size_t>(r)] != 0;
      judged.verdict = judged.instance >= 0 ? Verdict::kWrong
                       : unlisted           ? Verdict::kUnlisted
                                            : Verdict::kFalse;
    }
    judged.difference = judged.instance >= 0
                            ? pose_difference(*group.model, estimate,
                                              item(truth, judged.instance).camera_from_object)
                            : PoseDifference{NAN, NAN};
  }
}

/// Whether a pair may be within one of BOP's thresholds.
bool is_of_interest(const EvaluatedModel& model, const Camera& camera, const Rigid3d& estimate,
                    const Rigid3d& truth) {
  if (middle_distance(model, estimate, truth) < kFarthestShare * model.diameter_m) return true;
  const Vec2d offset =
      project(camera, estimate * model.middle_m) - project(camera, truth * model.middle_m);
  return std::hypot(offset.x, offset.y) < kFarthest_px * camera.width / 640.0;
}

void measure_bop_errors(const Context& context, const EvaluatedModels& models, const Camera& camera,
                        ImageView<const float> measured_m, const std::vector<Group>& groups,
                        std::span<const TrueInstance> truth, std::span<const Report> reports,
                        VisibleSurfaceMemory& memory, ImageJudgement& judgement) {
  std::vector<DrawnPose> poses;
  std::vector<PosePair> pairs;
  // Each pose is drawn once, however many it is compared with.
  std::vector<int> view_of_report(reports.size(), -1), view_of_truth(truth.size(), -1);
  const auto view = [&](std::vector<int>& views, int index, int mesh, const Rigid3d& pose) {
    int& place = views[static_cast<std::size_t>(index)];
    if (place < 0) {
      place = static_cast<int>(poses.size());
      poses.push_back({mesh, pose});
    }
    return place;
  };
  for (const Group& group : groups) {
    for (const int r : group.reports) {
      for (const int t : group.instances) {
        const Rigid3d& estimate = item(reports, r).camera_from_object;
        const Rigid3d& pose = item(truth, t).camera_from_object;
        if (!is_of_interest(*group.model, camera, estimate, pose)) continue;
        BopErrors errors{r, t};
        errors.mssd = mssd_error_m(*group.model, estimate, pose) / group.model->diameter_m;
        errors.mspd_px = mspd_error_px(*group.model, camera, estimate, pose) * 640 / camera.width;
        std::fill(std::begin(errors.vsd), std::end(errors.vsd), 1.0);
        judgement.errors.push_back(errors);
        pairs.push_back({view(view_of_report, r, group.mesh, estimate),
                         view(view_of_truth, t, group.mesh, pose), group.model->diameter_m});
      }
    }
  }
  if (measured_m.empty() || pairs.empty()) return;
  const std::vector<SurfaceCounts> counts = compare_surfaces(
      context, models.scene, models.bounds, camera, measured_m, poses, pairs, {}, memory);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    for (int k = 0; k < kVsdTolerances; ++k) judgement.errors[i].vsd[k] = counts[i].vsd(k);
  }
}

}  // namespace

int EvaluatedModels::find(int object_id) const {
  const auto found = std::find_if(models.begin(), models.end(), [&](const EvaluatedModel& model) {
    return model.object_id == object_id;
  });
  return found == models.end() ? -1 : static_cast<int>(found - models.begin());
}

EvaluatedModels make_evaluated_models(const Context& context, std::vector<EvaluatedModel> models) {
  EvaluatedModels result;
  std::vector<const TriangleMesh*> meshes;
  for (const EvaluatedModel& model : models) {
    meshes.push_back(&model.mesh);
    // What is drawn of a cloud reaches beyond its points.
    result.bounds.push_back(bounds(Context::cpu(), model.mesh.vertices.points));
  }
  result.scene = RenderScene(context, meshes);
  result.models = std::move(models);
  return result;
}

ImageJudgement judge_image(const Context& context, const EvaluatedModels& models,
                           const Camera& camera, ImageView<const float> measured_m,
                           std::span<const TrueInstance> truth, std::span<const Report> reports,
                           std::span<const char> may_be_unlisted, const JudgeOptions& options,
                           VisibleSurfaceMemory& memory) {
  check_options(options);
  check_options(options.criterion);
  require(may_be_unlisted.empty() || may_be_unlisted.size() == reports.size(),
          "may_be_unlisted: ", may_be_unlisted.size(), " for ", reports.size(), " reports");
  ImageJudgement judgement;
  judgement.reports.resize(reports.size());
  for (const TrueInstance& instance : truth) {
    judgement.instances.push_back({instance.visible >= options.least_visible, -1});
  }
  const std::vector<Group> groups = groups_of(models, truth, reports);
  for (const Group& group : groups) {
    judge_group(group, truth, reports, may_be_unlisted, options, judgement);
  }
  if (options.bop) {
    measure_bop_errors(context, models, camera, measured_m, groups, truth, reports, memory,
                       judgement);
  }
  return judgement;
}

}  // namespace sextant
