// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/describe/frame_picture.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "sextant/render/rasterize.h"

namespace sextant::app {

namespace {

constexpr int kWidth = 640;  ///< of pictures that have no camera of their own
constexpr int kHeight = 480;
constexpr int kMostSupersampled = 1600;  ///< wider pictures are smooth enough as they are
constexpr double kAxisLength_px = 15;
constexpr Rgb8 kBackground{255, 255, 255};
constexpr Rgb8 kAxisColors[] = {{214, 30, 30}, {20, 150, 45}, {35, 70, 230}};

/// A camera and where it stands.
struct Viewer {
  Camera camera;
  Rigid3d camera_from_surface;
};

/// What the viewer sees: distance and unit normal of the surface at every pixel, NaN beside it.
struct Seen {
  Image<float> depth_m;
  Image<Vec3f> normals;
};

std::vector<Vec3d> finite_points(const Cloud& cloud) {
  std::vector<Vec3d> points;
  for (const Vec3f& p : cloud.points.host()) {
    if (is_finite(p)) points.push_back(cast<double>(p));
  }
  return points;
}

/// Looks from where the camera of the rows stands, with all points before it in the picture.
Viewer sensor_view(const Cloud& cloud, const Rigid3d& points_from_camera) {
  Viewer viewer;
  viewer.camera_from_surface = inverse(points_from_camera);
  double slope = 1e-3;
  for (const Vec3d& point : finite_points(cloud)) {
    const Vec3d p = viewer.camera_from_surface * point;
    if (!(p.z > 0)) continue;
    slope = std::max({slope, std::abs(p.x / p.z) * kHeight / kWidth, std::abs(p.y / p.z)});
  }
  const double focal_px = (kHeight / 2 - 4) / slope;
  viewer.camera = {kWidth, kHeight, focal_px, focal_px, (kWidth - 1) / 2.0, (kHeight - 1) / 2.0,
                   {}};
  return viewer;
}

Vec3d direction_of(UpAxis up) {
  const double sign = up >= UpAxis::kMinusX ? -1 : 1;
  const int axis = static_cast<int>(up) % 3;
  return {axis == 0 ? sign : 0, axis == 1 ? sign : 0, axis == 2 ? sign : 0};
}

/// Looks at the middle of the points from a distance that shows them all.
Viewer outside_view(const Cloud& cloud, const FramePictureOptions& options) {
  const Vec3d up = direction_of(options.up);
  const Vec3d side{up.y, up.z, up.x};  // perpendicular to an axis
  const Vec3d front = cross(up, side);
  const double turn = static_cast<double>(options.turn_rad);
  const double rise = static_cast<double>(options.elevation_rad);
  const Vec3d horizontal = side * std::sin(turn) + front * std::cos(turn);
  const Vec3d to_viewer = horizontal * std::cos(rise) + up * std::sin(rise);
  const Vec3d z = -to_viewer;
  const Vec3d x = normalized(cross(z, up));
  const Mat3d rotation{{x, cross(z, x), z}};
  Vec3d low{INFINITY, INFINITY, INFINITY}, high = -low;
  const std::vector<Vec3d> points = finite_points(cloud);
  for (const Vec3d& point : points) {
    const Vec3d p = rotation * point;
    low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
  }
  const Vec3d middle = (low + high) * 0.5;
  // Two diameters away, so that the perspective is mild.
  const double distance_m = 2 * std::max(norm(high - low), 1e-6);
  double slope = 1e-6;
  for (const Vec3d& point : points) {
    const Vec3d p = rotation * point - middle;
    const double z_m = p.z + distance_m;
    slope = std::max({slope, std::abs(p.x) / z_m * kHeight / kWidth, std::abs(p.y) / z_m});
  }
  const double focal_px = (kHeight / 2 - 16) / slope;
  return {{kWidth, kHeight, focal_px, focal_px, (kWidth - 1) / 2.0, (kHeight - 1) / 2.0, {}},
          {rotation, Vec3d{0, 0, distance_m} - middle}};
}

/// The same view with `scale` × `scale` pixels for each.
Camera magnified(Camera camera, int scale) {
  const double shift = (scale - 1) / 2.0;
  camera.width *= scale;
  camera.height *= scale;
  camera.fx_px *= scale;
  camera.fy_px *= scale;
  camera.cx_px = scale * camera.cx_px + shift;
  camera.cy_px = scale * camera.cy_px + shift;
  return camera;
}

Seen render_triangles(const TriangleMesh& mesh, const Viewer& viewer) {
  const Context cpu = Context::cpu();
  const RenderScene scene(cpu, mesh);
  Instance instance;
  instance.camera_from_object = cast<float>(viewer.camera_from_surface);
  RenderOptions options;
  options.near_m = 1e-5f;
  options.far_m = 1e20f;
  options.normals = true;
  Rendering seen = render(cpu, scene, viewer.camera, {&instance, 1}, options);
  return {Image<float>(std::move(seen.depth_m), seen.width, seen.height),
          Image<Vec3f>(std::move(seen.normals), seen.width, seen.height)};
}

/// Points as discs that touch their neighbours.
Seen render_points(const Cloud& cloud, const Viewer& viewer, float resolution_m) {
  Seen seen{Image<float>(Context::cpu(), viewer.camera.width, viewer.camera.height),
            Image<Vec3f>(Context::cpu(), viewer.camera.width, viewer.camera.height)};
  const float nothing = NAN;
  std::fill(seen.depth_m.pixels().host().begin(), seen.depth_m.pixels().host().end(), nothing);
  std::fill(seen.normals.pixels().host().begin(), seen.normals.pixels().host().end(),
            Vec3f{nothing, nothing, nothing});
  for (std::int64_t i = 0; i < cloud.size(); ++i) {
    const Vec3d p = viewer.camera_from_surface * cast<double>(cloud.points.data()[i]);
    const Vec2d pixel = project(viewer.camera, p);
    if (!std::isfinite(pixel.x + pixel.y)) continue;
    const double radius_px =
        std::clamp(viewer.camera.fx_px * static_cast<double>(resolution_m) / p.z, 0.7, 30.0);
    const Vec3f normal =
        cast<float>(viewer.camera_from_surface.rotation * cast<double>(cloud.normals.data()[i]));
    const auto z = static_cast<float>(p.z);
    const int reach = static_cast<int>(radius_px) + 1;
    const int u0 = static_cast<int>(std::lround(std::clamp(pixel.x, -1e6, 1e6)));
    const int v0 = static_cast<int>(std::lround(std::clamp(pixel.y, -1e6, 1e6)));
    for (int v = std::max(0, v0 - reach); v <= std::min(seen.depth_m.height() - 1, v0 + reach);
         ++v) {
      for (int u = std::max(0, u0 - reach); u <= std::min(seen.depth_m.width() - 1, u0 + reach);
           ++u) {
        if (std::hypot(u - pixel.x, v - pixel.y) > radius_px || seen.depth_m(u, v) <= z) continue;
        seen.depth_m(u, v) = z;
        seen.normals(u, v) = normal;
      }
    }
  }
  return seen;
}

/// Grey as a lamp beside the camera shows it; both sides of a surface alike.
Image<Rgb8> shaded(const Seen& seen, const Camera& camera) {
  Image<Rgb8> picture(Context::cpu(), seen.depth_m.width(), seen.depth_m.height());
  for (int v = 0; v < picture.height(); ++v) {
    for (int u = 0; u < picture.width(); ++u) {
      picture(u, v) = kBackground;
      if (!std::isfinite(seen.depth_m(u, v))) continue;
      const Vec3d ray = normalized(
          Vec3d{(u - camera.cx_px) / camera.fx_px, (v - camera.cy_px) / camera.fy_px, 1});
      const double facing = std::abs(dot(cast<double>(seen.normals(u, v)), ray));
      const double level = std::isfinite(facing) ? 70 + 160 * facing : 120;
      const auto grey = static_cast<std::uint8_t>(std::clamp(level, 0.0, 255.0));
      picture(u, v) = {grey, grey, grey};
    }
  }
  return picture;
}

/// Draws lines in space into a picture, hidden by what lies before them.
class FramePainter {
 public:
  FramePainter(Image<Rgb8>& picture, const Seen& seen, const Viewer& viewer, int scale)
      : picture_(picture), seen_(seen), viewer_(viewer), scale_(scale) {}

