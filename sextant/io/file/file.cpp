// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "sextant/core/error.h"
#include "sextant/io/file/pipe.h"
#include "sextant/io/file/system.h"

namespace sextant {

using detail::file::allocate;
using detail::file::kLargestTransferBytes;
using detail::file::open_retrying;
using detail::file::reason;

FileReader::FileReader(const std::filesystem::path& path) : name_(path.string()) {
  if (const auto kept = detail::file::kept_bytes(path)) {
    memory_ = *kept;
    size_ = static_cast<std::int64_t>(kept->size());
    return;
  }
  const int descriptor = open_retrying(path, O_RDONLY);
  require(descriptor >= 0, name_, ": cannot be opened: ", reason(errno));
  struct stat status {};
  const bool known = ::fstat(descriptor, &status) == 0;
  if (known && S_ISDIR(status.st_mode)) {
    ::close(descriptor);
    fail(name_, ": is a folder, not a file");
  }
  descriptor_ = descriptor;
  // Files that the kernel makes up (/proc) say 0 and have content all the same.
  if (known && S_ISREG(status.st_mode) && status.st_size > 0) size_ = status.st_size;
}

FileReader::FileReader(std::span<const std::byte> bytes, std::string name)
    : name_(std::move(name)), memory_(bytes), size_(static_cast<std::int64_t>(bytes.size())) {}

FileReader::~FileReader() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::optional<std::int64_t> FileReader::remaining() const {
  if (!size_) return std::nullopt;
  return std::max<std::int64_t>(0, *size_ - position_);
}

/// Reads past what was read ahead; returns fewer bytes than asked for only at the end.
std::size_t FileReader::read_source(std::byte* to, std::size_t bytes) {
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got =
        ::read(descriptor_, to + done, std::min(bytes - done, kLargestTransferBytes));
    if (got < 0 && errno == EINTR) continue;
    require(got >= 0, name_, ": cannot be read: ", reason(errno));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

std::span<const std::byte> FileReader::peek(std::size_t bytes) {
  if (descriptor_ < 0) {
    const std::span<const std::byte> rest = memory_.subspan(static_cast<std::size_t>(position_));
    return rest.first(std::min(bytes, rest.size()));
  }
  if (ahead_size_ < bytes) {
    if (ahead_capacity_ < bytes) {
      auto larger = allocate(bytes, name_);
      if (ahead_size_ > 0) std::memcpy(larger.get(), ahead_.get() + ahead_first_, ahead_size_);
      ahead_ = std::move(larger);
      ahead_capacity_ = bytes;
    } else if (ahead_size_ > 0) {
      std::memmove(ahead_.get(), ahead_.get() + ahead_first_, ahead_size_);
    }
    ahead_first_ = 0;
    ahead_size_ += read_source(ahead_.get() + ahead_size_, bytes - ahead_size_);
  }
  return {ahead_.get() + ahead_first_, std::min(bytes, ahead_size_)};
}

/// Moves on over bytes that `peek` has shown.
void FileReader::consume(std::size_t bytes) {
  if (descriptor_ >= 0) {
    ahead_first_ += bytes;
    ahead_size_ -= bytes;
  }
  position_ += static_cast<std::int64_t>(bytes);
}

void FileReader::skip(std::int64_t bytes) {
  constexpr std::int64_t kPieceBytes = 1 << 16;
  while (bytes > 0) {
    const std::size_t piece = static_cast<std::size_t>(std::min(bytes, kPieceBytes));
    const std::size_t got = peek(piece).size();
    consume(got);
    require(got == piece, name_, ": ends after ", position_, " bytes, ",
            bytes - static_cast<std::int64_t>(got), " too early");
    bytes -= static_cast<std::int64_t>(piece);
  }
}

std::size_t FileReader::read_some(void* to, std::size_t bytes) {
  std::byte* out = static_cast<std::byte*>(to);
  const std::size_t at_hand = descriptor_ < 0 ? bytes : std::min(bytes, ahead_size_);
  const std::span<const std::byte> first = peek(at_hand);
  if (!first.empty()) std::memcpy(out, first.data(), first.size());
  consume(first.size());
  if (descriptor_ < 0 || first.size() == bytes) return first.size();
  const std::size_t rest = read_source(out + first.size(), bytes - first.size());
  position_ += static_cast<std::int64_t>(rest);
  return first.size() + rest;
}

void FileReader::read_exactly(void* to, std::size_t bytes) {
  const std::size_t got = read_some(to, bytes);
  require(got == bytes, name_, ": ends after ", position_, " bytes, ", bytes - got, " too early");
}

FileBytes read_file(const std::filesystem::path& path, std::int64_t max_bytes) {
  FileReader reader(path);
  const auto check = [&](std::int64_t bytes) {
    require(bytes <= max_bytes, reader.name(), ": is longer than the ", max_bytes,
            " bytes that such a file may have");
  };
  check(reader.size().value_or(0));
  // One byte more than the file should have shows its end without another round.
  std::size_t capacity = static_cast<std::size_t>(reader.size().value_or(65535)) + 1;
  std::unique_ptr<std::byte[]> data = allocate(capacity, reader.name());
  std::size_t size = 0;
  while (true) {
    size += reader.read_some(data.get() + size, capacity - size);
    check(static_cast<std::int64_t>(size));
    if (size < capacity) break;
    capacity *= 2;
    auto larger = allocate(capacity, reader.name());
    std::memcpy(larger.get(), data.get(), size);
    data = std::move(larger);
  }
  return FileBytes(std::move(data), size);
}

}  // namespace sextant
