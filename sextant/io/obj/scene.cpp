// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/obj/scene.h"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "sextant/io/points/record.h"
#include "sextant/io/text/scanner.h"

namespace sextant::detail::obj {

namespace {

constexpr std::size_t kMostVertices = std::numeric_limits<std::int32_t>::max();

struct CornerHash {
  std::size_t operator()(const ObjCorner& corner) const {
    std::uint64_t hash = static_cast<std::uint32_t>(corner.vertex);
    for (const std::int32_t part : {corner.texture, corner.normal}) {
      hash = (hash ^ static_cast<std::uint32_t>(part)) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 29;
    }
    return static_cast<std::size_t>(hash);
  }
};

/// Gives every distinct corner a vertex: the first of a position its own, the others new ones
/// behind all positions. How many positions there are is known at the end, so until then the
/// further vertices are counted -1, -2 and so on.
class VertexSplitter {
 public:
  std::int32_t vertex_of(const ObjCorner& corner, std::size_t positions) {
    if (first_.size() < positions) first_.resize(positions);
    ObjCorner& first = first_[static_cast<std::size_t>(corner.vertex)];
    if (first.vertex < 0) first = corner;
    if (first == corner) return corner.vertex;
    const auto next = -1 - static_cast<std::int32_t>(further_.size());
    const auto [it, is_new] = numbers_.emplace(corner, next);
    if (is_new) further_.push_back(corner);
    return it->second;
  }

  void finish(ObjScene& scene) {
    const auto positions = static_cast<std::int32_t>(scene.positions.size());
    first_.resize(scene.positions.size());
    first_.insert(first_.end(), further_.begin(), further_.end());
    scene.vertices = std::move(first_);
    for (Vec3i& triangle : scene.triangles) {
      for (std::int32_t* vertex : {&triangle.x, &triangle.y, &triangle.z}) {
        if (*vertex < 0) *vertex = positions - 1 - *vertex;
      }
    }
  }
  std::size_t further() const { return further_.size(); }

 private:
  std::vector<ObjCorner> first_;
  std::vector<ObjCorner> further_;
  std::unordered_map<ObjCorner, std::int32_t, CornerHash> numbers_;
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
    splitter_.finish(scene_);
    return std::move(scene_);
  }

 private:
  void parse_line() {
    if (text_.peek() == '#') {
      add_comment(text_.rest_of_line().substr(1));
      return;
    }
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
    }
  }

  /// Only those before the first vertex describe the file.
  void add_comment(std::string_view comment) {
    if (scene_.positions.empty()) scene_.comments.emplace_back(comment);
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
      // A float in metres is rounded once, from its decimal digits.
      numbers[count++] = unit_m_ == 1.0 ? static_cast<double>(text_.number<float>("v"))
                                        : text_.number<double>("v");
    }
    if (count != 3 && count != 4 && count != 6) {
      text_.fail_here("expected 3, 4 or 6 numbers for a vertex, found ", count);
    }
    check_room();
    scene_.positions.push_back({static_cast<float>(numbers[0] * unit_m_),
                                static_cast<float>(numbers[1] * unit_m_),
                                static_cast<float>(numbers[2] * unit_m_)});
    if (count == 6 || !scene_.colors.empty()) {
      // Vertices without a colour in a file that has some are white.
      scene_.colors.resize(scene_.positions.size() - 1, Rgb8{255, 255, 255});
      scene_.colors.push_back(count == 6 ? Rgb8{points::color_byte(numbers[3]),
                                                points::color_byte(numbers[4]),
                                                points::color_byte(numbers[5])}
                                         : Rgb8{255, 255, 255});
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

  /// An index of a file counts from 1, or back from the last line of its kind so far.
  std::int32_t resolve(std::int64_t index, std::size_t count, const char* what) {
    const std::int64_t size = static_cast<std::int64_t>(count);
    const std::int64_t resolved = index > 0 ? index - 1 : size + index;
    if (index == 0 || resolved < 0 || resolved >= size) {
      text_.fail_here("the ", what, " index ", index, " is outside the ", size, " so far");
    }
    return static_cast<std::int32_t>(resolved);
  }

  ObjCorner resolve(const std::int64_t (&indices)[3]) {
    ObjCorner corner;
    corner.vertex = resolve(indices[0], scene_.positions.size(), "vertex");
    if (indices[1] != 0) {
      corner.texture = resolve(indices[1], scene_.texture_coordinates.size(), "texture");
    }
    if (indices[2] != 0) corner.normal = resolve(indices[2], scene_.normals.size(), "normal");
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

  /// The next corner of a face, which a backslash continues on the next line; empty at its end.
  std::string_view corner_word() {
    while (!text_.at_line_end() && text_.peek() != '#') {
      const std::string_view word = text_.word();
      if (word.back() != '\\') return word;
      text_.next_line();
      if (word.size() > 1) return word.substr(0, word.size() - 1);
    }
    return {};
  }

  void parse_face() {
    std::int32_t first = 0, before = 0;
    int count = 0;
    for (std::string_view word = corner_word(); !word.empty(); word = corner_word()) {
      const ObjCorner corner = parse_corner(word);
      const std::int32_t vertex = splitter_.vertex_of(corner, scene_.positions.size());
      if (count == 0) first = vertex;
      if (count >= 2) {
        scene_.triangles.push_back({first, before, vertex});
        scene_.triangle_materials.push_back(material_);
      }
      before = vertex;
      count = std::min(count + 1, 3);
    }
    if (count < 3) text_.fail_here("a face needs at least three corners");
    check_room();
  }

  /// Vertices are counted in 32 bits.
  void check_room() {
    if (scene_.positions.size() + splitter_.further() >= kMostVertices) {
      text_.fail_here("too many vertices");
    }
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
  VertexSplitter splitter_;
  std::int32_t material_ = -1;
  std::unordered_map<std::string, std::int32_t> material_numbers_;
};

}  // namespace

ObjScene parse_obj(FileReader& source, double unit_m, file::ReadProgress& progress) {
  return ObjParser(text::TextScanner(file::remaining_text(source), source.name()), unit_m, progress)
      .parse();
}

}  // namespace sextant::detail::obj
