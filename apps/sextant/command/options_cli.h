// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "sextant/core/options.h"

namespace sextant::app {

/// The flag of a field: --radius-px, or with a prefix --normals-radius-px.
inline std::string flag_of(std::string_view name, const std::string& prefix = {}) {
  std::string text = "--" + prefix + (prefix.empty() ? "" : "-") + std::string(name);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

/// The complaint about what is no number (of type T) or outside its range, as "nan" and "inf" are
/// outside every range; empty when all is well.
template <class T>
std::string complaint(const std::string& text, Range range) {
  double value = 0;
  if (!CLI::detail::lexical_cast(text, value)) return "'" + text + "' is not a number";
  if (!std::isfinite(value) || value < range.low || value > range.high) {
    std::ostringstream message;
    message << text << " is outside [" << range.low << ", " << range.high << "]";
    return message.str();
  }
  T converted{};
  if (CLI::detail::lexical_cast(text, converted)) return {};
  return "'" + text + "' is not a whole number written with digits alone";
}

/// The check of a number: `->check(within<int>({0, 10}))`.
template <class T>
CLI::Validator within(Range range) {
  return {[range](const std::string& text) { return complaint<T>(text, range); }, ""};
}

/// Visits the fields of an options struct and makes a flag of each: radius_px becomes --radius-px,
/// with the field's help, default and range. With the prefix "normals" it becomes
/// --normals-radius-px; fields that `left_out` names get no flag.
class FlagAdder {
 public:
  explicit FlagAdder(CLI::App& command, std::string prefix = {},
                     std::vector<std::string_view> left_out = {})
      : command_(command), prefix_(std::move(prefix)), left_out_(std::move(left_out)) {}

  template <class T>
  void operator()(std::string_view name, T& field, std::string_view help, Range range) const {
    if (is_left_out(name)) return;
    command_.add_option(flag(name), field, std::string(help))
        ->check(within<T>(range))
        ->capture_default_str();
  }
  void operator()(std::string_view name, bool& field, std::string_view help) const {
    if (is_left_out(name)) return;
    // What is on by default needs a flag that turns it off.
    const std::string off = field ? ",!--no-" + flag(name).substr(2) : "";
    command_.add_flag(flag(name) + off, field, std::string(help) + (field ? " (on)" : ""));
  }
  void operator()(std::string_view name, std::string& field, std::string_view help) const {
    if (is_left_out(name)) return;
    command_.add_option(flag(name), field, std::string(help))->capture_default_str();
  }
  template <class Enum, std::size_t N>
  void operator()(std::string_view name, Enum& field, std::string_view help,
                  const Choice<Enum> (&choices)[N]) const {
    if (is_left_out(name)) return;
    std::map<std::string, Enum> values;
    std::string names;
    for (const Choice<Enum>& choice : choices) {
      values.emplace(choice.name, choice.value);
      names += (names.empty() ? "" : ", ") + std::string(choice.name);
    }
    command_
        .add_option_function<std::string>(
            flag(name), [&field, values](const std::string& text) { field = values.at(text); },
            std::string(help) + " (" + names + ")")
        ->check([values, names](const std::string& text) {
          return values.count(text) ? std::string() : text + " is none of " + names;
        })
        ->default_str(std::string(name_of(field, choices)));
  }

 private:
  std::string flag(std::string_view name) const { return flag_of(name, prefix_); }

  bool is_left_out(std::string_view name) const {
    return std::find(left_out_.begin(), left_out_.end(), name) != left_out_.end();
  }

  CLI::App& command_;
  std::string prefix_;
  std::vector<std::string_view> left_out_;
};

/// A flag for each field, but for those that a command sets by itself or has from other options.
template <HasFields Options>
void add_flags(CLI::App& command, Options& options, std::string prefix = {},
               std::vector<std::string_view> left_out = {}) {
  Options::fields(options, FlagAdder(command, std::move(prefix), std::move(left_out)));
}

/// The flags of all fields.
template <HasFields Options>
std::vector<std::string> flags_of(const std::string& prefix = {}) {
  std::vector<std::string> flags;
  const Options options;
  Options::fields(options, [&](std::string_view name, const auto&, auto&&...) {
    flags.push_back(flag_of(name, prefix));
  });
  return flags;
}

/// Whether the user gave a flag.
inline bool is_given(const CLI::App& command, const std::string& flag) {
  const CLI::Option* option = command.get_option_no_throw(flag);
  return option != nullptr && option->count() > 0;
}

/// Wrong usage where the user gave one of these flags, which then have no effect; `why` says why.
inline void refuse_flags(const CLI::App& command, const std::vector<std::string>& flags,
                         const std::string& why) {
  for (const std::string& flag : flags) {
    if (is_given(command, flag)) throw CLI::ValidationError(flag, "has no effect: " + why);
  }
}

/// The same where it is the input that leaves a flag without effect: an Error.
inline void refuse_flags_for_input(const CLI::App& command, const std::vector<std::string>& flags,
                                   const std::string& why) {
  for (const std::string& flag : flags) {
    if (is_given(command, flag)) fail(flag, ": has no effect: ", why);
  }
}

/// A preset, with those fields replaced that the user gave by flags.
template <HasFields Options>
Options preset_with_flags(const CLI::App& command, Options preset, const Options& flags) {
  std::vector<const void*> values;
  Options::fields(
      flags, [&](std::string_view, const auto& field, auto&&...) { values.push_back(&field); });
  auto value = values.begin();
  Options::fields(preset, [&](std::string_view name, auto& field, auto&&...) {
    using Field = std::remove_reference_t<decltype(field)>;
    if (is_given(command, flag_of(name))) field = *static_cast<const Field*>(*value);
    ++value;
  });
  return preset;
}

}  // namespace sextant::app
