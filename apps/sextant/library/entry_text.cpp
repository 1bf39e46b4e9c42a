// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/library/entry_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace sextant::app {

namespace {

using nlohmann::json;

json list_of(const Vec3d& v) { return json::array({v.x, v.y, v.z}); }

json to_json(const Symmetries& symmetries) {
  json discrete = json::array(), continuous = json::array();
  for (const Rigid3d& motion : symmetries.discrete) {
    json numbers = json::array();
    const double translation[] = {motion.translation.x, motion.translation.y, motion.translation.z};
    for (int i = 0; i < 3; ++i) {
      const Vec3d& row = motion.rotation.row[i];
      for (const double number : {row.x, row.y, row.z, translation[i]}) numbers.push_back(number);
    }
    for (const double number : {0.0, 0.0, 0.0, 1.0}) numbers.push_back(number);
    discrete.push_back(numbers);
  }
  for (const ContinuousSymmetry& symmetry : symmetries.continuous) {
    continuous.push_back(
        {{"axis", list_of(symmetry.axis)}, {"point_m", list_of(symmetry.point_m)}});
  }
  return {{"discrete", discrete}, {"continuous", continuous}};
}

/// Columns of UTF-8 text; combining and wide signs count as one.
std::size_t columns_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string size_text(const ObjectEntry& entry) {
  const Vec3f size = (entry.high_m - entry.low_m) * 1000.0f;
  return fmt::format("{:.0f} x {:.0f} x {:.0f}", size.x, size.y, size.z);
}

std::string source_text(const ObjectSource& source) {
  return source.kind.empty() ? "-" : fmt::format("{} {}", source.kind, source.file);
}

}  // namespace

std::string bytes_text(std::int64_t bytes) {
  const auto number = static_cast<double>(bytes);
  return bytes < 1000000 ? fmt::format("{:.1f} kB", 1e-3 * number)
                         : fmt::format("{:.1f} MB", 1e-6 * number);
}

std::string words_of(const Symmetries& symmetries) {
  if (symmetries.none()) return "none";
  std::string words;
  if (symmetries.continuous.size() > 1) words = "ball";
  if (symmetries.continuous.size() == 1) words = "round";
  if (!symmetries.discrete.empty()) {
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", symmetries.discrete.size(),
                         symmetries.discrete.size() == 1 ? "turn" : "turns");
  }
  return words;
}

json to_json(const ObjectEntry& entry) {
  return {{"name", entry.name},
          {"bop_id", entry.bop_id},
          {"diameter_m", entry.diameter_m},
          {"low_m", list_of(cast<double>(entry.low_m))},
          {"high_m", list_of(cast<double>(entry.high_m))},
          {"vertices", entry.vertices},
          {"triangles", entry.triangles},
          {"views", entry.views},
          {"samples", entry.samples},
          {"leaf_m", entry.leaf_m},
          {"tensors", entry.tensors},
          {"tensor_bins", entry.tensor_bins},
          {"tensor_resolution_m", entry.tensor_resolution_m},
          {"shot", entry.shot},
          {"shot_length", entry.shot_length},
          {"shot_radius_m", entry.shot_radius_m},
          {"appearance", entry.appearance},
          {"shape_symmetries", to_json(entry.shape_symmetries)},
          {"appearance_symmetries", to_json(entry.appearance_symmetries)},
          {"source",
           {{"kind", entry.source.kind},
            {"file", entry.source.file},
            {"sha256", entry.source.sha256},
            {"unit_m", entry.source.unit_m},
            {"options", entry.source.options},
            {"remarks", entry.source.remarks}}},
          {"stored_bytes", entry.stored_bytes}};
}

std::string table_of(const std::vector<ObjectEntry>& entries) {
  using Line = std::vector<std::string>;
  std::vector<Line> lines{{"name", "size [mm]", "triangles", "views", "tensors", "SHOT", "features",
                           "symmetries", "stored", "source"}};
  for (const ObjectEntry& e : entries) {
    lines.push_back({e.name, size_text(e), std::to_string(e.triangles), std::to_string(e.views),
                     std::to_string(e.tensors), std::to_string(e.shot),
                     std::to_string(e.appearance), words_of(e.shape_symmetries),
                     bytes_text(e.stored_bytes), source_text(e.source)});
  }
  std::vector<std::size_t> widths(lines[0].size());
  for (const Line& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], columns_of(line[i]));
  }
  std::string text;
  for (const Line& line : lines) {
    std::string row;
    for (std::size_t i = 0; i < line.size(); ++i) {
      // Words stand left, numbers right.
      const std::string blanks(widths[i] - columns_of(line[i]), ' ');
      const bool left = i == 0 || i == 7 || i == 9;
      row += (i > 0 ? "  " : "") + (left ? line[i] + blanks : blanks + line[i]);
    }
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  return text;
}

std::string text_of(const ObjectEntry& e) {
  std::string text = e.name;
  if (e.bop_id > 0) text += fmt::format(" (BOP's object {})", e.bop_id);
  text += fmt::format("\n  {} mm, diameter {:.1f} mm\n", size_text(e), 1000 * e.diameter_m);
  text += fmt::format("  {} vertices, {} triangles\n", e.vertices, e.triangles);
  text += fmt::format("  symmetries of the shape: {}; with its colours: {}\n",
                      words_of(e.shape_symmetries), words_of(e.appearance_symmetries));
  text += fmt::format("  {} views\n", e.views);
  if (e.samples > 0) {
    text += fmt::format("  {} samples, {:.1f} mm apart\n", e.samples, 1000 * e.leaf_m);
  }
  if (e.tensors > 0) {
    text +=
        fmt::format("  {} tensors of {} bins, of surfaces of {:.2f} mm\n", e.tensors,
                    e.tensor_bins * e.tensor_bins * e.tensor_bins, 1000 * e.tensor_resolution_m);
  }
  if (e.shot > 0) {
    text += fmt::format("  {} SHOT descriptors of {} numbers, radius {:.1f} mm\n", e.shot,
                        e.shot_length, 1000 * e.shot_radius_m);
  }
  if (e.appearance > 0) text += fmt::format("  {} features of photographs\n", e.appearance);
  text +=
      fmt::format("  learned from {}, one unit is {} m\n", source_text(e.source), e.source.unit_m);
  if (!e.source.sha256.empty()) text += fmt::format("  sha256 {}\n", e.source.sha256);
  for (const std::string& remark : e.source.remarks) text += fmt::format("  note: {}\n", remark);
  return text + fmt::format("  {} stored\n", bytes_text(e.stored_bytes));
}

}  // namespace sextant::app
