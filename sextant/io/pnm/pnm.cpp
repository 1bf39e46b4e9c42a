// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/pnm.h"

#include "sextant/io/file.h"
#include "sextant/io/text/scanner.h"

namespace sextant {

namespace {

struct Header {
  bool text = false;
  int channels = 1;
  std::int64_t width = 0;
  std::int64_t height = 0;
  int most = 0;                        ///< the value of white
  std::span<const std::byte> numbers;  ///< what follows the header

  int bytes() const { return most > 255 ? 2 : 1; }
  std::int64_t count() const { return width * height * channels; }
};

bool is_space(std::byte b) { return b == std::byte{'\n'} || detail::text::is_blank(char(b)); }

/// Takes the white space and comments before the next word.
void skip_space(std::span<const std::byte>& left) {
  bool comment = false;
  while (!left.empty() && (comment || is_space(left[0]) || left[0] == std::byte{'#'})) {
    comment = left[0] == std::byte{'#'} || (comment && left[0] != std::byte{'\n'});
    left = left.subspan(1);
  }
}

/// The next whole number, at most `most`.
std::int64_t take_number(std::span<const std::byte>& left, std::int64_t most, const char* what,
                         const std::string& name) {
  skip_space(left);
  const std::span<const std::byte> word = left;
  std::int64_t number = 0;
  while (!left.empty() && left[0] >= std::byte{'0'} && left[0] <= std::byte{'9'}) {
    number = number * 10 + (std::to_integer<int>(left[0]) - '0');
    require(number <= most, name, ": its ", what, " is above ", most);
    left = left.subspan(1);
  }
  require(left.size() < word.size(), name, ": ", left.empty() ? "ends before its " : "has no ",
          what, left.empty() ? "" : " where one is expected");
  require(left.empty() || is_space(left[0]) || left[0] == std::byte{'#'}, name, ": its ", what,
          " is not a whole number");
  return number;
}

Header read_header(std::span<const std::byte> file, const std::string& name) {
  require(is_pnm(file), name, ": is not a PGM or PPM file");
  Header header;
  const char kind = static_cast<char>(file[1]);
  header.text = kind == '2' || kind == '3';
  header.channels = kind == '3' || kind == '6' ? 3 : 1;
  std::span<const std::byte> left = file.subspan(2);
  header.width = take_number(left, 1 << 30, "width", name);
  header.height = take_number(left, 1 << 30, "height", name);
  header.most = static_cast<int>(take_number(left, 65535, "largest value", name));
  require(header.most > 0, name, ": its largest value is 0");
  check_image_size(name, header.width, header.height);
  require(!left.empty(), name, ": ends after its header");
  header.numbers = left.subspan(1);  // exactly one white space
  return header;
}

/// Another image, or nothing but white space, may follow the first.
void check_rest(std::span<const std::byte> rest, const std::string& name) {
  skip_space(rest);
  require(rest.empty() || rest[0] == std::byte{'P'}, name, ": goes on for ", rest.size(),
          " bytes after its last pixel; its header does not fit it");
}

/// Calls `take(i, number)` with each number, row by row.
template <class Take>
void read_numbers(const Header& header, const std::string& name, const Take& take) {
  const std::int64_t count = header.count();
  const auto bytes = static_cast<std::int64_t>(header.numbers.size());
  std::span<const std::byte> left = header.numbers;
  const std::int64_t least = header.text ? 2 * count - 1 : count * header.bytes();
  require(bytes >= least, name, ": ", header.width, " x ", header.height, " pixels need ", least,
          " bytes, but ", bytes, " are left");
  for (std::int64_t i = 0; i < count; ++i) {
    int number = 0;
    if (header.text) {
      number = static_cast<int>(take_number(left, 65535, "pixel", name));
    } else {
      number = std::to_integer<int>(left[0]);
      if (header.bytes() == 2) number = number << 8 | std::to_integer<int>(left[1]);
      left = left.subspan(static_cast<std::size_t>(header.bytes()));
    }
    if (number > header.most) [[unlikely]] {
      fail(name, ": pixel (", i / header.channels % header.width, ", ",
           i / header.channels / header.width, ") is ", number,
           ", above the largest value of the header, ", header.most);
    }
    take(i, number);
  }
  check_rest(left, name);
}

}  // namespace

bool is_pnm(std::span<const std::byte> file) {
  if (file.size() < 3 || file[0] != std::byte{'P'}) return false;
  const char kind = static_cast<char>(file[1]);
  return (kind == '2' || kind == '3' || kind == '5' || kind == '6') &&
         (is_space(file[2]) || file[2] == std::byte{'#'});
}

ImageInfo pnm_info(std::span<const std::byte> file, const std::string& name) {
  const Header header = read_header(file, name);
  return {.format = header.channels == 1 ? ImageFormat::kPgm : ImageFormat::kPpm,
          .width = static_cast<int>(header.width),
          .height = static_cast<int>(header.height),
          .channels = header.channels,
          .bit_depth = 8 * header.bytes()};
}

Image<std::uint16_t> read_grey16_pgm(std::span<const std::byte> file, const std::string& name) {
  const Header header = read_header(file, name);
  require(header.channels == 1 && header.bytes() == 2, name, ": is a ",
          header.channels == 1 ? "PGM of " : "PPM of ", 8 * header.bytes(),
          " bits; a depth map is a PGM of 16 bits");
  Image<std::uint16_t> image(Context::cpu(1), static_cast<int>(header.width),
                             static_cast<int>(header.height));
  const std::span<std::uint16_t> to = image.pixels().host();
  read_numbers(header, name, [&](std::int64_t i, int number) {
    to[static_cast<std::size_t>(i)] = static_cast<std::uint16_t>(number);
  });
  return image;
}

Image<Rgb8> read_pnm(std::span<const std::byte> file, const std::string& name) {
  const Header header = read_header(file, name);
  Image<Rgb8> image(Context::cpu(1), static_cast<int>(header.width),
                    static_cast<int>(header.height));
  const std::span<Rgb8> to = image.pixels().host();
  read_numbers(header, name, [&](std::int64_t i, int number) {
    const auto shade = static_cast<std::uint8_t>((number * 255 + header.most / 2) / header.most);
    if (header.channels == 1) {
      to[static_cast<std::size_t>(i)] = {shade, shade, shade};
    } else {
      Rgb8& pixel = to[static_cast<std::size_t>(i / 3)];
      (i % 3 == 0 ? pixel.x : i % 3 == 1 ? pixel.y : pixel.z) = shade;
    }
  });
  return image;
}

Image<Rgb8> read_pnm(const std::filesystem::path& path) {
  return read_pnm(read_file(path, kMaxImageFileBytes), path.string());
}

std::vector<std::byte> encode_pgm(ImageView<const std::uint16_t> image, const std::string& name) {
  check_writable(name, image);
  const std::string header =
      "P5\n" + std::to_string(image.width) + " " + std::to_string(image.height) + "\n65535\n";
  const auto start = std::as_bytes(std::span(header.data(), header.size()));
  std::vector<std::byte> file(start.begin(), start.end());
  for (int v = 0; v < image.height; ++v) {
    for (int u = 0; u < image.width; ++u) {
      file.push_back(std::byte(image(u, v) >> 8));
      file.push_back(std::byte(image(u, v) & 255));
    }
  }
  return file;
}

}  // namespace sextant
