// SPDX-License-Identifier: Apache-2.0
// Disparity, bilateral filter and deprojection of one VGA frame on the CPU and, where there is one,
// on the GPU (a replayed graph, data resident), which must agree. Usage: depth_device_bench
// [RESULT.json]
#include <cmath>

#include "measure/time_graph.h"
#include "sextant/core/random.h"
#include "sextant/depth/bilateral.h"
#include "sextant/depth/deproject.h"
#include "sextant/depth/disparity.h"

namespace sextant::measure {
namespace {

constexpr int kWidth = 640;
constexpr int kHeight = 480;

/// Raw disparity of two slanted walls, with noise and a tenth of the pixels missing.
Image<std::uint16_t> raw_frame() {
  Image<std::uint16_t> raw(Context::cpu(), kWidth, kHeight);
  for (int v = 0; v < kHeight; ++v) {
    for (int u = 0; u < kWidth; ++u) {
      const Random random{1, static_cast<std::uint64_t>(v * kWidth + u)};
      const double z = (u < 300 ? 1.2 : 2.0) + 0.0005 * u + 0.0003 * v;
      const double k = 1090 - 8 * 0.075 * 580 / z + 0.5 * random.normal(0);
      raw(u, v) = static_cast<std::uint16_t>(random.uniform(1) < 0.1f ? 2047 : std::lround(k));
    }
  }
  return raw;
}

struct Frame {
  Image<std::uint16_t> raw;
  Image<float> depth_m;
  Image<float> filtered_m;
  Buffer<Vec3f> points;

  explicit Frame(const Context& context)
      : raw(copy(context, raw_frame())),
        depth_m(context, kWidth, kHeight),
        filtered_m(context, kWidth, kHeight),
        points(context, kWidth * kHeight) {}
};

void add_rows(const Context& context, Frame& frame, std::vector<Row>& rows) {
  const Camera camera{kWidth, kHeight, 580, 580, 319.5, 239.5, {}};
  const auto disparity = [&] {
    depth_from_kinect_disparity_into(context, frame.raw, {}, frame.depth_m);
  };
  const auto bilateral = [&] {
    bilateral_filter_into(context, frame.depth_m, {}, frame.filtered_m);
  };
  const auto points = [&] { deproject_into(context, frame.filtered_m, camera, frame.points); };
  const auto all = [&] {
    disparity();
    bilateral();
    points();
  };
  const std::string where = context.is_cpu() ? std::to_string(context.threads()) + " threads"
                                             : to_string(context.device());
  const auto add = [&](const std::string& what, const std::function<void()>& work) {
    const Spread time = time_graph(context, work);
    rows.push_back({what + " 640x480 (" + where + ")", "ms", {}, time.median, {}, {}});
  };
  add("disparity to depth", disparity);
  add("bilateral 11x11", bilateral);
  add("deproject", points);
  add("all three", all);
}

int run(const std::string& file) {
  const Context cpu = Context::cpu();
  Frame on_cpu(cpu);
  std::vector<Row> rows;
  add_rows(cpu, on_cpu, rows);
  if (Context::best().is_cuda()) {
    const Context cuda = Context::best();
    Frame on_cuda(cuda);
    add_rows(cuda, on_cuda, rows);
    const std::vector<Vec3f> points = to_host(cuda, on_cuda.points);
    double worst_m = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Vec3f& expected = on_cpu.points.host()[i];
      require(is_finite(expected) == is_finite(points[i]), "point ", i,
              " is a hole on one device alone");
      if (is_finite(expected)) {
        worst_m = std::max(worst_m, double(norm(points[i] - expected)));
      }
    }
    rows.push_back({"largest distance between CPU and CUDA points",
                    "um",
                    {},
                    worst_m * 1e6,
                    5.0,
                    worst_m <= 5e-6});
  }
  publish("depth_device", list_devices().devices.back().name, rows, file);
  return 0;
}

}  // namespace
}  // namespace sextant::measure

int main(int argc, char** argv) {
  return sextant::measure::run_main(argc, argv, sextant::measure::run);
}
