// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/tiff/directory.h"

#include <algorithm>

#include "sextant/io/image_info.h"
#include "sextant/io/tiff.h"

namespace sextant::detail::tiff {

namespace {

enum Tag : std::int64_t {
  kSubfileType = 254,
  kWidth = 256,
  kHeight = 257,
  kBitsPerSample = 258,
  kCompressionTag = 259,
  kPhotometricTag = 262,
  kFillOrder = 266,
  kStripOffsets = 273,
  kSamplesPerPixel = 277,
  kRowsPerStrip = 278,
  kStripBytes = 279,
  kPlanar = 284,
  kPredictorTag = 317,
  kTileWidth = 322,
  kTileHeight = 323,
  kTileOffsets = 324,
  kTileBytes = 325,
  kSampleFormatTag = 339
};

/// The numbers of a file in its byte order.
struct Numbers {
  std::span<const std::byte> file;
  const std::string& name;
  bool big_endian;

  std::int64_t at(std::int64_t offset, int bytes) const {
    const auto size = static_cast<std::int64_t>(file.size());
    require(offset >= 0 && offset <= size - bytes, name, ": a number at byte ", offset,
            " lies beyond the file's ", size, " bytes");
    std::int64_t number = 0;
    for (int i = 0; i < bytes; ++i) {
      const std::int64_t from = offset + (big_endian ? i : bytes - 1 - i);
      number = number << 8 | std::to_integer<std::int64_t>(file[static_cast<std::size_t>(from)]);
    }
    return number;
  }
};

struct Entry {
  std::int64_t tag = 0;
  std::int64_t count = 0;
  int bytes = 0;  ///< of each number; 0 for types that hold no whole number
  std::int64_t offset = 0;
};

class Entries {
 public:
  Entries(const Numbers& numbers, std::int64_t offset) : numbers_(numbers) {
    const std::int64_t count = numbers.at(offset, 2);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t at = offset + 2 + 12 * i;
      const std::int64_t type = numbers.at(at + 2, 2);
      Entry entry;
      entry.tag = numbers.at(at, 2);
      entry.count = numbers.at(at + 4, 4);
      entry.bytes = type == 1 ? 1 : type == 3 ? 2 : type == 4 ? 4 : 0;
      entry.offset = entry.count * entry.bytes <= 4 ? at + 8 : numbers.at(at + 8, 4);
      entries_.push_back(entry);
    }
    next_ = numbers.at(offset + 2 + 12 * count, 4);
  }

  /// Where the next directory lies; 0 after the last.
  std::int64_t next() const { return next_; }
  bool has(Tag tag) const { return find(tag) != nullptr; }

  /// Every number of a tag, which all must lie in the file.
  std::vector<std::int64_t> all(Tag tag) const {
    const Entry* entry = find(tag);
    require(entry != nullptr && entry->bytes > 0 && entry->count > 0, numbers_.name,
            ": its TIFF tag ", static_cast<int>(tag), " is missing or no whole number");
    numbers_.at(entry->offset + entry->bytes * (entry->count - 1), entry->bytes);
    std::vector<std::int64_t> values;
    for (std::int64_t i = 0; i < entry->count; ++i) {
      values.push_back(numbers_.at(entry->offset + i * entry->bytes, entry->bytes));
    }
    return values;
  }

  std::int64_t one(Tag tag) const { return all(tag).front(); }
  std::int64_t one(Tag tag, std::int64_t otherwise) const {
    return has(tag) ? one(tag) : otherwise;
  }
  /// One number that all samples of a pixel share.
  std::int64_t shared(Tag tag, std::int64_t otherwise) const {
    if (!has(tag)) return otherwise;
    const std::vector<std::int64_t> values = all(tag);
    require(std::all_of(values.begin(), values.end(),
                        [&](std::int64_t value) { return value == values.front(); }),
            numbers_.name, ": its channels differ (TIFF tag ", static_cast<int>(tag),
            "), which is not understood");
    return values.front();
  }

 private:
  const Entry* find(Tag tag) const {
    const auto found = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const Entry& entry) { return entry.tag == tag; });
    return found == entries_.end() ? nullptr : &*found;
  }

  const Numbers& numbers_;
  std::vector<Entry> entries_;
  std::int64_t next_ = 0;
};

/// Smaller versions and masks may follow the image, but no other image.
void refuse_several(const Numbers& numbers, std::int64_t next) {
  constexpr int kMostDirectories = 64;
  for (int i = 0; next != 0; ++i) {
    const Entries entries(numbers, next);
    constexpr std::int64_t kReduced = 1, kMask = 4;
    const bool other = (entries.one(kSubfileType, 0) & (kReduced | kMask)) == 0;
    require(!other && i < kMostDirectories, numbers.name,
            ": holds several images; a file with one is needed");
    next = entries.next();
  }
}

