// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/sift.h"

#include <algorithm>
#include <numbers>

#include "sextant/core/cuda/dispatch.h"
#include "sextant/core/for_each.h"
#include "sextant/descriptor/sift/cuda.h"
#include "sextant/descriptor/sift/octaves.h"
#include "sextant/descriptor/sift/slabs.h"
#include "sextant/descriptor/sift/window.h"

namespace sextant {

namespace detail::sift {

namespace {

/// What one slab of an octave gave.
struct Found {
  std::int32_t octave;
  View<Oriented> keypoints;
  View<std::uint8_t> bytes;
  View<float> floats;
};

/// A keypoint of one of the slabs.
struct Place {
  std::int32_t slab, index;
};

/// Keeps the `most` elements with the largest response, of equal ones the first, in their order.
template <class T, class Response>
View<T> keep_strongest(const Context& context, View<T> list, int most, const Response& response,
                       Workspace& workspace) {
  if (most == 0 || list.size <= most) return list;
  const View<std::int32_t> order = workspace.take<std::int32_t>(context, list.size);
  for (std::int64_t i = 0; i < list.size; ++i) order[i] = static_cast<std::int32_t>(i);
  std::nth_element(order.begin(), order.begin() + most, order.end(),
                   [&](std::int32_t a, std::int32_t b) {
                     const float x = response(list[a]), y = response(list[b]);
                     return x != y ? x > y : a < b;
                   });
  std::sort(order.begin(), order.begin() + most);
  for (int i = 0; i < most; ++i) list[i] = list[order[i]];
  return list.subview(0, most);
}

void describe(const Context& context, const Octave& octave, const SiftOptions& options,
              Found& found, Workspace& workspace) {
  if (options.numbers == SiftNumbers::kNone) return;
  const bool bytes = options.numbers == SiftNumbers::kBytes;
  const std::int64_t count = found.keypoints.size;
  if (bytes) found.bytes = workspace.take<std::uint8_t>(context, count * kSiftLength);
  if (!bytes) found.floats = workspace.take<float>(context, count * kSiftLength);
  for_each_chunk(context, count, 8, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      float numbers[kSiftLength];
      describe_window(octave, found.keypoints[i], options.root, numbers);
      if (bytes) {
        std::transform(numbers, numbers + kSiftLength, found.bytes.data + i * kSiftLength,
                       descriptor_byte);
      } else {
        std::copy(numbers, numbers + kSiftLength, found.floats.data + i * kSiftLength);
      }
    }
  });
}

/// All keypoints in the order of the result, each once.
View<Place> order_places(const Context& context, const View<Found>& slabs, Workspace& workspace) {
  std::int64_t total = 0;
  for (const Found& found : slabs) total += found.keypoints.size;
  View<Place> places = workspace.take<Place>(context, total);
  Place* to = places.data;
  for (std::int32_t s = 0; s < slabs.size; ++s) {
    for (std::int32_t i = 0; i < slabs[s].keypoints.size; ++i) *to++ = {s, i};
  }
  const auto before = [&](const Place& a, const Place& b) {
    if (slabs[a.slab].octave != slabs[b.slab].octave) {
      return slabs[a.slab].octave < slabs[b.slab].octave;
    }
    const Oriented& x = slabs[a.slab].keypoints[a.index];
    const Oriented& y = slabs[b.slab].keypoints[b.index];
    if (comes_before(x.at, y.at) || comes_before(y.at, x.at)) return comes_before(x.at, y.at);
    return x.turns < y.turns;
  };
  if (!std::is_sorted(places.begin(), places.end(), before)) {
    std::sort(places.begin(), places.end(), before);
  }
  // The same one may have been reached from two slabs.
  Place* end = std::unique(places.begin(), places.end(), [&](const Place& a, const Place& b) {
    return !before(a, b) && !before(b, a);
  });
  return places.subview(0, end - places.begin());
}

void gather(const Context& context, const ScalePlan& plan, const View<Found>& slabs,
            const View<Place>& places, const SiftOptions& options, SiftFeatures& features) {
  const std::int64_t count = places.size;
  make_room(context, count, features.keypoints);
  if (options.numbers == SiftNumbers::kBytes) {
    make_room(context, count * kSiftLength, features.bytes);
  } else {
    features.bytes = {};
  }
  if (options.numbers == SiftNumbers::kFloats) {
    make_room(context, count * kSiftLength, features.floats);
  } else {
    features.floats = {};
  }
  features.count = static_cast<std::int32_t>(count);
  for_each_chunk(context, count, 256, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const Found& found = slabs[places[i].slab];
      const std::int64_t from = places[i].index;
      features.keypoints.data()[i] = in_photo(plan.doubled, found.octave, found.keypoints[from].at,
                                              found.keypoints[from].turns);
      if (!found.bytes.empty()) {
        std::copy_n(found.bytes.data + from * kSiftLength, kSiftLength,
                    features.bytes.data() + i * kSiftLength);
      }
      if (!found.floats.empty()) {
        std::copy_n(found.floats.data + from * kSiftLength, kSiftLength,
                    features.floats.data() + i * kSiftLength);
      }
    }
  });
}

