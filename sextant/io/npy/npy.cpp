// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/npy.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "sextant/io/file/byte_source.h"
#include "sextant/io/text/scanner.h"

namespace sextant {

namespace {

static_assert(std::endian::native == std::endian::little, "arrays are written as they lie");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kPrefixBytes = 10;  ///< magic, version, length of the header
constexpr std::size_t kAlignment = 64;    ///< of the numbers, as NumPy writes them
constexpr std::size_t kMostDimensions = 32;

template <class T>
struct NumberType;
template <>
struct NumberType<float> {
  static constexpr std::string_view kCode = "<f4", kName = "float32";
};
template <>
struct NumberType<std::int32_t> {
  static constexpr std::string_view kCode = "<i4", kName = "int32";
};
template <>
struct NumberType<std::uint8_t> {
  static constexpr std::string_view kCode = "|u1", kName = "uint8";
};

/// What the header says, before it is compared with the file.
struct NpyHeader {
  std::optional<std::string> code;
  std::optional<bool> fortran_order;
  std::optional<std::vector<std::int64_t>> shape;
};

/// Reads the one Python dictionary that a header is: strings, True or False, a tuple of integers.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  NpyHeader parse() {
    NpyHeader header;
    expect('{');
    while (!take('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr") {
        set(header.code, string(), key);
      } else if (key == "fortran_order") {
        set(header.fortran_order, boolean(), key);
      } else if (key == "shape") {
        set(header.shape, shape(), key);
      } else {
        refuse("has the unknown key '", detail::text::shown(key), "'");
      }
      if (take('}')) break;
      expect(',');
    }
    skip_blanks();
    if (at_ != text_.size()) refuse("goes on after its end");
    if (!header.code || !header.fortran_order || !header.shape) {
      refuse("lacks one of descr, fortran_order and shape");
    }
    return header;
  }

 private:
  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail(name_, ": the header of the array ", parts..., "; save it again with numpy.save");
  }
  template <class T>
  void set(std::optional<T>& field, T value, const std::string& key) const {
    if (field) refuse("names ", key, " twice");
    field = std::move(value);
  }
  void skip_blanks() {
    while (at_ < text_.size() && (detail::text::is_blank(text_[at_]) || text_[at_] == '\n')) ++at_;
  }
  bool take(char wanted) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void expect(char wanted) {
    if (!take(wanted)) refuse("lacks a ", wanted, " at character ", at_);
  }
  std::string string() {
    skip_blanks();
    const char quote = take('\'') ? '\'' : '"';
    if (quote == '"') expect('"');
    const std::size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) refuse("has a string without end");
    const std::string_view found = text_.substr(at_, end - at_);
    at_ = end + 1;
    return std::string(found);
  }
  bool boolean() {
    skip_blanks();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return value;
    }
    refuse("has neither True nor False at character ", at_);
  }
  std::vector<std::int64_t> shape() {
    std::vector<std::int64_t> sizes;
    expect('(');
    while (!take(')')) {
      skip_blanks();
      std::int64_t size = 0;
      const char* first = text_.data() + at_;
      const auto [stopped, error] = std::from_chars(first, text_.data() + text_.size(), size);
      if (error != std::errc() || size < 0) refuse("has no size at character ", at_);
      at_ += static_cast<std::size_t>(stopped - first);
      sizes.push_back(size);
      if (sizes.size() > kMostDimensions) refuse("has more than ", kMostDimensions, " dimensions");
      if (take(')')) break;
      expect(',');
    }
    return sizes;
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0;
};

/// The product of the sizes, or nothing where it passes `most`.
std::optional<std::int64_t> product(std::span<const std::int64_t> shape, std::int64_t most) {
  const auto least = std::min_element(shape.begin(), shape.end());
  if (least != shape.end() && *least < 0) return std::nullopt;
  // A zero makes the array empty, however large its other sizes.
  if (least != shape.end() && *least == 0) return 0;
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    if (size > most / count) return std::nullopt;
    count *= size;
  }
  return count;
}

std::string header_text(std::string_view code, std::span<const std::int64_t> shape) {
  std::string sizes;
  for (const std::int64_t size : shape) sizes += std::to_string(size) + ", ";
  if (shape.size() > 1) sizes.resize(sizes.size() - 2);
  if (shape.size() == 1) sizes.pop_back();
  std::string text =
      "{'descr': '" + std::string(code) + "', 'fortran_order': False, 'shape': (" + sizes + "), }";
  const std::size_t used = kPrefixBytes + text.size() + 1;
  text.append((kAlignment - used % kAlignment) % kAlignment, ' ');
  return text + "\n";
}

