// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/vtk/read.h"

#include <unordered_set>

#include "sextant/io/mesh/polygons.h"
#include "sextant/io/points/origin.h"
#include "sextant/io/vtk/cells.h"
#include "sextant/io/vtk/numbers.h"

namespace sextant {

using namespace detail::vtk;

namespace detail::vtk {

namespace {

class VtkParser {
 public:
  VtkParser(text::TextScanner text, double unit_m, file::ReadProgress& progress)
      : numbers_(std::move(text), progress), text_(numbers_.text()), unit_m_(unit_m) {}

  TriangleMesh parse() {
    parse_title();
    for (std::string key = numbers_.key(); !key.empty(); key = numbers_.key()) {
      if (!parse_geometry(key) && !parse_data(key)) {
        text_.fail_here("the keyword '", text::shown(key), "' is not known");
      }
    }
    require(has_points_, text_.name(), ": has no POINTS");
    if (cells_.lines() > 0) left_out_.emplace_back("lines");
    mesh_.triangles = mesh::to_buffer(cells_.take_triangles(mesh_.vertices.points.host()));
    return std::move(mesh_);
  }
  file::FileFacts facts() const {
    return {numbers_.binary() ? "binary" : "ascii", {title_}, left_out_};
  }

 private:
  void parse_title() {
    if (!text_.rest_of_line().starts_with("# vtk DataFile Version")) {
      text_.fail_here("is no VTK file, it does not start with '# vtk DataFile Version'");
    }
    text_.next_line();
    title_ = text_.rest_of_line();
    text_.next_line();
    const std::string encoding = numbers_.key();
    if (encoding != "ASCII" && encoding != "BINARY") {
      text_.fail_here("expected ASCII or BINARY, found '", text::shown(encoding), "'");
    }
    numbers_.set_binary(encoding == "BINARY");
  }

  bool parse_geometry(const std::string& key) {
    if (key == "DATASET") {
      const std::string kind = numbers_.key();
      if (kind != "POLYDATA") text_.fail_here("expected POLYDATA, found '", text::shown(kind), "'");
    } else if (key == "POINTS") {
      parse_points();
    } else if (key == "POLYGONS") {
      cells_.parse(Cells::kPolygons, mesh_.vertices.size());
    } else if (key == "TRIANGLE_STRIPS") {
      cells_.parse(Cells::kStrips, mesh_.vertices.size());
    } else if (key == "VERTICES") {
      cells_.parse(Cells::kVertices, mesh_.vertices.size());
    } else if (key == "LINES") {
      cells_.parse(Cells::kLines, mesh_.vertices.size());
    } else if (key == "METADATA") {
      do {
        text_.next_line();
      } while (!text_.at_line_end());
    } else {
      return false;
    }
    return true;
  }

  void parse_points() {
    if (has_points_) text_.fail_here("POINTS appears twice");
    const std::int64_t count = numbers_.count("the number of points");
    const points::Scalar type = numbers_.type();
    numbers_.check_room(type, count, 3);
    if (numbers_.binary() && !points::is_finer_than_float(type)) {
      mesh_.vertices.points = Buffer<Vec3f>(Context::cpu(1), count);
      float* to = reinterpret_cast<float*>(mesh_.vertices.points.data());
      numbers_.read<double>(type, count, 3, [&](std::int64_t i, double value) {
        to[i] = static_cast<float>(value * unit_m_);
      });
    } else {
      std::vector<Vec3d> points(static_cast<std::size_t>(count));
      double* to = reinterpret_cast<double*>(points.data());
      numbers_.read<double>(type, count, 3,
                            [&](std::int64_t i, double value) { to[i] = value * unit_m_; });
      points::set_points(mesh_.vertices, points);
    }
    has_points_ = true;
  }

