// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/image.h"
#include "sextant/core/options.h"
#include "sextant/core/vec.h"
#include "sextant/core/workspace.h"

namespace sextant {

/// What the numbers of a SIFT descriptor are kept in.
enum class SiftNumbers : std::int32_t {
  kBytes,   ///< round(512 d), at most 255: OpenCV's numbers
  kFloats,  ///< d itself, of Euclidean length 1
  kNone     ///< keypoints alone
};
inline constexpr Choice<SiftNumbers> kSiftNumbers[] = {
    {"bytes", SiftNumbers::kBytes}, {"floats", SiftNumbers::kFloats}, {"none", SiftNumbers::kNone}};

struct SiftOptions {
  bool doubled = true;            ///< begins with the image at twice its size
  int layers = 3;                 ///< scales looked at in each octave
  int octaves = 0;                ///< at most so many, the doubled one counted; 0: all
  double sigma_px = 1.6;          ///< blur of the first scale, in pixels of its octave
  double image_sigma_px = 0.5;    ///< blur that the image is taken to have
  double contrast = 0.04;         ///< least |difference of scales| × layers, of the full range
  double edge_ratio = 10;         ///< most ratio of the principal curvatures of a blob
  double orientation_peak = 0.8;  ///< share of the highest peak that makes another keypoint
  int most = 0;                   ///< keeps those with the largest response; 0: all
  SiftNumbers numbers = SiftNumbers::kBytes;
  bool root = false;  ///< RootSIFT: roots of descriptors that sum up to 1

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("doubled", self.doubled, "begin with the image at twice its size");
    visit("layers", self.layers, "scales in each octave", Range{1, 8});
    visit("octaves", self.octaves, "at most so many, the doubled one counted; 0: all",
          Range{0, 32});
    visit("sigma_px", self.sigma_px, "blur of the first scale, in pixels of its octave",
          Range{0.8, 3.2});
    visit("image_sigma_px", self.image_sigma_px, "blur that the image is taken to have",
          Range{0, 3.2});
    visit("contrast", self.contrast, "least contrast of a keypoint, of the full range",
          Range{0, 1});
    visit("edge_ratio", self.edge_ratio, "most ratio of the principal curvatures at a keypoint",
          Range{1, 1e6});
    visit("orientation_peak", self.orientation_peak,
          "share of the highest peak of directions that makes another keypoint", Range{0, 1});
    visit("most", self.most, "keep so many keypoints, by their response; 0: all",
          Range{0, 1 << 30});
    visit("numbers", self.numbers, "descriptors as bytes, as floats of length 1, or none",
          kSiftNumbers);
    visit("root", self.root, "RootSIFT: roots of descriptors that sum up to 1");
  }
};

/// For when time counts more than the number of keypoints: the image is not doubled and two scales
/// are looked at in each octave.
inline SiftOptions fast_sift_options() {
  SiftOptions options;
  options.doubled = false;
  options.layers = 2;
  return options;
}

/// A view of a picture in one of the kinds of pixels that SIFT takes. Numbers are brought to 0 …
/// 255: 16 bits are divided by 257, floats stay as they are, and of colours the luma is taken,
/// 0.299 R + 0.587 G + 0.114 B. It owns nothing.
class PhotoView {
 public:
  enum class Pixel { kGrey8, kGrey16, kFloat, kRgb8, kRgb16 };

  PhotoView(ImageView<const std::uint8_t> image) : PhotoView(image, Pixel::kGrey8) {}
  PhotoView(ImageView<const std::uint16_t> image) : PhotoView(image, Pixel::kGrey16) {}
  PhotoView(ImageView<const float> image) : PhotoView(image, Pixel::kFloat) {}
  PhotoView(ImageView<const Rgb8> image) : PhotoView(image, Pixel::kRgb8) {}
  PhotoView(ImageView<const Vec3<std::uint16_t>> image) : PhotoView(image, Pixel::kRgb16) {}
  template <class T>
  requires(!std::is_const_v<T>) PhotoView(ImageView<T> image)
      : PhotoView(ImageView<const T>(image)) {}
  template <class T>
  PhotoView(const Image<T>& image) : PhotoView(image.view()) {}

  const void* data;
  int width, height;
  std::int64_t stride;  ///< pixels from one row to the next
  Pixel pixel;
  Device device;

 private:
  template <class T>
  PhotoView(const ImageView<T>& image, Pixel kind)
      : data(image.data),
        width(image.width),
        height(image.height),
        stride(image.stride),
        pixel(kind),
        device(image.device) {}
};

/// Copies a photograph to the context's device, into room that grows where it is too small, and
/// returns the view of the copy. From page-locked memory it does not wait.
PhotoView copy_photo(const Context& context, const PhotoView& photo, Buffer<std::byte>& room);

