// SPDX-License-Identifier: Apache-2.0
// How fast poses are judged: the visible surface discrepancy of one pose, a whole frame, and a data
// set of 1000 frames with their depth maps on disk. Usage: evaluate_bench [RESULT.json]
#include <cmath>
#include <filesystem>
#include <map>

#include "measure/report.h"
#include "sextant/core/for_each.h"
#include "sextant/core/random.h"
#include "sextant/evaluate/judge_image.h"
#include "sextant/io/depth_file.h"
#include "sextant/synth/sensor_noise.h"
#include "sextant/synth/table_scene.h"

namespace sextant::measure {
namespace {

constexpr int kTables = 20;
constexpr int kFrames = 1000;

struct Table {
  Camera camera;
  Image<float> depth_m;
  std::vector<TrueInstance> truth;
  std::vector<Report> reports;  ///< one per instance, off by millimetres and degrees
};

struct Tables {
  std::vector<TriangleMesh> meshes;  ///< object i + 1
  std::vector<Table> tables;
};

Rigid3d nearby(const Rigid3d& pose, std::uint64_t item) {
  const Random random{7, item};
  const auto draw = [&](std::uint64_t i) { return 2.0 * random.uniform(i) - 1.0; };
  const Rigid3d moved{exp_rotation(Vec3d{draw(0), draw(1), draw(2)} * 0.05) * pose.rotation,
                      pose.translation + Vec3d{draw(3), draw(4), draw(5)} * 0.004};
  return renormalized(moved);
}

Tables make_tables() {
  const Context cpu = Context::cpu();
  const TableObjects objects(ObjectSet::kAll);
  Tables result;
  std::map<std::string, int> ids;
  for (int i = 0; i < kTables; ++i) {
    TableScene scene = make_table_scene(cpu, {}, static_cast<std::uint64_t>(i) + 1, objects);
    RenderOptions options;
    options.normals = true;
    const Rendering seen = render_table_scene(cpu, scene, options);
    Table& table = result.tables.emplace_back();
    table.camera = scene.camera;
    table.depth_m = add_sensor_noise(cpu, seen.depth_m_of(0), seen.normals_of(0), scene.camera,
                                     sensor_noise(SensorModel::kKinect), 1);
    for (const SceneObject& object : scene.objects) {
      const auto [entry, is_new] = ids.try_emplace(object.name, static_cast<int>(ids.size()) + 1);
      if (is_new) {
        result.meshes.push_back(copy(cpu, scene.meshes[static_cast<std::size_t>(object.mesh)]));
      }
      table.truth.push_back(
          {entry->second, object.camera_from_object, object.visibility.fraction()});
      table.reports.push_back(
          {entry->second, 0.5, nearby(object.camera_from_object, result.tables.size())});
    }
  }
  return result;
}

EvaluatedModels models_on(const Context& context, const Tables& tables) {
  std::vector<EvaluatedModel> models;
  for (std::size_t i = 0; i < tables.meshes.size(); ++i) {
    models.push_back(
        make_evaluated_model(static_cast<int>(i) + 1, copy(Context::cpu(), tables.meshes[i]), {}));
  }
  return make_evaluated_models(context, std::move(models));
}

double median_ms(int samples, const std::function<void(int)>& work) {
  work(0);
  std::vector<double> sample;
  for (int i = 0; i < samples; ++i) sample.push_back(milliseconds([&] { work(i); }));
  return spread_of(sample).median;
}

Row with_goal(const std::string& what, const char* unit, double value, double goal) {
  return {what, unit, {}, value, goal, value <= goal};
}

/// Draws estimate and truth and counts, as judge_image does for each pair.
double vsd_ms(const Context& context, const EvaluatedModels& models, const Tables& tables) {
  VisibleSurfaceMemory memory;
  std::vector<Image<float>> measured;
  for (const Table& table : tables.tables) measured.push_back(copy(context, table.depth_m));
  return median_ms(60, [&](int i) {
    const std::size_t at = static_cast<std::size_t>(i) % tables.tables.size();
    const Table& table = tables.tables[at];
    const int mesh = models.find(table.truth[0].object_id);
    const DrawnPose poses[] = {{mesh, table.reports[0].camera_from_object},
                               {mesh, table.truth[0].camera_from_object}};
    const PosePair pair{0, 1, models.models[static_cast<std::size_t>(mesh)].diameter_m};
    const auto counts = compare_surfaces(context, models.scene, models.bounds, table.camera,
                                         measured[at], poses, {&pair, 1}, {}, memory);
    require(counts[0].vsd(kVsdTolerances - 1) <= 1, "no discrepancy");
  });
}

double frame_ms(const Context& context, const EvaluatedModels& models, const Tables& tables) {
  VisibleSurfaceMemory memory;
  return median_ms(40, [&](int i) {
    const Table& table = tables.tables[static_cast<std::size_t>(i) % tables.tables.size()];
    const Image<float> measured = copy(context, table.depth_m);
    judge_image(context, models, table.camera, measured, table.truth, table.reports, {}, {},
                memory);
  });
}

/// What `sextant eval` does for each image, on all threads.
double data_set_s(const Context& context, const EvaluatedModels& models, const Tables& tables,
                  const std::filesystem::path& folder) {
  std::int64_t right = 0;
  const double ms = milliseconds([&] {
    std::vector<std::int64_t> found(kFrames);
    for_each_chunk(context, kFrames, 1, [&](std::int64_t i, std::int64_t) {
      VisibleSurfaceMemory memory;
      const std::size_t at = static_cast<std::size_t>(i) % tables.tables.size();
      const Table& table = tables.tables[at];
      const Image<float> depth = read_depth(folder / (std::to_string(at) + ".png"));
      const ImageJudgement judged = judge_image(Context::cpu(1), models, table.camera, depth,
                                                table.truth, table.reports, {}, {}, memory);
      for (const JudgedReport& report : judged.reports) {
        found[static_cast<std::size_t>(i)] += report.verdict == Verdict::kRight ? 1 : 0;
      }
    });
    for (const std::int64_t count : found) right += count;
  });
  require(right > kFrames, "1000 frames with eight near poses each have only ", right,
          " right ones");
  return ms / 1000;
}

int run(const std::string& file) {
  const Tables tables = make_tables();
  std::vector<Row> rows;
  const Context one = Context::cpu(1);
  const Context all = Context::cpu();
  const EvaluatedModels models = models_on(one, tables);
  rows.push_back(
      with_goal("VSD of a pose, VGA (cpu 1 thread)", "ms", vsd_ms(one, models, tables), 20));
  rows.push_back({"frame of 8 reports judged, all errors (cpu 1 thread)",
                  "ms",
                  {},
                  frame_ms(one, models, tables),
                  {},
                  {}});
  const auto folder = std::filesystem::temp_directory_path() / "sextant_evaluate_bench";
  std::filesystem::create_directories(folder);
  for (std::size_t i = 0; i < tables.tables.size(); ++i) {
    write_depth(folder / (std::to_string(i) + ".png"), tables.tables[i].depth_m, 0.001);
  }
  rows.push_back(with_goal("1000 frames of 8 reports judged, depth read (cpu " +
                               std::to_string(all.threads()) + " threads)",
                           "s", data_set_s(all, models, tables, folder), 60));
  std::filesystem::remove_all(folder);
  if (Context::best().is_cuda()) {
    const Context cuda = Context::best();
    const EvaluatedModels on_device = models_on(cuda, tables);
    const std::string where = " (" + to_string(cuda.device()) + ")";
    rows.push_back(
        with_goal("VSD of a pose, VGA" + where, "ms", vsd_ms(cuda, on_device, tables), 1));
    rows.push_back({"frame of 8 reports judged, all errors" + where,
                    "ms",
                    {},
                    frame_ms(cuda, on_device, tables),
                    {},
                    {}});
  }
  publish("evaluate", list_devices().devices.back().name, rows, file);
  return 0;
}

}  // namespace
}  // namespace sextant::measure

int main(int argc, char** argv) {
  return sextant::measure::run_main(argc, argv, sextant::measure::run);
}
