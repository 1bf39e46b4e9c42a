// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/io/file/byte_source.h"
#include "sextant/io/points/record.h"

namespace sextant::detail::points {

/// Where a field lies in a block of binary data: records after each other, or one array a field.
struct FieldPlace {
  std::int64_t offset = 0;  ///< bytes from the start of the block to the first value
  std::int64_t stride = 0;  ///< bytes from one value to the next
};

/// The places of fields in records that follow each other.
std::vector<FieldPlace> places_in_records(std::span<const RecordField> fields);
/// The same for one array after the other.
std::vector<FieldPlace> places_in_arrays(std::span<const RecordField> fields, std::int64_t count);
std::int64_t record_bytes(std::span<const RecordField> fields);

/// Moves binary fields into the cloud: neighbouring floats of a vector in one copy, the rest by a
/// loop that is specialised for the type.
class RecordScatter {
 public:
  RecordScatter(std::span<const RecordField> fields, std::span<const FieldSink> sinks,
                std::span<const FieldPlace> places, bool swap_bytes);

  /// Moves `count` records, from number `from` of the block to number `to` of the cloud.
  void operator()(const std::byte* block, std::int64_t from, std::int64_t to,
                  std::int64_t count) const;

  /// Where the file's bytes can be read to as they are; null when they need moving.
  std::byte* direct_target(std::int64_t bytes_per_record) const;

  /// A copy or conversion of one field or several neighbours.
  struct Step {
    void (*run)(const Step& step, const std::byte* from, std::byte* to, std::int64_t count);
    std::int64_t offset = 0;
    std::int64_t stride = 0;
    std::byte* target = nullptr;
    std::int64_t target_stride = 0;
    std::int64_t bytes = 0;  ///< of a plain copy; 0 for a conversion
    double scale = 1.0;
    std::int64_t repeat = 1;        ///< numbers that keep their type
    std::uint8_t* alpha = nullptr;  ///< of the first point, with packed colours
  };

 private:
  std::vector<Step> steps_;
};

/// Reads binary records that follow each other in the file and moves them into the cloud; straight
/// into it where they lie there as in the file. The caller has checked that there are enough bytes.
void read_records(FileReader& source, std::span<const RecordField> fields,
                  std::span<const FieldSink> sinks, std::int64_t count, bool swap_bytes,
                  file::ReadProgress& progress);

}  // namespace sextant::detail::points
