// SPDX-License-Identifier: Apache-2.0
#include "sextant/library/library/tensors_part.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace sextant::detail::library {

namespace {

/// The largest area that a bin holds (see compute_tensors).
constexpr float kMostArea = 4096.0f;
constexpr float kStepsOfArea = 1048576.0f;

std::size_t bytes_of_mask(int bins) {
  return (static_cast<std::size_t>(bins) * static_cast<std::size_t>(bins * bins) + 7) / 8;
}

/// Whether all areas are multiples of 2⁻²⁰ below 4096, and which.
bool to_whole(std::span<const float> values, std::vector<std::uint32_t>& areas) {
  areas.reserve(values.size());
  for (const float value : values) {
    const float steps = value * kStepsOfArea;
    const bool whole = steps >= 0 && steps < 0x1p32f && steps == std::floor(steps);
    if (!whole || std::signbit(value)) return false;
    areas.push_back(static_cast<std::uint32_t>(steps));
  }
  return true;
}

/// The numbers of the bins whose bits are set, tensor after tensor, with how many each tensor has
/// and where they begin.
void expand_masks(const ArrayReader& in, TensorSet& set) {
  const Context cpu = Context::cpu();
  const std::int64_t count = set.frames.size();
  const std::size_t mask_bytes = bytes_of_mask(set.bins);
  const Buffer<std::uint8_t> masks =
      in.read<std::uint8_t>("masks", count * static_cast<std::int64_t>(mask_bytes));
  set.first = Buffer<std::int64_t>(cpu, count);
  set.sizes = Buffer<std::int32_t>(cpu, count);
  set.masks = Buffer<TensorMask>(cpu, count);
  std::int64_t next = 0;
  for (std::int64_t t = 0; t < count; ++t) {
    TensorMask mask{};
    std::memcpy(mask.words, masks.data() + t * static_cast<std::int64_t>(mask_bytes), mask_bytes);
    std::int32_t size = 0;
    for (const std::uint64_t word : mask.words) size += std::popcount(word);
    set.masks.data()[t] = mask;
    set.sizes.data()[t] = size;
    set.first.data()[t] = next;
    next += size;
  }
  set.indices = Buffer<std::uint16_t>(cpu, next);
  std::uint16_t* index = set.indices.data();
  for (const TensorMask& mask : set.masks.host()) {
    for (int word = 0; word < 16; ++word) {
      for (std::uint64_t bits = mask.words[word]; bits != 0; bits &= bits - 1) {
        *index++ = static_cast<std::uint16_t>(64 * word + std::countr_zero(bits));
      }
    }
  }
}

template <class T, class Get>
void add_column(ArrayWriter& out, const char* name, const LearnedTensors& tensors, const Get& get) {
  std::vector<T> column;
  column.reserve(static_cast<std::size_t>(tensors.set.frames.size()));
  for (const TensorFrame& frame : tensors.set.frames.host()) column.push_back(get(frame));
  out.add(name, column);
}

template <class T, class Set>
void read_column(const ArrayReader& in, const char* name, Buffer<TensorFrame>& frames,
                 const Set& set) {
  const Buffer<T> column = in.read<T>(name, frames.size());
  for (std::int64_t i = 0; i < frames.size(); ++i) set(frames.data()[i], column.data()[i]);
}

}  // namespace

void write_tensors(const LearnedTensors& tensors, ArrayWriter& out) {
  const TensorSet& set = tensors.set;
  out.add_number<std::int32_t>("bins", set.bins);
  out.add_number("resolution_m", tensors.resolution_m);
  out.add("views", tensors.views);
  add_column<Mat3f>(out, "axes", tensors, [](const TensorFrame& f) { return f.axes; });
  add_column<Vec3f>(out, "origins_m", tensors, [](const TensorFrame& f) { return f.origin_m; });
  add_column<float>(out, "angles_rad", tensors, [](const TensorFrame& f) { return f.angle_rad; });
  add_column<float>(out, "bins_m", tensors, [](const TensorFrame& f) { return f.bin_m; });
  add_column<std::int32_t>(out, "first_points", tensors,
                           [](const TensorFrame& f) { return f.pair.p; });
  add_column<std::int32_t>(out, "second_points", tensors,
                           [](const TensorFrame& f) { return f.pair.q; });
  // Which bins are not empty takes less as a bit for each bin than as their numbers, and areas are
  // whole multiples of 2⁻²⁰.
  const std::size_t mask_bytes = bytes_of_mask(set.bins);
  std::vector<std::uint8_t> masks;
  masks.reserve(mask_bytes * static_cast<std::size_t>(set.masks.size()));
  for (const TensorMask& mask : set.masks.host()) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(mask.words);
    masks.insert(masks.end(), bytes, bytes + mask_bytes);
  }
  out.add("masks", masks);
  if (std::vector<std::uint32_t> areas; to_whole(set.values.host(), areas)) {
    out.add("areas", areas);
  } else {
    out.add("values", set.values);
  }
}

