// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sextant/core/buffer.h"

namespace sextant {

/// Numbers of one of the types that files hold.
using AttributeValues =
    std::variant<Buffer<float>, Buffer<double>, Buffer<std::int8_t>, Buffer<std::uint8_t>,
                 Buffer<std::int16_t>, Buffer<std::uint16_t>, Buffer<std::int32_t>,
                 Buffer<std::uint32_t>, Buffer<std::int64_t>, Buffer<std::uint64_t>>;

/// A named number per point, or several: intensity, label, time stamp, histogram. Readers keep the
/// type of the file, so that a label of 32 bits and a time in double survive.
struct Attribute {
  std::string name;
  AttributeValues values;
  std::int64_t components = 1;  ///< numbers of a point, which lie side by side

  /// How many numbers there are: points times components.
  std::int64_t size() const;
  Device device() const;

  /// The numbers, which must have the type T; Error otherwise.
  template <class T>
  const Buffer<T>& get() const {
    const Buffer<T>* found = std::get_if<Buffer<T>>(&values);
    require(found != nullptr, "attribute ", name, ": its numbers are ", type_name(), "s");
    return *found;
  }
  template <class T>
  Buffer<T>& get() {
    return const_cast<Buffer<T>&>(std::as_const(*this).template get<T>());
  }
  /// "float", "double", "int32" and so on.
  const char* type_name() const;
};

/// The attribute of this name, or null.
const Attribute* find_attribute(const std::vector<Attribute>& attributes, std::string_view name);

/// The numbers of an attribute on the host, rounded to floats.
std::vector<float> to_floats(const Attribute& attribute);

/// The same attribute on the context's device, and in host memory.
Attribute copy(const Context& context, const Attribute& from);
Attribute to_host(const Context& context, const Attribute& from);

}  // namespace sextant
