// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "sextant/io/file.h"
#include "sextant/io/moped_model/descriptor.h"
#include "sextant/io/text/writer.h"
#include "sextant/io/xml/scanner.h"

namespace sextant {

namespace {

using detail::text::TextWriter;

void append_six_decimals(std::string& text, double number) {
  char digits[32];
  const auto [end, error] =
      std::to_chars(digits, digits + sizeof(digits), number, std::chars_format::fixed, 6);
  text.append(digits, end);
}

std::string descriptor_text(const std::uint8_t* bytes) {
  std::array<double, kMopedDescriptorLength> numbers{};
  detail::moped_model::descriptor_of_bytes(bytes, numbers);
  std::string text;
  for (const double number : numbers) {
    append_six_decimals(text, number);
    text += ' ';
  }
  return text;
}

void write_point(TextWriter& out, const MopedModel& model, std::size_t i) {
  const Vec3f& p = model.points_m[i];
  const Rgb8& c = model.colors[i];
  out.put("    <Point p3d=\"", p.x, " ", p.y, " ", p.z, "\" nviews=\"", model.views[i],
          "\" avg_err=\"", model.errors_px[i], "\" color=\"", int{c.x}, " ", int{c.y}, " ",
          int{c.z}, "\" desc_type=\"SIFT\" desc=\"",
          descriptor_text(model.descriptors.data() + i * kMopedDescriptorLength),
          "\">\n</Point>\n");
}

}  // namespace

void check_moped_model(const MopedModel& model) {
  const auto& m = model;
  const std::size_t count = m.points_m.size();
  require(count > 0, "MOPED model '", m.name, "': has no points");
  require(m.views.size() == count && m.errors_px.size() == count && m.colors.size() == count &&
              m.descriptors.size() == count * kMopedDescriptorLength,
          "MOPED model '", m.name, "': ", count, " points, but ", m.views.size(), " views, ",
          m.errors_px.size(), " errors, ", m.colors.size(), " colours and ", m.descriptors.size(),
          " bytes of descriptors");
  for (std::size_t i = 0; i < count; ++i) {
    const Vec3f& p = m.points_m[i];
    require(std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z) &&
                std::isfinite(m.errors_px[i]),
            "MOPED model '", m.name, "': point ", i, " has a number that is not finite");
    const std::uint8_t* bytes = m.descriptors.data() + i * kMopedDescriptorLength;
    require(std::any_of(bytes, bytes + kMopedDescriptorLength,
                        [](std::uint8_t byte) { return byte != 0; }),
            "MOPED model '", m.name, "': the descriptor of point ", i, " is zero");
  }
}

void write_moped_models(const std::filesystem::path& path, std::span<const MopedModel> models) {
  require(!models.empty(), path.string(), ": there is no model to write");
  for (const MopedModel& model : models) {
    check_moped_model(model);
    require(std::count_if(models.begin(), models.end(),
                          [&](const MopedModel& other) { return other.name == model.name; }) == 1,
            path.string(), ": two models are called '", model.name, "'");
  }
  write_file_atomically(path, [&](FileWriter& file) {
    TextWriter out(file);
    for (const MopedModel& model : models) {
      out.put("<Model name=\"", detail::xml::encoded(model.name), "\" version=\"",
              detail::xml::encoded(model.version), "\">\n  <Points>\n");
      for (std::size_t i = 0; i < model.points_m.size(); ++i) write_point(out, model, i);
      out.put("  </Points>\n</Model>\n");
    }
    out.flush();
  });
}

}  // namespace sextant
