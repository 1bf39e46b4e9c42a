// SPDX-License-Identifier: Apache-2.0
#include "sextant/library/library/arrays.h"

#include <bit>
#include <nlohmann/json.hpp>
#include <utility>

#include "sextant/core/options_json.h"
#include "sextant/io/json_file.h"
#include "sextant/library/library/planes.h"

namespace sextant::detail::library {

namespace {

static_assert(std::endian::native == std::endian::little, "arrays are written as they lie");

constexpr std::uint32_t kMostHeaderBytes = 1 << 20;
constexpr std::uint64_t kMostColumns = 64;

/// Bytes of a number of the type, 0 for a type that there is not.
int bytes_of(std::string_view type) {
  constexpr std::pair<std::string_view, int> kTypes[] = {{"|u1", 1}, {"<u2", 2}, {"<u4", 4},
                                                         {"<i4", 4}, {"<f4", 4}, {"<f8", 8}};
  for (const auto& [name, bytes] : kTypes) {
    if (type == name) return bytes;
  }
  return 0;
}

struct NonZero {
  std::vector<std::byte> mask;
  std::vector<std::byte> numbers;
};

NonZero non_zero(std::span<const std::byte> bytes, std::size_t number_bytes) {
  const std::size_t count = bytes.size() / number_bytes;
  NonZero found{std::vector<std::byte>((count + 7) / 8), {}};
  constexpr std::byte kZeros[8] = {};
  for (std::size_t i = 0; i < count; ++i) {
    const auto number = bytes.subspan(i * number_bytes, number_bytes);
    if (std::memcmp(number.data(), kZeros, number_bytes) == 0) continue;
    found.mask[i / 8] |= std::byte{1} << (i % 8);
    found.numbers.insert(found.numbers.end(), number.begin(), number.end());
  }
  return found;
}

std::size_t count_bits(std::span<const std::byte> mask) {
  std::size_t bits = 0;
  for (const std::byte b : mask) {
    bits += static_cast<std::size_t>(std::popcount(std::to_integer<unsigned>(b)));
  }
  return bits;
}

/// Spreads the numbers over the places whose bits are set and writes zeros elsewhere.
template <std::size_t kBytes>
void spread(std::span<const std::byte> mask, const std::byte* numbers, std::span<std::byte> to) {
  std::memset(to.data(), 0, to.size());
  for (std::size_t byte = 0; byte < mask.size(); ++byte) {
    for (auto bits = std::to_integer<unsigned>(mask[byte]); bits != 0; bits &= bits - 1) {
      const std::size_t place = byte * 8 + static_cast<unsigned>(std::countr_zero(bits));
      std::memcpy(to.data() + place * kBytes, numbers, kBytes);
      numbers += kBytes;
    }
  }
}

}  // namespace

void ArrayWriter::add_bytes(std::string_view array, ElementKind kind,
                            std::span<const std::byte> bytes, Packing packing) {
  require(static_cast<std::int64_t>(bytes.size()) <= kMostArrayBytes, name_, ": ", array, " has ",
          bytes.size(), " bytes; at most ", kMostArrayBytes,
          " are possible: learn the object with fewer points or a smaller texture");
  const auto number_bytes = static_cast<std::size_t>(bytes_of(kind.type));
  std::size_t element_bytes = number_bytes * static_cast<std::size_t>(kind.columns);
  nlohmann::json shape = nlohmann::json::array({bytes.size() / element_bytes});
  if (kind.columns > 1) shape.push_back(kind.columns);
  nlohmann::json planes = nlohmann::json::array();
  NonZero kept;
  if (packing == Packing::kNonZero) {
    element_bytes = number_bytes;
    kept = non_zero(bytes, number_bytes);
    bytes = kept.numbers;
    planes.push_back(store_plane(kept.mask, planes_));
  }
  for (std::size_t plane = 0; plane < element_bytes; ++plane) {
    planes.push_back(store_plane(take_plane(bytes, element_bytes, plane), planes_));
  }
  const nlohmann::json header{{"name", array},
                              {"type", kind.type},
                              {"shape", shape},
                              {"packing", packing == Packing::kAll ? "all" : "nonzero"},
                              {"planes", planes}};
  if (!header_.empty()) header_ += ',';
  header_ += header.dump();
}

std::vector<std::byte> ArrayWriter::finish() const {
  const auto header_bytes = static_cast<std::uint32_t>(header_.size() + 2);
  std::vector<std::byte> blob(sizeof(header_bytes) + header_bytes + planes_.size());
  std::byte* to = blob.data();
  const auto put = [&to](const void* from, std::size_t bytes) {
    if (bytes > 0) std::memcpy(to, from, bytes);
    to += bytes;
  };
  put(&header_bytes, sizeof(header_bytes));
  put("[", 1);
  put(header_.data(), header_.size());
  put("]", 1);
  put(planes_.data(), planes_.size());
  require(static_cast<std::int64_t>(blob.size()) <= kMostBlobBytes, name_, ": has ", blob.size(),
          " bytes; at most ", kMostBlobBytes,
          " are possible: learn the object with fewer points or a smaller texture");
  return blob;
}

ArrayReader::ArrayReader(std::span<const std::byte> blob, std::string name)
    : name_(std::move(name)) {
  std::uint32_t header_bytes = 0;
  require(blob.size() >= sizeof(header_bytes), name_, ": is cut short");
  std::memcpy(&header_bytes, blob.data(), sizeof(header_bytes));
  blob = blob.subspan(sizeof(header_bytes));
  require(header_bytes <= kMostHeaderBytes && header_bytes <= blob.size(), name_,
          ": its header is damaged");
  const nlohmann::json header =
      parse_json({reinterpret_cast<const char*>(blob.data()), header_bytes}, name_);
  blob = blob.subspan(header_bytes);
  require(header.is_array(), name_, ": its header is no list");
  for (const nlohmann::json& entry : header) {
    Array array = parse(entry);
    require(find(array.name) == nullptr, name_, ": has ", shown(entry["name"]), " twice");
    for (const nlohmann::json& plane : entry["planes"]) {
      const bool fits = plane.is_number_unsigned() && plane.get<std::uint64_t>() <= blob.size();
      require(fits, name_, ": ", shown(entry["name"]), " is cut short");
      array.planes.push_back(blob.first(plane.get<std::size_t>()));
      blob = blob.subspan(array.planes.back().size());
    }
    arrays_.push_back(std::move(array));
  }
  require(blob.empty(), name_, ": ", blob.size(), " bytes belong to no array");
}

ArrayReader::Array ArrayReader::parse(const nlohmann::json& entry) const {
  const auto text = [&](const char* key) -> std::string {
    const bool there = entry.is_object() && entry.contains(key) && entry[key].is_string();
    require(there, name_, ": its header has an array without ", key);
    return entry[key].get<std::string>();
  };
  Array array;
  array.name = text("name");
  array.type = text("type");
  array.number_bytes = bytes_of(array.type);
  require(array.number_bytes > 0, name_, ": ", shown(entry["name"]), " has the unknown type ",
          shown(entry["type"]));
  const std::string packing = text("packing");
  require(packing == "all" || packing == "nonzero", name_, ": ", shown(entry["name"]),
          " has the unknown packing ", shown(entry["packing"]));
  array.packing = packing == "all" ? Packing::kAll : Packing::kNonZero;

  const nlohmann::json shape = entry.value("shape", nlohmann::json());
  bool right = shape.is_array() && (shape.size() == 1 || shape.size() == 2);
  std::uint64_t sizes[2] = {0, 1};
  for (std::size_t i = 0; right && i < shape.size(); ++i) {
    right = shape[i].is_number_unsigned();
    if (right) sizes[i] = shape[i].get<std::uint64_t>();
  }
  const auto number_bytes = static_cast<std::uint64_t>(array.number_bytes);
  right = right && sizes[1] >= 1 && sizes[1] <= kMostColumns &&
          sizes[0] <= static_cast<std::uint64_t>(kMostArrayBytes) / (sizes[1] * number_bytes);
  require(right, name_, ": ", shown(entry["name"]), " has a shape that cannot be");
  array.columns = static_cast<int>(sizes[1]);
  array.numbers = static_cast<std::int64_t>(sizes[0] * sizes[1]);

  const std::uint64_t planes =
      array.packing == Packing::kAll ? sizes[1] * number_bytes : 1 + number_bytes;
  require(
      entry.contains("planes") && entry["planes"].is_array() && entry["planes"].size() == planes,
      name_, ": ", shown(entry["name"]), " has not the ", planes, " planes that belong to it");
  return array;
}

const ArrayReader::Array* ArrayReader::find(std::string_view array) const {
  for (const Array& candidate : arrays_) {
    if (candidate.name == array) return &candidate;
  }
  return nullptr;
}

void ArrayReader::check_kind(const Array& array, ElementKind kind) const {
  require(array.type == kind.type && array.columns == kind.columns, name_, ": ", array.name,
          " has ", array.columns, " columns of type ", array.type, " instead of ", kind.columns,
          " of type ", kind.type);
}

void ArrayReader::unpack(const Array& array, std::span<std::byte> to) const {
  if (array.packing == Packing::kNonZero) return unpack_non_zero(array, to);
  const std::size_t elements = to.size() / array.planes.size();
  std::vector<std::vector<std::byte>> rooms(array.planes.size());
  std::vector<std::span<const std::byte>> planes;
  for (std::size_t i = 0; i < array.planes.size(); ++i) {
    planes.push_back(load_plane(array.planes[i], elements, rooms[i], name_ + ", " + array.name));
  }
  join_planes(planes, to);
}

void ArrayReader::unpack_non_zero(const Array& array, std::span<std::byte> to) const {
  const std::string name = name_ + ", " + array.name;
  std::vector<std::vector<std::byte>> rooms(array.planes.size());
  const auto mask = load_plane(array.planes[0], static_cast<std::size_t>((array.numbers + 7) / 8),
                               rooms[0], name);
  const auto spare = static_cast<int>(static_cast<std::int64_t>(mask.size()) * 8 - array.numbers);
  require(spare == 0 || std::to_integer<unsigned>(mask.back()) >> (8 - spare) == 0, name,
          ": has more numbers than places for them");
  const std::size_t count = count_bits(mask);
  std::vector<std::span<const std::byte>> planes;
  for (std::size_t i = 1; i < array.planes.size(); ++i) {
    planes.push_back(load_plane(array.planes[i], count, rooms[i], name));
  }
  std::vector<std::byte> numbers(count * planes.size());
  join_planes(planes, numbers);
  switch (planes.size()) {
    case 1:
      return spread<1>(mask, numbers.data(), to);
    case 2:
      return spread<2>(mask, numbers.data(), to);
    case 4:
      return spread<4>(mask, numbers.data(), to);
    default:
      return spread<8>(mask, numbers.data(), to);
  }
}

}  // namespace sextant::detail::library
