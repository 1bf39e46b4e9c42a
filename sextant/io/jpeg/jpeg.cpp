// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/jpeg.h"

#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <new>

#include <jpeglib.h>

#include <jerror.h>

#include "sextant/io/file.h"

// libjpeg reports errors through a function that must not return; ours jumps. Every function here
// that calls setjmp has only trivial locals and every object lives in its caller, so no destructor
// is ever jumped over.

namespace sextant {

namespace {

static_assert(sizeof(Rgb8) == 3, "rows of pixels are handed to libjpeg as they are");

struct ErrorManager {
  jpeg_error_mgr base;  // first, so that libjpeg's pointer to it is a pointer to this
  std::jmp_buf back;
  char message[JMSG_LENGTH_MAX];
};

[[noreturn]] void keep_message_and_jump(j_common_ptr codec) {
  auto* manager = reinterpret_cast<ErrorManager*>(codec->err);
  codec->err->format_message(codec, manager->message);
  std::longjmp(manager->back, 1);
}

/// libjpeg goes on after a warning with whatever it has; we do not pass off grey areas as a
/// picture.
void refuse_damage(j_common_ptr codec, int level) {
  if (level >= 0) return;
  switch (codec->err->msg_code) {
    case JWRN_EXTRANEOUS_DATA:  // padding between segments, harmless
    case JWRN_ADOBE_XFORM:
    case JWRN_JFIF_MAJOR:
      return;
    default:
      keep_message_and_jump(codec);
  }
}

void print_nothing(j_common_ptr) {}

jpeg_error_mgr* set_up(ErrorManager& manager) {
  jpeg_std_error(&manager.base);
  manager.base.error_exit = keep_message_and_jump;
  manager.base.emit_message = refuse_damage;
  manager.base.output_message = print_nothing;
  std::snprintf(manager.message, sizeof(manager.message), "out of memory");
  return &manager.base;
}

/// Real progressive files have about ten scans; a forged one can ask for thousands, each over all
/// pixels in a few bytes.
void limit_scans(j_common_ptr codec) {
  constexpr int kMostScans = 100;
  if (reinterpret_cast<j_decompress_ptr>(codec)->input_scan_number <= kMostScans) return;
  auto* manager = reinterpret_cast<ErrorManager*>(codec->err);
  std::snprintf(manager->message, sizeof(manager->message), "it has more than %d scans",
                kMostScans);
  std::longjmp(manager->back, 1);
}

/// libjpeg's object, destroyed whatever happens to its owner; destroying an unused one is allowed.
struct DecompressStruct : jpeg_decompress_struct {
  DecompressStruct() : jpeg_decompress_struct{} {}
  ~DecompressStruct() { jpeg_destroy_decompress(this); }
  DecompressStruct(const DecompressStruct&) = delete;
  DecompressStruct& operator=(const DecompressStruct&) = delete;
};

class Decoder {
 public:
  /// Reads up to the pixels and checks what the header claims.
  Decoder(std::span<const std::byte> file, const std::string& name) : name_(name) {
    require(is_jpeg(file), name, ": is not a JPEG file");
    codec_.err = set_up(errors_);
    require(read_header(file), name, ": is not a valid JPEG: ", errors_.message);
    check_image_size(name, codec_.image_width, codec_.image_height);
    check_believable(static_cast<std::int64_t>(file.size()));
  }

  ImageInfo info() const {
    return {.format = ImageFormat::kJpeg,
            .width = static_cast<int>(codec_.image_width),
            .height = static_cast<int>(codec_.image_height),
            .channels = codec_.num_components,
            .bit_depth = codec_.data_precision};
  }