/// A place in the image with a size and a direction.
struct SiftKeypoint {
  float u_px, v_px;  ///< pixel centres are integers
  float sigma_px;    ///< scale; OpenCV's `size` is twice as much
  float angle_rad;   ///< in [0, 2π), from the u axis towards the v axis: clockwise as one sees it
  float response;    ///< |difference of scales|, of the full range
  std::int32_t octave;  ///< 0 has the image's pixels, -1 half as large ones, 1 twice as large ones
  std::int32_t layer;   ///< 1 … layers
};

inline constexpr int kSiftLength = 128;  ///< numbers of a descriptor

/// The first `count` rows of each list are filled. They lie on the context's device.
struct SiftFeatures {
  std::int32_t count = 0;
  Buffer<SiftKeypoint> keypoints;
  Buffer<std::uint8_t> bytes;  ///< count × 128; empty unless SiftNumbers::kBytes
  Buffer<float> floats;        ///< count × 128; empty unless SiftNumbers::kFloats
};

/// Copies features to host memory, whatever device they lie on.
SiftFeatures to_host(const Context& context, const SiftFeatures& features);

/// Finds and describes keypoints as Lowe did (IJCV 60, 2004): extrema of the difference of
/// Gaussians over place and scale, located between pixels and scales, those of low contrast and on
/// edges left out; the main directions of the gradients around each; and a histogram of gradients
/// in a turned window of 4 × 4 cells.
///
/// The places are those of OpenCV's SIFT, but for a quarter of a pixel: where the image is doubled,
/// OpenCV (before 4.8) gives coordinates that are 0.25 px too large, and these are right. The
/// windows for directions and descriptors are centred on the place itself, OpenCV's on the pixel
/// beside it: some 4 % of the angles differ by more than 0.1, descriptors hardly (the median of the
/// cosine is 0.998), and 4 % more of ours are matched again. Numbers of a descriptor are in
/// OpenCV's order, (4 row + column) × 8 + direction: columns run along angle_rad, rows 90°
/// clockwise from it, and directions count counter-clockwise from it. They are clamped at 0.2 of
/// the descriptor's length, which is then made 1.
///
/// Keypoints are ordered by octave, layer, row and column of the pixel of the octave where they
/// were found, then by angle; none is there twice. `most` keeps those with the largest response in
/// this order, the first ones where responses are equal. No keypoint lies within 5 pixels of its
/// octave from the border. An image whose shorter side is below 11 px (6 px when doubled) has none;
/// so has one without pixels.
///
/// The mask, if any, has the size of the image: a keypoint whose nearest pixel is 0 there is left
/// out. Floats must be finite and within ±1e6.
///
/// The photo and the mask lie on the context's device. The bits are the same on every run and for
/// any number of threads. Instruction sets that fuse a product and a sum give the same bits, those
/// that do not give others: some in a thousand keypoints are then found by one of them alone.
///
/// CUDA multiplies and adds in the order of those that fuse, so that it finds the same places with
/// the same responses; sigmas may differ in the last bit. Sums over windows have another order:
/// angles agree within 1e-3, but for a few in a thousand keypoints where one has a direction more
/// than the other; numbers of descriptors agree within 1e-3 as floats and mostly within 1 as bytes.
///
/// Memory beside the result on the CPU: (layers + 3) × 4 bytes for each pixel of the first octave,
/// which has four times those of the image where it is doubled, up to 2^24 of them (400 MB with 3
/// layers); larger images go through this memory in slabs. Then 1.3 bytes for each pixel of the
/// first octave, what the slab needs of the image as floats, and about 400 bytes a keypoint: 100
/// megapixels take 1 GB. Images wider than 30 000 px take more, as a slab has no fewer than some
/// 230 rows.
///
/// Memory on CUDA: all scales of all octaves lie there at once, 5.4 (layers + 3) + 8 bytes for each
/// pixel of the first octave, where the lists for keypoints are counted too: 640 × 480 take 50 MB,
/// 100 megapixels 16 GB. Features have room for one keypoint to 128 pixels of the first octave, and
/// more where more are found. Each call waits for the device once, to learn how many there are, or
/// again where the lists were too small.
SiftFeatures compute_sift(const Context& context, const PhotoView& photo,
                          const SiftOptions& options = {},
                          const ImageView<const std::uint8_t>& mask = {});

/// Into features that grow where they are too small for what was found. Allocates nothing when it
/// is called again for images of the same size, unless one has more keypoints than those before. A
/// graph cannot hold it.
void compute_sift_into(const Context& context, const PhotoView& photo,
                       const ImageView<const std::uint8_t>& mask, const SiftOptions& options,
                       SiftFeatures& features, Workspace& workspace);

}  // namespace sextant