LearnedTensors read_tensors(const ArrayReader& in) {
  const Context cpu = Context::cpu();
  LearnedTensors tensors;
  TensorSet& set = tensors.set;
  set.bins = in.read_number<std::int32_t>("bins");
  require(set.bins >= 1 && set.bins <= kMostTensorBins, in.name(), ": tensors of ", set.bins,
          " bins along an axis; 1 to ", kMostTensorBins, " are possible");
  tensors.resolution_m = in.read_number<float>("resolution_m");
  tensors.views = in.read<std::int32_t>("views");
  const std::int64_t count = tensors.views.size();
  require(count <= INT32_MAX, in.name(), ": ", count, " tensors are too many");
  set.count = Buffer<std::int32_t>(cpu, 1);
  set.count.host()[0] = static_cast<std::int32_t>(count);
  set.frames = Buffer<TensorFrame>(cpu, count);
  read_column<Mat3f>(in, "axes", set.frames, [](TensorFrame& f, const Mat3f& x) { f.axes = x; });
  read_column<Vec3f>(in, "origins_m", set.frames,
                     [](TensorFrame& f, const Vec3f& x) { f.origin_m = x; });
  read_column<float>(in, "angles_rad", set.frames,
                     [](TensorFrame& f, float x) { f.angle_rad = x; });
  read_column<float>(in, "bins_m", set.frames, [](TensorFrame& f, float x) { f.bin_m = x; });
  read_column<std::int32_t>(in, "first_points", set.frames,
                            [](TensorFrame& f, std::int32_t x) { f.pair.p = x; });
  read_column<std::int32_t>(in, "second_points", set.frames,
                            [](TensorFrame& f, std::int32_t x) { f.pair.q = x; });
  expand_masks(in, set);
  if (in.has("areas")) {
    const Buffer<std::uint32_t> areas = in.read<std::uint32_t>("areas", set.indices.size());
    set.values = Buffer<float>(cpu, areas.size());
    std::transform(areas.host().begin(), areas.host().end(), set.values.host().begin(),
                   [](std::uint32_t steps) { return static_cast<float>(steps) / kStepsOfArea; });
  } else {
    set.values = in.read<float>("values", set.indices.size());
  }
  return tensors;
}

void check_tensors(const LearnedTensors& tensors, const std::string& name) {
  const TensorSet& set = tensors.set;
  const std::int64_t count = set.frames.size();
  require(set.device().kind == DeviceKind::kCpu, name, ": lies on ", to_string(set.device()),
          "; bring it to host memory with to_host");
  require(set.bins >= 1 && set.bins <= kMostTensorBins, name, ": tensors of ", set.bins,
          " bins along an axis; 1 to ", kMostTensorBins, " are possible");
  require(std::isfinite(tensors.resolution_m) && tensors.resolution_m > 0, name,
          ": resolution_m is ", tensors.resolution_m);
  require(set.count.size() == 1 && set.count.host()[0] == count && set.sizes.size() == count &&
              set.first.size() == count && set.masks.size() == count,
          name, ": is not packed; use pack_tensors");
  require(tensors.views.size() == count, name, ": ", tensors.views.size(), " views of ", count,
          " tensors");
  require(set.values.size() == set.indices.size(), name, ": ", set.values.size(), " areas for ",
          set.indices.size(), " bins");
  const int bins = set.bins * set.bins * set.bins;
  std::int64_t next = 0;
  for (std::int64_t t = 0; t < count; ++t) {
    const std::int32_t size = set.sizes.host()[static_cast<std::size_t>(t)];
    require(set.first.data()[t] == next && size >= 0 && size <= set.indices.size() - next, name,
            ": is not packed; use pack_tensors");
    TensorMask mask{};
    int last = -1;
    for (std::int64_t e = next; e < next + size; ++e) {
      const int index = set.indices.data()[e];
      const float area = set.values.data()[e];
      require(index > last && index < bins, name, ": bin ", index, " of tensor ", t,
              " is out of order or range");
      require(area >= 0 && area <= kMostArea, name, ": tensor ", t, " has the area ", area,
              "; 0 to ", kMostArea, " are possible");
      last = index;
      mask.words[index / 64] |= std::uint64_t{1} << (index % 64);
    }
    require(std::memcmp(&mask, &set.masks.data()[t], sizeof(mask)) == 0, name,
            ": the mask of tensor ", t, " has other bins than the tensor");
    next += size;
  }
  require(next == set.indices.size(), name, ": ", set.indices.size() - next,
          " bins belong to no tensor");
}

}  // namespace sextant::detail::library