  bool parse_data(const std::string& key) {
    if (key == "POINT_DATA" || key == "CELL_DATA") {
      of_points_ = key == "POINT_DATA";
      tuples_ = numbers_.count(key);
      if (of_points_ && tuples_ != mesh_.vertices.size()) {
        text_.fail_here("POINT_DATA for ", tuples_, " points, there are ", mesh_.vertices.size());
      }
    } else if (key == "SCALARS") {
      parse_scalars();
    } else if (key == "COLOR_SCALARS") {
      const std::string name = numbers_.name("the name of the colours");
      const std::int64_t components = numbers_.count("the number of components");
      parse_colors(name, components,
                   numbers_.binary() ? points::Scalar::kUint8 : points::Scalar::kFloat32);
    } else if (key == "LOOKUP_TABLE") {
      left_out_.push_back("lookup table " + numbers_.name("the name of the table"));
      skip_array(numbers_.binary() ? points::Scalar::kUint8 : points::Scalar::kFloat32,
                 numbers_.count("the size of the table"), 4);
    } else if (key == "NORMALS") {
      parse_normals();
    } else if (key == "TEXTURE_COORDINATES") {
      parse_texture_coordinates();
    } else if (key == "FIELD") {
      parse_field();
    } else {
      const std::int64_t components = components_of(key);
      if (components == 0) return false;
      const std::string name = numbers_.name("the name of the array");
      parse_attributes(name, numbers_.type(), components);
    }
    return true;
  }

  /// Arrays that become attributes, by their keyword; 0 for other words.
  static std::int64_t components_of(const std::string& key) {
    if (key == "VECTORS") return 3;
    if (key == "TENSORS") return 9;
    if (key == "TENSORS6") return 6;
    if (key == "GLOBAL_IDS" || key == "PEDIGREE_IDS" || key == "EDGE_FLAGS") return 1;
    return 0;
  }

  void skip_array(points::Scalar type, std::int64_t tuples, std::int64_t components) {
    numbers_.read<double>(type, tuples, components, [](std::int64_t, double) {});
  }

  void parse_scalars() {
    const std::string name = numbers_.name("the name of the scalars");
    const points::Scalar type = numbers_.type();
    const std::int64_t components =
        text_.at_line_end() ? 1 : numbers_.count("the number of components");
    text::TextScanner before = text_;
    if (numbers_.key() == "LOOKUP_TABLE") {
      text_.word();
    } else {
      text_ = before;
    }
    if (type == points::Scalar::kUint8 && (components == 3 || components == 4)) {
      parse_colors(name, components, type);
    } else {
      parse_attributes(name, type, components);
    }
  }

  void parse_colors(const std::string& name, std::int64_t components, points::Scalar type) {
    if (!of_points_ || components < 3 || components > 4 || !mesh_.vertices.colors.empty()) {
      parse_attributes(name, type, components);
      return;
    }
    numbers_.check_room(type, tuples_, components);
    Buffer<Rgb8> colors(Context::cpu(1), tuples_);
    Buffer<std::uint8_t> alpha(Context::cpu(1), components == 4 ? tuples_ : 0);
    auto* to = reinterpret_cast<std::uint8_t*>(colors.data());
    const double scale = points::is_float(type) ? 1.0 : 1.0 / 255.0;
    numbers_.read<double>(type, tuples_, components, [&](std::int64_t i, double level) {
      const std::uint8_t byte = points::color_byte(level * scale);
      const std::int64_t point = i / components, channel = i % components;
      if (channel < 3) {
        to[3 * point + channel] = byte;
      } else {
        alpha.data()[point] = byte;
      }
    });
    mesh_.vertices.colors = std::move(colors);
    if (components == 4 && tuples_ > 0) add_attribute({"alpha", std::move(alpha)});
  }

  void parse_normals() {
    const std::string name = numbers_.name("the name of the normals");
    const points::Scalar type = numbers_.type();
    if (!of_points_ || !mesh_.vertices.normals.empty()) {
      parse_attributes(name, type, 3);
    } else {
      mesh_.vertices.normals = read_vectors<Vec3f>(type, 3);
    }
  }

  void parse_texture_coordinates() {
    const std::string name = numbers_.name("the name of the texture coordinates");
    const std::int64_t components = numbers_.count("their number");
    const points::Scalar type = numbers_.type();
    if (!of_points_ || components != 2 || !mesh_.texture_coordinates.empty()) {
      parse_attributes(name, type, components);
    } else {
      mesh_.texture_coordinates = read_vectors<Vec2f>(type, 2);
    }
  }

