// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/points/scatter.h"

#include <array>
#include <cstring>

namespace sextant::detail::points {

namespace {

using Kind = FieldSink::Kind;

template <class T, bool kSwap>
T load(const std::byte* from) {
  T value;
  if constexpr (kSwap && sizeof(T) > 1) {
    std::array<std::byte, sizeof(T)> bytes;
    for (std::size_t i = 0; i < sizeof(T); ++i) bytes[i] = from[sizeof(T) - 1 - i];
    std::memcpy(&value, bytes.data(), sizeof(T));
  } else {
    std::memcpy(&value, from, sizeof(T));
  }
  return value;
}

using Step = RecordScatter::Step;

template <class T, bool kSwap>
void convert_to_float(const Step& step, const std::byte* from, std::byte* to, std::int64_t count) {
  const std::int64_t stride = step.stride, target_stride = step.target_stride;
  for (std::int64_t i = 0; i < count; ++i) {
    const float value = static_cast<float>(load<T, kSwap>(from + i * stride));
    std::memcpy(to + i * target_stride, &value, sizeof(value));
  }
}

template <class T, bool kSwap>
void scale_to_float(const Step& step, const std::byte* from, std::byte* to, std::int64_t count) {
  const std::int64_t stride = step.stride, target_stride = step.target_stride;
  for (std::int64_t i = 0; i < count; ++i) {
    const double unscaled = static_cast<double>(load<T, kSwap>(from + i * stride));
    const float value = static_cast<float>(unscaled * step.scale);
    std::memcpy(to + i * target_stride, &value, sizeof(value));
  }
}

template <class T, bool kSwap>
void scale_to_double(const Step& step, const std::byte* from, std::byte* to, std::int64_t count) {
  const std::int64_t stride = step.stride, target_stride = step.target_stride;
  for (std::int64_t i = 0; i < count; ++i) {
    const double value = static_cast<double>(load<T, kSwap>(from + i * stride)) * step.scale;
    std::memcpy(to + i * target_stride, &value, sizeof(value));
  }
}

template <class T, bool kSwap>
void keep_numbers(const Step& step, const std::byte* from, std::byte* to, std::int64_t count) {
  constexpr std::int64_t kBytes = sizeof(T);
  for (std::int64_t i = 0; i < count; ++i, from += step.stride, to += step.target_stride) {
    for (std::int64_t k = 0; k < step.repeat; ++k) {
      const T value = load<T, kSwap>(from + k * kBytes);
      std::memcpy(to + k * kBytes, &value, sizeof(value));
    }
  }
}

template <class T, bool kSwap>
void convert_to_color(const Step& step, const std::byte* from, std::byte* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    to[i * step.target_stride] = std::byte{color_byte(load<T, kSwap>(from + i * step.stride))};
  }
}

template <class T, bool kSwap>
void convert_packed(const Step& step, const std::byte* from, std::byte* to, std::int64_t count) {
  const std::int64_t stride = step.stride, target_stride = step.target_stride;
  for (std::int64_t i = 0; i < count; ++i) {
    // Byte by byte: a struct would be assembled in memory and read again before it is there.
    const Rgb8 color = unpack_color(load<std::uint32_t, kSwap>(from + i * stride));
    std::byte* pixel = to + i * target_stride;
    pixel[0] = std::byte{color.x};
    pixel[1] = std::byte{color.y};
    pixel[2] = std::byte{color.z};
  }
  if (!step.alpha) return;
  std::uint8_t* alpha = step.alpha + (to - step.target) / target_stride;
  for (std::int64_t i = 0; i < count; ++i) {
    alpha[i] = static_cast<std::uint8_t>(load<std::uint32_t, kSwap>(from + i * stride) >> 24);
  }
}

template <int kBytes>
void copy_fixed(const Step& step, const std::byte* from, std::byte* to, std::int64_t count) {
  const std::int64_t stride = step.stride, target_stride = step.target_stride;
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * target_stride, from + i * stride, kBytes);
  }
}

void copy_any(const Step& step, const std::byte* from, std::byte* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * step.target_stride, from + i * step.stride,
                static_cast<std::size_t>(step.bytes));
  }
}

void copy_all(const Step& step, const std::byte* from, std::byte* to, std::int64_t count) {
  std::memcpy(to, from, static_cast<std::size_t>(step.bytes * count));
}

template <class T, bool kSwap>
auto conversion(const FieldSink& sink) {
  switch (sink.kind) {
    case Kind::kColorByte:
      return &convert_to_color<T, kSwap>;
    case Kind::kPackedColor:
      return &convert_packed<T, kSwap>;
    case Kind::kDouble:
      return &scale_to_double<T, kSwap>;
    case Kind::kSame:
      return &keep_numbers<T, kSwap>;
    default:
      return sink.scale == 1.0 ? &convert_to_float<T, kSwap> : &scale_to_float<T, kSwap>;
  }
}

template <bool kSwap>
auto conversion(Scalar type, const FieldSink& sink) {
  return with_type(type, [&](auto zero) { return conversion<decltype(zero), kSwap>(sink); });
}

/// True when the file holds the bytes just as the cloud does.
bool is_plain_copy(Scalar type, const FieldSink& sink, bool swap_bytes) {
  if (sink.kind == Kind::kSame) return !swap_bytes || size_of(type) == 1;
  if (sink.kind == Kind::kColorByte) return type == Scalar::kUint8;
  return sink.kind == Kind::kFloat && type == Scalar::kFloat32 && sink.scale == 1.0 && !swap_bytes;
}

