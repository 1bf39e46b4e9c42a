// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstring>

#include "sextant/io/pcd/header.h"
#include "sextant/io/pcd/lzf.h"
#include "sextant/io/points/origin.h"
#include "sextant/io/points/scatter.h"
#include "sextant/io/points/text_record.h"
#include "sextant/io/text/scanner.h"

namespace sextant {

using namespace detail::pcd;

namespace detail::pcd {

namespace {

static_assert(std::endian::native == std::endian::little,
              "binary PCD files hold the numbers of the machine that wrote them");

struct Body {
  FileReader& source;
  const PcdHeader& header;
  double unit_m;
  file::ReadProgress& progress;

  /// Every point needs some bytes: a header that claims more is refused before memory is set aside.
  void check_room(std::int64_t bytes_per_point, std::int64_t room) const {
    if (header.points == 0) return;
    require(bytes_per_point > 0 && header.points <= room / bytes_per_point, source.name(),
            ": the header promises ", header.points, " points of at least ", bytes_per_point,
            " bytes, the file has ", room, " bytes left");
  }
  std::vector<points::FieldSink> allocate(std::span<const points::RecordField> fields,
                                          points::PointParts& parts) const {
    return points::allocate_points(
        source.name(), fields, header.points, unit_m, points::TexturePair::kAttributes,
        header.encoding == PcdEncoding::kAscii ? points::Body::kText : points::Body::kBinary,
        parts);
  }
};

void read_field(text::TextScanner& text, const points::RecordField& field,
                const points::FieldSink& sink, std::int64_t index) {
  if (field.skipped) {
    for (std::int64_t k = 0; k < field.repeat; ++k) {
      if (text.word().empty()) text.fail_here("the line ends before the field '", field.name, "'");
    }
  } else if (sink.kind == points::FieldSink::Kind::kSame) {
    points::store_text(text, field, sink.first + index * sink.stride);
  } else if (sink.kind != points::FieldSink::Kind::kDouble &&
             field.type == points::Scalar::kFloat32) {
    // Rounded once, from its decimal digits.
    points::store_number(sink, field.type, index, text.number<float>(field.name));
  } else {
    points::store_number(sink, field.type, index, text.number<double>(field.name));
  }
}

/// Whether more points follow than the header promises.
bool read_ascii(const Body& body, points::PointParts& parts) {
  const std::vector<points::RecordField>& fields = body.header.fields;
  std::int64_t numbers = 0;
  for (const points::RecordField& field : fields) numbers += field.repeat;
  const std::int64_t before = body.source.position();
  text::TextScanner text(file::remaining_text(body.source), body.source.name(),
                         body.header.lines + 1);
  body.check_room(2 * numbers, text.remaining() + 1);
  const std::vector<points::FieldSink> sinks = body.allocate(fields, parts);
  for (std::int64_t i = 0; i < body.header.points; ++i) {
    if (!text.skip_space()) {
      text.fail_here("the file ends after ", i, " of ", body.header.points, " points");
    }
    for (std::size_t f = 0; f < fields.size(); ++f) read_field(text, fields[f], sinks[f], i);
    text.finish_line();
    body.progress.at(before + text.position());
  }
  return text.skip_space();
}

void read_binary(const Body& body, points::PointParts& parts) {
  const std::vector<points::RecordField>& fields = body.header.fields;
  body.check_room(points::record_bytes(fields), body.source.remaining().value());
  const std::vector<points::FieldSink> sinks = body.allocate(fields, parts);
  points::read_records(body.source, fields, sinks, body.header.points, false, body.progress);
}

std::uint32_t read_size(FileReader& source) {
  std::uint32_t size = 0;
  source.read_exactly(&size, sizeof(size));
  return size;
}

/// The fields that the compressed block holds. PCL leaves padding out of it; a block of the size
/// with padding is taken as that.
std::vector<points::RecordField> compressed_fields(const Body& body, std::int64_t data_bytes) {
  const std::vector<points::RecordField>& all = body.header.fields;
  std::vector<points::RecordField> unpadded;
  std::copy_if(all.begin(), all.end(), std::back_inserter(unpadded),
               [](const points::RecordField& field) { return field.name != "_"; });
  for (const std::vector<points::RecordField>& fields : {unpadded, all}) {
    const std::int64_t bytes = points::record_bytes(fields);
    if (bytes == 0 ? data_bytes == 0
                   : data_bytes % bytes == 0 && data_bytes / bytes == body.header.points) {
      return fields;
    }
  }
  fail(body.source.name(), ": the compressed data unfold to ", data_bytes, " bytes, expected ",
       body.header.points, " points of ", points::record_bytes(unpadded), " bytes");
}

void read_compressed(const Body& body, points::PointParts& parts) {
  FileReader& source = body.source;
  if (body.header.points == 0) {
    body.allocate(body.header.fields, parts);
    return;
  }
  const std::int64_t compressed_bytes = read_size(source);
  const std::int64_t data_bytes = read_size(source);
  const std::int64_t left = source.remaining().value();
  require(compressed_bytes <= left, source.name(), ": byte ", source.position(), ": ",
          compressed_bytes, " bytes of compressed data are promised, the file has ", left);
  require(data_bytes <= compressed_bytes * kLzfMostOutputPerByte, source.name(), ": byte ",
          source.position(), ": ", compressed_bytes, " bytes cannot unfold to ", data_bytes);
  const std::vector<points::RecordField> fields = compressed_fields(body, data_bytes);
  const auto compressed = source.peek(static_cast<std::size_t>(compressed_bytes));
  Buffer<std::byte> data(Context::cpu(1), data_bytes);
  lzf_decompress(compressed, data.host(), source.name());
  body.progress.at(source.position() + compressed_bytes / 2);
  const std::vector<points::FieldSink> sinks = body.allocate(fields, parts);
  const points::RecordScatter scatter(fields, sinks,
                                      points::places_in_arrays(fields, body.header.points), false);
  scatter(data.data(), 0, 0, body.header.points);
  source.skip(compressed_bytes);
}

}  // namespace

Cloud read_pcd(FileReader& any_source, const ReadOptions& options, file::FileFacts* facts) {
  check_options(options);
  return file::with_known_size(any_source, [&](FileReader& source) {
    file::ReadProgress progress(options.progress, source.size().value());
    file::skip_byte_order_mark(source);
    const PcdHeader header = read_pcd_header(source);
    const Body body{source, header, options.unit_m, progress};
    points::PointParts parts;
    bool has_more = false;
    switch (header.encoding) {
      case PcdEncoding::kAscii:
        has_more = read_ascii(body, parts);
        break;
      case PcdEncoding::kBinary:
        read_binary(body, parts);
        break;
      case PcdEncoding::kBinaryCompressed:
        read_compressed(body, parts);
        break;
    }
    points::settle_points(parts);
    Cloud cloud = std::move(parts.cloud);
    if (header.height > 1 && header.points > 0) {
      cloud.width = static_cast<int>(header.width);
      cloud.height = static_cast<int>(header.height);
    }
    points::set_sensor_in_file(cloud, {header.world_from_sensor.rotation,
                                       header.world_from_sensor.translation * options.unit_m});
    if (facts) {
      facts->encoding = name_of(header.encoding, kPcdEncodings);
      facts->comments = header.comments;
      if (has_more) facts->left_out.emplace_back("points behind the last one that is promised");
    }
    progress.finish();
    return cloud;
  });
}

}  // namespace detail::pcd

Cloud read_pcd(const std::filesystem::path& path, const ReadOptions& options) {
  FileReader source(path);
  return read_pcd(source, options);
}

Cloud read_pcd(std::span<const std::byte> file, const std::string& name,
               const ReadOptions& options) {
  FileReader source(file, name);
  return read_pcd(source, options);
}

}  // namespace sextant