void check_photo(const Context& context, const PhotoView& photo,
                 const ImageView<const std::uint8_t>& mask) {
  require_on(context, photo, "photo");
  constexpr int kMostSide = 1 << 24;
  require(photo.width >= 0 && photo.height >= 0 && photo.width <= kMostSide &&
              photo.height <= kMostSide,
          "photo: is ", photo.width, " x ", photo.height, " px; a side may have 0 to ", kMostSide);
  require(photo.stride >= photo.width, "photo: stride ", photo.stride, " is below the width ",
          photo.width);
  if (mask.width != 0 || mask.height != 0) require_same_size(context, mask, photo, "mask", "photo");
}

}  // namespace

void compute_sift_in_slabs(const Context& context, const PhotoView& photo,
                           const ImageView<const std::uint8_t>& mask, const SiftOptions& options,
                           std::int64_t slab_pixels, SiftFeatures& features, Workspace& workspace) {
  const Workspace::Scope scope(workspace);
  ScalePlan plan = make_scale_plan(photo.width, photo.height, options);
  plan.slab_pixels = slab_pixels;
  Octaves octaves(context, photo, plan, workspace);
  const ExtremumLimits limits{plan.layers, plan.sigma, static_cast<float>(options.contrast),
                              static_cast<float>(options.edge_ratio)};
  ExtremumFlags flags(context, octaves.most_core_pixels(), plan.layers, workspace);
  const View<Found> slabs = workspace.take<Found>(context, octaves.slabs());
  for (Found* found = slabs.data; octaves.next(); ++found) {
    const Octave& octave = octaves.octave();
    flags.begin(octave);
    for (RowRange rows; octaves.make_rows(rows);) flags.set(context, octave, limits, rows);
    const View<Extremum> extrema =
        find_extrema(context, plan, octave, limits, flags, mask, workspace);
    const View<Oriented> all = find_orientations(
        context, octave, extrema, static_cast<float>(options.orientation_peak), workspace);
    // What is not among the strongest of its slab is not among those of all.
    *found = {
        octave.number,
        keep_strongest(
            context, all, options.most, [](const Oriented& o) { return o.at.response; }, workspace),
        {},
        {}};
    describe(context, octave, options, *found, workspace);
  }
  const View<Place> places = keep_strongest(
      context, order_places(context, slabs, workspace), options.most,
      [&](const Place& p) { return slabs[p.slab].keypoints[p.index].at.response; }, workspace);
  gather(context, plan, slabs, places, options, features);
}

}  // namespace detail::sift

void compute_sift_into(const Context& context, const PhotoView& photo,
                       const ImageView<const std::uint8_t>& mask, const SiftOptions& options,
                       SiftFeatures& features, Workspace& workspace) {
  using namespace detail::sift;
  check_options(options);
  check_photo(context, photo, mask);
  detail::on_device(
      context,
      [&] {
        compute_sift_cuda(context, photo, mask, options, first_capacity(photo, options), features,
                          workspace);
      },
      [&] {
        compute_sift_in_slabs(context, photo, mask, options, kSlabPixels, features, workspace);
      });
}

SiftFeatures to_host(const Context& context, const SiftFeatures& features) {
  SiftFeatures result;
  result.count = features.count;
  const auto rows_of = [&](const auto& buffer, std::int64_t numbers) {
    const std::int64_t size = buffer.empty() ? 0 : features.count * numbers;
    auto there = buffer.view().subview(0, size);
    using Number = std::remove_const_t<std::remove_reference_t<decltype(there[0])>>;
    Buffer<Number> here(Context::cpu(), size);
    copy<Number>(context, there, here.view());
    return here;
  };
  result.keypoints = rows_of(features.keypoints, 1);
  result.bytes = rows_of(features.bytes, kSiftLength);
  result.floats = rows_of(features.floats, kSiftLength);
  return result;
}

namespace {

/// Copies a photograph with its rows as they lie.
template <class T>
PhotoView copy_rows(const Context& context, const PhotoView& photo, Buffer<std::byte>& room) {
  const std::int64_t count = photo.height > 0 ? (photo.height - 1) * photo.stride + photo.width : 0;
  const std::int64_t bytes = count * static_cast<std::int64_t>(sizeof(T));
  make_room(context, bytes, room);
  copy<std::byte>(context, {static_cast<const std::byte*>(photo.data), bytes, photo.device},
                  room.view().subview(0, bytes));
  return ImageView<const T>{reinterpret_cast<const T*>(room.data()), photo.width, photo.height,
                            photo.stride, context.device()};
}

}  // namespace

PhotoView copy_photo(const Context& context, const PhotoView& photo, Buffer<std::byte>& room) {
  switch (photo.pixel) {
    case PhotoView::Pixel::kGrey8:
      return copy_rows<std::uint8_t>(context, photo, room);
    case PhotoView::Pixel::kGrey16:
      return copy_rows<std::uint16_t>(context, photo, room);
    case PhotoView::Pixel::kFloat:
      return copy_rows<float>(context, photo, room);
    case PhotoView::Pixel::kRgb8:
      return copy_rows<Rgb8>(context, photo, room);
    case PhotoView::Pixel::kRgb16:
      return copy_rows<Vec3<std::uint16_t>>(context, photo, room);
  }
  fail("photo: its pixels are of no known kind");
}

SiftFeatures compute_sift(const Context& context, const PhotoView& photo,
                          const SiftOptions& options, const ImageView<const std::uint8_t>& mask) {
  SiftFeatures features;
  Workspace workspace;
  compute_sift_into(context, photo, mask, options, features, workspace);
  return features;
}

}  // namespace sextant
