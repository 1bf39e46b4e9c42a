// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "sextant/io/file.h"
#include "sextant/io/moped_model/descriptor.h"
#include "sextant/io/xml/scanner.h"

namespace sextant {

namespace {

using detail::xml::XmlScanner;
using Event = XmlScanner::Event;
namespace text = detail::text;

/// The largest models of MOPED have 4 MB; this holds some hundreds of them.
constexpr std::int64_t kMaxFileBytes = std::int64_t{1} << 30;

bool separates(char c) { return text::is_blank(c) || c == '\n' || c == ';'; }

/// Reads exactly the numbers that there is room for.
template <class T>
void read_numbers(const XmlScanner& xml, std::string_view what, std::string_view written,
                  std::span<T> numbers) {
  std::size_t count = 0;
  const char *at = written.data(), *last = at + written.size();
  for (;;) {
    while (at != last && separates(*at)) ++at;
    if (at == last) break;
    const char* end = at;
    while (end != last && !separates(*end)) ++end;
    const std::string_view word(at, static_cast<std::size_t>(end - at));
    double number = 0;
    if (!text::parse_word(word, number)) {
      xml.fail_here("expected a number in ", what, ", found '", text::shown(word), "'");
    }
    if (!std::isfinite(static_cast<T>(number))) {
      xml.fail_here(what, " holds ", text::shown(word), ", which is not finite");
    }
    if (count < numbers.size()) numbers[count] = static_cast<T>(number);
    ++count;
    at = end;
  }
  if (count != numbers.size()) {
    xml.fail_here(what, " has ", count, " numbers, expected ", numbers.size());
  }
}

template <class T, std::size_t Count>
std::optional<std::array<T, Count>> numbers_of(const XmlScanner& xml, std::string_view what) {
  const auto written = xml.attribute(what);
  if (!written) return std::nullopt;
  std::array<T, Count> numbers{};
  read_numbers<T>(xml, what, *written, numbers);
  return numbers;
}

void read_descriptor(const XmlScanner& xml, MopedModel& model) {
  const auto numbers = numbers_of<double, kMopedDescriptorLength>(xml, "desc");
  if (!numbers) xml.fail_here("a point has no desc");
  const auto negative =
      std::find_if(numbers->begin(), numbers->end(), [](double number) { return number < 0; });
  if (negative != numbers->end()) {
    xml.fail_here("desc holds ", *negative, "; SIFT descriptors have no negative numbers");
  }
  const std::size_t first = model.descriptors.size();
  model.descriptors.resize(first + kMopedDescriptorLength);
  if (!detail::moped_model::bytes_of_descriptor(*numbers, model.descriptors.data() + first)) {
    xml.fail_here("desc holds nothing but zeros");
  }
}

void read_point(const XmlScanner& xml, MopedModel& model) {
  const auto kind = xml.attribute("desc_type");
  if (!kind) xml.fail_here("a point has no desc_type, expected SIFT");
  if (*kind != "SIFT") {
    ++model.left_out;
    return;
  }
  const auto place = numbers_of<float, 3>(xml, "p3d");
  if (!place) xml.fail_here("a point has no p3d, its place");
  read_descriptor(xml, model);
  const auto views = numbers_of<double, 1>(xml, "nviews").value_or(std::array{0.0});
  const auto error = numbers_of<float, 1>(xml, "avg_err").value_or(std::array{0.0f});
  const auto color = numbers_of<double, 3>(xml, "color").value_or(std::array{0.0, 0.0, 0.0});
  const auto byte = [](double level) {
    return static_cast<std::uint8_t>(std::clamp(std::round(level), 0.0, 255.0));
  };
  model.points_m.push_back({(*place)[0], (*place)[1], (*place)[2]});
  model.views.push_back(static_cast<std::int32_t>(std::clamp(views[0], 0.0, 2147483647.0)));
  model.errors_px.push_back(error[0]);
  model.colors.push_back({byte(color[0]), byte(color[1]), byte(color[2])});
}

MopedModel read_model(XmlScanner& xml) {
  MopedModel model;
  const auto name = xml.attribute("name");
  if (!name) xml.fail_here("<Model> has no name");
  model.name = detail::xml::decoded(*name);
  model.version = detail::xml::decoded(xml.attribute("version").value_or(""));
  const std::size_t outside = xml.depth() - 1;
  for (;;) {
    const Event event = xml.next();
    if (event == Event::kClose && xml.depth() == outside) break;
    if (event != Event::kOpen || xml.element() == "Points") continue;
    if (xml.element() == "Model") xml.fail_here("a <Model> lies in another, which is not closed");
    if (xml.element() == "Point") read_point(xml, model);
    xml.skip();
  }
  if (model.points_m.empty()) {
    xml.fail_here("the model '", text::shown(model.name), "' has no point with a SIFT descriptor",
                  model.left_out > 0
                      ? ", only " + std::to_string(model.left_out) + " of other kinds"
                      : std::string());
  }
  return model;
}

}  // namespace

std::vector<MopedModel> read_moped_models(std::span<const std::byte> file,
                                          const std::string& name) {
  XmlScanner xml({reinterpret_cast<const char*>(file.data()), file.size()}, name);
  std::vector<MopedModel> models;
  for (;;) {
    const Event event = xml.next();
    if (event == Event::kEnd) break;
    if (event != Event::kOpen || xml.element() != "Model") continue;
    MopedModel model = read_model(xml);
    const auto earlier = std::find_if(models.begin(), models.end(), [&](const MopedModel& other) {
      return other.name == model.name;
    });
    if (earlier == models.end()) {
      models.push_back(std::move(model));
    } else {
      *earlier = std::move(model);
    }
  }
  require(!models.empty(), name, ": holds no <Model>; a model of MOPED was expected");
  return models;
}

std::vector<MopedModel> read_moped_models(const std::filesystem::path& path) {
  const FileBytes file = read_file(path, kMaxFileBytes);
  return read_moped_models(file.span(), path.string());
}

}  // namespace sextant
