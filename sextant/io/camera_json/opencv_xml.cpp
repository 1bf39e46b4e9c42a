// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "sextant/io/camera_json/document.h"
#include "sextant/io/xml/scanner.h"

namespace sextant::detail::camera_json {

namespace {

using nlohmann::json;
using xml::XmlScanner;
using Event = XmlScanner::Event;

json value_of(std::string_view word) {
  double number = 0;
  if (text::parse_word(word, number)) return number;
  const bool quoted = word.size() >= 2 && word.front() == '"' && word.back() == '"';
  return xml::decoded(quoted ? word.substr(1, word.size() - 2) : word);
}

/// One value, or a list where there are several numbers or it must be one.
json values_of(std::string_view content, bool is_list) {
  json list = json::array();
  bool numbers = true;
  text::TextScanner words(content, "");
  while (words.skip_space()) {
    list.push_back(value_of(words.word()));
    numbers = numbers && list.back().is_number();
  }
  if (is_list || (numbers && list.size() > 1)) return list;
  if (list.size() == 1) return list[0];
  if (list.empty()) return nullptr;
  const std::size_t first = content.find_first_not_of(" \t\r\n");
  return value_of(content.substr(first, content.find_last_not_of(" \t\r\n") + 1 - first));
}

/// The element that begins here, to its end. What has no name, `_`, is an item of a list.
json element(XmlScanner& scanner) {
  const std::string name(scanner.element());
  const std::size_t outside = scanner.depth() - 1;
  json object = json::object(), list = json::array();
  for (;;) {
    const Event event = scanner.next();
    if (event == Event::kClose && scanner.depth() == outside) break;
    const std::string key = xml::decoded(scanner.element());
    if (key == "_") {
      list.push_back(element(scanner));
      continue;
    }
    if (object.contains(key)) scanner.fail_here("has the key ", text::shown(key), " a second time");
    object[key] = element(scanner);
  }
  if (!object.empty()) return object;
  if (!list.empty()) return list;
  return values_of(scanner.content(), name == "data");
}

}  // namespace

json opencv_xml(std::string_view text, const std::string& name) {
  XmlScanner scanner(text, name);
  json document;
  for (;;) {
    const Event event = scanner.next();
    if (event == Event::kEnd) break;
    if (event != Event::kOpen) continue;
    const bool storage = scanner.element() == "opencv_storage" && document.is_null();
    if (!storage) scanner.fail_here("expected <opencv_storage> and nothing beside it");
    document = element(scanner);
  }
  require(document.is_object(), name, ": <opencv_storage> holds no camera");
  return document;
}

}  // namespace sextant::detail::camera_json
