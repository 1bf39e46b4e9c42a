// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/recognizer/batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <set>

#include "sextant/descriptor/point_samples.h"
#include "sextant/recognize/recognizer/propose.h"
#include "sextant/recognize/recognizer/refine_batch.h"
#include "sextant/recognize/recognizer/verify_batch.h"
#include "sextant/synth/sensor_noise.h"
#include "sextant/synth/table_scene.h"
#include "tests/devices.h"

namespace sextant {

using namespace detail::recognizer;
namespace {

/// Objects that were learned without clutter are rarely sure of anything.
const RecognizeOptions kQuick{.accept = 0.2f, .refined = 40, .polished = 8};

/// A table with objects as a Kinect sees it.
struct Table {
  TableScene scene;
  std::vector<LearnedObject> objects;
  std::vector<Model> models;
  Image<float> depth_m;

  explicit Table(std::uint64_t seed) {
    const Context context = Context::cpu();
    scene = make_table_scene(context, {.objects = 5, .distance_m = 0.7f}, seed);
    RenderOptions render;
    render.normals = true;
    const Rendering exact = render_table_scene(context, scene, render);
    depth_m = add_sensor_noise(context, exact.depth_m_of(0), exact.normals_of(0), scene.camera,
                               sensor_noise(SensorModel::kKinect), seed);
    std::set<std::string> names;
    for (const SceneObject& object : scene.objects) names.insert(object.name);
    for (const std::string& name : names) {
      LearnedObject object;
      object.name = name;
      object.mesh = make_object(name);
      object.diameter_m = sample_model(context, object.mesh).diameter_m;
      models.push_back(make_model(context, object, {.reference_step = kQuick.reference_step}));
      objects.push_back(std::move(object));
    }
  }
  Recognition found_on(const Context& context, const RecognizeHints& hints = {},
                       RecognitionTrace* trace = nullptr) const {
    return BatchRecognizer(context, models, kQuick)
        .recognize(models, depth_m, scene.camera, hints, trace);
  }
};

std::vector<Context> cuda_contexts() {
  std::vector<Context> contexts = testing::all_contexts();
  std::erase_if(contexts, [](const Context& context) { return context.is_cpu(); });
  return contexts;
}

TEST(RecognizerBatch, FindsOnTheCpuWhatIsFoundObjectByObject) {
  const Table table(testing::seed_of_test());
  RecognitionTrace one_trace, all_trace;
  const RecognizeHints hints{
      .poses = {{1, table.scene.objects[0].camera_from_object}, {1, {}}, {0, {}}}};
  const Recognition one = Recognizer(Context::cpu(), table.objects, kQuick)
                              .recognize(table.depth_m, table.scene.camera, hints, {}, &one_trace);
  const Recognition all = table.found_on(Context::cpu(), hints, &all_trace);
  EXPECT_GE(one.detections.size(), 2u);
  const auto expect_same = [](const std::vector<Detection>& a, const std::vector<Detection>& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(a[i].object, b[i].object);
      EXPECT_EQ(a[i].score, b[i].score);
      EXPECT_EQ(a[i].reason, b[i].reason);
      EXPECT_EQ(a[i].covariance, b[i].covariance);
      EXPECT_EQ(a[i].pixels, b[i].pixels);
      EXPECT_EQ(std::memcmp(&a[i].camera_from_object, &b[i].camera_from_object, sizeof(Rigid3d)),
                0);
    }
  };
  expect_same(one.detections, all.detections);
  expect_same(one.rejected, all.rejected);
  ASSERT_EQ(one_trace.voted.size(), all_trace.voted.size());
  ASSERT_EQ(one_trace.refined.size(), all_trace.refined.size());
}

/// The same frame on another device.
SceneFrame copy_of(const Context& context, const SceneFrame& scene) {
  SceneFrame result;
  result.camera = scene.camera;
  result.averaged = scene.averaged;
  result.given_width = scene.given_width;
  result.noise = scene.noise;
  result.depth_m = copy(context, scene.depth_m);
  result.points = copy(context, scene.points);
  result.normals = copy(context, scene.normals);
  result.on_plane = copy(context, scene.on_plane);
  result.median_depth_m = scene.median_depth_m;
  result.measured = scene.measured;
  return result;
}

TEST(RecognizerBatch, FramesArePreparedTheSameOnCuda) {
  if (cuda_contexts().empty()) GTEST_SKIP() << "no CUDA device";
  const Table table(testing::seed_of_test());
  for (const float pitch_m : {0.0012f, 0.004f}) {
    const RecognizeOptions options{.pitch_m = pitch_m};
    const SceneFrame host =
        prepare_scene(Context::cpu(), table.depth_m, table.scene.camera, options);
    EXPECT_EQ(host.averaged > 1, pitch_m > 0.002f);
    for (const Context& context : cuda_contexts()) {
      const SceneFrame there = prepare_scene(context, table.depth_m, table.scene.camera, options);
      EXPECT_EQ(there.averaged, host.averaged);
      EXPECT_EQ(there.measured, host.measured);
      EXPECT_EQ(std::memcmp(&there.noise, &host.noise, sizeof host.noise), 0);
      const std::vector<float> depth = to_host(context, there.depth_m.pixels());
      EXPECT_EQ(
          std::memcmp(depth.data(), host.depth_m.pixels().data(), depth.size() * sizeof(float)), 0);
      // Normals differ somewhat, and with them the plane by what its judges are.
      const std::vector<std::uint8_t> plane = to_host(context, there.on_plane);
      std::size_t marked = 0, differing = 0;
      for (std::size_t i = 0; i < plane.size(); ++i) {
        marked += host.on_plane.host()[i];
        differing += plane[i] != host.on_plane.host()[i] ? 1 : 0;
      }
      EXPECT_GT(marked, plane.size() / 10);
      EXPECT_LT(differing, plane.size() / 1000);
    }
  }
}

/// What stages make of one and the same frame.
struct StagesOf {
  std::vector<Rigid3f> starts;
  std::vector<std::int32_t> counts;
  std::vector<Rigid3d> refined;
  std::vector<CompareSums> sums;
  std::vector<std::uint32_t> masks;

