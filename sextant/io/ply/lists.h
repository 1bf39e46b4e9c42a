// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "sextant/io/ply/header.h"

namespace sextant::detail::ply {

/// A list property of the vertices while it is read. When all lists have one length they are the
/// components of an attribute; otherwise a cloud has no place for them.
class VertexLists {
 public:
  explicit VertexLists(const PlyProperty& property) : property_(property) {}

  /// Reads the list of the next vertex, whose length was read already.
  template <class Numbers>
  void read(Numbers& numbers, std::int64_t length) {
    if (length_ < 0) length_ = length;
    if (length != length_) {
      differ_ = true;
      length_ = std::max(length, length_);
    }
    if (differ_) {
      numbers.skip(property_.type, length);
      return;
    }
    const std::size_t bytes = static_cast<std::size_t>(points::size_of(property_.type));
    for (std::int64_t i = 0; i < length; ++i) {
      bytes_.resize(bytes_.size() + bytes);
      numbers.store(property_.type, property_.name, bytes_.data() + bytes_.size() - bytes);
    }
  }

  /// Adds the attribute, or the name of what was left out; empty lists held nothing.
  void finish(Cloud& cloud, std::vector<std::string>& left_out) {
    if (length_ > 0 && (differ_ || find_attribute(cloud.attributes, property_.name))) {
      left_out.push_back("vertex list " + property_.name);
    } else if (length_ > 0) {
      const auto bytes = static_cast<std::int64_t>(bytes_.size());
      Attribute attribute{
          property_.name,
          points::make_values(property_.type, bytes / points::size_of(property_.type)), length_};
      std::memcpy(points::bytes_of(attribute.values), bytes_.data(), bytes_.size());
      cloud.attributes.push_back(std::move(attribute));
    }
    bytes_ = {};
  }

 private:
  const PlyProperty& property_;
  std::vector<std::byte> bytes_;
  std::int64_t length_ = -1;  ///< of all lists so far, or of the longest where they differ
  bool differ_ = false;
};

}  // namespace sextant::detail::ply