  Image<Rgb8> rgb8() {
    const ImageInfo size = info();
    const bool ink = codec_.jpeg_color_space == JCS_CMYK || codec_.jpeg_color_space == JCS_YCCK;
    require(ink || codec_.jpeg_color_space != JCS_UNKNOWN, name_, ": is a JPEG with ",
            size.channels, " channels; only grey, colour and CMYK are known");
    Image<Rgb8> image(Context::cpu(1), size.width, size.height);
    std::vector<unsigned char> ink_row(ink ? std::size_t{4} * size.width : 0);
    require(read_rows(image.view(), ink ? ink_row.data() : nullptr), name_,
            ": cannot be decoded: ", errors_.message);
    return image;
  }

 private:
  bool read_header(std::span<const std::byte> file) {
    if (setjmp(errors_.back) != 0) return false;
    jpeg_create_decompress(&codec_);
    progress_.progress_monitor = limit_scans;
    codec_.progress = &progress_;
    jpeg_mem_src(&codec_, reinterpret_cast<const unsigned char*>(file.data()), file.size());
    jpeg_read_header(&codec_, TRUE);
    return true;
  }

  bool read_rows(ImageView<Rgb8> image, unsigned char* ink_row) {
    if (setjmp(errors_.back) != 0) return false;
    codec_.out_color_space = ink_row != nullptr ? JCS_CMYK : JCS_RGB;
    jpeg_start_decompress(&codec_);
    while (codec_.output_scanline < codec_.output_height) {
      Rgb8* to = image.row(static_cast<int>(codec_.output_scanline));
      JSAMPROW row = ink_row != nullptr ? ink_row : reinterpret_cast<JSAMPROW>(to);
      jpeg_read_scanlines(&codec_, &row, 1);
      if (ink_row != nullptr) convert_ink(ink_row, to, image.width);
    }
    jpeg_finish_decompress(&codec_);
    return true;
  }

  /// Adobe's programs, which say so in the file, store 255 for no ink; others store 0.
  void convert_ink(const unsigned char* cmyk, Rgb8* to, int width) const {
    const int flip = codec_.saw_Adobe_marker != 0 ? 0 : 255;
    for (int u = 0; u < width; ++u, cmyk += 4) {
      const int key = cmyk[3] ^ flip;
      const auto mix = [&](int ink) {
        return static_cast<std::uint8_t>(((ink ^ flip) * key + 127) / 255);
      };
      to[u] = {mix(cmyk[0]), mix(cmyk[1]), mix(cmyk[2])};
    }
  }

  void check_believable(std::int64_t file_bytes) const {
    // A Huffman-coded block takes at least one bit and covers at most 128 pixels: those of two
    // components that are sampled four times more coarsely, one across and one down.
    constexpr std::int64_t kMostPixelsPerByte = 1024;
    const std::int64_t pixels = std::int64_t{codec_.image_width} * codec_.image_height;
    require(pixels <= kBelievedPixels || pixels <= kMostPixelsPerByte * file_bytes, name_, ": ",
            codec_.image_width, " x ", codec_.image_height, " pixels cannot come from ", file_bytes,
            " bytes; the header is damaged");
  }