  /// Whether the surface leaves a point in the viewer's frame in sight.
  bool visible(const Vec3d& point) const {
    const Vec2d pixel = project(viewer_.camera, point);
    if (!std::isfinite(pixel.x + pixel.y)) return false;
    const int u = static_cast<int>(std::lround(std::clamp(pixel.x, -1e6, 1e6)));
    const int v = static_cast<int>(std::lround(std::clamp(pixel.y, -1e6, 1e6)));
    return seen_.depth_m.view().contains(u, v) && !hidden(u, v, point.z, axis_m(point));
  }

  void draw(const Vec3d& origin, const Mat3d& axes) {
    for (int i = 0; i < 3; ++i) {
      draw_line(origin, origin + axes.row[i] * axis_m(origin), kAxisColors[i]);
    }
  }

 private:
  /// The same length in the picture for all that lie across the line of sight.
  double axis_m(const Vec3d& origin) const {
    return scale_ * kAxisLength_px * origin.z / viewer_.camera.fx_px;
  }
  /// Axes along the surface dip into it: half their length is let through.
  bool hidden(int u, int v, double z_m, double length_m) const {
    return static_cast<double>(seen_.depth_m(u, v)) < z_m - 0.5 * length_m;
  }

  void draw_line(const Vec3d& from, const Vec3d& to, const Rgb8& color) {
    const Vec2d a = project(viewer_.camera, from);
    const Vec2d b = project(viewer_.camera, to);
    if (!std::isfinite(a.x + a.y + b.x + b.y)) return;
    const double length = std::hypot(b.x - a.x, b.y - a.y);
    const int steps = static_cast<int>(std::min(length, 1e4)) * 2 + 1;
    for (int i = 0; i <= steps; ++i) {
      const double t = static_cast<double>(i) / steps;
      dot_at(a + (b - a) * t, 1 / ((1 - t) / from.z + t / to.z), axis_m(from), color);
    }
  }

