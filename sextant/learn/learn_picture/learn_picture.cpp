// SPDX-License-Identifier: Apache-2.0
#include "sextant/learn/learn_picture.h"

#include <algorithm>
#include <cmath>

#include "sextant/core/options_json.h"
#include "sextant/descriptor/sift.h"
#include "sextant/geometry/object_size.h"

namespace sextant {

namespace {

constexpr int kLongestShown_px = 1024;

/// How many pixels one of the shown picture stands for, so that no side is too long.
int step_shown(const ImageView<const Rgb8>& picture) {
  return (std::max(picture.width, picture.height) + kLongestShown_px - 1) / kLongestShown_px;
}

/// The mean of squares of pixels.
Image<Rgb8> made_smaller(const ImageView<const Rgb8>& picture, int step) {
  const int width = (picture.width + step - 1) / step, height = (picture.height + step - 1) / step;
  Image<Rgb8> shown(Context::cpu(1), width, height);
  for (int v = 0; v < height; ++v) {
    for (int u = 0; u < width; ++u) {
      const int right = std::min((u + 1) * step, picture.width);
      const int below = std::min((v + 1) * step, picture.height);
      std::int64_t sum[3] = {0, 0, 0}, count = 0;
      for (int y = v * step; y < below; ++y) {
        for (int x = u * step; x < right; ++x, ++count) {
          const Rgb8& pixel = picture(x, y);
          sum[0] += pixel.x, sum[1] += pixel.y, sum[2] += pixel.z;
        }
      }
      const auto mean = [&](int i) {
        return static_cast<std::uint8_t>((sum[i] + count / 2) / count);
      };
      shown(u, v) = {mean(0), mean(1), mean(2)};
    }
  }
  return shown;
}

/// Two triangles with the picture, whose front looks along -z.
TriangleMesh flat_mesh(const ImageView<const Rgb8>& picture, double width_m, double height_m) {
  const Context cpu = Context::cpu();
  const float x = static_cast<float>(width_m / 2), y = static_cast<float>(height_m / 2);
  TriangleMesh mesh;
  mesh.vertices.points =
      copy(cpu, std::vector<Vec3f>{{-x, -y, 0}, {-x, y, 0}, {x, y, 0}, {x, -y, 0}});
  mesh.triangles = copy(cpu, std::vector<Vec3i>{{0, 1, 2}, {0, 2, 3}});
  Material& paint = mesh.materials.emplace_back();
  paint.name = "picture";
  const int step = step_shown(picture);
  paint.texture = made_smaller(picture, step);
  // The last squares may reach beyond the picture.
  const auto share = [&](int all_px, int shown_px) {
    return static_cast<float>(double(all_px) / (double(step) * shown_px));
  };
  const float right = share(picture.width, paint.texture.width());
  const float low = 1 - share(picture.height, paint.texture.height());
  mesh.texture_coordinates =
      copy(cpu, std::vector<Vec2f>{{0, 1}, {0, low}, {right, low}, {right, 1}});
  return mesh;
}

void check_size(double width_m, double height_m) {
  require(std::isfinite(width_m) && width_m > 0, "width_m: ", width_m, " is no positive length");
  const double diagonal_m = std::hypot(width_m, height_m);
  require(diagonal_m >= kSmallestObject_m && diagonal_m <= kLargestObject_m, "width_m: at ",
          width_m, " m across the picture is ", diagonal_m,
          " m from corner to corner, which is not between 5 mm and 5 m; check the unit");
}

}  // namespace

LearnedObject learn_picture(const Context& context, const std::string& name,
                            const ImageView<const Rgb8>& picture, double width_m,
                            const LearnPictureOptions& options,
                            const ImageView<const std::uint8_t>& mask) {
  require(context.is_cpu(), "learn_picture: runs on the CPU, the context on ",
          to_string(context.device()), "; make one with Context::cpu()");
  check_options(options);
  require(picture.width > 0 && picture.height > 0, "picture: has no pixels");
  const double pixel_m = width_m / picture.width, height_m = pixel_m * picture.height;
  check_size(width_m, height_m);
  SiftOptions sift;
  sift.most = options.most_features;
  SiftFeatures features = compute_sift(context, picture, sift, mask);
  require(features.count >= kFewestPictureFeatures, "picture: has ", features.count,
          " SIFT features, and fewer than ", kFewestPictureFeatures,
          " tell nothing apart; a sharp picture of a printed side has hundreds");
  LearnedObject object;
  object.name = name;
  object.source.kind = "picture";
  object.source.unit_m = pixel_m;
  object.source.options = options_to_json(options).dump();
  object.diameter_m = std::hypot(width_m, height_m);
  object.mesh = flat_mesh(picture, width_m, height_m);
  Buffer<Vec3f> points(Context::cpu(), features.count);
  for (std::int32_t i = 0; i < features.count; ++i) {
    const SiftKeypoint& at = features.keypoints.data()[i];
    points.data()[i] = {static_cast<float>((at.u_px - 0.5 * (picture.width - 1)) * pixel_m),
                        static_cast<float>((at.v_px - 0.5 * (picture.height - 1)) * pixel_m), 0.0f};
  }
  const std::int64_t bytes = std::int64_t{kSiftLength} * features.count;
  object.appearance.points = std::move(points);
  object.appearance.descriptors = Buffer<std::uint8_t>(Context::cpu(), bytes);
  std::copy_n(features.bytes.data(), bytes, object.appearance.descriptors.data());
  return object;
}

}  // namespace sextant
