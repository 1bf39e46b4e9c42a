// SPDX-License-Identifier: Apache-2.0
#include "sextant/geometry/attribute.h"

#include <algorithm>

namespace sextant {

std::int64_t Attribute::size() const {
  return std::visit([](const auto& numbers) { return numbers.size(); }, values);
}

Device Attribute::device() const {
  return std::visit([](const auto& numbers) { return numbers.device(); }, values);
}

const char* Attribute::type_name() const {
  constexpr const char* kNames[] = {"float",  "double", "int8",   "uint8", "int16",
                                    "uint16", "int32",  "uint32", "int64", "uint64"};
  static_assert(std::size(kNames) == std::variant_size_v<AttributeValues>);
  return kNames[values.index()];
}

const Attribute* find_attribute(const std::vector<Attribute>& attributes, std::string_view name) {
  const auto found = std::find_if(attributes.begin(), attributes.end(),
                                  [&](const Attribute& a) { return a.name == name; });
  return found == attributes.end() ? nullptr : &*found;
}

std::vector<float> to_floats(const Attribute& attribute) {
  return std::visit(
      [](const auto& numbers) {
        std::vector<float> floats;
        floats.reserve(static_cast<std::size_t>(numbers.size()));
        for (const auto number : numbers.host()) floats.push_back(static_cast<float>(number));
        return floats;
      },
      attribute.values);
}

Attribute copy(const Context& context, const Attribute& from) {
  return {from.name,
          std::visit([&](const auto& part) -> AttributeValues { return copy(context, part); },
                     from.values),
          from.components};
}

Attribute to_host(const Context& context, const Attribute& from) {
  return {
      from.name,
      std::visit([&](const auto& part) -> AttributeValues { return to_host_buffer(context, part); },
                 from.values),
      from.components};
}

}  // namespace sextant