  StagesOf(const Context& context, const Table& table, const SceneFrame& host) {
    const ModelSet models = make_model_set(context, table.models);
    const SceneFrame scene = copy_of(context, host);
    Workspace workspace;
    std::vector<StepTime> times;
    StepClock clock(context, times);
    const Proposals proposals =
        propose_all(context, models, scene, {}, {}, kQuick, clock, workspace);
    starts = to_host(context, proposals.starts);
    counts = to_host(context, proposals.counts);
    const View<Rigid3d> poses = workspace.take<Rigid3d>(context, proposals.starts.size);
    refine_all(context, scene.view(), models.objects(), proposals.starts, proposals.counts,
               proposals.slots, poses);
    refined = to_host(context, poses);
    const PoseList list{
        poses.data, poses.size, proposals.slots, proposals.slots, proposals.counts.data,
        nullptr,    nullptr};
    const View<CompareSums> there = workspace.take<CompareSums>(context, poses.size);
    const View<std::uint32_t> bits =
        workspace.take<std::uint32_t>(context, poses.size * kMaskWords);
    verify_all(context, models.meshes,
               {scene.view(), models.views.data(), list, there.data, bits.data}, workspace);
    sums = to_host(context, there);
    masks = to_host(context, bits);
  }
};

TEST(RecognizerBatch, StagesGiveTheSameOnCuda) {
  if (cuda_contexts().empty()) GTEST_SKIP() << "no CUDA device";
  const Table table(testing::seed_of_test());
  const SceneFrame scene = prepare_scene(Context::cpu(), table.depth_m, table.scene.camera, kQuick);
  const StagesOf host(Context::cpu(), table, scene);
  for (const Context& context : cuda_contexts()) {
    const StagesOf there(context, table, scene);
    ASSERT_EQ(there.counts, host.counts);
    const std::size_t slots = host.starts.size() / host.counts.size();
    std::size_t poses = 0, cells = 0, cells_differing = 0;
    for (std::size_t i = 0; i < host.starts.size(); ++i) {
      if (static_cast<std::int32_t>(i % slots) >= host.counts[i / slots]) continue;
      ++poses;
      EXPECT_EQ(std::memcmp(&there.starts[i], &host.starts[i], sizeof(Rigid3f)), 0) << i;
      // Refinement differs by the order of sums in double.
      const Rigid3d &a = there.refined[i], &b = host.refined[i];
      EXPECT_LT(norm(a.translation - b.translation), 1e-7) << i;
      EXPECT_LT(rotation_angle(a.rotation * transpose(b.rotation)), 1e-6) << i;
      const CompareSums &x = there.sums[i], &y = host.sums[i];
      // Poses that differ by rounding may move a cell across a limit.
      EXPECT_NEAR(x.cells, y.cells, 2) << i;
      EXPECT_NEAR(x.supported, y.supported, 4) << i;
      EXPECT_NEAR(x.seams, y.seams, 4) << i;
      EXPECT_NEAR(x.borders, y.borders, 4) << i;
      EXPECT_NEAR(x.edges, y.edges, 4) << i;
      for (int state = 0; state < static_cast<int>(OutlineState::kStates); ++state) {
        EXPECT_NEAR(x.outline[state], y.outline[state], 4) << i;
      }
      if (x.supported == y.supported && x.edges == y.edges) {
        EXPECT_EQ(x.equations.count, y.equations.count) << i;
        EXPECT_NEAR(x.equations.weight, y.equations.weight, 1e-3 * y.equations.weight) << i;
        EXPECT_NEAR(x.area_m_sq, y.area_m_sq, 1e-3 * y.area_m_sq) << i;
      }
      for (std::size_t w = i * kMaskWords; w < (i + 1) * kMaskWords; ++w) {
        cells += static_cast<std::size_t>(std::popcount(host.masks[w]));
        cells_differing += static_cast<std::size_t>(std::popcount(host.masks[w] ^ there.masks[w]));
      }
    }
    EXPECT_GT(poses, 50u);
    EXPECT_LT(cells_differing, cells / 10000);
  }
}

/// How far the surfaces of two poses of an object lie apart, on average, where both are seen.
double off_m(const Table& table, const Detection& a, const Detection& b) {
  const RenderScene mesh(Context::cpu(),
                         table.objects[static_cast<std::size_t>(a.object_index)].mesh);
  const Instance poses[] = {{0, 0, 0, cast<float>(a.camera_from_object)},
                            {0, 1, 0, cast<float>(b.camera_from_object)}};
  const Rendering seen = render(Context::cpu(), mesh, table.scene.camera, poses);
  double sum = 0, count = 0;
  for (int v = 0; v < seen.height; ++v) {
    for (int u = 0; u < seen.width; ++u) {
      const float first = seen.depth_m_of(0)(u, v), second = seen.depth_m_of(1)(u, v);
      if (!std::isfinite(first) || !std::isfinite(second)) continue;
      sum += std::abs(static_cast<double>(first - second));
      ++count;
    }
  }
  return count > 100 ? sum / count : 1.0;
}

TEST(RecognizerBatch, FindsTheSameOnCuda) {
  if (cuda_contexts().empty()) GTEST_SKIP() << "no CUDA device";
  for (std::uint64_t k = 0; k < 3; ++k) {
    const Table table(testing::seed_of_test() + k);
    const Recognition host =
        Recognizer(Context::cpu(), table.objects).recognize(table.depth_m, table.scene.camera);
    EXPECT_GE(host.detections.size(), 2u);
    for (const Context& context : cuda_contexts()) {
      const Recognition there =
          Recognizer(context, table.objects).recognize(table.depth_m, table.scene.camera);
      ASSERT_EQ(there.detections.size(), host.detections.size());
      for (const Detection& a : host.detections) {
        const auto b = std::find_if(
            there.detections.begin(), there.detections.end(), [&](const Detection& other) {
              return other.object == a.object && off_m(table, a, other) < 0.005;
            });
        ASSERT_NE(b, there.detections.end()) << a.object;
        EXPECT_NEAR(a.score, b->score, 0.02) << a.object;
        const double turn_rad = rotation_angle(a.camera_from_object.rotation *
                                               transpose(b->camera_from_object.rotation));
        // A can may stand in any turn about its axis: its facets lie elsewhere then.
        EXPECT_LT(off_m(table, a, *b), turn_rad > 0.02 ? 3e-4 : 1e-4) << a.object;
      }
    }
  }
}

TEST(RecognizerBatch, FramesOnCudaTakeNoMemoryAfterTheFirst) {
  if (cuda_contexts().empty()) GTEST_SKIP() << "no CUDA device";
  const Table table(testing::seed_of_test());
  for (const Context& context : cuda_contexts()) {
    const Recognizer recognizer(context, table.objects);
    const auto recognize = [&] { return recognizer.recognize(table.depth_m, table.scene.camera); };
    const Recognition first = recognize();
    const Counters before = context.counters();
    const Recognition second = recognize();
    const Counters after = context.counters();
    EXPECT_EQ(after.allocations, before.allocations);
    // The same bits from run to run.
    ASSERT_EQ(first.rejected.size(), second.rejected.size());
    for (std::size_t i = 0; i < first.rejected.size(); ++i) {
      EXPECT_EQ(first.rejected[i].score, second.rejected[i].score);
      EXPECT_EQ(first.rejected[i].covariance, second.rejected[i].covariance);
    }
  }
}

TEST(RecognizerBatch, FindsNothingWhereNothingIs) {
  const Table table(testing::seed_of_test());
  Image<float> nothing(Context::cpu(), 64, 48);
  const Camera camera{64, 48, 60, 60, 31.5, 23.5, {}};
  for (const Context& context : testing::all_contexts()) {
    BatchRecognizer recognizer(context, table.models, kQuick);
    for (const float z : {NAN, 0.8f, 30.0f}) {
      for (float& pixel : nothing.pixels().host()) pixel = z;
      EXPECT_TRUE(
          recognizer.recognize(table.models, nothing, camera, {}, nullptr).detections.empty());
    }
    Image<std::uint8_t> mask(Context::cpu(), table.scene.camera.width, table.scene.camera.height);
    for (std::uint8_t& pixel : mask.pixels().host()) pixel = 0;
    EXPECT_TRUE(
        recognizer
            .recognize(table.models, table.depth_m, table.scene.camera, {.mask = mask}, nullptr)
            .detections.empty());
    EXPECT_TRUE(BatchRecognizer(context, {}, kQuick)
                    .recognize({}, table.depth_m, table.scene.camera, {}, nullptr)
                    .detections.empty());
  }
}

}  // namespace
}  // namespace sextant
