// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "apps/sextant/experiments/experiments.h"
#include "apps/sextant/experiments/object_views.h"
#include "measure/time_graph.h"
#include "sextant/match/tensors.h"

// The time to compare 200 tensors of a scene with libraries of growing size (Table 4 of the tensor
// paper), all of them tensors of rendered views of the seven objects.

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

}  // namespace

std::vector<measure::Row> tensor_matching(const Context& context) {
  const std::vector<SeenObject> toys = seven_toys(context);
  constexpr int kViews = 40;
  std::vector<TensorSet> sets;
  for (int v = 0; v < kViews; ++v) {
    for (const SeenObject& toy : toys) {
      ViewOptions options;
      options.noise = SensorModel::kKinect;
      options.tensors = 250;
      const Rigid3d pose = look_at(toy, direction_of(v, kViews), options.distance_m, 0.7 * v);
      sets.push_back(to_host(context, tensors_of_view(context, toy, pose, options, sets.size())));
    }
  }
  const JoinedTensors all = join_tensors(sets);
  ViewOptions seen;
  seen.noise = SensorModel::kKinect;
  seen.tensors = 200;
  const TensorSet scene = tensors_of_view(
      context, toys[0], look_at(toys[0], Vec3d{0.3, -0.8, 0.5}, seen.distance_m, 1.0), seen, 9999);

  std::vector<measure::Row> rows;
  double smallest_ms = 0;
  for (const Size& size : kSizes) {
    require(size.tensors <= all.tensors.capacity(), "the views have only ", all.tensors.capacity(),
            " tensors");
    const TensorSet library = copy(context, first_of(all, size.tensors));
    const TensorIndex index = index_tensors(context, library);
    const TensorMatchOptions options;
    Buffer<TensorMatch> matches(context, scene.capacity() * options.k);
    Workspace workspace;
    const auto work = [&] {
      match_tensors_into(context, scene, index, options, matches, workspace);
    };
    work();
    measure::Row row{fmt::format("{} tensors against {}", scene.capacity(), size.tensors),
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
  rows.push_back({"time with 32 times the library over time",
                  "x",
                  {},
                  rows.back().ours / smallest_ms,
                  32.0,
                  rows.back().ours / smallest_ms <= 32.0});
  return rows;
}

}  // namespace sextant::app
