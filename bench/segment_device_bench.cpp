// SPDX-License-Identifier: Apache-2.0
// Segmentation of a table on every device, as one recorded sequence with the data resident; the
// labels are compared with those of the CPU. Usage: segment_device_bench [RESULT.json]
#include "measure/time_graph.h"
#include "sextant/surface/normals.h"
#include "sextant/surface/segment.h"
#include "tests/labelled_table.h"

namespace sextant::measure {
namespace {

struct Result {
  double ms = 0;
  std::vector<std::int32_t> labels;
};

Result segment_on(const Context& context, const Image<Vec3f>& host_points) {
  const Image<Vec3f> points = copy(context, host_points);
  const Image<Vec3f> normals = estimate_normals(context, points);
  Image<std::int32_t> labels(context, points.width(), points.height());
  Buffer<SurfaceRegion> regions(
      context, region_capacity(points.pixels().size(), SegmentOptions{}.min_points));
  Buffer<std::int32_t> count(context, 1);
  Workspace workspace;
  const Spread time = time_graph(context, [&] {
    segment_into(context, points, normals, {}, labels, regions, count, workspace);
  });
  return {time.median, to_host(context, labels.pixels())};
}

int run(const std::string& file) {
  const testing::LabelledTable table =
      testing::labelled_table(1, {.depth = testing::TableDepth::kFiltered});
  const Image<Vec3f> points = table.points(Context::cpu());
  const Context host = Context::cpu();
  const Result on_host = segment_on(host, points);
  std::vector<Row> rows;
  rows.push_back({"segmentation, VGA (" + std::to_string(host.threads()) + " threads)",
                  "ms",
                  {},
                  on_host.ms,
                  {},
                  {}});
  const Context context = Context::best();
  if (context.is_cuda()) {
    const Result on_device = segment_on(context, points);
    rows.push_back({"segmentation, VGA (" + to_string(context.device()) + ")",
                    "ms",
                    {},
                    on_device.ms,
                    1.0,
                    on_device.ms <= 1.0});
    double same = 0;
    for (std::size_t i = 0; i < on_host.labels.size(); ++i) {
      same += on_host.labels[i] == on_device.labels[i];
    }
    same /= static_cast<double>(on_host.labels.size());
    rows.push_back({"pixels with the CPU's label", "share", {}, same, 0.999, same >= 0.999});
  }
  publish("segment_device", list_devices().devices.back().name, rows, file);
  return 0;
}

}  // namespace
}  // namespace sextant::measure

int main(int argc, char** argv) {
  return sextant::measure::run_main(argc, argv, sextant::measure::run);
}