  void dot_at(const Vec2d& centre, double z_m, double length_m, const Rgb8& color) {
    const double half_width = 0.85 * scale_;
    const int reach = static_cast<int>(half_width) + 1;
    const int u0 = static_cast<int>(std::lround(centre.x));
    const int v0 = static_cast<int>(std::lround(centre.y));
    for (int v = v0 - reach; v <= v0 + reach; ++v) {
      for (int u = u0 - reach; u <= u0 + reach; ++u) {
        if (std::hypot(u - centre.x, v - centre.y) > half_width) continue;
        if (seen_.depth_m.view().contains(u, v) && !hidden(u, v, z_m, length_m))
          picture_(u, v) = color;
      }
    }
  }

  Image<Rgb8>& picture_;
  const Seen& seen_;
  const Viewer& viewer_;
  int scale_;
};

/// The means of squares of pixels.
Image<Rgb8> reduced(const Image<Rgb8>& large, int scale) {
  Image<Rgb8> small(Context::cpu(), large.width() / scale, large.height() / scale);
  for (int v = 0; v < small.height(); ++v) {
    for (int u = 0; u < small.width(); ++u) {
      Vec3i sum{};
      for (int dv = 0; dv < scale; ++dv) {
        for (int du = 0; du < scale; ++du) {
          sum += cast<std::int32_t>(large(scale * u + du, scale * v + dv));
        }
      }
      const std::int32_t pixels = scale * scale;
      small(u, v) =
          cast<std::uint8_t>(Vec3i{(sum.x + pixels / 2) / pixels, (sum.y + pixels / 2) / pixels,
                                   (sum.z + pixels / 2) / pixels});
    }
  }
  return small;
}

/// A frame in the viewer's coordinates.
struct PlacedFrame {
  Vec3d origin;
  Mat3d axes;
};

/// The descriptors' frames before the viewer.
std::vector<PlacedFrame> placed_frames(const DescriptorFile& descriptors, const Viewer& viewer) {
  std::vector<PlacedFrame> frames;
  for (std::size_t i = 0; i < descriptors.axes.size(); ++i) {
    PlacedFrame frame;
    frame.origin = viewer.camera_from_surface * cast<double>(descriptors.positions_m[i]);
    for (int axis = 0; axis < 3; ++axis) {
      frame.axes.row[axis] =
          viewer.camera_from_surface.rotation * cast<double>(descriptors.axes[i].row[axis]);
    }
    const bool finite = is_finite(frame.origin) && is_finite(frame.axes.row[0]) &&
                        is_finite(frame.axes.row[1]) && is_finite(frame.axes.row[2]);
    if (finite && frame.origin.z > 0) frames.push_back(frame);
  }
  return frames;
}

/// Those in sight, the first of any that lie on each other, farthest first.
std::vector<PlacedFrame> uncrowded(const std::vector<PlacedFrame>& frames, const Camera& camera,
                                   const FramePainter& painter, double spacing_px) {
  std::vector<PlacedFrame> kept;
  const int columns = static_cast<int>(camera.width / spacing_px) + 1;
  const int rows = static_cast<int>(camera.height / spacing_px) + 1;
  std::vector<char> taken(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows), 0);
  for (const PlacedFrame& frame : frames) {
    if (!painter.visible(frame.origin)) continue;
    const Vec2d pixel = project(camera, frame.origin);
    const int u = std::clamp(static_cast<int>(pixel.x / spacing_px), 0, columns - 1);
    const int v = std::clamp(static_cast<int>(pixel.y / spacing_px), 0, rows - 1);
    char& cell = taken[static_cast<std::size_t>(v * columns + u)];
    if (cell) continue;
    cell = 1;
    kept.push_back(frame);
  }
  std::stable_sort(kept.begin(), kept.end(), [](const PlacedFrame& a, const PlacedFrame& b) {
    return a.origin.z > b.origin.z;
  });
  return kept;
}

}  // namespace