  template <class Vector>
  Buffer<Vector> read_vectors(points::Scalar type, std::int64_t components) {
    numbers_.check_room(type, tuples_, components);
    Buffer<Vector> vectors(Context::cpu(1), tuples_);
    float* to = reinterpret_cast<float*>(vectors.data());
    numbers_.read<float>(type, tuples_, components,
                         [&](std::int64_t i, float value) { to[i] = value; });
    return vectors;
  }

  /// Reads "FIELD name arrays", then for each array "name components tuples type" and its numbers.
  void parse_field() {
    numbers_.name("the name of the field");
    const std::int64_t arrays = numbers_.count("the number of arrays");
    for (std::int64_t i = 0; i < arrays; ++i) {
      if (!text_.skip_space())
        text_.fail_here("the file ends after ", i, " of ", arrays, " arrays");
      const std::string name = numbers_.name("the name of an array");
      if (name == "METADATA") {
        parse_geometry(name);
        --i;
        continue;
      }
      const std::int64_t components = numbers_.count("the number of components");
      const std::int64_t tuples = numbers_.count("the number of tuples");
      text::TextScanner before = text_;
      if (text_.word() == "string") {
        skip_strings(tuples, components);
        left_out_.push_back("array " + name);
        continue;
      }
      text_ = before;
      const points::Scalar type = numbers_.type();
      if (!of_points_) {
        skip_array(type, tuples, components);
        left_out_.push_back("array " + name);
        continue;
      }
      if (tuples != tuples_) {
        text_.fail_here("the array '", text::shown(name), "' has ", tuples, " tuples for ", tuples_,
                        " points");
      }
      parse_attributes(name, type, components);
    }
  }

  /// One on each line.
  void skip_strings(std::int64_t tuples, std::int64_t components) {
    if (numbers_.binary()) text_.fail_here("binary arrays of strings are not read");
    numbers_.check_room(points::Scalar::kUint8, tuples, components);
    for (std::int64_t i = 0; i <= tuples * components; ++i) text_.next_line();
  }

  void parse_attributes(const std::string& name, points::Scalar type, std::int64_t components) {
    if (!of_points_ || tuples_ == 0 || components == 0) {
      skip_array(type, tuples_, components);
      if (tuples_ > 0 && components > 0) left_out_.push_back("array " + name);
      return;
    }
    numbers_.check_room(type, tuples_, components);
    Attribute attribute{name, points::make_values(type, tuples_ * components), components};
    std::visit(
        [&]<class T>(Buffer<T>& numbers) {
          T* to = numbers.data();
          numbers_.read<T>(type, tuples_, components,
                           [&](std::int64_t i, T value) { to[i] = value; });
        },
        attribute.values);
    add_attribute(std::move(attribute));
  }

  void add_attribute(Attribute attribute) {
    if (!attribute_names_.insert(attribute.name).second) {
      text_.fail_here("the array '", text::shown(attribute.name), "' appears twice");
    }
    mesh_.vertices.attributes.push_back(std::move(attribute));
  }

  VtkNumbers numbers_;
  VtkCells cells_{numbers_};
  text::TextScanner& text_;
  double unit_m_;
  std::string title_;
  TriangleMesh mesh_;
  std::unordered_set<std::string> attribute_names_;
  std::vector<std::string> left_out_;
  bool has_points_ = false;
  bool of_points_ = false;  ///< whether arrays belong to the points, or to what is left out
  std::int64_t tuples_ = 0;
};

}  // namespace

TriangleMesh read_vtk(FileReader& any_source, const ReadOptions& options, file::FileFacts* facts) {
  check_options(options);
  return file::with_known_size(any_source, [&](FileReader& source) {
    file::ReadProgress progress(options.progress, source.size().value());
    file::skip_byte_order_mark(source);
    VtkParser parser(text::TextScanner(file::remaining_text(source), source.name()), options.unit_m,
                     progress);
    TriangleMesh mesh = parser.parse();
    if (facts) *facts = parser.facts();
    progress.finish();
    return mesh;
  });
}

}  // namespace detail::vtk

TriangleMesh read_vtk(const std::filesystem::path& path, const ReadOptions& options) {
  FileReader source(path);
  return read_vtk(source, options);
}

TriangleMesh read_vtk(std::span<const std::byte> file, const std::string& name,
                      const ReadOptions& options) {
  FileReader source(file, name);
  return read_vtk(source, options);
}

}  // namespace sextant
