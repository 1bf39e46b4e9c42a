// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/obj/scene.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "sextant/io/obj/lines.h"
#include "sextant/io/text/scanner.h"

namespace sextant::detail::obj {

namespace {

constexpr std::size_t kMostVertices = std::numeric_limits<std::int32_t>::max();
constexpr Vec3f kNoColor{NAN, NAN, NAN};

/// A corner of a face: indices from 0, -1 where the file names none.
struct ObjCorner {
  std::int32_t vertex = -1;
  std::int32_t texture = -1;
  std::int32_t normal = -1;
};

/// The largest index that was named before its line came, and where that was.
struct Promise {
  const char* what;
  std::int64_t index = -1;
  std::int64_t position = 0;
};

class ObjParser {
 public:
  ObjParser(text::TextScanner text, double unit_m, file::ReadProgress& progress)
      : text_(std::move(text)), unit_m_(unit_m), progress_(progress) {}

  ObjScene parse() {
    while (text_.skip_space()) {
      parse_line();
      text_.next_line();
      progress_.at(text_.position());
    }
    check_promise(vertices_, scene_.positions_m.size());
    check_promise(textures_, scene_.texture_coordinates.size());
    check_promise(normals_, scene_.normals.size());
    if (scene_.positions_m.empty() && unknown_at_ >= 0) {
      text_.fail_at(unknown_at_, "'", text::shown(unknown_),
                    "' is no word of an OBJ file, and no line gives a vertex");
    }
    return std::move(scene_);
  }

 private:
  void parse_line() {
    if (text_.peek() == '#') {
      add_comment(text_.rest_of_line().substr(1));
      return;
    }
    const std::int64_t at = text_.position();
    const std::string_view key = text_.word();
    if (key == "v") {
      parse_position();
    } else if (key == "vt") {
      parse_texture_coordinate();
    } else if (key == "vn") {
      const float x = text_.number<float>("vn");
      const float y = text_.number<float>("vn");
      const float z = text_.number<float>("vn");
      scene_.normals.push_back({x, y, z});
      finish_line();
    } else if (key == "f" || key == "fo") {
      parse_face();
    } else if (key == "usemtl") {
      use_material(std::string(text_.rest_of_line()));
    } else if (key == "mtllib") {
      scene_.material_files.emplace_back(text_.rest_of_line());
    } else {
      pass_over(key, at);
    }
  }

  /// What has no place in a mesh is named once; words that the format does not have are an Error
  /// when nothing else makes the file one of this format.
  void pass_over(std::string_view key, std::int64_t at) {
    const char* part = part_of_mesh(key);
    if (part == nullptr) {
      if (unknown_at_ < 0) {
        unknown_ = key;
        unknown_at_ = at;
      }
      return;
    }
    // One group is all of the mesh.
    if (part == std::string_view("groups") && ++groups_ < 2) return;
    std::vector<std::string>& left_out = scene_.left_out;
    if (*part != '\0' && std::find(left_out.begin(), left_out.end(), part) == left_out.end()) {
      left_out.emplace_back(part);
    }
  }

  /// Only those before the first vertex describe the file.
  void add_comment(std::string_view comment) {
    if (scene_.positions_m.empty()) scene_.comments.emplace_back(comment);
  }

  /// Nothing may follow but a comment.
  void finish_line() {
    if (!text_.at_line_end() && text_.peek() != '#') {
      text_.fail_here("expected the end of the line, found '", text::shown(text_.word()), "'");
    }
  }

  void parse_position() {
    double numbers[6] = {};
    int count = 0;
    while (!text_.at_line_end() && text_.peek() != '#') {
      if (count == 6) text_.fail_here("a vertex has at most 6 numbers");
      numbers[count++] = text_.number<double>("v");
    }
    if (count != 3 && count != 4 && count != 6) {
      text_.fail_here("expected 3, 4 or 6 numbers for a vertex, found ", count);
    }
    if (scene_.positions_m.size() >= kMostVertices) text_.fail_here("too many vertices");
    scene_.positions_m.push_back(
        {numbers[0] * unit_m_, numbers[1] * unit_m_, numbers[2] * unit_m_});
    if (count == 6 || !scene_.color_levels.empty()) {
      scene_.color_levels.resize(scene_.positions_m.size() - 1, kNoColor);
      scene_.color_levels.push_back(count == 6 ? Vec3f{static_cast<float>(numbers[3]),
                                                       static_cast<float>(numbers[4]),
                                                       static_cast<float>(numbers[5])}
                                               : kNoColor);
    }
  }