FramePicture draw_frames(const Context& context, const Surface& surface,
                         const DescriptorFile& descriptors, const FramePictureOptions& options) {
  TriangleMesh mesh;
  mesh.vertices = to_host(context, static_cast<const Cloud&>(surface));
  mesh.triangles = to_host_buffer(context, triangles_of(context, surface));
  Viewer viewer;
  if (surface.camera) {
    viewer.camera = *surface.camera;
    viewer.camera.distortion = {};  // points are free of it
  } else {
    const std::optional<Rigid3d> pose = row_camera(context, surface);
    viewer = pose ? sensor_view(mesh.vertices, *pose) : outside_view(mesh.vertices, options);
  }
  const int scale = viewer.camera.width > kMostSupersampled ? 1 : 2;
  viewer.camera = magnified(viewer.camera, scale);
  const Seen seen = mesh.triangles.empty()
                        ? render_points(mesh.vertices, viewer, surface.resolution_m)
                        : render_triangles(mesh, viewer);
  Image<Rgb8> picture = shaded(seen, viewer.camera);
  const std::vector<PlacedFrame> frames = placed_frames(descriptors, viewer);
  FramePainter painter(picture, seen, viewer, scale);
  const std::vector<PlacedFrame> kept =
      uncrowded(frames, viewer.camera, painter, scale * 1.2 * kAxisLength_px);
  for (const PlacedFrame& frame : kept) painter.draw(frame.origin, frame.axes);
  return {reduced(picture, scale), static_cast<std::int64_t>(kept.size())};
}

}  // namespace sextant::app
