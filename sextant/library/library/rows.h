// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "sextant/library/library/database.h"
#include "sextant/library/library/parts.h"

// The tables of a library: what is written into them and read from them.

namespace sextant::detail::library {

/// Whether there is anything in the file.
bool has_tables(Database& database);
/// Writes the tables into a file that has none.
void make_tables(Database& database);
/// Throws Error unless the tables are those of a library and there is nothing else: no trigger or
/// view of somebody else runs.
void check_tables(Database& database);

/// The number of the object in the file.
std::optional<std::int64_t> find_object(Database& database, const std::string& name);
/// The same; where there is none, the Error of fail_missing.
std::int64_t require_object(Database& database, const std::string& name);

[[noreturn]] void fail_missing(const std::string& file, const std::string& name);

/// Adds the object or changes what is said of it, and returns its number.
std::int64_t write_object(Database& database, const std::string& name, const std::string& about);
void write_part(Database& database, std::int64_t id, const StoredPart& part);
void delete_parts(Database& database, std::int64_t id);
void delete_object(Database& database, std::int64_t id);

/// Throw Error where a checksum is wrong.
ObjectEntry read_entry(Database& database, const std::string& name);
std::vector<ObjectEntry> read_entries(Database& database);

/// An object as the file holds it.
struct StoredObject {
  ObjectEntry entry;
  std::vector<StoredPart> parts;
};
StoredObject read_object(Database& database, const std::string& name, const ObjectParts& parts);
/// Unpacks it; `file` stands for the file in messages. Needs no database.
LearnedObject decode_object(const StoredObject& stored, const ObjectParts& parts,
                            const std::string& file);

}  // namespace sextant::detail::library
