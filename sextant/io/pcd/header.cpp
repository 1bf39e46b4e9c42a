// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/pcd/header.h"

#include <algorithm>
#include <optional>

#include "sextant/io/text/scanner.h"

namespace sextant::detail::pcd {

namespace {

constexpr std::size_t kFirstLookBytes = 1 << 13;
/// The search for the end of a header stops here, far above any real one.
constexpr std::size_t kLongestHeaderBytes = 1 << 20;
/// Keeps the arithmetic with record sizes far from overflow.
constexpr std::int64_t kLargestRecordBytes = std::int64_t{1} << 31;

/// The lines of the header as they stand there.
struct RawHeader {
  std::vector<std::string> names;
  std::vector<std::int64_t> sizes;
  std::vector<char> types;
  std::vector<std::int64_t> counts;
  std::optional<std::int64_t> width, height, points;
};

template <class T>
std::vector<T> numbers_of_line(text::TextScanner& text, std::string_view what) {
  std::vector<T> numbers;
  while (!text.at_line_end()) numbers.push_back(text.number<T>(what));
  return numbers;
}

std::int64_t parse_count(text::TextScanner& text, std::string_view key) {
  const std::int64_t value = text.number<std::int64_t>(key);
  if (value < 0) text.fail_here(key, " is negative: ", value);
  return value;
}

Rigid3d parse_viewpoint(text::TextScanner& text) {
  double v[7] = {};
  for (double& value : v) value = text.number<double>("VIEWPOINT");
  const Rigid3d pose{to_matrix(normalized(Quaternion<double>{v[3], v[4], v[5], v[6]})),
                     {v[0], v[1], v[2]}};
  if (!is_finite(pose.translation) || !is_finite(pose.rotation.row[0])) {
    text.fail_here("VIEWPOINT must be finite");
  }
  return pose;
}

PcdEncoding parse_encoding(text::TextScanner& text) {
  const std::string_view word = text.word();
  for (const auto& choice : kPcdEncodings) {
    if (choice.name == word) return choice.value;
  }
  text.fail_here("expected DATA ascii, binary or binary_compressed, found '", text::shown(word),
                 "'");
}

void parse_line(text::TextScanner& text, std::string_view key, RawHeader& raw, PcdHeader& header) {
  if (key == "FIELDS" || key == "COLUMNS") {
    raw.names.clear();
    while (!text.at_line_end()) raw.names.emplace_back(text.word());
  } else if (key == "SIZE") {
    raw.sizes = numbers_of_line<std::int64_t>(text, key);
  } else if (key == "COUNT") {
    raw.counts = numbers_of_line<std::int64_t>(text, key);
  } else if (key == "TYPE") {
    raw.types.clear();
    while (!text.at_line_end()) {
      const std::string_view word = text.word();
      if (word.size() != 1)
        text.fail_here("expected TYPE F, I or U, found '", text::shown(word), "'");
      raw.types.push_back(word[0]);
    }
  } else if (key == "WIDTH") {
    raw.width = parse_count(text, key);
  } else if (key == "HEIGHT") {
    raw.height = parse_count(text, key);
  } else if (key == "POINTS") {
    raw.points = parse_count(text, key);
  } else if (key == "VIEWPOINT") {
    header.world_from_sensor = parse_viewpoint(text);
  } else if (key == "VERSION") {
    text.word();
  } else if (key == "DATA") {
    header.encoding = parse_encoding(text);
  } else {
    text.fail_here("expected a line of a PCD header such as FIELDS, found '", text::shown(key),
                   "'");
  }
}

points::Scalar scalar_of(const std::string& file, const std::string& name, char type,
                         std::int64_t size) {
  if (type == 'F' && size == 4) return points::Scalar::kFloat32;
  if (type == 'F' && size == 8) return points::Scalar::kFloat64;
  if (type == 'I' || type == 'U') {
    const bool sign = type == 'I';
    if (size == 1) return sign ? points::Scalar::kInt8 : points::Scalar::kUint8;
    if (size == 2) return sign ? points::Scalar::kInt16 : points::Scalar::kUint16;
    if (size == 4) return sign ? points::Scalar::kInt32 : points::Scalar::kUint32;
    if (size == 8) return sign ? points::Scalar::kInt64 : points::Scalar::kUint64;
  }
  fail(file, ": the field '", text::shown(name), "' has TYPE ", text::shown({&type, 1}),
       " and SIZE ", size, ", expected F of 4 or 8 bytes, or I or U of 1, 2, 4 or 8");
}

/// Puts the lines together and sizes up the record.
void make_fields(const std::string& file, const RawHeader& raw, PcdHeader& header) {
  const std::size_t count = raw.names.size();
  const auto check = [&](const char* key, std::size_t entries) {
    require(entries == 0 || entries == count, file, ": ", key, " has ", entries, " entries for ",
            count, " FIELDS");
  };
  check("SIZE", raw.sizes.size());
  check("TYPE", raw.types.size());
  check("COUNT", raw.counts.size());
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& name = raw.names[i];
    const points::Scalar type = scalar_of(file, name, raw.types.empty() ? 'F' : raw.types[i],
                                          raw.sizes.empty() ? 4 : raw.sizes[i]);
    const std::int64_t numbers = raw.counts.empty() ? 1 : raw.counts[i];
    require(numbers >= 0 && numbers <= (kLargestRecordBytes - bytes) / points::size_of(type), file,
            ": the COUNT ", numbers, " of the field '", text::shown(name), "' makes no sense");
    bytes += numbers * points::size_of(type);
    header.fields.push_back({name, type, numbers, name == "_" || numbers == 0});
  }
}

/// Reads WIDTH, HEIGHT and POINTS, of which early versions lack some.
void make_sizes(const std::string& file, const RawHeader& raw, PcdHeader& header) {
  require(raw.width || raw.points, file, ": the header has neither WIDTH nor POINTS");
  header.height = raw.height.value_or(1);
  header.width = raw.width ? *raw.width : *raw.points;
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  require(header.width < kMost && header.height < kMost, file, ": the size ", header.width, " x ",
          header.height, " is too large");
  header.points = header.width * header.height;
  require(raw.points.value_or(header.points) == header.points, file, ": POINTS is ",
          raw.points.value_or(0), ", WIDTH times HEIGHT is ", header.points);
}

/// Returns the header up to the end of its DATA line, as far as it was found; `whole` says that the
/// text is all there is.
std::optional<std::string_view> find_header(std::string_view text, bool whole) {
  text::TextScanner scanner(text, "");
  while (scanner.remaining() > 0) {
    const bool last = scanner.word() == "DATA";
    scanner.rest_of_line();
    const bool complete = whole || scanner.remaining() > 0;
    scanner.next_line();
    if (last && complete) return text.substr(0, static_cast<std::size_t>(scanner.position()));
  }
  return std::nullopt;
}

PcdHeader parse_header(text::TextScanner text) {
  PcdHeader header;
  RawHeader raw;
  for (std::string_view key; key != "DATA"; ++header.lines) {
    text.skip_blanks();
    if (text.peek() == '#') {
      header.comments.emplace_back(text.rest_of_line().substr(1));
    } else {
      key = text.word();
      if (!key.empty()) parse_line(text, key, raw, header);
    }
    text.finish_line();
  }
  make_fields(text.name(), raw, header);
  make_sizes(text.name(), raw, header);
  return header;
}

}  // namespace

PcdHeader read_pcd_header(FileReader& source) {
  const std::size_t most = static_cast<std::size_t>(
      std::min<std::int64_t>(source.remaining().value(), kLongestHeaderBytes));
  for (std::size_t look = kFirstLookBytes;; look *= 8) {
    const auto bytes = source.peek(std::min(look, most));
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (const auto found = find_header(text, bytes.size() == most)) {
      const auto header_bytes = static_cast<std::int64_t>(found->size());
      PcdHeader header = parse_header(text::TextScanner(*found, source.name()));
      source.skip(header_bytes);
      return header;
    }
    require(look < most, source.name(), ": is no PCD file, it has no DATA line in ", most,
            " bytes");
  }
}

}  // namespace sextant::detail::pcd
