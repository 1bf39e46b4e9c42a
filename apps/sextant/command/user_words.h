// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace sextant::app {

/// The library's complaint about an argument, "leaf_m: 2 is ...", with the flag that gave it, where
/// the command has exactly one that may: "--leaf-m: 2 is ...". Other messages stay as they are.
std::string in_user_words(const CLI::App& app, const std::string& message);

}  // namespace sextant::app
