// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "apps/sextant/experiments/experiments.h"
#include "apps/sextant/experiments/object_views.h"
#include "measure/time_graph.h"
#include "sextant/match/tensors.h"

// The time to compare 200 tensors of a scene with libraries of growing size (Table 4 of the tensor
// paper), all of them tensors of rendered views of the seven objects: with the settings that
// learning and recognition use, and with the paper's small bins by either score.

namespace sextant::app {

namespace {

struct Size {
  std::int64_t tensors;
  double paper_gpu_ms, paper_cpu_ms;
};
constexpr Size kSizes[] = {
    {2000, 75, 215}, {4000, 140, 398}, {16000, 534, 1589}, {64000, 2130, 6414}};

/// The first tensors of a set of views that take turns with the objects.
TensorSet first_of(const JoinedTensors& all, std::int64_t count) {
  std::vector<TensorSet> one(1);
  one[0] = copy(Context::cpu(), all.tensors);
  one[0].count.host()[0] = static_cast<std::int32_t>(count);
  return join_tensors(one).tensors;
}

struct Manner {
  std::string name;
  ViewTensorOptions tensors;
  TensorMatchOptions matching;
};

/// Some 70 000 tensors of views of all objects in turn.
JoinedTensors make_library(const Context& context, const std::vector<SeenObject>& toys,
                           const ViewTensorOptions& tensors) {
  constexpr int kViews = 40;
  std::vector<TensorSet> sets;
  for (int v = 0; v < kViews; ++v) {
    for (const SeenObject& toy : toys) {
      ViewOptions options;
      options.noise = SensorModel::kKinect;
      options.tensors = tensors;
      options.tensors.tensors = 250;
      const Rigid3d pose = look_at(toy, direction_of(v, kViews), options.distance_m, 0.7 * v);
      sets.push_back(to_host(context, tensors_of_view(context, toy, pose, options, sets.size())));
    }
  }
  return join_tensors(sets);
}

void add_times(const Context& context, const std::vector<SeenObject>& toys, const Manner& manner,
               std::vector<measure::Row>& rows) {
  const JoinedTensors all = make_library(context, toys, manner.tensors);
  ViewOptions seen;
  seen.noise = SensorModel::kKinect;
  seen.tensors = manner.tensors;
  seen.tensors.tensors = 200;
  const TensorSet scene = tensors_of_view(
      context, toys[0], look_at(toys[0], Vec3d{0.3, -0.8, 0.5}, seen.distance_m, 1.0), seen, 9999);
  double smallest_ms = 0;
  for (const Size& size : kSizes) {
    require(size.tensors <= all.tensors.capacity(), "the views have only ", all.tensors.capacity(),
            " tensors");
    const TensorSet library = copy(context, first_of(all, size.tensors));
    const TensorIndex index = index_tensors(context, library);
    Buffer<TensorMatch> matches(context, scene.capacity() * manner.matching.k);
    Workspace workspace;
    const auto work = [&] {
      match_tensors_into(context, scene, index, manner.matching, matches, workspace);
    };
    work();
    measure::Row row{
        fmt::format("{} tensors against {}{}", scene.capacity(), size.tensors, manner.name),
        "ms",
        {},
        measure::graph_ms(context, work),
        {},
        {},
        context.is_cuda() ? size.paper_gpu_ms : size.paper_cpu_ms};
    if (size.tensors == 64000) {
      row.goal = context.is_cuda() ? 0.5 : 60.0;
      row.met = row.ours <= *row.goal;
    }
    if (smallest_ms == 0) smallest_ms = row.ours;
    rows.push_back(row);
  }
  rows.push_back({"time with 32 times the library over time" + manner.name,
                  "x",
                  {},
                  rows.back().ours / smallest_ms,
                  32.0,
                  rows.back().ours / smallest_ms <= 32.0});
}

}  // namespace

std::vector<measure::Row> tensor_matching(const Context& context) {
  const std::vector<SeenObject> toys = seven_toys(context);
  std::vector<measure::Row> rows;
  add_times(context, toys, {"", {}, {}}, rows);
  add_times(context, toys, {", small bins, cosine", paper_view_tensors(), {}}, rows);
  add_times(
      context, toys,
      {", small bins, the paper's correlation", paper_view_tensors(), paper_tensor_matching()},
      rows);
  return rows;
}

}  // namespace sextant::app
