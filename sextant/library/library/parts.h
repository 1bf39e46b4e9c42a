// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sextant/library/library.h"

namespace sextant::detail::library {

/// The parts of an object under the names that they have in the file.
enum class PartKind { kMesh, kViews, kSamples, kShot, kTensors, kAppearance, kLookalikes };
inline constexpr PartKind kPartKinds[] = {
    PartKind::kMesh,    PartKind::kViews,      PartKind::kSamples,   PartKind::kShot,
    PartKind::kTensors, PartKind::kAppearance, PartKind::kLookalikes};
const char* name_of(PartKind kind);
bool wants(const ObjectParts& parts, PartKind kind);

/// A part as the file holds it.
struct StoredPart {
  PartKind kind;
  std::vector<std::byte> blob;
};

/// The parts of the object that are not empty.
std::vector<StoredPart> encode_parts(const LearnedObject& object);

/// Puts what the blob holds into the object. `name` stands for the part in messages. What is
/// accepted holds together: lists have their lengths and indices are in range.
void decode_part(PartKind kind, std::span<const std::byte> blob, const std::string& name,
                 LearnedObject& object);

/// Throws Error unless lists that belong together have the same length, indices are in range,
/// lengths are positive and everything lies in host memory.
void check_object(const LearnedObject& object, const std::string& name);
void check_part(PartKind kind, const LearnedObject& object, const std::string& name);

/// What an entry says of the object, in a JSON object; and back. Stored bytes are not in it.
std::string about(const LearnedObject& object);
ObjectEntry entry_of(const std::string& name, const std::string& about_json,
                     const std::string& where);

/// Throws Error unless the parts that were loaded are those that the entry speaks of.
void check_counts(const ObjectEntry& entry, const LearnedObject& object, const ObjectParts& parts,
                  const std::string& where);

}  // namespace sextant::detail::library
