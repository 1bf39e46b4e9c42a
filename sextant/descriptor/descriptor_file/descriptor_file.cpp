// SPDX-License-Identifier: Apache-2.0
#include "sextant/descriptor/descriptor_file.h"

#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>

#include "sextant/core/options_json.h"
#include "sextant/io/file/byte_source.h"
#include "sextant/io/json_file.h"

namespace sextant {

namespace {

static_assert(std::endian::native == std::endian::little, "arrays are written as they lie");
static_assert(sizeof(Vec3f) == 12 && sizeof(Mat3f) == 36, "arrays are written as they lie");

constexpr char kMagic[8] = {'S', 'X', 'T', 'D', 'E', 'S', 'C', 'R'};
constexpr std::uint32_t kVersion = 1;
constexpr std::int64_t kAlignment = 8;
constexpr std::int32_t kMostLength = 1 << 20;
/// An index of a compressed descriptor has 16 bits.
constexpr std::int32_t kMostCompressedLength = 1 << 16;
constexpr std::uint64_t kMostOptionsBytes = 1 << 20;

/// The first 64 bytes.
struct Header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t kind;
  std::uint64_t count;     ///< descriptors
  std::uint64_t elements;  ///< numbers that the file holds of them
  std::uint64_t options_bytes;
  std::uint32_t length;
  std::uint32_t compressed;  ///< 0 or 1
  float size_m;
  float resolution_m;
  std::uint64_t reserved;  ///< 0
};
static_assert(sizeof(Header) == 64);

std::int64_t padding_at(std::int64_t position) {
  return (kAlignment - position % kAlignment) % kAlignment;
}

bool is_compressed(const Header& header) { return header.compressed == 1; }
bool is_tensor(const Header& header) {
  return header.kind == static_cast<std::uint32_t>(DescriptorKind::kTensor);
}

/// Calls visit(list, elements) for every list that the header asks for, in the order of the file.
template <class File, class Visit>
void for_each_list(const Header& header, File& file, const Visit& visit) {
  const std::uint64_t count = header.count;
  visit(file.points, count);
  visit(file.partners, is_tensor(header) ? count : 0);
  visit(file.angles_rad, is_tensor(header) ? count : 0);
  visit(file.positions_m, count);
  visit(file.axes, count);
  visit(file.sizes, is_compressed(header) ? count : 0);
  visit(file.indices, is_compressed(header) ? header.elements : 0);
  visit(file.values, header.elements);
}

/// Throws unless the lists hold together; `name` stands for the file in messages.
void check(const DescriptorFile& file, const std::string& name) {
  require(file.length >= 1 && file.length <= kMostLength, name, ": descriptors of ", file.length,
          " numbers; 1 to ", kMostLength, " are possible");
  const nlohmann::json options = parse_json(file.options, name + ", options");
  require(options.is_object(), name, ": the options are ", shown(options), ", not a JSON object");
  for (const std::int32_t point : file.points) {
    require(point >= -1, name, ": a descriptor of point ", point);
  }
  if (!file.compressed()) {
    const auto expected = static_cast<std::uint64_t>(file.count()) * file.length;
    require(file.values.size() == expected && file.indices.empty(), name, ": ", file.values.size(),
            " numbers for ", file.count(), " descriptors of ", file.length);
    return;
  }
  require(file.length <= kMostCompressedLength, name, ": compressed descriptors of ", file.length,
          " numbers; at most ", kMostCompressedLength, " are possible");
  std::size_t at = 0;
  for (const std::int32_t size : file.sizes) {
    const bool fits = size >= 0 && static_cast<std::size_t>(size) <= file.indices.size() - at;
    require(fits, name, ": a descriptor of ", size, " numbers, of which ", file.indices.size() - at,
            " are left");
    for (std::int32_t i = 0; i < size; ++i, ++at) {
      require(file.indices[at] < file.length && (i == 0 || file.indices[at] > file.indices[at - 1]),
              name, ": index ", file.indices[at], " of a compressed descriptor of ", file.length,
              " numbers is out of order or range");
    }
  }
  require(at == file.indices.size(), name, ": ", file.indices.size() - at,
          " numbers belong to no descriptor");
}

Header header_of(const DescriptorFile& file) {
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.version = kVersion;
  header.kind = static_cast<std::uint32_t>(file.kind);
  header.count = static_cast<std::uint64_t>(file.count());
  header.elements = file.values.size();
  header.options_bytes = file.options.size();
  header.length = static_cast<std::uint32_t>(file.length);
  header.compressed = file.compressed() ? 1 : 0;
  header.size_m = file.size_m;
  header.resolution_m = file.resolution_m;
  return header;
}

/// Throws unless this is a header that the rest of the file, `remaining` bytes, can belong to.
void check(const Header& header, std::uint64_t remaining, const std::string& name) {
  require(std::memcmp(header.magic, kMagic, sizeof(kMagic)) == 0, name,
          ": is not a file of descriptors; 'sextant describe' writes one");
  require(
      header.version == kVersion, name, ": is version ", header.version,
      " of the format, this program reads version ", kVersion,
      "; make it again with this program's 'sextant describe', or use the program that made it");
  const auto kind = static_cast<DescriptorKind>(header.kind);
  require(name_of(kind, kDescriptorKinds) != "?", name, ": descriptors of unknown kind ",
          header.kind);
  require(header.compressed <= 1 && header.reserved == 0 && header.length >= 1 &&
              header.length <= kMostLength && header.options_bytes <= kMostOptionsBytes,
          name, ": its header is damaged");
  // Every descriptor takes 52 bytes and every number 4: these bounds make the sum below safe.
  require(header.count <= remaining / 52 && header.elements <= remaining / 4, name, ": promises ",
          header.count, " descriptors with ", header.elements, " numbers, but has only ", remaining,
          " bytes; it was cut short");
}

/// Bytes of the file from the first to the last.
std::int64_t size_of(const Header& header) {
  std::int64_t position = sizeof(Header) + static_cast<std::int64_t>(header.options_bytes);
  DescriptorFile none;
  for_each_list(header, none, [&](const auto& list, std::uint64_t elements) {
    position += padding_at(position);
    position += static_cast<std::int64_t>(elements * sizeof(list[0]));
  });
  return position;
}

DescriptorFile read(FileReader& source) {
  const std::string& name = source.name();
  Header header{};
  const bool whole = source.read_some(&header, sizeof(header)) == sizeof(header);
  require(whole, name, ": is not a file of descriptors; 'sextant describe' writes one");
  check(header, static_cast<std::uint64_t>(source.remaining().value()), name);
  const std::int64_t expected = size_of(header);
  const std::int64_t found = source.size().value();
  require(expected == found, name, ": has ", found, " bytes where its header promises ", expected,
          expected > found ? "; it was cut short" : "");
  DescriptorFile file;
  file.kind = static_cast<DescriptorKind>(header.kind);
  file.length = static_cast<int>(header.length);
  file.size_m = header.size_m;
  file.resolution_m = header.resolution_m;
  file.options.resize(header.options_bytes);
  source.read_exactly(file.options.data(), file.options.size());
  for_each_list(header, file, [&](auto& list, std::uint64_t elements) {
    source.skip(padding_at(source.position()));
    list.resize(elements);
    if (list.empty()) return;
    source.read_exactly(list.data(), elements * sizeof(list[0]));
  });
  check(file, name);
  return file;
}

}  // namespace

