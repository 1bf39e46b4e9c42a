// SPDX-License-Identifier: Apache-2.0
#include "sextant/io/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>
#include <system_error>

#include "sextant/core/error.h"

namespace sextant {

namespace {

constexpr std::size_t kWriteBufferBytes = std::size_t{1} << 18;
// The kernel moves at most about 2 GiB in one call; pieces of this size stay well below.
constexpr std::size_t kLargestTransferBytes = std::size_t{1} << 30;

std::string reason(int error_number) { return std::generic_category().message(error_number); }

std::unique_ptr<std::byte[]> allocate(std::size_t bytes, const std::string& name) {
  try {
    return std::make_unique_for_overwrite<std::byte[]>(bytes);
  } catch (const std::bad_alloc&) {
    fail(name, ": no memory for ", bytes, " bytes");
  }
}

int open_retrying(const std::filesystem::path& path, int flags, mode_t mode = 0) {
  int descriptor = -1;
  do {
    descriptor = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

/// Closes on the way out, whatever the way.
class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  ~Descriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return descriptor_; }
  /// Some file systems report a full disk only here.
  void close(const std::string& name) {
    const int result = ::close(descriptor_);
    descriptor_ = -1;
    require(result == 0 || errno == EINTR, name, ": cannot be written: ", reason(errno));
  }

 private:
  int descriptor_;
};

/// A new file in the folder of `target`, removed again unless it was put in place.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& target)
      : target_(target), descriptor_(create(target)) {}
  ~TemporaryFile() {
    if (!placed_) ::unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  int descriptor() const { return descriptor_.get(); }

  void put_in_place() {
    descriptor_.close(target_.string());
    if (::rename(path_.c_str(), target_.c_str()) != 0) {
      fail(target_.string(), ": cannot be replaced: ", reason(errno));
    }
    placed_ = true;
  }

 private:
  int create(const std::filesystem::path& target) {
    static std::atomic<unsigned> serial{0};
    // The name owes nothing to the target's, which may already be as long as names can be.
    const std::string stem = ".sextant-" + std::to_string(::getpid()) + "-";
    for (int attempt = 0; attempt < 1000; ++attempt) {
      path_ = target.parent_path() / (stem + std::to_string(serial++) + ".tmp");
      const int descriptor = open_retrying(path_, O_WRONLY | O_CREAT | O_EXCL, 0666);
      if (descriptor >= 0) return descriptor;
      if (errno != EEXIST) break;
    }
    fail(target.string(), ": cannot be created: ", reason(errno));
  }

  std::filesystem::path target_;
  std::filesystem::path path_;
  Descriptor descriptor_;
  bool placed_ = false;
};

void write_directly(const std::filesystem::path& path,
                    const std::function<void(FileWriter&)>& write) {
  Descriptor descriptor(open_retrying(path, O_WRONLY));
  require(descriptor.get() >= 0, path.string(), ": cannot be opened for writing: ", reason(errno));
  FileWriter writer(descriptor.get(), path.string());
  write(writer);
  writer.flush();
  descriptor.close(path.string());
}

void keep_mode(int descriptor, mode_t mode, const std::string& name) {
  struct stat status {};
  // Where every file has the same mode (FAT), changing it is refused even when nothing changes.
  if (::fstat(descriptor, &status) == 0 && status.st_mode == mode) return;
  if (::fchmod(descriptor, mode & 07777) != 0) {
    fail(name, ": its permissions cannot be kept: ", reason(errno));
  }
}

/// The file that a chain of links ends at, whether or not it exists.
std::filesystem::path follow_links(std::filesystem::path path) {
  std::error_code error;
  for (int hop = 0; hop < 40; ++hop) {
    if (!std::filesystem::is_symlink(path, error)) return path;
    const std::filesystem::path target = std::filesystem::read_symlink(path, error);
    if (error) break;
    path = path.parent_path() / target;
  }
  fail(path.string(), ": cannot be written: ", reason(ELOOP));
}

}  // namespace

FileReader::FileReader(const std::filesystem::path& path) : name_(path.string()) {
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

FileWriter::FileWriter(int descriptor, std::string name)
    : descriptor_(descriptor),
      name_(std::move(name)),
      buffer_(allocate(kWriteBufferBytes, name_)) {}

void FileWriter::write_through(const std::byte* from, std::size_t bytes) {
  while (bytes > 0) {
    const ssize_t put = ::write(descriptor_, from, std::min(bytes, kLargestTransferBytes));
    if (put < 0 && errno == EINTR) continue;
    require(put >= 0, name_, ": cannot be written: ", reason(errno));
    from += put;
    bytes -= static_cast<std::size_t>(put);
  }
}

void FileWriter::write(const void* from, std::size_t bytes) {
  if (bytes == 0) return;
  if (bytes > kWriteBufferBytes - used_) flush();
  if (bytes >= kWriteBufferBytes) {
    write_through(static_cast<const std::byte*>(from), bytes);
    return;
  }
  std::memcpy(buffer_.get() + used_, from, bytes);
  used_ += bytes;
}

void FileWriter::flush() {
  write_through(buffer_.get(), used_);
  used_ = 0;
}

void write_file_atomically(const std::filesystem::path& path,
                           const std::function<void(FileWriter&)>& write) {
  const std::filesystem::path target = follow_links(path);
  struct stat status {};
  const bool exists = ::stat(target.c_str(), &status) == 0;
  if (exists) {
    require(!S_ISDIR(status.st_mode), path.string(), ": is a folder, not a file");
    if (!S_ISREG(status.st_mode)) return write_directly(target, write);
    if (::access(target.c_str(), W_OK) != 0) {
      fail(path.string(), ": cannot be written: ", reason(errno));
    }
  }
  TemporaryFile temporary(target);
  FileWriter writer(temporary.descriptor(), path.string());
  write(writer);
  writer.flush();
  if (exists) keep_mode(temporary.descriptor(), status.st_mode, path.string());
  temporary.put_in_place();
}

void write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  write_file_atomically(path, [&](FileWriter& writer) { writer.write(bytes); });
}

}  // namespace sextant
