// SPDX-License-Identifier: Apache-2.0
// Samples of a VGA frame and votes of point pairs for the poses of 7 and of 100 objects, on the CPU
// and, where there is one, on the GPU (a replayed graph, data resident), which must agree to the
// last bit. Usage: point_pairs_device_bench [RESULT.json]
#include <cstring>

#include "measure/report.h"
#include "measure/time_graph.h"
#include "sextant/depth/deproject.h"
#include "sextant/descriptor/point_samples.h"
#include "sextant/match/point_pairs.h"
#include "sextant/surface/normals.h"
#include "sextant/synth/sensor_noise.h"
#include "sextant/synth/table_scene.h"

namespace sextant::measure {
namespace {

constexpr int kReferenceStep = 8;
constexpr float kLeaf = 0.08f;  // of the diameter

/// What a sensor sees of a table with objects, table and all.
struct Frame {
  Buffer<Vec3f> points, normals;

  Frame() {
    const Context cpu = Context::cpu();
    const TableScene scene = make_table_scene(cpu, {.objects = 7, .distance_m = 0.9f}, 4);
    RenderOptions render;
    render.normals = true;
    const Rendering exact = render_table_scene(cpu, scene, render);
    const Image<float> depth_m =
        add_sensor_noise(cpu, exact.depth_m_of(0), exact.normals_of(0), scene.camera,
                         sensor_noise(SensorModel::kKinect), 1);
    Cloud cloud = deproject(cpu, depth_m, scene.camera);
    const Image<Vec3f> organised(std::move(cloud.points), scene.camera.width, scene.camera.height);
    const Image<Vec3f> found = estimate_normals(cpu, organised, {});
    // Every third pixel: several of them in a voxel are enough.
    std::vector<Vec3f> p, n;
    for (int v = 0; v < scene.camera.height; v += 3) {
      for (int u = 0; u < scene.camera.width; u += 3) {
        p.push_back(organised(u, v));
        n.push_back(found(u, v));
      }
    }
    points = copy(cpu, p);
    normals = copy(cpu, n);
  }
};

/// Objects with the samples that each sees in the frame.
struct Objects {
  std::vector<PointPairModel> models;
  std::vector<SampleScale> scales;
  std::vector<Vec3f> points, normals;
  std::vector<std::int32_t> first{0};

  Objects(const Frame& frame, int count) {
    const Context cpu = Context::cpu();
    PointPairOptions options;
    options.reference_step = kReferenceStep;
    constexpr std::string_view kNames[] = {"cube",  "speaker",     "tortoise", "tasmanian_devil",
                                           "apple", "cracker_box", "soup_can"};
    for (int i = 0; i < count; ++i) {
      const ModelSamples model = sample_model(cpu, make_object(kNames[i % std::size(kNames)]));
      models.push_back(make_point_pair_model(cpu, model.samples.points, model.samples.normals,
                                             model.diameter_m, options));
      scales.push_back({kLeaf * static_cast<float>(model.diameter_m)});
      const PointSamples scene =
          sample_points(cpu, frame.points, frame.normals, {.leaf_m = scales.back().leaf_m});
      points.insert(points.end(), scene.points.host().begin(), scene.points.host().end());
      normals.insert(normals.end(), scene.normals.host().begin(), scene.normals.host().end());
      first.push_back(static_cast<std::int32_t>(points.size()));
    }
  }
};

std::string where(const Context& context) {
  return context.is_cpu() ? " (" + std::to_string(context.threads()) + " threads)"
                          : " (" + to_string(context.device()) + ")";
}

/// Samples the frame for all objects, which must give what each alone gave.
void time_samples(const Context& context, const Frame& frame, const Objects& objects,
                  std::vector<Row>& rows) {
  const Buffer<Vec3f> points = copy(context, frame.points);
  const Buffer<Vec3f> normals = copy(context, frame.normals);
  const Buffer<SampleScale> scales = copy(context, objects.scales);
  const auto size = static_cast<std::int64_t>(objects.points.size());
  Buffer<Vec3f> sample_points(context, size), sample_normals(context, size);
  Buffer<std::int32_t> first(context, scales.size() + 1);
  Workspace workspace;
  const auto work = [&] {
    sample_scales_into(context, points, normals, scales, PointSamplesOptions{}.normal_angle_rad,
                       sample_points, sample_normals, first, workspace);
  };
  work();
  rows.push_back({"samples of " + std::to_string(points.size()) + " points for " +
                      std::to_string(scales.size()) + " objects" + where(context),
                  "ms",
                  {},
                  time_graph(context, work).median,
                  {},
                  {}});
  require(to_host(context, first) == objects.first &&
              to_host(context, sample_points) == objects.points &&
              to_host(context, sample_normals) == objects.normals,
          "point_pairs_device_bench: samples differ");
}

std::vector<PoseVote> time_votes(const Context& context, const Objects& objects,
                                 std::optional<double> goal_ms, std::vector<Row>& rows) {
  std::vector<const PointPairModel*> all;
  for (const PointPairModel& model : objects.models) all.push_back(&model);
  const PointPairModels models(context, all);
  const Buffer<Vec3f> points = copy(context, objects.points);
  const Buffer<Vec3f> normals = copy(context, objects.normals);
  const Buffer<std::int32_t> first = copy(context, objects.first);
  Buffer<PoseVote> votes(context, pose_vote_capacity(models, points.size()));
  Buffer<std::int32_t> first_vote(context, models.size() + 1);
  Workspace workspace;
  const auto work = [&] {
    vote_for_poses_into(context, models, {points, normals, first}, votes, first_vote, workspace);
  };
  work();  // the workspace has its size
  Row row{"votes for " + std::to_string(models.size()) + " objects, " +
              std::to_string(points.size() / kReferenceStep) + " references" + where(context),
          "ms",
          {},
          time_graph(context, work).median,
          goal_ms,
          {}};
  if (goal_ms) row.met = row.ours <= *goal_ms;
  rows.push_back(row);
  std::vector<PoseVote> result;
  for (const std::vector<PoseVote>& part :
       vote_for_poses(context, models, {points, normals, first})) {
    result.insert(result.end(), part.begin(), part.end());
  }
  return result;
}

int run(const std::string& file) {
  std::vector<Context> contexts{Context::cpu(2)};
  if (const Context best = Context::best(); best.is_cuda()) contexts.push_back(best);
  const Frame frame;
  std::vector<Row> rows;
  for (const int count : {7, 100}) {
    const Objects objects(frame, count);
    std::vector<PoseVote> first;
    for (const Context& context : contexts) {
      const bool gpu = context.is_cuda();
      time_samples(context, frame, objects, rows);
      std::vector<PoseVote> votes = time_votes(
          context, objects, gpu ? std::optional(count == 7 ? 3.0 : 8.0) : std::nullopt, rows);
      if (gpu) {
        require(votes.size() == first.size() &&
                    std::memcmp(votes.data(), first.data(), votes.size() * sizeof(PoseVote)) == 0,
                "point_pairs_device_bench: CPU and GPU differ for ", count, " objects");
      }
      first = std::move(votes);
    }
  }
  publish("point_pairs_device", list_devices().devices.back().name, rows, file);
  return 0;
}

}  // namespace
}  // namespace sextant::measure

int main(int argc, char** argv) {
  return sextant::measure::run_main(argc, argv, sextant::measure::run);
}
