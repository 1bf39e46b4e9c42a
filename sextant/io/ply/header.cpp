// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/ply/header.h"

#include <algorithm>
#include <bit>

#include "sextant/io/text/scanner.h"

namespace sextant::detail::ply {

namespace {

constexpr std::size_t kFirstLookBytes = 1 << 13;
/// The search for the end of a header stops here, far above any real one.
constexpr std::size_t kLongestHeaderBytes = 1 << 24;
/// Keeps the search for an element by its name short in broken files.
constexpr std::size_t kMostElements = 1000;

struct TypeName {
  std::string_view name;
  points::Scalar type;
};
/// The names of the first PLY files first, then those with the number of bits.
constexpr TypeName kTypeNames[] = {
    {"char", points::Scalar::kInt8},       {"uchar", points::Scalar::kUint8},
    {"short", points::Scalar::kInt16},     {"ushort", points::Scalar::kUint16},
    {"int", points::Scalar::kInt32},       {"uint", points::Scalar::kUint32},
    {"float", points::Scalar::kFloat32},   {"double", points::Scalar::kFloat64},
    {"int8", points::Scalar::kInt8},       {"uint8", points::Scalar::kUint8},
    {"int16", points::Scalar::kInt16},     {"uint16", points::Scalar::kUint16},
    {"int32", points::Scalar::kInt32},     {"uint32", points::Scalar::kUint32},
    {"float32", points::Scalar::kFloat32}, {"float64", points::Scalar::kFloat64},
    {"int64", points::Scalar::kInt64},     {"uint64", points::Scalar::kUint64}};

points::Scalar parse_type(text::TextScanner& text) {
  const std::string_view word = text.word();
  for (const TypeName& known : kTypeNames) {
    if (known.name == word) return known.type;
  }
  text.fail_here("expected a number type such as float or uchar, found '", text::shown(word), "'");
}

PlyEncoding parse_encoding(text::TextScanner& text) {
  const std::string_view word = text.word();
  for (const auto& choice : kPlyEncodings) {
    if (choice.name == word) {
      const std::string_view version = text.word();
      if (version != "1.0")
        text.fail_here("expected version 1.0, found '", text::shown(version), "'");
      return choice.value;
    }
  }
  text.fail_here("expected ascii, binary_little_endian or binary_big_endian, found '",
                 text::shown(word), "'");
}

PlyProperty parse_property(text::TextScanner& text) {
  PlyProperty property;
  text::TextScanner ahead = text;
  if (ahead.word() == "list") {
    text.word();
    property.count_type = parse_type(text);
    if (points::is_float(*property.count_type))
      text.fail_here("the length of a list cannot be a float");
  }
  property.type = parse_type(text);
  property.name = text.word();
  if (property.name.empty()) text.fail_here("the property has no name");
  return property;
}

PlyElement parse_element(text::TextScanner& text, const PlyHeader& header) {
  PlyElement element;
  if (header.elements.size() == kMostElements)
    text.fail_here("more than ", kMostElements, " elements");
  element.name = text.word();
  if (element.name.empty()) text.fail_here("the element has no name");
  if (header.find(element.name))
    text.fail_here("the element '", text::shown(element.name), "' appears twice");
  element.count = text.number<std::int64_t>("the number of elements");
  if (element.count < 0) text.fail_here("the number of elements is negative: ", element.count);
  return element;
}

/// Returns the header with its last line, as far as it was found in the first bytes of the file.
std::optional<std::string_view> find_header(std::string_view text) {
  text::TextScanner scanner(text, "");
  while (scanner.remaining() > 0) {
    const bool last = scanner.word() == "end_header" && scanner.at_line_end();
    scanner.next_line();
    if (last) return text.substr(0, static_cast<std::size_t>(scanner.position()));
  }
  return std::nullopt;
}

PlyHeader parse_header(text::TextScanner text) {
  PlyHeader header;
  bool has_format = false;
  text.next_line();
  for (std::string_view key; key != "end_header";) {
    key = text.word();
    if (key == "comment") {
      header.comments.emplace_back(text.rest_of_line());
    } else if (key == "obj_info") {
      header.object_infos.emplace_back(text.rest_of_line());
    } else if (key == "format") {
      header.encoding = parse_encoding(text);
      has_format = true;
    } else if (key == "element") {
      header.elements.push_back(parse_element(text, header));
    } else if (key == "property") {
      if (header.elements.empty()) text.fail_here("a property before the first element");
      header.elements.back().properties.push_back(parse_property(text));
    } else if (!key.empty() && key != "end_header") {
      text.fail_here("expected format, element, property, comment or obj_info, found '",
                     text::shown(key), "'");
    }
    text.finish_line();
    ++header.lines;
  }
  ++header.lines;
  require(has_format, text.name(), ": the header has no format line");
  return header;
}

}  // namespace

bool PlyElement::has_list() const {
  return std::any_of(properties.begin(), properties.end(),
                     [](const PlyProperty& property) { return property.is_list(); });
}

const PlyProperty* PlyElement::find(std::string_view property) const {
  for (const PlyProperty& candidate : properties) {
    if (candidate.name == property) return &candidate;
  }
  return nullptr;
}

const PlyElement* PlyHeader::find(std::string_view element) const {
  for (const PlyElement& candidate : elements) {
    if (candidate.name == element) return &candidate;
  }
  return nullptr;
}

bool PlyHeader::swap_bytes() const {
  return encoding == (std::endian::native == std::endian::little
                          ? PlyEncoding::kBinaryBigEndian
                          : PlyEncoding::kBinaryLittleEndian);
}

PlyHeader read_ply_header(FileReader& source) {
  const std::size_t most = static_cast<std::size_t>(
      std::min<std::int64_t>(source.remaining().value(), kLongestHeaderBytes));
  for (std::size_t look = kFirstLookBytes;; look *= 8) {
    const auto bytes = source.peek(std::min(look, most));
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    text::TextScanner scanner(text, source.name());
    require(scanner.word() == "ply" && scanner.at_line_end(), source.name(),
            ": is no PLY file, its first line is not 'ply'");
    if (const auto found = find_header(text)) {
      const auto header_bytes = static_cast<std::int64_t>(found->size());
      PlyHeader header = parse_header(text::TextScanner(*found, source.name()));
      source.skip(header_bytes);
      return header;
    }
    require(look < most, source.name(), ": the header has no end_header in ", most, " bytes");
  }
}

std::string_view ply_name(points::Scalar type) {
  for (const TypeName& known : kTypeNames) {
    if (known.type == type) return known.name;
  }
  return "?";
}

}  // namespace sextant::detail::ply
