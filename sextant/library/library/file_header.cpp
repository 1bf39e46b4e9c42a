// SPDX-License-Identifier: Apache-2.0
#include "sextant/library/library/file_header.h"

#include <array>
#include <cstring>
#include <string_view>

#include "sextant/core/error.h"
#include "sextant/io/file.h"

namespace sextant::detail::library {

namespace {

constexpr std::string_view kSqliteMagic("SQLite format 3\0", 16);
constexpr std::string_view kJournalMagic("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", 8);
constexpr std::size_t kHeaderBytes = 100;

using Header = std::array<unsigned char, kHeaderBytes>;

/// SQLite writes numbers with the highest byte first.
std::int32_t number_at(const Header& header, std::size_t at) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i) number = number << 8 | header[at + i];
  return static_cast<std::int32_t>(number);
}

template <std::size_t kBytes>
std::size_t first_bytes(const std::filesystem::path& path,
                        std::array<unsigned char, kBytes>& bytes) {
  FileReader reader(path);
  return reader.read_some(bytes.data(), bytes.size());
}

/// Whether a change to the file was interrupted, so that its first bytes say nothing before SQLite
/// has undone it.
bool has_journal(const std::filesystem::path& path) {
  const std::filesystem::path journal = path.string() + "-journal";
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(journal, ignored)) return false;
  std::array<unsigned char, 8> bytes{};
  return first_bytes(journal, bytes) == bytes.size() &&
         std::memcmp(bytes.data(), kJournalMagic.data(), bytes.size()) == 0;
}

}  // namespace

FileState look_at_file(const std::filesystem::path& path) {
  const std::string name = path.string();
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) return FileState::kMissing;
  require(status.type() != std::filesystem::file_type::directory, name,
          ": is a folder, not a library");
  require(status.type() == std::filesystem::file_type::regular, name,
          ": is not a plain file, as a library must be");
  Header header{};
  const std::size_t found = first_bytes(path, header);
  if (found == 0) return FileState::kEmpty;
  const bool whole = found == header.size() &&
                     std::memcmp(header.data(), kSqliteMagic.data(), kSqliteMagic.size()) == 0;
  if (!whole && has_journal(path)) return FileState::kLibrary;
  require(whole, name,
          ": is not a library of objects; 'sextant learn' makes one, under a name that is not "
          "taken yet");
  require(number_at(header, 68) == kApplicationId, name,
          ": is a SQLite file of another program, not a library of objects; give 'sextant learn' "
          "another name");
  const std::int32_t version = number_at(header, 60);
  require(version == kFormatVersion, name, ": is version ", version,
          " of the library format, this program uses version ", kFormatVersion, "; ",
          version > kFormatVersion ? "use the newer program that made it, or learn"
                                   : "use the program that made it, or learn",
          " its objects again into a new file");
  // 2 stands for a write-ahead log, which is two more files that a copy would miss.
  require(header[18] == 1 && header[19] == 1, name,
          ": another program has switched it to a write-ahead log; switch it back with: sqlite3 ",
          name, " 'PRAGMA journal_mode = DELETE'");
  return FileState::kLibrary;
}

}  // namespace sextant::detail::library
