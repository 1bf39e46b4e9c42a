// SPDX-License-Identifier: Apache-2.0
// All `_into` forms of the descriptors and of the neighbour search.
#include <gtest/gtest.h>

#include "sextant/descriptor/cloud_pairs.h"
#include "sextant/descriptor/keypoints.h"
#include "sextant/descriptor/local_frame.h"
#include "sextant/descriptor/mesh_tensor.h"
#include "sextant/descriptor/shot.h"
#include "tests/steady_state.h"
#include "tests/tensor_surfaces.h"

namespace sextant {
namespace {

using namespace testing;

constexpr float kRadius_m = 0.008f;
constexpr int kNearest = 7;
constexpr std::int64_t kKeypoints = 300;
constexpr std::int64_t kTensors = 20;

Buffer<SurfaceStatistics> statistics_of(const Context& context, float resolution_m) {
  SurfaceStatistics statistics;
  statistics.resolution_m = resolution_m;
  return copy(context, std::vector<SurfaceStatistics>{statistics});
}

/// A surface with all that the operations read and room for all that they write.
struct Bench {
  Context context;
  HostSurface host = lumpy_scene();
  DeviceSurface organised{context, host};
  Buffer<Vec3f> points = copy(context, host.points), normals = copy(context, host.normals);
  Buffer<Rgb8> colors = copy(context, std::vector<Rgb8>(host.points.size(), Rgb8{9, 200, 50}));
  Buffer<SurfaceStatistics> statistics = statistics_of(context, kLumpyResolution_m);
  NeighbourGrid grid = build_neighbour_grid(context, points);
  TensorMesh mesh =
      prepare_tensor_mesh(context, points, normals, triangle_indices(context, organised.cells));

  std::int64_t size = points.size();
  Buffer<std::int32_t> rows{context, size*kNearest}, counts{context, size}, count{context, 1};
  Buffer<float> distances_sq{context, size* kNearest};
  Buffer<Vec3f> frames{context, 3 * size}, keypoint_frames{context, 3 * kKeypoints};
  Buffer<float> shot{context, size * 352}, color_shot{context, kKeypoints * 1344};
  Buffer<ShotStatus> status{context, size};
  Buffer<PointPair> pairs{context, size*kPartnersPerPoint}, selected{context, kTensors};
  Buffer<std::int32_t> pair_count{context, 1}, selected_count{context, 1};
  TensorSet tensors{context, kTensors, 10}, flipped{context, kTensors, 10};
  Buffer<float> dense{context, kTensors * 1000};

  explicit Bench(const Context& on) : context(on) {}

