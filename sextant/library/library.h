// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sextant/core/progress.h"
#include "sextant/library/learned_object.h"

namespace sextant {

/// What a program may do with a library.
enum class LibraryAccess {
  kRead,  ///< the file must be there; nothing is ever changed in it
  kWrite  ///< the file is made with the first object that is put into it
};

/// Which parts of an object are wanted; the others stay empty. What it is called, where it came
/// from, its diameter and its symmetries always come.
struct ObjectParts {
  bool mesh = true;
  bool views = true;
  bool samples = true;
  bool shot = true;
  bool tensors = true;
  bool appearance = true;
  bool lookalikes = true;

  static ObjectParts none() { return {false, false, false, false, false, false, false}; }
};

/// How much a library knows of an object, without its parts. A number is 0 where that part was not
/// learned.
struct ObjectEntry {
  std::string name;
  int bop_id = 0;
  ObjectSource source;
  double diameter_m = 0;
  Symmetries shape_symmetries;
  Symmetries appearance_symmetries;
  Vec3f low_m;  ///< corners of the box around the mesh; zero without points
  Vec3f high_m;
  std::int64_t vertices = 0;
  std::int64_t triangles = 0;
  std::int64_t views = 0;
  std::int64_t samples = 0;
  float leaf_m = 0;  ///< of the samples
  std::int64_t shot = 0;
  int shot_length = 0;
  float shot_radius_m = 0;
  std::int64_t tensors = 0;
  std::int64_t tensor_elements = 0;  ///< non-empty bins of all tensors
  int tensor_bins = 0;
  float tensor_resolution_m = 0;
  std::int64_t appearance = 0;    ///< points with a descriptor
  std::int64_t lookalikes = 0;    ///< poses of clutter
  std::int64_t stored_bytes = 0;  ///< what its parts take in the file
};

/// Whether only photographs can be searched for an object: it has features of photographs, and
/// nothing that was learned of its shape.
inline bool is_appearance_only(const ObjectEntry& entry) {
  return entry.appearance > 0 && entry.samples == 0 && entry.shot == 0 && entry.tensors == 0;
}

/// What gets the objects that a library loads.
struct LibraryVisitor {
  std::function<void(const std::vector<ObjectEntry>&)> begin;  ///< may be empty
  std::function<void(std::int64_t number, LearnedObject object)> object;
};

/// The most bytes of a name.
inline constexpr std::size_t kMostNameBytes = 200;

/// Throws Error unless an object can have this name: UTF-8, not empty, at most kMostNameBytes, no
/// control characters.
void check_object_name(const std::string& name);

/// Objects in one file, in the format of docs/library.md.
///
/// Every change is one transaction that is on the disk when the call returns: whatever ends the
/// process, or the machine, leaves the state before it or after it. Other processes may read
/// meanwhile; readers and writers wait for each other for up to 30 s. While a change is made, a
/// journal lies beside the file; if one is left behind, whoever opens the file next undoes that
/// change.
///
/// The same changes in the same order, made with the same version of SQLite, give the same file
/// byte for byte. Space of objects that were replaced or removed is overwritten with zeros and used
/// again by later ones.
///
/// A file of another version, of another program, or a damaged one is an Error and stays as it is.
/// One thread at a time may use a Library; each thread or process opens its own.
class Library {
 public:
  explicit Library(const std::filesystem::path& path, LibraryAccess access = LibraryAccess::kWrite);
  ~Library();
  Library(Library&&) noexcept;
  Library& operator=(Library&&) noexcept;

  const std::filesystem::path& path() const;

  /// Adds the object, or puts it in the place of the one with its name. Throws Error, and changes
  /// nothing, when it does not hold together, the disk is full or the file may not be written.
  /// Everything lies in host memory. Of the mesh, attributes, the rows of an organised cloud and
  /// where its sensor stood are not kept.
  void put(const LearnedObject& object);

  /// Throws Error when there is no such object, or a part that is asked for is damaged.
  LearnedObject load(const std::string& name, const ObjectParts& parts = {}) const;

  /// All objects in the order in which they were first put. Costs a short read for each.
  std::vector<ObjectEntry> list() const;
  ObjectEntry entry(const std::string& name) const;
  bool contains(const std::string& name) const;

  /// Throws Error when there is no such object.
  void remove(const std::string& name);

  /// Loads all objects as they are at one moment, in the order of `list`, unpacks them on the
  /// context's threads and hands each over on this one. Writers wait meanwhile. The parts come in
  /// host memory whatever the context's device.
  void load_all(const Context& context, const ObjectParts& parts, const LibraryVisitor& visitor,
                const Progress& progress = {}) const;

  /// Reads the whole file and throws Error where something in it is damaged: pages, checksums,
  /// parts.
  void verify(const Context& context = Context::cpu(), const Progress& progress = {}) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sextant