  const std::string& name_;
  ErrorManager errors_{};
  jpeg_progress_mgr progress_{};
  DecompressStruct codec_;
};

/// Collects the encoded bytes in a vector.
struct Destination {
  jpeg_destination_mgr base;  // first, so that libjpeg's pointer to it is a pointer to this
  std::vector<std::byte>* file;
};

constexpr std::size_t kPieceBytes = std::size_t{1} << 16;

/// Makes room for another piece; keeps exceptions out of libjpeg's frames.
bool grow(std::vector<std::byte>& file) noexcept {
  try {
    file.resize(file.size() + kPieceBytes);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

boolean next_piece(j_compress_ptr codec) {
  auto* destination = reinterpret_cast<Destination*>(codec->dest);
  std::vector<std::byte>& file = *destination->file;
  if (!grow(file)) ERREXIT1(codec, JERR_OUT_OF_MEMORY, 0);
  codec->dest->next_output_byte =
      reinterpret_cast<JOCTET*>(file.data() + file.size() - kPieceBytes);
  codec->dest->free_in_buffer = kPieceBytes;
  return TRUE;
}

void first_piece(j_compress_ptr codec) { next_piece(codec); }

void drop_unused(j_compress_ptr codec) {
  std::vector<std::byte>& file = *reinterpret_cast<Destination*>(codec->dest)->file;
  file.resize(file.size() - codec->dest->free_in_buffer);
}

class Encoder {
 public:
  Encoder() { codec_.err = set_up(errors_); }
  ~Encoder() { jpeg_destroy_compress(&codec_); }
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  const char* message() const { return errors_.message; }

  template <class T>
  bool write(ImageView<const T> image, int quality, std::vector<std::byte>& file) {
    if (setjmp(errors_.back) != 0) return false;
    jpeg_create_compress(&codec_);
    destination_.file = &file;
    destination_.base.init_destination = first_piece;
    destination_.base.empty_output_buffer = next_piece;
    destination_.base.term_destination = drop_unused;
    codec_.dest = &destination_.base;
    codec_.image_width = static_cast<JDIMENSION>(image.width);
    codec_.image_height = static_cast<JDIMENSION>(image.height);
    codec_.input_components = sizeof(T);
    codec_.in_color_space = sizeof(T) == 3 ? JCS_RGB : JCS_GRAYSCALE;
    jpeg_set_defaults(&codec_);
    jpeg_set_quality(&codec_, quality, TRUE);
    jpeg_start_compress(&codec_, TRUE);
    while (codec_.next_scanline < codec_.image_height) {
      const T* pixels = image.row(static_cast<int>(codec_.next_scanline));
      // libjpeg only reads what this points at.
      JSAMPROW row = reinterpret_cast<JSAMPROW>(const_cast<T*>(pixels));
      jpeg_write_scanlines(&codec_, &row, 1);
    }
    jpeg_finish_compress(&codec_);
    return true;
  }

 private:
  ErrorManager errors_{};
  Destination destination_{};
  jpeg_compress_struct codec_{};
};

template <class T>
std::vector<std::byte> encode(ImageView<const T> image, const std::string& name,
                              const JpegOptions& options) {
  check_options(options);
  check_writable(name, image);
  require(image.width <= JPEG_MAX_DIMENSION && image.height <= JPEG_MAX_DIMENSION, name, ": ",
          image.width, " x ", image.height, " pixels are too many for JPEG; at most ",
          JPEG_MAX_DIMENSION, " a side");
  std::vector<std::byte> file;
  Encoder encoder;
  require(encoder.write(image, options.quality, file), name,
          ": cannot be encoded as JPEG: ", encoder.message());
  return file;
}

}  // namespace

bool is_jpeg(std::span<const std::byte> file) {
  return file.size() >= 3 && file[0] == std::byte{0xff} && file[1] == std::byte{0xd8} &&
         file[2] == std::byte{0xff};
}

ImageInfo jpeg_info(std::span<const std::byte> file, const std::string& name) {
  return Decoder(file, name).info();
}

Image<Rgb8> read_jpeg(std::span<const std::byte> file, const std::string& name) {
  return Decoder(file, name).rgb8();
}

Image<Rgb8> read_jpeg(const std::filesystem::path& path) {
  return read_jpeg(read_file(path, kMaxImageFileBytes), path.string());
}

std::vector<std::byte> encode_jpeg(ImageView<const Rgb8> image, const std::string& name,
                                   const JpegOptions& options) {
  return encode(image, name, options);
}

std::vector<std::byte> encode_jpeg(ImageView<const std::uint8_t> image, const std::string& name,
                                   const JpegOptions& options) {
  return encode(image, name, options);
}

void write_jpeg(const std::filesystem::path& path, ImageView<const Rgb8> image,
                const JpegOptions& options) {
  write_file_atomically(path, encode_jpeg(image, path.string(), options));
}

void write_jpeg(const std::filesystem::path& path, ImageView<const std::uint8_t> image,
                const JpegOptions& options) {
  write_file_atomically(path, encode_jpeg(image, path.string(), options));
}

}  // namespace sextant
