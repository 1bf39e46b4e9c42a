// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "sextant/io/mesh/corners.h"
#include "sextant/io/mesh/polygons.h"
#include "sextant/io/obj/texture_file.h"
#include "sextant/io/ply/body.h"
#include "sextant/io/ply/header.h"
#include "sextant/io/points/origin.h"
#include "sextant/io/text/scanner.h"

namespace sextant {

using namespace detail::ply;

namespace detail::ply {

namespace {

/// Finds the value behind a word of a comment line: "width" in "sextant width 640 height 480".
std::optional<int> value_after(std::string_view comment, std::string_view word) {
  text::TextScanner text(comment, "");
  while (!text.at_line_end()) {
    int value = 0;
    if (text.word() == word) {
      return text::parse_word(text.word(), value) ? std::optional<int>(value) : std::nullopt;
    }
  }
  return std::nullopt;
}

/// Finds the same in the first of several lines that has it; 0 when none does.
int find_value(const std::vector<std::string>& lines, std::string_view word) {
  for (const std::string& line : lines) {
    if (const auto value = value_after(line, word)) return *value;
  }
  return 0;
}

/// Comments are no contract: sizes that do not fit the points are ignored.
void set_organised(Cloud& cloud, std::int64_t width, std::int64_t height) {
  constexpr std::int64_t kMost = std::numeric_limits<int>::max();
  if (width < 1 || height < 1 || width > kMost || height > kMost) return;
  if (width * height != cloud.size()) return;
  cloud.width = static_cast<int>(width);
  cloud.height = static_cast<int>(height);
}

/// In coordinates of the file.
void set_pose(Cloud& cloud, const Vec3d& translation, const Quaternion<double>& q, double unit_m) {
  const double length_sq = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
  if (!is_finite(translation) || !(std::abs(length_sq - 1.0) < 1e-3)) return;
  points::set_sensor_in_file(cloud, {to_matrix(normalized(q)), translation * unit_m});
}

void apply_comments(const std::vector<std::string>& comments, double unit_m, Cloud& cloud) {
  for (const std::string& comment : comments) {
    text::TextScanner text(comment, "");
    if (text.word() != "sextant") continue;
    const std::string_view key = text.word();
    if (key == "width") {
      set_organised(cloud, value_after(comment, "width").value_or(0),
                    value_after(comment, "height").value_or(0));
    } else if (key == "world_from_sensor") {
      double v[7] = {};
      bool complete = true;
      for (double& value : v) complete = text::parse_word(text.word(), value) && complete;
      if (complete) set_pose(cloud, {v[0], v[1], v[2]}, {v[3], v[4], v[5], v[6]}, unit_m);
    }
  }
}

/// PCL's element: where the sensor stood, its axes as the rows of the rotation, and the size of an
/// organised cloud. What else it says, other than zeros, is left out.
void apply_camera(const std::map<std::string, double>& camera, double unit_m, Cloud& cloud,
                  std::vector<std::string>& left_out) {
  std::set<std::string> used;
  const auto value = [&](const char* name) {
    const auto it = camera.find(name);
    return it == camera.end() ? std::nan("") : it->second;
  };
  const double width = value("viewportx"), height = value("viewporty");
  if (!cloud.organised() && width >= 1 && height > 1 && width < 1e9 && height < 1e9) {
    set_organised(cloud, static_cast<std::int64_t>(width), static_cast<std::int64_t>(height));
  }
  if (width * height == static_cast<double>(cloud.size())) used = {"viewportx", "viewporty"};
  const Mat3d rotation{{{value("x_axisx"), value("x_axisy"), value("x_axisz")},
                        {value("y_axisx"), value("y_axisy"), value("y_axisz")},
                        {value("z_axisx"), value("z_axisy"), value("z_axisz")}}};
  const Vec3d place{value("view_px"), value("view_py"), value("view_pz")};
  if (std::abs(determinant(rotation) - 1.0) < 1e-3 && is_finite(place)) {
    set_pose(cloud, place, to_quaternion(rotation), unit_m);
    used.insert({"view_px", "view_py", "view_pz", "x_axisx", "x_axisy", "x_axisz", "y_axisx",
                 "y_axisy", "y_axisz", "z_axisx", "z_axisy", "z_axisz"});
  }
  for (const auto& [name, number] : camera) {
    if (number != 0 && used.count(name) == 0) left_out.push_back("camera property " + name);
  }
}

template <class T>
void gather(const std::vector<std::int32_t>& grid, const T& hole, Buffer<T>& elements,
            std::int64_t components = 1) {
  if (elements.empty()) return;
  Buffer<T> gathered(Context::cpu(1), static_cast<std::int64_t>(grid.size()) * components);
  for (std::size_t i = 0; i < grid.size(); ++i) {
    T* to = gathered.data() + static_cast<std::int64_t>(i) * components;
    if (grid[i] < 0) {
      std::fill_n(to, components, hole);
    } else {
      std::copy_n(elements.data() + grid[i] * components, components, to);
    }
  }
  elements = std::move(gathered);
}

/// Holes have no number, or 0 where the type has no sign for that.
void gather(const std::vector<std::int32_t>& grid, Attribute& attribute) {
  std::visit(
      [&]<class T>(Buffer<T>& numbers) {
        gather(grid, std::numeric_limits<T>::quiet_NaN(), numbers, attribute.components);
      },
      attribute.values);
}

/// True when every vertex stands in exactly one cell, so that nothing is lost by the new order.
bool holds_each_vertex_once(const std::vector<std::int32_t>& grid, std::int64_t vertices) {
  std::vector<bool> seen(static_cast<std::size_t>(vertices));
  std::int64_t found = 0;
  for (const std::int32_t index : grid) {
    if (index < 0) continue;
    if (seen[static_cast<std::size_t>(index)]) return false;
    seen[static_cast<std::size_t>(index)] = true;
    ++found;
  }
  return found == vertices;
}

/// True when the rows of the grid are the cloud's now.
bool apply_grid(const PlyHeader& header, const std::vector<std::int32_t>& grid,
                TriangleMesh& mesh) {
  Cloud& cloud = mesh.vertices;
  const std::int64_t columns = find_value(header.object_infos, "num_cols");
  const std::int64_t rows = find_value(header.object_infos, "num_rows");
  if (grid.empty() || columns < 1 || rows < 1 || !mesh.triangles.empty() ||
      columns * rows != static_cast<std::int64_t>(grid.size()) ||
      !holds_each_vertex_once(grid, cloud.size())) {
    return false;
  }
  const Vec3f hole{NAN, NAN, NAN};
  gather(grid, hole, cloud.points);
  gather(grid, hole, cloud.normals);
  gather(grid, Rgb8{}, cloud.colors);
  gather(grid, Vec2f{}, mesh.texture_coordinates);
  for (Attribute& attribute : cloud.attributes) gather(grid, attribute);
  set_organised(cloud, columns, rows);
  return true;
}

/// Moves the corners' texture coordinates into the mesh, where they fit all of its triangles.
void apply_corner_texture(PlyBody& body, TriangleMesh& mesh) {
  const auto triangles = static_cast<std::size_t>(mesh.triangles.size());
  const bool says_something =
      std::any_of(body.texture_coordinates.begin(), body.texture_coordinates.end(),
                  [](const Vec2f& uv) { return !(uv == Vec2f{}); });
  if (triangles == 0 || body.texture_triangles.empty() || !says_something) return;
  if (body.texture_triangles.size() != triangles) {
    body.left_out.emplace_back("face property texcoord");
    return;
  }
  mesh::set_corners(mesh.triangles.host(), mesh.vertices.size(),
                    std::move(body.texture_coordinates), std::move(body.texture_triangles),
                    mesh.texture_coordinates, mesh.texture_coordinates, mesh.texture_triangles);
}

void apply_texture(const std::vector<std::string>& comments, const std::filesystem::path* folder,
                   TriangleMesh& mesh) {
  for (const std::string& comment : comments) {
    text::TextScanner text(comment, "");
    if (text.word() != "TextureFile") continue;
    Material material;
    material.texture_file = text.rest_of_line();
    material.name = "texture";
    if (folder) obj::load_texture(*folder, material);
    mesh.materials.push_back(std::move(material));
    return;  // further ones belong to texture numbers of faces, which are not read
  }
}

}  // namespace

TriangleMesh read_ply(FileReader& source, const std::filesystem::path* folder,
                      const ReadOptions& options, file::FileFacts* facts) {
  check_options(options);
  return file::with_known_size(source, [&](FileReader& sized) {
    file::ReadProgress progress(options.progress, sized.size().value());
    file::skip_byte_order_mark(sized);
    const PlyHeader header = read_ply_header(sized);
    PlyBody body = read_ply_body(sized, header, options.unit_m, progress);
    TriangleMesh mesh;
    mesh.vertices = std::move(body.points.cloud);
    mesh.texture_coordinates = std::move(body.points.texture_coordinates);
    mesh.triangles = mesh::to_buffer(std::move(body.triangles));
    if (!apply_grid(header, body.grid, mesh) && !body.grid.empty()) {
      body.left_out.emplace_back("element range_grid");
    }
    apply_corner_texture(body, mesh);
    apply_comments(header.comments, options.unit_m, mesh.vertices);
    apply_camera(body.camera, options.unit_m, mesh.vertices, body.left_out);
    apply_texture(header.comments, folder, mesh);
    if (facts) {
      facts->encoding = name_of(header.encoding, kPlyEncodings);
      facts->comments = header.comments;
      facts->comments.insert(facts->comments.end(), header.object_infos.begin(),
                             header.object_infos.end());
      facts->left_out = std::move(body.left_out);
    }
    progress.finish();
    return mesh;
  });
}

}  // namespace detail::ply

TriangleMesh read_ply(const std::filesystem::path& path, const ReadOptions& options) {
  FileReader source(path);
  const std::filesystem::path folder = path.parent_path();
  return read_ply(source, &folder, options);
}

TriangleMesh read_ply(std::span<const std::byte> file, const std::string& name,
                      const ReadOptions& options) {
  FileReader source(file, name);
  return read_ply(source, nullptr, options);
}

}  // namespace sextant
