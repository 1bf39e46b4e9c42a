// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <set>

#include "sextant/core/error.h"
#include "sextant/io/file.h"
#include "sextant/io/file/system.h"

namespace sextant {

using detail::file::allocate;
using detail::file::kLargestTransferBytes;
using detail::file::open_retrying;
using detail::file::reason;

namespace {

constexpr std::size_t kWriteBufferBytes = std::size_t{1} << 18;

/// The temporary files of all writes that are going on, in every thread.
struct UnfinishedFiles {
  std::mutex mutex;  ///< held while one comes into being, is put in place or is removed
  std::set<std::filesystem::path> paths;
  unsigned serial = 0;  ///< so that each has a name of its own
};

/// Lives as long as the process, because a thread may still write while others end it.
UnfinishedFiles& unfinished() {
  static UnfinishedFiles& all = *new UnfinishedFiles;
  return all;
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
    const std::lock_guard lock(unfinished().mutex);
    if (unfinished().paths.erase(path_) > 0) ::unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  int descriptor() const { return descriptor_.get(); }

  void put_in_place() {
    descriptor_.close(target_.string());
    const std::lock_guard lock(unfinished().mutex);
    if (::rename(path_.c_str(), target_.c_str()) != 0) {
      fail(target_.string(), ": cannot be replaced: ", reason(errno));
    }
    unfinished().paths.erase(path_);
  }

 private:
  int create(const std::filesystem::path& target) {
    // The name owes nothing to the target's, which may already be as long as names can be.
    const std::string stem = ".sextant-" + std::to_string(::getpid()) + "-";
    const std::lock_guard lock(unfinished().mutex);
    for (int attempt = 0; attempt < 1000; ++attempt) {
      path_ = target.parent_path() / (stem + std::to_string(unfinished().serial++) + ".tmp");
      const int descriptor = open_retrying(path_, O_WRONLY | O_CREAT | O_EXCL, 0666);
      if (descriptor >= 0) {
        unfinished().paths.insert(path_);
        return descriptor;
      }
      if (errno != EEXIST) break;
    }
    fail(target.string(), ": cannot be created: ", reason(errno));
  }

  std::filesystem::path target_;
  std::filesystem::path path_;
  Descriptor descriptor_;
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

/// Where the bytes for a path go.
struct Target {
  std::filesystem::path path;       ///< links are followed
  bool direct = false;              ///< a pipe or device, which is written as it is
  std::optional<mode_t> mode = {};  ///< of the file that is there
};

/// Error when the system would refuse to write there.
Target target_of(const std::filesystem::path& path) {
  Target target{follow_links(path)};
  struct stat status {};
  if (::stat(target.path.c_str(), &status) == 0) {
    require(!S_ISDIR(status.st_mode), path.string(), ": is a folder, not a file");
    if (::access(target.path.c_str(), W_OK) != 0) {
      fail(path.string(), ": cannot be written: ", reason(errno));
    }
    target.direct = !S_ISREG(status.st_mode);
    target.mode = status.st_mode;
    if (target.direct) return target;
  }
  const std::filesystem::path parent = target.path.parent_path();
  const std::filesystem::path folder = parent.empty() ? "." : parent;
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    fail(path.string(), ": cannot be created in the folder ", folder.string(), ": ", reason(errno));
  }
  return target;
}

}  // namespace

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

void check_writable(const std::filesystem::path& path) { target_of(path); }

void write_file_atomically(const std::filesystem::path& path,
                           const std::function<void(FileWriter&)>& write) {
  const Target target = target_of(path);
  if (target.direct) return write_directly(target.path, write);
  TemporaryFile temporary(target.path);
  FileWriter writer(temporary.descriptor(), path.string());
  write(writer);
  writer.flush();
  if (target.mode) keep_mode(temporary.descriptor(), *target.mode, path.string());
  temporary.put_in_place();
}

void write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  write_file_atomically(path, [&](FileWriter& writer) { writer.write(bytes); });
}

std::unique_lock<std::mutex> remove_unfinished_files() {
  std::unique_lock lock(unfinished().mutex);
  for (const std::filesystem::path& path : unfinished().paths) ::unlink(path.c_str());
  unfinished().paths.clear();
  return lock;
}

}  // namespace sextant