  /// Reads one to three numbers: u, v that may be left out, and a depth that is ignored.
  void parse_texture_coordinate() {
    Vec2f uv{text_.number<float>("vt"), 0.0f};
    if (!text_.at_line_end() && text_.peek() != '#') uv.y = text_.number<float>("vt");
    if (!text_.at_line_end() && text_.peek() != '#') text_.number<float>("vt");
    finish_line();
    scene_.texture_coordinates.push_back(uv);
  }

  /// An index of a file counts from 1, or back from the last line of its kind so far. The line that
  /// a positive one means may follow later.
  std::int32_t resolve(std::int64_t index, std::size_t count, Promise& promise) {
    const std::int64_t size = static_cast<std::int64_t>(count);
    const std::int64_t resolved = index > 0 ? index - 1 : size + index;
    if (index == 0 || resolved < 0 || resolved >= static_cast<std::int64_t>(kMostVertices)) {
      text_.fail_here("the ", promise.what, " index ", index, " is outside the ", size, " so far");
    }
    if (resolved >= size && resolved > promise.index) {
      promise.index = resolved;
      promise.position = text_.position();
    }
    return static_cast<std::int32_t>(resolved);
  }
  void check_promise(const Promise& promise, std::size_t count) const {
    if (promise.index < static_cast<std::int64_t>(count)) return;
    text_.fail_at(promise.position, "the ", promise.what, " index ", promise.index + 1,
                  " is outside the ", count, " of the file");
  }

  ObjCorner resolve(const std::int64_t (&indices)[3]) {
    ObjCorner corner;
    corner.vertex = resolve(indices[0], scene_.positions_m.size(), vertices_);
    if (indices[1] != 0) {
      corner.texture = resolve(indices[1], scene_.texture_coordinates.size(), textures_);
    }
    if (indices[2] != 0) corner.normal = resolve(indices[2], scene_.normals.size(), normals_);
    return corner;
  }

  /// Reads "7", "7/1", "7//3" or "7/1/3".
  ObjCorner parse_corner(std::string_view word) {
    const char* at = word.data();
    const char* last = at + word.size();
    std::int64_t indices[3] = {};
    for (std::int64_t& index : indices) {
      const bool named = at != last && *at != '/';
      if (named) at = text::parse_number(at, last, index);
      if (at == nullptr || (named && index == 0) || indices[0] == 0) break;
      if (at == last) return resolve(indices);
      if (*at != '/') break;
      ++at;
    }
    text_.fail_here("expected a corner such as 7, 7/1, 7//3 or 7/1/3, found '", text::shown(word),
                    "'");
  }

  void parse_face() {
    const std::size_t first_triangle = scene_.triangles.size();
    ObjCorner first, before;
    int count = 0;
    while (!text_.at_line_end() && text_.peek() != '#') {
      const ObjCorner corner = parse_corner(text_.word());
      if (count == 0) first = corner;
      if (count >= 2) {
        scene_.triangles.push_back({first.vertex, before.vertex, corner.vertex});
        scene_.texture_triangles.push_back({first.texture, before.texture, corner.texture});
        scene_.normal_triangles.push_back({first.normal, before.normal, corner.normal});
        scene_.triangle_materials.push_back(material_);
      }
      before = corner;
      count = std::min(count + 1, 3);
    }
    if (count < 3) text_.fail_here("a face needs at least three corners");
    const std::size_t triangles = scene_.triangles.size() - first_triangle;
    if (triangles > 1) scene_.fans.push_back({first_triangle, triangles});
  }

  void use_material(std::string name) {
    const auto next = static_cast<std::int32_t>(scene_.materials.size());
    const auto [it, is_new] = material_numbers_.emplace(name, next);
    if (is_new) scene_.materials.push_back(std::move(name));
    material_ = it->second;
  }

  text::TextScanner text_;
  double unit_m_;
  file::ReadProgress& progress_;
  ObjScene scene_;
  Promise vertices_{"vertex"};
  Promise textures_{"texture"};
  Promise normals_{"normal"};
  std::string_view unknown_;  ///< the first word that the format does not have
  std::int64_t unknown_at_ = -1;
  int groups_ = 0;
  std::int32_t material_ = -1;
  std::unordered_map<std::string, std::int32_t> material_numbers_;
};

}  // namespace

ObjScene parse_obj(FileReader& source, double unit_m, file::ReadProgress& progress) {
  file::skip_byte_order_mark(source);
  const std::string_view text = file::remaining_text(source);
  const std::string joined = join_lines(text);
  return ObjParser(text::TextScanner(joined.empty() ? text : joined, source.name()), unit_m,
                   progress)
      .parse();
}

}  // namespace sextant::detail::obj
