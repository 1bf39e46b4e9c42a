// SPDX-License-Identifier: Apache-2.0
#include "sextant/library/library/rows.h"

#include <zlib.h>

#include "sextant/core/options_json.h"
#include "sextant/library/library/file_header.h"

namespace sextant::detail::library {

namespace {

constexpr const char* kObjectTable =
    "CREATE TABLE object (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, about TEXT NOT NULL, "
    "crc32 INTEGER NOT NULL) STRICT";
constexpr const char* kPartTable =
    "CREATE TABLE part (id INTEGER PRIMARY KEY, object INTEGER NOT NULL, kind TEXT NOT NULL, "
    "bytes INTEGER NOT NULL, crc32 INTEGER NOT NULL, data BLOB NOT NULL, "
    "UNIQUE (object, kind)) STRICT";

std::int64_t checksum(std::span<const std::byte> bytes) {
  return static_cast<std::int64_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}
/// Of a row of objects: of the name, a zero and the text.
std::int64_t checksum(const std::string& name, const std::string& about) {
  const std::string both = name + std::string(1, '\0') + about;
  return checksum(std::as_bytes(std::span(both)));
}

#define SEXTANT_ENTRIES         \
  "SELECT name, about, crc32, " \
  "(SELECT COALESCE(SUM(bytes), 0) FROM part WHERE object = object.id) FROM object "
constexpr const char* kAllEntries = SEXTANT_ENTRIES "ORDER BY id";
constexpr const char* kOneEntry = SEXTANT_ENTRIES "WHERE name = ?";
#undef SEXTANT_ENTRIES

/// The entry of the row that the statement stands at.
ObjectEntry read_entry(const Statement& statement, const std::string& file) {
  const std::string name = statement.text(0);
  const std::string where = file + ", " + shown(name);
  const std::string about = statement.text(1);
  require(checksum(name, about) == statement.number(2), where,
          ": what is said of it is damaged; learn it again");
  ObjectEntry entry = entry_of(name, about, where);
  entry.stored_bytes = statement.number(3) + static_cast<std::int64_t>(about.size());
  return entry;
}

}  // namespace

bool has_tables(Database& database) {
  return database.number("SELECT COUNT(*) FROM sqlite_schema") > 0;
}

void make_tables(Database& database) {
  database.run(kObjectTable);
  database.run(kPartTable);
  static_assert(kApplicationId == 1398297676 && kFormatVersion == 1);
  database.run("PRAGMA application_id = 1398297676; PRAGMA user_version = 1");
}

void check_tables(Database& database) {
  Statement statement(database,
                      "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name");
  std::vector<std::string> found;
  while (statement.step()) found.push_back(statement.text(0));
  const bool right = found == std::vector<std::string>{kObjectTable, kPartTable};
  require(right, database.name(),
          ": its tables are not those of a library; take a copy from before, or learn its objects "
          "again into a new file");
}

std::optional<std::int64_t> find_object(Database& database, const std::string& name) {
  Statement statement(database, "SELECT id FROM object WHERE name = ?");
  statement.bind(1, name);
  if (!statement.step()) return std::nullopt;
  return statement.number(0);
}

void fail_missing(const std::string& file, const std::string& name) {
  fail(file, ": has no object ", shown(name), "; 'sextant library list' says which there are");
}

std::int64_t require_object(Database& database, const std::string& name) {
  const std::optional<std::int64_t> id = find_object(database, name);
  if (!id) fail_missing(database.name(), name);
  return *id;
}

void delete_parts(Database& database, std::int64_t id) {
  Statement statement(database, "DELETE FROM part WHERE object = ?");
  statement.bind(1, id);
  statement.run();
}

void delete_object(Database& database, std::int64_t id) {
  Statement statement(database, "DELETE FROM object WHERE id = ?");
  statement.bind(1, id);
  statement.run();
}

std::int64_t write_object(Database& database, const std::string& name, const std::string& about) {
  Statement statement(database,
                      "INSERT INTO object (name, about, crc32) VALUES (?, ?, ?) ON CONFLICT (name) "
                      "DO UPDATE SET about = excluded.about, crc32 = excluded.crc32");
  statement.bind(1, name);
  statement.bind(2, about);
  statement.bind(3, checksum(name, about));
  statement.run();
  return require_object(database, name);
}

void write_part(Database& database, std::int64_t id, const StoredPart& part) {
  Statement statement(database,
                      "INSERT INTO part (object, kind, bytes, crc32, data) VALUES (?, ?, ?, ?, ?)");
  statement.bind(1, id);
  statement.bind(2, name_of(part.kind));
  statement.bind(3, static_cast<std::int64_t>(part.blob.size()));
  statement.bind(4, checksum(part.blob));
  statement.bind(5, std::span<const std::byte>(part.blob));
  statement.run();
}

ObjectEntry read_entry(Database& database, const std::string& name) {
  Statement statement(database, kOneEntry);
  statement.bind(1, name);
  if (!statement.step()) fail_missing(database.name(), name);
  return read_entry(statement, database.name());
}

namespace {

LearnedObject object_of(const ObjectEntry& entry) {
  LearnedObject object;
  object.name = entry.name;
  object.bop_id = entry.bop_id;
  object.source = entry.source;
  object.diameter_m = entry.diameter_m;
  object.shape_symmetries = entry.shape_symmetries;
  object.appearance_symmetries = entry.appearance_symmetries;
  return object;
}

/// The blob of a part, whose checksum is right; nothing where there is no such part.
std::optional<std::vector<std::byte>> read_blob(Database& database, std::int64_t id, PartKind kind,
                                                const std::string& where) {
  Statement statement(database, "SELECT crc32, data FROM part WHERE object = ? AND kind = ?");
  statement.bind(1, id);
  statement.bind(2, name_of(kind));
  if (!statement.step()) return std::nullopt;
  const auto blob = statement.blob(1);
  require(checksum(blob) == statement.number(0), where, ": is damaged; learn the object again");
  return std::vector<std::byte>(blob.begin(), blob.end());
}

}  // namespace

std::vector<ObjectEntry> read_entries(Database& database) {
  std::vector<ObjectEntry> entries;
  Statement statement(database, kAllEntries);
  while (statement.step()) entries.push_back(read_entry(statement, database.name()));
  return entries;
}

StoredObject read_object(Database& database, const std::string& name, const ObjectParts& parts) {
  const std::string where = database.name() + ", " + shown(name);
  StoredObject object{read_entry(database, name), {}};
  const std::int64_t id = require_object(database, name);
  for (const PartKind kind : kPartKinds) {
    if (!wants(parts, kind)) continue;
    auto blob = read_blob(database, id, kind, where + ", " + name_of(kind));
    if (blob) object.parts.push_back({kind, std::move(*blob)});
  }
  return object;
}

LearnedObject decode_object(const StoredObject& stored, const ObjectParts& parts,
                            const std::string& file) {
  const std::string where = file + ", " + shown(stored.entry.name);
  LearnedObject object = object_of(stored.entry);
  for (const StoredPart& part : stored.parts) {
    decode_part(part.kind, part.blob, where + ", " + name_of(part.kind), object);
  }
  check_counts(stored.entry, object, parts, where);
  return object;
}

}  // namespace sextant::detail::library
