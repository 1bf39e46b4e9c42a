// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sextant {

/// Owns the bytes of a whole file.
class FileBytes {
 public:
  FileBytes() = default;
  FileBytes(std::unique_ptr<std::byte[]> data, std::size_t size)
      : data_(std::move(data)), size_(size) {}

  const std::byte* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  std::span<const std::byte> span() const { return {data_.get(), size_}; }
  operator std::span<const std::byte>() const { return span(); }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_.get()), size_}; }

 private:
  std::unique_ptr<std::byte[]> data_;
  std::size_t size_ = 0;
};

/// Reads a file, a pipe or bytes in memory from front to back. Every failure is an Error that names
/// the source and the system's reason; a file that shrinks meanwhile is an early end, not a crash.
class FileReader {
 public:
  /// Opens for reading; a missing or unreadable file and a directory are refused.
  explicit FileReader(const std::filesystem::path& path);
  /// Reads from memory, which must outlive the reader; `name` stands for the file in messages.
  FileReader(std::span<const std::byte> bytes, std::string name);
  ~FileReader();
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  const std::string& name() const { return name_; }
  /// Counts the bytes from the first to the last; unknown for pipes and other files without a size.
  std::optional<std::int64_t> size() const { return size_; }
  /// Counts the bytes consumed so far.
  std::int64_t position() const { return position_; }
  /// Counts the bytes not consumed yet, where the size is known. What a header claims is checked
  /// against this before memory is set aside for it.
  std::optional<std::int64_t> remaining() const;

  /// Shows the next bytes without consuming them: as many as asked for, and fewer only at the end.
  /// They are valid until the next call. It takes a buffer of that size when reading from a file.
  std::span<const std::byte> peek(std::size_t bytes);
  /// Consumes bytes; throws Error when there are fewer.
  void skip(std::int64_t bytes);
  /// Fills `to` as far as there are bytes and says how many there were. Large reads go straight to
  /// their destination.
  std::size_t read_some(void* to, std::size_t bytes);
  /// Fills `to`, or throws the Error "ends after N bytes".
  void read_exactly(void* to, std::size_t bytes);

 private:
  std::size_t read_source(std::byte* to, std::size_t bytes);
  void consume(std::size_t bytes);

  std::string name_;
  int descriptor_ = -1;
  std::span<const std::byte> memory_;
  std::optional<std::int64_t> size_;
  std::int64_t position_ = 0;
  std::unique_ptr<std::byte[]> ahead_;  ///< bytes read from the file but not consumed
  std::size_t ahead_capacity_ = 0;
  std::size_t ahead_first_ = 0;
  std::size_t ahead_size_ = 0;
};

/// Reads a pipe to its end and keeps what it held while the program runs: every later reader of the
/// same path gets it from the front. Does nothing for other files. For programs that look at an
/// input before they read it.
void keep_pipe(const std::filesystem::path& path);

/// The whole of a file or pipe. Error when it is longer than `max_bytes`.
FileBytes read_file(const std::filesystem::path& path,
                    std::int64_t max_bytes = std::numeric_limits<std::int64_t>::max());

/// Collects what is written and passes it on in large pieces; throws Error when the system refuses
/// some.
class FileWriter {
 public:
  FileWriter(int descriptor, std::string name);
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  void write(const void* from, std::size_t bytes);
  void write(std::span<const std::byte> bytes) { write(bytes.data(), bytes.size()); }
  void write(std::string_view text) { write(text.data(), text.size()); }
  /// Hands everything to the system; what is not flushed when the writer dies is lost.
  void flush();

 private:
  void write_through(const std::byte* from, std::size_t bytes);

  int descriptor_;
  std::string name_;
  std::unique_ptr<std::byte[]> buffer_;
  std::size_t used_ = 0;
};

/// Writes a new file beside `path` and puts it in place when `write` has returned: a reader sees
/// the old file or the whole new one, and when anything throws, the old one stays and nothing is
/// left over. Links are followed and an existing file keeps its permissions. A pipe or device
/// (/dev/null) is written directly.
void write_file_atomically(const std::filesystem::path& path,
                           const std::function<void(FileWriter&)>& write);
void write_file_atomically(const std::filesystem::path& path, std::span<const std::byte> bytes);

/// Throws the Error that write_file_atomically would meet at once: a folder that is not there, a
/// place where this process may not write, a folder of that name. Writes nothing.
void check_writable(const std::filesystem::path& path);

/// For a program that is about to end by a signal: removes what the writes that are going on, in
/// any thread, have written so far. While the lock that it returns lives, no write begins and none
/// puts its file in place; one that goes on afterwards fails. Not for use inside a signal handler.
[[nodiscard]] std::unique_lock<std::mutex> remove_unfinished_files();

}  // namespace sextant
