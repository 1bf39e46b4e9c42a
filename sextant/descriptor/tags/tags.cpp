// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/tags.h"

#include "sextant/core/error.h"

#if SEXTANT_WITH_APRILTAG
#include <apriltag/apriltag.h>
#include <apriltag/tag36h11.h>

#include <algorithm>
#include <memory>
#include <tuple>
#endif

namespace sextant {

bool can_find_tags() { return SEXTANT_WITH_APRILTAG; }

#if SEXTANT_WITH_APRILTAG

namespace {

/// Wrong bits that are mended. More make tags of what is none.
constexpr int kMostWrongBits = 1;
/// A mean difference of black and white cells, of 255: what is below is no print.
constexpr float kLeastMargin = 10;
/// Larger photographs are searched at half their size; the corners are found at full size.
constexpr std::int64_t kLargePixels = 4'000'000;

using Family = std::unique_ptr<apriltag_family_t, decltype(&tag36h11_destroy)>;
using Detector = std::unique_ptr<apriltag_detector_t, decltype(&apriltag_detector_destroy)>;
using Detections = std::unique_ptr<zarray_t, decltype(&apriltag_detections_destroy)>;
using Picture = std::unique_ptr<image_u8_t, decltype(&image_u8_destroy)>;

TagSighting sighting_of(const apriltag_detection_t& detection) {
  TagSighting seen;
  seen.id = detection.id;
  // The corners of the library begin at the lower left and go round counter-clockwise, and its
  // pixels have their centres at halves.
  constexpr std::size_t kOrder[] = {3, 2, 1, 0};
  for (std::size_t i = 0; i < 4; ++i) {
    const double* corner = detection.p[kOrder[i]];
    seen.corners_px[i] = {corner[0] - 0.5, corner[1] - 0.5};
  }
  return seen;
}

}  // namespace

std::vector<TagSighting> find_tags(const ImageView<const std::uint8_t>& grey) {
  require_on(Context::cpu(1), grey, "grey");
  std::vector<TagSighting> sightings;
  // The library looks at tiles of four pixels.
  if (grey.width < 16 || grey.height < 16) return sightings;
  const Family family(tag36h11_create(), tag36h11_destroy);
  const Detector detector(apriltag_detector_create(), apriltag_detector_destroy);
  apriltag_detector_add_family_bits(detector.get(), family.get(), kMostWrongBits);
  detector->nthreads = 1;
  detector->quad_decimate = grey.pixels() > kLargePixels ? 2.0f : 1.0f;
  const Picture picture(
      image_u8_create(static_cast<unsigned>(grey.width), static_cast<unsigned>(grey.height)),
      image_u8_destroy);
  for (int v = 0; v < grey.height; ++v) {
    std::copy_n(grey.row(v), grey.width, picture->buf + std::int64_t{v} * picture->stride);
  }
  const Detections detections(apriltag_detector_detect(detector.get(), picture.get()),
                              apriltag_detections_destroy);
  for (int i = 0; i < zarray_size(detections.get()); ++i) {
    apriltag_detection_t* detection = nullptr;
    zarray_get(detections.get(), i, &detection);
    if (detection->decision_margin < kLeastMargin) continue;
    sightings.push_back(sighting_of(*detection));
  }
  std::sort(sightings.begin(), sightings.end(), [](const TagSighting& a, const TagSighting& b) {
    return std::tie(a.id, a.corners_px[0].y, a.corners_px[0].x) <
           std::tie(b.id, b.corners_px[0].y, b.corners_px[0].x);
  });
  return sightings;
}

Image<std::uint8_t> tag_cells(std::int32_t id) {
  require(id >= 0 && id < kTagCount, "id: ", id, " is none of the ", kTagCount,
          " tags of tag36h11");
  const Family family(tag36h11_create(), tag36h11_destroy);
  const Picture picture(apriltag_to_image(family.get(), id), image_u8_destroy);
  Image<std::uint8_t> cells(Context::cpu(1), kTagCells, kTagCells);
  require(picture->width == kTagCells && picture->height == kTagCells,
          "libapriltag: draws tags of ", picture->width, " cells, and ", kTagCells,
          " were expected");
  for (int v = 0; v < kTagCells; ++v) {
    for (int u = 0; u < kTagCells; ++u) {
      cells(u, v) = picture->buf[v * picture->stride + u] > 127 ? 255 : 0;
    }
  }
  return cells;
}

#else

namespace {

[[noreturn]] void fail_without() {
  fail(
      "AprilTag: this build has no libapriltag; install libapriltag-dev (apt-get install "
      "libapriltag-dev), then configure and build again");
}

}  // namespace

std::vector<TagSighting> find_tags(const ImageView<const std::uint8_t>&) { fail_without(); }

Image<std::uint8_t> tag_cells(std::int32_t) { fail_without(); }

#endif

}  // namespace sextant