  View<const Vec3f> keypoints() const { return points.view().subview(0, kKeypoints); }
  View<const Rgb8> keypoint_colors() const { return colors.view().subview(0, kKeypoints); }
  ShotSurface surface() const { return {points, normals, colors}; }
};

using Operation = SteadyOperation<Bench>;

const std::vector<Operation> kNeighbourOperations{
    {"build_neighbour_grid",
     [](Bench& b, Workspace&) {
       build_neighbour_grid_into(b.context, b.points, NeighbourGridOptions::for_radius(kRadius_m),
                                 b.grid);
     }},
    {"k_nearest of queries",
     [](Bench& b, Workspace& workspace) {
       k_nearest_into(b.context, b.grid, b.points, kNearest, b.rows, b.distances_sq, workspace);
     }},
    {"k_nearest",
     [](Bench& b, Workspace&) {
       k_nearest_into(b.context, b.grid, kNearest, b.rows, b.distances_sq);
     }},
    {"count_neighbours of queries",
     [](Bench& b, Workspace& workspace) {
       count_neighbours_into(b.context, b.grid, b.points, kRadius_m, b.counts, workspace);
     }},
    {"count_neighbours",
     [](Bench& b, Workspace&) { count_neighbours_into(b.context, b.grid, kRadius_m, b.counts); }}};

const std::vector<Operation> kPointOperations{
    {"uniform_keypoints",
     [](Bench& b, Workspace& workspace) {
       uniform_keypoints_into(b.context, b.points, {.leaf_m = kRadius_m}, b.counts, b.count,
                              workspace);
     }},
    {"iss_keypoints",
     [](Bench& b, Workspace& workspace) {
       const IssOptions options{.salient_radius_m = kRadius_m, .non_max_radius_m = kRadius_m};
       iss_keypoints_into(b.context, b.grid, options, b.counts, b.count, workspace);
     }},
    {"compute_local_frames at keypoints",
     [](Bench& b, Workspace& workspace) {
       compute_local_frames_into(b.context, b.grid, b.keypoints(), {.radius_m = kRadius_m},
                                 b.keypoint_frames, workspace);
     }},
    {"compute_local_frames",
     [](Bench& b, Workspace& workspace) {
       compute_local_frames_into(b.context, b.grid, {.radius_m = kRadius_m}, b.frames, workspace);
     }},
    {"compute_shot",
     [](Bench& b, Workspace& workspace) {
       compute_shot_into(b.context, b.grid, b.surface(), {.radius_m = kRadius_m},
                         {b.shot, {}, b.status}, workspace);
     }},
    {"compute_shot with frames of another radius",
     [](Bench& b, Workspace& workspace) {
       compute_shot_into(b.context, b.grid, b.surface(),
                         {.radius_m = kRadius_m, .frame_radius_m = 0.7f * kRadius_m},
                         {b.shot, b.frames, b.status}, workspace);
     }},
    {"compute_shot of colours at keypoints with frames", [](Bench& b, Workspace& workspace) {
       compute_shot_into(b.context, b.grid, b.surface(),
                         {b.keypoints(), b.keypoint_colors(), b.keypoint_frames},
                         {.radius_m = kRadius_m, .content = ShotContent::kShapeAndColor},
                         {b.color_shot, {}, b.status.view().subview(0, kKeypoints)}, workspace);
     }}};

void find_pairs_of(Bench& b, int samples, Workspace& workspace) {
  find_pairs_into(b.context, b.organised.points, b.organised.normals, b.statistics,
                  {.samples = samples}, b.pairs, b.pair_count, workspace);
}

const std::vector<Operation> kPairOperations{
    {"find_pairs", [](Bench& b, Workspace& workspace) { find_pairs_of(b, 0, workspace); }},
    {"find_pairs of samples",
     [](Bench& b, Workspace& workspace) { find_pairs_of(b, 1000, workspace); }},
    {"find_cloud_pairs",
     [](Bench& b, Workspace& workspace) {
       find_cloud_pairs_into(b.context, b.grid, b.points, b.normals, kLumpyResolution_m, {},
                             b.pairs, b.pair_count, workspace);
     }},
    {"select_pairs",
     [](Bench& b, Workspace& workspace) {
       select_pairs_into(b.context, b.pairs, b.pair_count, 1, b.selected, b.selected_count,
                         workspace);
     }},
    {"compute_tensors",
     [](Bench& b, Workspace& workspace) {
       compute_tensors_into(b.context, b.organised, b.selected, b.selected_count, b.statistics, {},
                            b.tensors, workspace);
     }},
    {"compute_tensors of a mesh",
     [](Bench& b, Workspace& workspace) {
       compute_tensors_into(b.context, b.mesh, b.selected, b.selected_count, kLumpyResolution_m, {},
                            b.tensors, workspace);
     }},
    {"flip_tensors",
     [](Bench& b, Workspace&) { flip_tensors_into(b.context, b.tensors, b.flipped); }},
    {"unpack_tensors",
     [](Bench& b, Workspace&) { unpack_tensors_into(b.context, b.tensors, b.dense); }}};

std::vector<Operation> all_operations() {
  std::vector<Operation> all = kNeighbourOperations;
  all.insert(all.end(), kPointOperations.begin(), kPointOperations.end());
  all.insert(all.end(), kPairOperations.begin(), kPairOperations.end());
  return all;
}

TEST(DescriptorSteadyState, ASecondCallNeitherAllocatesNorWaits) {
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    Bench bench(context);
    expect_steady_calls(bench, all_operations());
    EXPECT_EQ(to_host(context, bench.selected_count)[0], kTensors);
    EXPECT_EQ(to_host(context, bench.flipped.count)[0], kTensors);
  }
}

TEST(DescriptorSteadyState, OneWorkspaceServesAllOperations) {
  for (const Context& context : all_contexts()) {
    SCOPED_TRACE(testing::describe(context));
    Bench bench(context);
    expect_steady_sequence(bench, all_operations());
  }
}

}  // namespace
}  // namespace sextant
