// SPDX-License-Identifier: Apache-2.0
#include "sextant/library/library/database.h"

#include <cerrno>
#include <system_error>

#include "sextant/core/error.h"

namespace sextant::detail::library {

namespace {

/// How long readers and writers wait for each other, and how often they look.
constexpr int kBusy_ms = 30000;
constexpr int kLook_ms = 2;

/// SQLite's own waiting sleeps for up to 100 ms at a time, and a writer that waits for a gap
/// between readers misses most of them.
int wait_for_others(void*, int times) {
  if (times >= kBusy_ms / kLook_ms) return 0;
  sqlite3_sleep(kLook_ms);
  return 1;
}

/// Large pages suit large blobs. A rollback journal leaves one file when nobody writes. Space that
/// is given up is overwritten, so that a file depends on nothing but what was done to it. Changes
/// stay in memory until they are committed, so that readers are kept out for a moment only. The
/// schema of a file from elsewhere is not trusted.
constexpr const char* kSettings =
    "PRAGMA page_size = 16384;"
    "PRAGMA synchronous = FULL;"
    "PRAGMA secure_delete = ON;"
    "PRAGMA trusted_schema = OFF;"
    "PRAGMA cell_size_check = ON;"
    "PRAGMA foreign_keys = OFF;"
    "PRAGMA cache_spill = OFF;"
    "PRAGMA temp_store = MEMORY;";

}  // namespace

Database::Database(const std::filesystem::path& path, bool create) : name_(path.string()) {
  // An absolute path is never one of SQLite's special names (":memory:", "file:...").
  const std::string absolute = std::filesystem::absolute(path).string();
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (create ? SQLITE_OPEN_CREATE : 0);
  const int result = sqlite3_open_v2(absolute.c_str(), &handle_, flags, nullptr);
  try {
    if (result != SQLITE_OK) fail_with(result);
    sqlite3_extended_result_codes(handle_, 1);
    sqlite3_busy_handler(handle_, wait_for_others, nullptr);
    sqlite3_db_config(handle_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    run(kSettings);
  } catch (...) {
    sqlite3_close_v2(handle_);
    throw;
  }
}

Database::~Database() { sqlite3_close_v2(handle_); }

void Database::fail_with(int result) const {
  const int system = handle_ == nullptr ? errno : sqlite3_system_errno(handle_);
  const std::string reason = system == 0 ? "" : ": " + std::generic_category().message(system);
  const std::string said = handle_ == nullptr ? "no memory" : sqlite3_errmsg(handle_);
  switch (result & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      fail(name_, ": another process has been using it for ", kBusy_ms / 1000,
           " s; nothing was changed, try again when it has finished");
    case SQLITE_FULL:
      fail(name_, ": the disk is full; nothing was changed");
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      fail(name_, ": is damaged (", said,
           "); take a copy from before, or learn its objects again into a new file");
    case SQLITE_READONLY:
      if (result == SQLITE_READONLY_ROLLBACK || result == SQLITE_READONLY_RECOVERY) {
        fail(name_,
             ": the last change to it was interrupted and must be undone, but the file may "
             "not be written here; open it once where it may be");
      }
      fail(name_, ": may not be written", reason, "; nothing was changed");
    case SQLITE_CANTOPEN:
      fail(name_, ": cannot be opened, or no journal can be made beside it", reason,
           "; look at the rights of the file and its folder");
    case SQLITE_PERM:
      fail(name_, ": access is not permitted", reason);
    case SQLITE_IOERR:
      fail(name_, ": the system could not read or write it", reason, "; nothing was changed");
    case SQLITE_NOMEM:
      fail(name_, ": no memory");
    case SQLITE_TOOBIG:
      fail(name_, ": a part of an object is larger than SQLite takes");
    default:
      fail(name_, ": SQLite says: ", said);
  }
}

void Database::run(const char* sql) {
  const int result = sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr);
  if (result != SQLITE_OK) fail_with(result);
}

std::int64_t Database::number(const char* sql) {
  Statement statement(*this, sql);
  require(statement.step(), name_, ": SQLite returned nothing for ", sql);
  return statement.number(0);
}

Statement::Statement(Database& database, std::string_view sql) : database_(database) {
  check(sqlite3_prepare_v2(database.handle(), sql.data(), static_cast<int>(sql.size()), &statement_,
                           nullptr));
}

void Statement::check(int result) const {
  if (result != SQLITE_OK) database_.fail_with(result);
}

void Statement::bind(int parameter, std::int64_t number) {
  check(sqlite3_bind_int64(statement_, parameter, number));
}

void Statement::bind(int parameter, std::string_view text) {
  check(sqlite3_bind_text64(statement_, parameter, text.data(), text.size(), SQLITE_STATIC,
                            SQLITE_UTF8));
}

void Statement::bind(int parameter, std::span<const std::byte> blob) {
  check(sqlite3_bind_blob64(statement_, parameter, blob.data(), blob.size(), SQLITE_STATIC));
}

bool Statement::step() {
  const int result = sqlite3_step(statement_);
  if (result == SQLITE_ROW) return true;
  if (result != SQLITE_DONE) database_.fail_with(result);
  return false;
}

void Statement::reset() { sqlite3_reset(statement_); }

std::string Statement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::span<const std::byte> Statement::blob(int column) const {
  const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(statement_, column));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

Transaction::Transaction(Database& database, Kind kind) : database_(database) {
  database.run(kind == Kind::kWrite ? "BEGIN IMMEDIATE" : "BEGIN");
}

Transaction::~Transaction() {
  if (!open_) return;
  // After some failures SQLite has already rolled back, and this finds nothing to do.
  sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  database_.run("COMMIT");
  open_ = false;
}

}  // namespace sextant::detail::library
