// SPDX-License-Identifier: Apache-2.0
#include "sextant/library/library/parts.h"

#include <cmath>

#include "sextant/library/library/arrays.h"
#include "sextant/library/library/mesh_part.h"
#include "sextant/library/library/tensors_part.h"

namespace sextant::detail::library {

namespace {

constexpr int kAppearanceBytes = 128;
/// The longest SHOT descriptor is that of shape and colour, 1344 numbers.
constexpr int kMostShotLength = 4096;

template <class T>
void require_host(const Buffer<T>& buffer, const char* list, const std::string& name) {
  require(buffer.empty() || buffer.device().kind == DeviceKind::kCpu, name, ": ", list, " lies on ",
          to_string(buffer.device()), "; bring it to host memory with to_host");
}

template <class T>
void require_length(const Buffer<T>& buffer, std::int64_t size, const char* list,
                    const std::string& name) {
  require_host(buffer, list, name);
  require(buffer.size() == size, name, ": ", list, " has ", buffer.size(), " elements instead of ",
          size);
}

bool is_length(float length_m) { return std::isfinite(length_m) && length_m > 0; }

void check_views(const LearnedObject& object, const std::string& name) {
  for (const LearnedView& view : object.views) {
    check_camera(view.camera);
    require(is_finite(view.camera_from_object.translation), name, ": a view without a pose");
    for (const Vec3d& row : view.camera_from_object.rotation.row) {
      require(std::abs(norm(row) - 1) < 1e-6, name, ": a view whose pose is no rigid motion");
    }
  }
}

void check_samples(const LearnedSamples& samples, const std::string& name) {
  if (samples.points.empty() && samples.normals.empty()) return;
  require_host(samples.points, "points", name);
  require_length(samples.normals, samples.points.size(), "normals", name);
  require(is_length(samples.leaf_m), name, ": leaf_m is ", samples.leaf_m);
}

void check_shot(const LearnedShot& shot, const std::string& name) {
  if (shot.points.empty() && shot.values.empty()) return;
  require(shot.length >= 1 && shot.length <= kMostShotLength, name, ": descriptors of ",
          shot.length, " numbers; 1 to ", kMostShotLength, " are possible");
  require(is_length(shot.radius_m), name, ": radius_m is ", shot.radius_m);
  require_host(shot.points, "points", name);
  require_length(shot.frames, 3 * shot.points.size(), "frames", name);
  require_length(shot.values, shot.length * shot.points.size(), "values", name);
}

void check_tensor_views(const LearnedObject& object, const std::string& name) {
  for (const std::int32_t view : object.tensors.views.host()) {
    require(view >= 0 && view < static_cast<std::int64_t>(object.views.size()), name,
            ": a tensor of view ", view, ", of which there are ", object.views.size());
  }
}

void check_appearance(const LearnedAppearance& appearance, const std::string& name) {
  require_host(appearance.points, "points", name);
  require_length(appearance.descriptors, kAppearanceBytes * appearance.points.size(), "descriptors",
                 name);
}

void check_lookalikes(const LearnedLookalikes& lookalikes, const std::string& name) {
  if (lookalikes.terms.empty()) return;
  require_host(lookalikes.terms, "terms", name);
  require(lookalikes.length > 0 && lookalikes.frame_poses > 0, name, ": a frame has ",
          lookalikes.frame_poses, " poses of ", lookalikes.length, " numbers");
  const std::int64_t frame = std::int64_t{lookalikes.length} * lookalikes.frame_poses;
  require(lookalikes.terms.size() % frame == 0, name, ": ", lookalikes.terms.size(),
          " numbers are no whole number of frames with ", lookalikes.frame_poses, " poses of ",
          lookalikes.length);
}

bool is_empty(PartKind kind, const LearnedObject& object) {
  switch (kind) {
    case PartKind::kMesh:
      return object.mesh.vertices.points.empty();
    case PartKind::kViews:
      return object.views.empty();
    case PartKind::kSamples:
      return object.samples.points.empty();
    case PartKind::kShot:
      return object.shot.points.empty();
    case PartKind::kTensors:
      return object.tensors.set.frames.empty();
    case PartKind::kAppearance:
      return object.appearance.points.empty();
    case PartKind::kLookalikes:
      return object.lookalikes.terms.empty();
  }
  return true;
}

void write_views(const std::vector<LearnedView>& views, ArrayWriter& out) {
  std::vector<std::int32_t> sizes;
  std::vector<double> lenses;
  std::vector<Mat3d> rotations;
  std::vector<Vec3d> translations;
  for (const LearnedView& view : views) {
    const Camera& c = view.camera;
    const auto& d = c.distortion;
    sizes.insert(sizes.end(), {c.width, c.height});
    lenses.insert(lenses.end(), {c.fx_px, c.fy_px, c.cx_px, c.cy_px, d.k1, d.k2, d.p1, d.p2, d.k3});
    rotations.push_back(view.camera_from_object.rotation);
    translations.push_back(view.camera_from_object.translation);
  }
  out.add("sizes_px", sizes);
  out.add("lenses", lenses);
  out.add("rotations", rotations);
  out.add("translations_m", translations);
}

std::vector<LearnedView> read_views(const ArrayReader& in) {
  const Buffer<Mat3d> rotations = in.read<Mat3d>("rotations");
  const std::int64_t count = rotations.size();
  const Buffer<Vec3d> translations = in.read<Vec3d>("translations_m", count);
  const Buffer<std::int32_t> sizes = in.read<std::int32_t>("sizes_px", 2 * count);
  const Buffer<double> lenses = in.read<double>("lenses", 9 * count);
  std::vector<LearnedView> views;
  for (std::int64_t i = 0; i < count; ++i) {
    const double* l = lenses.data() + 9 * i;
    const std::int32_t* s = sizes.data() + 2 * i;
    views.push_back({{s[0], s[1], l[0], l[1], l[2], l[3], {l[4], l[5], l[6], l[7], l[8]}},
                     {rotations.data()[i], translations.data()[i]}});
  }
  return views;
}

void write_part(PartKind kind, const LearnedObject& object, ArrayWriter& out) {
  switch (kind) {
    case PartKind::kMesh:
      return write_mesh(object.mesh, out);
    case PartKind::kViews:
      return write_views(object.views, out);
    case PartKind::kSamples:
      out.add_number("leaf_m", object.samples.leaf_m);
      out.add("points", object.samples.points);
      out.add("normals", object.samples.normals);
      return;
    case PartKind::kShot:
      out.add_number("radius_m", object.shot.radius_m);
      out.add_number<std::int32_t>("length", object.shot.length);
      out.add("points", object.shot.points);
      out.add("frames", object.shot.frames);
      out.add("values", object.shot.values, Packing::kNonZero);
      return;
    case PartKind::kTensors:
      return write_tensors(object.tensors, out);
    case PartKind::kAppearance:
      out.add("points", object.appearance.points);
      out.add("descriptors", object.appearance.descriptors);
      return;
    case PartKind::kLookalikes:
      out.add_number<std::int32_t>("length", object.lookalikes.length);
      out.add_number<std::int32_t>("frame_poses", object.lookalikes.frame_poses);
      out.add("terms", object.lookalikes.terms);
      return;
  }
}

void read_part(PartKind kind, const ArrayReader& in, LearnedObject& object) {
  switch (kind) {
    case PartKind::kMesh:
      object.mesh = read_mesh(in);
      return;
    case PartKind::kViews:
      object.views = read_views(in);
      return;
    case PartKind::kSamples:
      object.samples.leaf_m = in.read_number<float>("leaf_m");
      object.samples.points = in.read<Vec3f>("points");
      object.samples.normals = in.read<Vec3f>("normals");
      return;
    case PartKind::kShot:
      object.shot.radius_m = in.read_number<float>("radius_m");
      object.shot.length = in.read_number<std::int32_t>("length");
      object.shot.points = in.read<Vec3f>("points");
      object.shot.frames = in.read<Vec3f>("frames");
      object.shot.values = in.read<float>("values");
      return;
    case PartKind::kTensors:
      object.tensors = read_tensors(in);
      return;
    case PartKind::kAppearance:
      object.appearance.points = in.read<Vec3f>("points");
      object.appearance.descriptors = in.read<std::uint8_t>("descriptors");
      return;
    case PartKind::kLookalikes:
      object.lookalikes.length = in.read_number<std::int32_t>("length");
      object.lookalikes.frame_poses = in.read_number<std::int32_t>("frame_poses");
      object.lookalikes.terms = in.read<float>("terms");
      return;
  }
}

}  // namespace

const char* name_of(PartKind kind) {
  switch (kind) {
    case PartKind::kMesh:
      return "mesh";
    case PartKind::kViews:
      return "views";
    case PartKind::kSamples:
      return "samples";
    case PartKind::kShot:
      return "shot";
    case PartKind::kTensors:
      return "tensors";
    case PartKind::kAppearance:
      return "appearance";
    case PartKind::kLookalikes:
      return "lookalikes";
  }
  return "?";
}

bool wants(const ObjectParts& parts, PartKind kind) {
  switch (kind) {
    case PartKind::kMesh:
      return parts.mesh;
    case PartKind::kViews:
      return parts.views;
    case PartKind::kSamples:
      return parts.samples;
    case PartKind::kShot:
      return parts.shot;
    case PartKind::kTensors:
      return parts.tensors;
    case PartKind::kAppearance:
      return parts.appearance;
    case PartKind::kLookalikes:
      return parts.lookalikes;
  }
  return false;
}

void check_part(PartKind kind, const LearnedObject& object, const std::string& name) {
  switch (kind) {
    case PartKind::kMesh:
      require_host(object.mesh.vertices.points, "points", name);
      try {
        check_mesh(object.mesh);
      } catch (const Error& error) {
        fail(name, ": ", error.what());
      }
      return;
    case PartKind::kViews:
      return check_views(object, name);
    case PartKind::kSamples:
      return check_samples(object.samples, name);
    case PartKind::kShot:
      return check_shot(object.shot, name);
    case PartKind::kTensors:
      if (is_empty(kind, object)) return;
      return check_tensors(object.tensors, name);
    case PartKind::kAppearance:
      return check_appearance(object.appearance, name);
    case PartKind::kLookalikes:
      return check_lookalikes(object.lookalikes, name);
  }
}

void check_object(const LearnedObject& object, const std::string& name) {
  for (const PartKind kind : kPartKinds) {
    check_part(kind, object, name + ", " + name_of(kind));
  }
  check_tensor_views(object, name + ", tensors");
}

std::vector<StoredPart> encode_parts(const LearnedObject& object) {
  std::vector<StoredPart> parts;
  for (const PartKind kind : kPartKinds) {
    if (is_empty(kind, object)) continue;
    ArrayWriter out(object.name + ", " + name_of(kind));
    write_part(kind, object, out);
    parts.push_back({kind, out.finish()});
  }
  return parts;
}

void decode_part(PartKind kind, std::span<const std::byte> blob, const std::string& name,
                 LearnedObject& object) {
  const ArrayReader in(blob, name);
  read_part(kind, in, object);
  check_part(kind, object, name);
}

}  // namespace sextant::detail::library