void find_blocks(const Numbers& numbers, const Entries& entries, Directory& directory) {
  directory.tiled = entries.has(kTileWidth);
  directory.block_width = directory.tiled ? entries.one(kTileWidth) : directory.width;
  directory.block_height =
      directory.tiled ? entries.one(kTileHeight)
                      : std::min(entries.one(kRowsPerStrip, directory.height), directory.height);
  check_image_size(numbers.name, directory.block_width, directory.block_height);
  require(directory.block_width * directory.block_height <=
              std::max(kBelievedPixels, 4 * directory.width * directory.height),
          numbers.name, ": its tiles of ", directory.block_width, " x ", directory.block_height,
          " pixels are larger than its image; the directory is damaged");
  const std::vector<std::int64_t> offsets =
      entries.all(directory.tiled ? kTileOffsets : kStripOffsets);
  const std::vector<std::int64_t> sizes = entries.all(directory.tiled ? kTileBytes : kStripBytes);
  const std::int64_t count =
      directory.blocks_across() *
      ((directory.height + directory.block_height - 1) / directory.block_height) *
      (directory.planar == 2 ? directory.samples : 1);
  const auto found = static_cast<std::int64_t>(std::min(offsets.size(), sizes.size()));
  require(found >= count, numbers.name, ": has ", found, " of its ", count, " strips or tiles");
  const auto file_bytes = static_cast<std::int64_t>(numbers.file.size());
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    require(offsets[i] <= file_bytes && sizes[i] <= file_bytes - offsets[i], numbers.name,
            ": strip or tile ", i, " ends at byte ", offsets[i] + sizes[i], " of ", file_bytes);
    directory.blocks.push_back(numbers.file.subspan(static_cast<std::size_t>(offsets[i]),
                                                    static_cast<std::size_t>(sizes[i])));
  }
}

}  // namespace

Directory read_directory(std::span<const std::byte> file, const std::string& name) {
  require(is_tiff(file), name, ": is not a TIFF file");
  Directory directory;
  directory.big_endian = file[0] == std::byte{'M'};
  const Numbers numbers{file, name, directory.big_endian};
  require(numbers.at(2, 2) == 42, name, ": is a BigTIFF, which is not understood");
  const Entries entries(numbers, numbers.at(4, 4));
  directory.width = entries.one(kWidth);
  directory.height = entries.one(kHeight);
  check_image_size(name, directory.width, directory.height);
  directory.bits = entries.shared(kBitsPerSample, 1);
  directory.samples = entries.one(kSamplesPerPixel, 1);
  directory.format = entries.shared(kSampleFormatTag, kUnsigned);
  directory.compression = entries.one(kCompressionTag, kPlain);
  directory.photometric = entries.one(kPhotometricTag, kBlackIsZero);
  directory.planar = entries.one(kPlanar, 1);
  directory.predictor = entries.one(kPredictorTag, kNoPredictor);
  directory.fill_order = entries.one(kFillOrder, 1);
  require(directory.bits >= 1 && directory.bits <= 64 && directory.samples >= 1 &&
              directory.samples <= 64,
          name, ": ", directory.samples, " channels of ", directory.bits, " bits are not believed");
  find_blocks(numbers, entries, directory);
  refuse_several(numbers, entries.next());
  return directory;
}

void check_decodable(const Directory& d, const std::string& name) {
  require(d.compression == kPlain || d.compression == kLzw || d.compression == kAdobeDeflate ||
              d.compression == kDeflate || d.compression == kPackBits,
          name, ": its TIFF compression ", d.compression,
          " is not understood; write it plain or with PackBits, LZW or Deflate");
  require(d.fill_order == 1, name, ": its bits are in reverse order, which is not understood");
  require(d.planar == 1 || d.samples == 1, name,
          ": its channels lie in separate planes, which is not understood");
  const bool integer = d.format == kUnsigned && (d.bits == 8 || d.bits == 16);
  const bool floating = d.format == kFloat && (d.bits == 32 || d.bits == 64);
  require(d.samples <= (floating ? 1 : 4), name, ": ", d.samples,
          floating ? " channels of floats" : " channels", " are not understood");
  require(integer || floating, name, ": has numbers of ", d.bits, " bits of the kind ", d.format,
          "; unsigned integers (1) of 8 or 16 bits and floats (3) of 32 or 64 are understood");
  require(d.predictor == kNoPredictor || (d.predictor == kHorizontal && d.bits <= 32) ||
              (d.predictor == kFloatingPoint && floating),
          name, ": its TIFF predictor ", d.predictor, " is not understood for numbers of ", d.bits,
          " bits");
  // LZW puts at most 4096 bytes in a code of 12 bits, which is more than Deflate and PackBits do.
  constexpr std::int64_t kLargestRatio = 2731;
  std::int64_t bytes = 0;
  for (const std::span<const std::byte>& block : d.blocks) {
    bytes += static_cast<std::int64_t>(block.size());
  }
  require(d.width * d.height <= kBelievedPixels ||
              d.width * d.height * d.pixel_bytes() <= kLargestRatio * bytes,
          name, ": ", d.width, " x ", d.height, " pixels cannot come from ", bytes,
          " bytes; the directory is damaged");
}

}  // namespace sextant::detail::tiff