NpyHeader read_header(FileReader& source) {
  std::byte prefix[kPrefixBytes];
  const bool whole = source.read_some(prefix, kPrefixBytes) == kPrefixBytes;
  require(whole && std::memcmp(prefix, kMagic.data(), kMagic.size()) == 0, source.name(),
          ": is not a NumPy file; numpy.save writes one");
  const auto at = [&](std::size_t i) { return std::to_integer<unsigned>(prefix[i]); };
  require(
      at(6) == 1 && at(7) == 0, source.name(), ": is NPY version ", at(6), ".", at(7),
      ", only 1.0 is read; numpy.lib.format.write_array(file, array, version=(1, 0)) writes it");
  const std::size_t bytes = at(8) + 256 * at(9);
  const std::span<const std::byte> text = source.peek(bytes);
  require(text.size() == bytes, source.name(), ": ends within its header of ", bytes, " bytes");
  const NpyHeader header =
      HeaderParser({reinterpret_cast<const char*>(text.data()), bytes}, source.name()).parse();
  source.skip(static_cast<std::int64_t>(bytes));
  return header;
}

template <class T>
void check_type(const std::string& code, const std::string& name) {
  using Type = NumberType<T>;
  // For single bytes the order means nothing, and writers differ.
  const bool same = sizeof(T) == 1 ? code.substr(code.empty() ? 0 : 1) == Type::kCode.substr(1)
                                   : code == Type::kCode;
  require(same, name, ": holds numbers of type '", detail::text::shown(code), "', not ",
          Type::kName, " ('", Type::kCode, "'); save array.astype('", Type::kCode, "')");
}

template <class T>
NpyArray<T> read_array(FileReader& source) {
  const NpyHeader header = read_header(source);
  check_type<T>(*header.code, source.name());
  require(!*header.fortran_order, source.name(),
          ": is in Fortran order; save numpy.ascontiguousarray(array)");
  const std::int64_t remaining = source.remaining().value();
  const auto element = static_cast<std::int64_t>(sizeof(T));
  const std::optional<std::int64_t> count = product(*header.shape, remaining / element);
  require(count.has_value(), source.name(), ": its shape asks for more numbers than its ",
          remaining, " bytes hold; the file was cut short");
  require(*count * element == remaining, source.name(), ": has ", remaining - *count * element,
          " bytes after the array; one array a file is read");
  NpyArray<T> array{*header.shape, std::vector<T>(static_cast<std::size_t>(*count))};
  source.read_exactly(array.values.data(), array.values.size() * sizeof(T));
  return array;
}

}  // namespace

template <class T>
void write_npy(const std::filesystem::path& path, std::span<const T> values,
               std::span<const std::int64_t> shape) {
  const auto size = static_cast<std::int64_t>(values.size());
  const std::optional<std::int64_t> count = product(shape, size);
  require(count == size && shape.size() <= kMostDimensions, path.string(), ": ", size,
          " numbers do not fill a shape of ", shape.size(), " dimensions");
  const std::string header = header_text(NumberType<T>::kCode, shape);
  write_file_atomically(path, [&](FileWriter& file) {
    const auto length = static_cast<std::uint16_t>(header.size());
    const unsigned char rest[] = {1, 0, static_cast<unsigned char>(length & 255),
                                  static_cast<unsigned char>(length >> 8)};
    file.write(kMagic);
    file.write(rest, sizeof(rest));
    file.write(header);
    file.write(std::as_bytes(values));
  });
}

template <class T>
NpyArray<T> read_npy(const std::filesystem::path& path) {
  FileReader source(path);
  return detail::file::with_known_size(source,
                                       [](FileReader& known) { return read_array<T>(known); });
}

template <class T>
NpyArray<T> read_npy(std::span<const std::byte> file, const std::string& name) {
  FileReader source(file, name);
  return read_array<T>(source);
}

template void write_npy(const std::filesystem::path&, std::span<const float>,
                        std::span<const std::int64_t>);
template void write_npy(const std::filesystem::path&, std::span<const std::int32_t>,
                        std::span<const std::int64_t>);
template void write_npy(const std::filesystem::path&, std::span<const std::uint8_t>,
                        std::span<const std::int64_t>);
template NpyArray<float> read_npy(const std::filesystem::path&);
template NpyArray<std::int32_t> read_npy(const std::filesystem::path&);
template NpyArray<std::uint8_t> read_npy(const std::filesystem::path&);
template NpyArray<float> read_npy(std::span<const std::byte>, const std::string&);
template NpyArray<std::int32_t> read_npy(std::span<const std::byte>, const std::string&);
template NpyArray<std::uint8_t> read_npy(std::span<const std::byte>, const std::string&);

}  // namespace sextant
