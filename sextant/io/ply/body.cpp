// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/ply/body.h"

#include <algorithm>
#include <limits>

#include "sextant/io/mesh/concave.h"
#include "sextant/io/ply/lists.h"
#include "sextant/io/points/scatter.h"

namespace sextant::detail::ply {

namespace {

enum class Shape { kPolygon, kStrip };

/// Corners are counted in 32 bits.
constexpr std::size_t kMostCorners = std::numeric_limits<std::int32_t>::max();

std::vector<points::RecordField> fields_of(const PlyElement& element) {
  std::vector<points::RecordField> fields;
  for (const PlyProperty& property : element.properties) {
    const bool list = property.is_list();
    // Lists are read apart from the record, but their names count.
    fields.push_back({property.name, property.type, 1, list});
  }
  return fields;
}

/// Every element needs some bytes: a header that claims more than the file can hold is refused
/// before memory is set aside for it.
template <class Numbers>
void check_count(const Numbers& numbers, const PlyElement& element) {
  std::int64_t least = 0;
  for (const PlyProperty& property : element.properties) {
    least += Numbers::least_bytes(property.is_list() ? *property.count_type : property.type);
  }
  const std::int64_t most = numbers.remaining_bytes() / least;
  if (element.count > most) {
    numbers.fail_here("the header promises ", element.count, " elements '", element.name,
                      "', the rest of the file has room for ", most);
  }
}

/// Reads the length of a list, which the rest of the file must have room for.
template <class Numbers>
std::int64_t list_length(Numbers& numbers, const PlyProperty& property) {
  const std::int64_t length = numbers.integer(*property.count_type, "the length of a list");
  const std::int64_t most = numbers.remaining_bytes() / Numbers::least_bytes(property.type);
  if (length < 0 || length > most) {
    numbers.fail_here("the list '", property.name, "' has the length ", length,
                      ", the rest of the file has room for ", most, " numbers");
  }
  return length;
}

template <class Numbers>
void skip_property(Numbers& numbers, const PlyProperty& property) {
  numbers.skip(property.type, property.is_list() ? list_length(numbers, property) : 1);
}

template <class Numbers>
void skip_element(Numbers& numbers, const PlyElement& element) {
  for (std::int64_t i = 0; i < element.count; ++i) {
    numbers.begin_record(element.name);
    for (const PlyProperty& property : element.properties) skip_property(numbers, property);
    numbers.end_record();
  }
}

template <class Numbers>
void read_list(Numbers& numbers, const PlyProperty& property, std::int64_t lowest,
               std::int64_t vertices, std::vector<std::int32_t>& list) {
  const std::int64_t length = list_length(numbers, property);
  list.clear();
  for (std::int64_t i = 0; i < length; ++i) {
    const std::int64_t index = numbers.integer(property.type, property.name);
    if (index < lowest || index >= vertices) {
      numbers.fail_here("the vertex index ", index, " is outside 0 .. ", vertices - 1);
    }
    list.push_back(static_cast<std::int32_t>(index));
  }
}

const PlyProperty* index_list(const PlyElement& element) {
  for (const char* name : {"vertex_indices", "vertex_index"}) {
    const PlyProperty* property = element.find(name);
    if (property && property->is_list() && !points::is_float(property->type)) return property;
  }
  return nullptr;
}

/// MeshLab's texture coordinates of the corners of a face: u v u v and so on.
const PlyProperty* corner_texture(const PlyElement& element) {
  const PlyProperty* property = element.find("texcoord");
  return property && property->is_list() && points::is_float(property->type) ? property : nullptr;
}

/// Calls use(list) with the vertex indices of every record of an element; the numbers of another
/// list, where it is not null, then stand in `others`.
template <class Numbers, class Use>
void read_index_lists(Numbers& numbers, const PlyElement& element, std::int64_t lowest,
                      std::int64_t vertices, const PlyProperty* other, std::vector<float>& others,
                      const Use& use) {
  const PlyProperty* indices = index_list(element);
  if (element.count > 0 && (!indices || vertices > std::numeric_limits<std::int32_t>::max())) {
    numbers.fail_here(indices ? "too many vertices for faces"
                              : "there is no list vertex_indices of integers in the element '",
                      indices ? "" : element.name + "'");
  }
  std::vector<std::int32_t> list;
  for (std::int64_t i = 0; i < element.count; ++i) {
    numbers.begin_record(element.name);
    for (const PlyProperty& property : element.properties) {
      if (&property == indices) {
        read_list(numbers, property, lowest, vertices, list);
      } else if (&property == other) {
        others.clear();
        const std::int64_t length = list_length(numbers, property);
        for (std::int64_t k = 0; k < length; ++k) {
          others.push_back(static_cast<float>(numbers.number(property.type, property.name)));
        }
      } else {
        skip_property(numbers, property);
      }
    }
    numbers.end_record();
    use(std::span<const std::int32_t>(list));
  }
}

/// Recognises the layout of nearly every binary mesh: nothing but a list of 32-bit indices with its
/// length in one byte, in this machine's byte order.
bool is_plain_face(const PlyElement& element) {
  if (element.properties.size() != 1 || !index_list(element)) return false;
  const PlyProperty& list = element.properties.front();
  return list.count_type == points::Scalar::kUint8 &&
         (list.type == points::Scalar::kInt32 || list.type == points::Scalar::kUint32);
}

void read_plain_faces(BinaryNumbers& numbers, const PlyElement& element, std::uint32_t vertices,
                      PlyBody& body) {
  std::int64_t left = element.count;
  std::vector<std::int32_t> list;
  while (left > 0) {
    const std::size_t first_bytes = 1 + 4 * std::to_integer<std::size_t>(numbers.look(1)[0]);
    const std::span<const std::byte> window = numbers.look(first_bytes);
    std::size_t at = 0;
    for (; left > 0 && at < window.size(); --left) {
      const std::size_t length = std::to_integer<std::size_t>(window[at]);
      if (window.size() - at < 1 + 4 * length) break;
      list.resize(length);
      if (length > 0) std::memcpy(list.data(), window.data() + at + 1, 4 * length);
      for (const std::int32_t index : list) {
        if (static_cast<std::uint32_t>(index) >= vertices) [[unlikely]] {
          numbers.take(at);
          numbers.fail_here("the vertex index ", index, " is outside 0 .. ",
                            std::int64_t{vertices} - 1);
        }
      }
      mesh::append_fan(list, body.triangles, &body.fans);
      at += 1 + 4 * length;
    }
    numbers.take(at);
    numbers.end_record();
  }
}

/// Adds the texture coordinates of the corners of a face, zeros where it has none.
void append_corner_texture(std::span<const float> numbers, std::size_t corners, PlyBody& body) {
  std::vector<Vec2f>& pool = body.texture_coordinates;
  std::vector<std::int32_t> indices;
  for (std::size_t i = 0; i < corners; ++i) {
    indices.push_back(static_cast<std::int32_t>(pool.size()));
    pool.push_back(numbers.size() == 2 * corners ? Vec2f{numbers[2 * i], numbers[2 * i + 1]}
                                                 : Vec2f{});
  }
  mesh::append_fan(indices, body.texture_triangles);
}

/// The list of the corners' texture coordinates, unless the vertices have some; notes what else a
/// face has.
const PlyProperty* note_properties(const PlyElement& element, Shape shape, PlyBody& body) {
  const bool wanted = shape == Shape::kPolygon && body.points.texture_coordinates.empty();
  const PlyProperty* texture = wanted ? corner_texture(element) : nullptr;
  const PlyProperty* indices = index_list(element);
  for (const PlyProperty& property : element.properties) {
    if (&property == indices || &property == texture || element.count == 0) continue;
    body.left_out.push_back(element.name + " property " + property.name);
  }
  return texture;
}

template <class Numbers>
void read_faces(Numbers& numbers, const PlyElement& element, Shape shape, std::int64_t vertices,
                PlyBody& body) {
  std::vector<Vec3i>& triangles = body.triangles;
  const PlyProperty* texture = note_properties(element, shape, body);
  triangles.reserve(triangles.size() + static_cast<std::size_t>(element.count));
  if constexpr (std::is_same_v<Numbers, BinaryNumbers>) {
    if (shape == Shape::kPolygon && is_plain_face(element) && !numbers.swap_bytes() &&
        vertices <= std::numeric_limits<std::int32_t>::max()) {
      read_plain_faces(numbers, element, static_cast<std::uint32_t>(vertices), body);
      return;
    }
  }
  // In strips, -1 separates one from the next.
  const std::int64_t lowest = shape == Shape::kStrip ? -1 : 0;
  std::vector<float> coordinates;
  read_index_lists(numbers, element, lowest, vertices, texture, coordinates,
                   [&](std::span<const std::int32_t> list) {
                     shape == Shape::kStrip ? mesh::append_strip(list, triangles)
                                            : mesh::append_fan(list, triangles, &body.fans);
                     if (!texture) return;
                     if (body.texture_coordinates.size() + list.size() > kMostCorners) {
                       numbers.fail_here("too many corners with texture coordinates");
                     }
                     append_corner_texture(coordinates, list.size(), body);
                   });
}

template <class Numbers>
void read_vertices(Numbers& numbers, const PlyElement& element, double unit_m, PlyBody& body) {
  const std::vector<points::RecordField> fields = fields_of(element);
  const std::vector<points::FieldSink> sinks =
      points::allocate_points(numbers.name(), fields, element.count, unit_m,
                              points::TexturePair::kRecognised, Numbers::kBody, body.points);
  if constexpr (std::is_same_v<Numbers, BinaryNumbers>) {
    if (!element.has_list()) {
      points::read_records(numbers.source(), fields, sinks, element.count, numbers.swap_bytes(),
                           numbers.progress());
      return;
    }
  }
  std::vector<VertexLists> lists;
  for (const PlyProperty& property : element.properties) lists.emplace_back(property);
  for (std::int64_t i = 0; i < element.count; ++i) {
    numbers.begin_record(element.name);
    for (std::size_t p = 0; p < sinks.size(); ++p) {
      const PlyProperty& property = element.properties[p];
      const points::FieldSink& sink = sinks[p];
      if (property.is_list()) {
        lists[p].read(numbers, list_length(numbers, property));
      } else if (sink.kind == points::FieldSink::Kind::kSame) {
        numbers.store(property.type, property.name, sink.first + i * sink.stride);
      } else {
        points::store_number(sink, property.type, i, numbers.number(property.type, property.name));
      }
    }
    numbers.end_record();
  }
  for (VertexLists& list : lists) list.finish(body.points.cloud, body.left_out);
}

template <class Numbers>
void read_camera(Numbers& numbers, const PlyElement& element, PlyBody& body) {
  numbers.begin_record(element.name);
  for (const PlyProperty& property : element.properties) {
    if (property.is_list()) {
      skip_property(numbers, property);
      body.left_out.push_back("camera property " + property.name);
    } else {
      body.camera[property.name] = numbers.number(property.type, property.name);
    }
  }
  numbers.end_record();
}

template <class Numbers>
void read_grid(Numbers& numbers, const PlyElement& element, std::int64_t vertices,
               std::vector<std::int32_t>& grid) {
  grid.reserve(static_cast<std::size_t>(element.count));
  std::vector<float> nothing;
  read_index_lists(numbers, element, 0, vertices, nullptr, nothing,
                   [&](std::span<const std::int32_t> list) {
                     grid.push_back(list.empty() ? -1 : list.front());
                   });
}

template <class Numbers>
PlyBody read_elements(Numbers& numbers, const PlyHeader& header, double unit_m) {
  PlyBody body;
  const PlyElement* vertex = header.find("vertex");
  require(vertex != nullptr, numbers.name(), ": the header has no element vertex");
  const std::int64_t vertices = vertex->count;
  for (const PlyElement& element : header.elements) {
    if (element.properties.empty() && &element != vertex) continue;
    if (!element.properties.empty()) check_count(numbers, element);
    if (&element == vertex) {
      read_vertices(numbers, element, unit_m, body);
    } else if (element.name == "face") {
      read_faces(numbers, element, Shape::kPolygon, vertices, body);
    } else if (element.name == "tristrips") {
      read_faces(numbers, element, Shape::kStrip, vertices, body);
    } else if (element.name == "range_grid" && index_list(element)) {
      read_grid(numbers, element, vertices, body.grid);
    } else if (element.name == "camera" && element.count == 1) {
      read_camera(numbers, element, body);
    } else {
      skip_element(numbers, element);
      if (element.count > 0) body.left_out.push_back("element " + element.name);
    }
  }
  if (numbers.has_more()) body.left_out.emplace_back("data behind the last element");
  points::settle_points(body.points);
  mesh::cut_concave<float>(body.fans, body.points.cloud.points.host(), numbers.name(),
                           body.triangles, {&body.texture_triangles});
  return body;
}

}  // namespace

PlyBody read_ply_body(FileReader& source, const PlyHeader& header, double unit_m,
                      file::ReadProgress& progress) {
  if (header.encoding == PlyEncoding::kAscii) {
    const std::int64_t before = source.position();
    TextNumbers numbers(
        text::TextScanner(file::remaining_text(source), source.name(), header.lines + 1), before,
        progress);
    return read_elements(numbers, header, unit_m);
  }
  BinaryNumbers numbers(source, header.swap_bytes(), progress);
  return read_elements(numbers, header, unit_m);
}

}  // namespace sextant::detail::ply