std::string name_of(const DescriptorFile& file) {
  return std::string(name_of(file.kind, kDescriptorKinds)) + std::to_string(file.length);
}

std::vector<float> dense_values(const DescriptorFile& file) {
  if (!file.compressed()) return file.values;
  const auto length = static_cast<std::size_t>(file.length);
  std::vector<float> dense(file.points.size() * length, 0.0f);
  std::size_t at = 0;
  for (std::size_t row = 0; row < file.sizes.size(); ++row) {
    for (std::int32_t i = 0; i < file.sizes[row]; ++i, ++at) {
      dense[row * length + file.indices[at]] = file.values[at];
    }
  }
  return dense;
}

void write_descriptor_file(const std::filesystem::path& path, const DescriptorFile& file) {
  const std::string name = path.string();
  const Header header = header_of(file);
  require(name_of(file.kind, kDescriptorKinds) != "?", name, ": descriptors of unknown kind ",
          header.kind);
  require(file.options.size() <= kMostOptionsBytes, name, ": options of ", file.options.size(),
          " bytes; at most ", kMostOptionsBytes, " are possible");
  for_each_list(header, file, [&](const auto& list, std::uint64_t elements) {
    require(list.size() == elements, name, ": a list of ", list.size(), " elements where ",
            elements, " belong");
  });
  check(file, name);
  write_file_atomically(path, [&](FileWriter& out) {
    const char zeros[kAlignment] = {};
    std::int64_t position = 0;
    const auto put = [&](const void* from, std::size_t bytes) {
      if (bytes > 0) out.write(from, bytes);
      position += static_cast<std::int64_t>(bytes);
    };
    put(&header, sizeof(header));
    put(file.options.data(), file.options.size());
    for_each_list(header, file, [&](const auto& list, std::uint64_t) {
      put(zeros, static_cast<std::size_t>(padding_at(position)));
      put(list.data(), list.size() * sizeof(list[0]));
    });
  });
}

DescriptorFile read_descriptor_file(const std::filesystem::path& path) {
  FileReader source(path);
  return detail::file::with_known_size(source, [](FileReader& known) { return read(known); });
}

DescriptorFile read_descriptor_file(std::span<const std::byte> bytes, const std::string& name) {
  FileReader source(bytes, name);
  return read(source);
}

}  // namespace sextant
