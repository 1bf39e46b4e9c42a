// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "sextant/core/progress.h"
#include "sextant/io/file.h"

namespace sextant::detail::file {

/// Calls `read(FileReader&)` with a reader whose size is known: what a header claims can then be
/// checked against the bytes there are. A pipe is read to its end first.
template <class Read>
auto with_known_size(FileReader& source, const Read& read) {
  if (source.size()) return read(source);
  std::vector<std::byte> bytes;
  std::size_t used = 0;
  do {
    bytes.resize(std::max<std::size_t>(2 * bytes.size(), std::size_t{1} << 16));
    used += source.read_some(bytes.data() + used, bytes.size() - used);
  } while (used == bytes.size());
  FileReader in_memory(std::span<const std::byte>(bytes.data(), used), source.name());
  return read(in_memory);
}

/// Text editors of some systems put this before a text: U+FEFF in UTF-8.
inline constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// Passes over such a mark where the source begins with one.
inline void skip_byte_order_mark(FileReader& source) {
  const auto start = source.peek(kByteOrderMark.size());
  if (std::string_view(reinterpret_cast<const char*>(start.data()), start.size()) ==
      kByteOrderMark) {
    source.skip(static_cast<std::int64_t>(kByteOrderMark.size()));
  }
}

/// Everything that a source of known size has left, as text; valid until the next call on it.
inline std::string_view remaining_text(FileReader& source) {
  const auto bytes = source.peek(static_cast<std::size_t>(source.remaining().value()));
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Reports progress in bytes, every few megabytes.
class ReadProgress {
 public:
  ReadProgress(const Progress& progress, std::int64_t total) : progress_(progress), total_(total) {
    if (progress_) next_ = 0;
    at(0);
  }
  /// Throws Cancelled when the caller wants to stop. Costs a comparison most of the time.
  void at(std::int64_t done) {
    if (done < next_) return;
    report(progress_, done, total_);
    next_ = done + kStepBytes;
  }
  void finish() { report(progress_, total_, total_); }

 private:
  static constexpr std::int64_t kStepBytes = 4 << 20;

  const Progress& progress_;
  std::int64_t total_;
  std::int64_t next_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace sextant::detail::file
