// SPDX-License-Identifier: Apache-2.0
#include "sextant/library/library.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "sextant/core/for_each.h"
#include "sextant/library/library/file_header.h"
#include "sextant/library/library/rows.h"

namespace sextant {

using namespace detail::library;

namespace {

/// Objects that are read ahead for each thread that unpacks them.
constexpr int kObjectsPerThread = 4;

}  // namespace

struct Library::State {
  std::filesystem::path path;
  LibraryAccess access;
  std::optional<Database> database = {};  ///< none before the file is made

  State(std::filesystem::path file, LibraryAccess wanted) : path(std::move(file)), access(wanted) {}

  /// The open file, or null where there is nothing in it yet.
  Database* open() {
    if (database) return &*database;
    if (look_at_file(path) != FileState::kLibrary) return nullptr;
    try {
      database.emplace(path, false);
      // Making the file was interrupted and has just been undone.
      if (!has_tables(*database)) {
        database.reset();
        return nullptr;
      }
      check_tables(*database);
      if (access == LibraryAccess::kRead) database->run("PRAGMA query_only = ON");
    } catch (...) {
      database.reset();
      throw;
    }
    return &*database;
  }
  /// The open file, which is made where it is missing.
  Database& open_to_write() {
    require_writable();
    if (open() == nullptr) database.emplace(path, true);
    return *database;
  }
  void require_writable() const {
    require(access == LibraryAccess::kWrite, path.string(), ": was opened for reading only");
  }
  Database& open_to_read(const std::string& wanted) {
    Database* found = open();
    if (found == nullptr) fail_missing(path.string(), wanted);
    return *found;
  }
};

Library::Library(const std::filesystem::path& path, LibraryAccess access)
    : state_(std::make_unique<State>(path, access)) {
  Database* database = state_->open();
  require(database != nullptr || access == LibraryAccess::kWrite, path.string(),
          ": there is no such library; 'sextant learn' makes one");
}

Library::~Library() = default;
Library::Library(Library&&) noexcept = default;
Library& Library::operator=(Library&&) noexcept = default;

const std::filesystem::path& Library::path() const { return state_->path; }

void Library::put(const LearnedObject& object) {
  check_object_name(object.name);
  check_object(object, object.name);
  const std::vector<StoredPart> parts = encode_parts(object);
  const std::string said = about(object);

  Database& database = state_->open_to_write();
  Transaction transaction(database, Transaction::Kind::kWrite);
  // Somebody else may have made the tables since the file was looked at.
  if (!has_tables(database)) make_tables(database);
  check_tables(database);
  const std::int64_t id = write_object(database, object.name, said);
  delete_parts(database, id);
  for (const StoredPart& part : parts) write_part(database, id, part);
  transaction.commit();
}

LearnedObject Library::load(const std::string& name, const ObjectParts& parts) const {
  Database& database = state_->open_to_read(name);
  StoredObject stored;
  {
    // Unpacking waits until others may write again.
    Transaction transaction(database, Transaction::Kind::kRead);
    stored = read_object(database, name, parts);
    transaction.commit();
  }
  return decode_object(stored, parts, database.name());
}

void Library::load_all(const Context& context, const ObjectParts& parts,
                       const LibraryVisitor& visitor, const Progress& progress) const {
  Database* database = state_->open();
  if (database == nullptr) {
    if (visitor.begin) visitor.begin({});
    return;
  }
  Transaction transaction(*database, Transaction::Kind::kRead);
  const std::vector<ObjectEntry> entries = read_entries(*database);
  if (visitor.begin) visitor.begin(entries);
  const Context cpu = Context::cpu(context.threads());
  const std::size_t batch = static_cast<std::size_t>(kObjectsPerThread * cpu.threads());
  std::vector<StoredObject> current, next;
  std::vector<LearnedObject> objects;
  for (std::size_t first = 0; first < entries.size() + batch; first += batch) {
    // One thread reads the objects that come next while the others unpack those that it read last.
    const auto work = [&](std::int64_t begin, std::int64_t) {
      if (begin == 0) {
        const std::size_t last = std::min(entries.size(), first + batch);
        for (std::size_t i = first; i < last; ++i) {
          next.push_back(read_object(*database, entries[i].name, parts));
        }
        return;
      }
      const auto i = static_cast<std::size_t>(begin - 1);
      objects[i] = decode_object(current[i], parts, database->name());
    };
    objects.resize(current.size());
    for_each_chunk(cpu, static_cast<std::int64_t>(current.size()) + 1, 1, work);
    for (std::size_t i = 0; i < objects.size(); ++i) {
      const auto number = static_cast<std::int64_t>(first - batch + i);
      visitor.object(number, std::move(objects[i]));
      report(progress, number + 1, static_cast<std::int64_t>(entries.size()));
    }
    objects.clear();
    current = std::exchange(next, {});
  }
  transaction.commit();
}

std::vector<ObjectEntry> Library::list() const {
  Database* database = state_->open();
  if (database == nullptr) return {};
  return read_entries(*database);
}

ObjectEntry Library::entry(const std::string& name) const {
  return read_entry(state_->open_to_read(name), name);
}

bool Library::contains(const std::string& name) const {
  Database* database = state_->open();
  return database != nullptr && find_object(*database, name).has_value();
}

void Library::remove(const std::string& name) {
  Database& database = state_->open_to_read(name);
  state_->require_writable();
  Transaction transaction(database, Transaction::Kind::kWrite);
  const std::int64_t id = require_object(database, name);
  delete_parts(database, id);
  delete_object(database, id);
  transaction.commit();
}

void Library::verify(const Context& context, const Progress& progress) const {
  Database* database = state_->open();
  if (database == nullptr) return;
  {
    Statement statement(*database, "PRAGMA integrity_check(1)");
    const bool ok = statement.step() && statement.text(0) == "ok";
    require(ok, database->name(), ": is damaged (", statement.text(0),
            "); take a copy from before, or learn its objects again into a new file");
  }
  load_all(context, {}, {{}, [](std::int64_t, LearnedObject) {}}, progress);
}

}  // namespace sextant
