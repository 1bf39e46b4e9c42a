// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace sextant::detail::library {

/// A connection to a SQLite file. Every failure is an Error that names the file, says what is wrong
/// in a user's words, and what to do about it.
class Database {
 public:
  /// Opens the file as it is, or makes it when it is not there and `create` says so.
  Database(const std::filesystem::path& path, bool create);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  const std::string& name() const { return name_; }
  sqlite3* handle() const { return handle_; }

  /// Runs statements that return no rows.
  void run(const char* sql);
  /// The number that a statement returns in its first row.
  std::int64_t number(const char* sql);
  /// Throws the Error for a result code of SQLite.
  [[noreturn]] void fail_with(int result) const;

 private:
  std::string name_;
  sqlite3* handle_ = nullptr;
};

/// A statement and its rows.
class Statement {
 public:
  Statement(Database& database, std::string_view sql);
  ~Statement() { sqlite3_finalize(statement_); }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  /// Parameters count from 1. Texts and blobs must live until the statement is stepped.
  void bind(int parameter, std::int64_t number);
  void bind(int parameter, std::string_view text);
  void bind(int parameter, std::span<const std::byte> blob);

  /// Goes to the next row; false when there is none.
  bool step();
  /// Runs a statement that returns no rows.
  void run() {
    while (step()) {
    }
  }
  void reset();

  /// Columns count from 0. Texts and blobs are valid until the next step.
  std::int64_t number(int column) const { return sqlite3_column_int64(statement_, column); }
  std::string text(int column) const;
  std::span<const std::byte> blob(int column) const;

 private:
  void check(int result) const;

  Database& database_;
  sqlite3_stmt* statement_ = nullptr;
};

/// Everything between its making and `commit` happens or does not. Dies without commit: nothing
/// has happened.
class Transaction {
 public:
  enum class Kind { kRead, kWrite };
  Transaction(Database& database, Kind kind);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace sextant::detail::library