/// True when a copied field lies right behind the one before it in file and cloud, so that one copy
/// can serve both.
bool continues(const Step& before, const Step& step) {
  constexpr std::int64_t kLongestCopy = sizeof(Vec3f);
  return before.bytes > 0 && before.bytes + step.bytes <= kLongestCopy &&
         before.offset + before.bytes == step.offset && before.stride == step.stride &&
         before.target_stride == step.target_stride && before.target != nullptr &&
         before.target + before.bytes == step.target;
}

void choose_copy(Step& step) {
  if (step.bytes == step.stride && step.bytes == step.target_stride) {
    step.run = &copy_all;
    return;
  }
  switch (step.bytes) {
    case 1:
      step.run = &copy_fixed<1>;
      break;
    case 2:
      step.run = &copy_fixed<2>;
      break;
    case 3:
      step.run = &copy_fixed<3>;
      break;
    case 4:
      step.run = &copy_fixed<4>;
      break;
    case 8:
      step.run = &copy_fixed<8>;
      break;
    case 12:
      step.run = &copy_fixed<12>;
      break;
    default:
      step.run = &copy_any;
      break;
  }
}

}  // namespace

std::int64_t record_bytes(std::span<const RecordField> fields) {
  std::int64_t bytes = 0;
  for (const RecordField& field : fields) bytes += field.bytes();
  return bytes;
}

std::vector<FieldPlace> places_in_records(std::span<const RecordField> fields) {
  std::vector<FieldPlace> places;
  std::int64_t offset = 0;
  const std::int64_t stride = record_bytes(fields);
  for (const RecordField& field : fields) {
    places.push_back({offset, stride});
    offset += field.bytes();
  }
  return places;
}

std::vector<FieldPlace> places_in_arrays(std::span<const RecordField> fields, std::int64_t count) {
  std::vector<FieldPlace> places;
  std::int64_t offset = 0;
  for (const RecordField& field : fields) {
    places.push_back({offset, field.bytes()});
    offset += count * field.bytes();
  }
  return places;
}

RecordScatter::RecordScatter(std::span<const RecordField> fields, std::span<const FieldSink> sinks,
                             std::span<const FieldPlace> places, bool swap_bytes) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const FieldSink& sink = sinks[i];
    if (sink.kind == Kind::kNothing) continue;
    Step step{.run = swap_bytes ? conversion<true>(fields[i].type, sink)
                                : conversion<false>(fields[i].type, sink),
              .offset = places[i].offset,
              .stride = places[i].stride,
              .target = sink.first,
              .target_stride = sink.stride,
              .bytes = 0,
              .scale = sink.scale,
              .repeat = fields[i].repeat,
              .alpha = sink.alpha};
    if (is_plain_copy(fields[i].type, sink, swap_bytes)) {
      step.bytes = fields[i].bytes();
      if (!steps_.empty() && continues(steps_.back(), step)) {
        steps_.back().bytes += step.bytes;
        continue;
      }
    }
    steps_.push_back(step);
  }
  for (Step& step : steps_) {
    if (step.bytes > 0) choose_copy(step);
  }
}

void RecordScatter::operator()(const std::byte* block, std::int64_t from, std::int64_t to,
                               std::int64_t count) const {
  if (count <= 0) return;
  for (const Step& step : steps_) {
    step.run(step, block + step.offset + from * step.stride, step.target + to * step.target_stride,
             count);
  }
}

std::byte* RecordScatter::direct_target(std::int64_t bytes_per_record) const {
  if (steps_.size() != 1) return nullptr;
  const Step& step = steps_.front();
  const bool whole = step.bytes == bytes_per_record && step.stride == bytes_per_record &&
                     step.target_stride == bytes_per_record;
  return whole ? step.target : nullptr;
}

void read_records(FileReader& source, std::span<const RecordField> fields,
                  std::span<const FieldSink> sinks, std::int64_t count, bool swap_bytes,
                  file::ReadProgress& progress) {
  constexpr std::int64_t kBlockBytes = 1 << 18;   // stays in the second level cache
  constexpr std::int64_t kDirectBytes = 1 << 22;  // between two reports of progress
  const std::int64_t bytes = record_bytes(fields);
  if (bytes == 0) return;
  const RecordScatter scatter(fields, sinks, places_in_records(fields), swap_bytes);
  std::byte* direct = scatter.direct_target(bytes);
  const std::int64_t at_once =
      std::max<std::int64_t>(1, (direct ? kDirectBytes : kBlockBytes) / bytes);
  for (std::int64_t first = 0; first < count; first += at_once) {
    const std::int64_t records = std::min(at_once, count - first);
    const std::size_t block_bytes = static_cast<std::size_t>(records * bytes);
    if (direct) {
      source.read_exactly(direct + first * bytes, block_bytes);
    } else {
      const std::span<const std::byte> block = source.peek(block_bytes);
      if (block.size() == block_bytes) scatter(block.data(), 0, first, records);
      source.skip(records * bytes);  // fails when the file has shrunk
    }
    progress.at(source.position());
  }
}

}  // namespace sextant::detail::points
