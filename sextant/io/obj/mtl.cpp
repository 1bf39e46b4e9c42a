// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <system_error>
#include <unordered_map>

#include "sextant/io/obj/scene.h"
#include "sextant/io/obj/texture_file.h"
#include "sextant/io/text/scanner.h"

namespace sextant {

using namespace detail::obj;

namespace detail::obj {

namespace {

/// This is far above any real library of materials.
constexpr std::int64_t kLargestFileBytes = std::int64_t{1} << 28;

/// The options of a texture map and how many words follow each at most; of -o, -s and -t the
/// numbers after the first may be missing.
struct MapOption {
  std::string_view name;
  int words;
};
constexpr MapOption kMapOptions[] = {
    {"-blendu", 1}, {"-blendv", 1},  {"-boost", 1}, {"-bm", 1}, {"-cc", 1},
    {"-clamp", 1},  {"-imfchan", 1}, {"-mm", 2},    {"-o", 3},  {"-s", 3},
    {"-t", 3},      {"-texres", 1},  {"-type", 1}};

const MapOption* find_option(std::string_view word) {
  const auto* found = std::find_if(std::begin(kMapOptions), std::end(kMapOptions),
                                   [&](const MapOption& option) { return option.name == word; });
  return found == std::end(kMapOptions) ? nullptr : found;
}

/// Returns the file name behind the options of a map; it may contain spaces.
std::string parse_map(text::TextScanner& text) {
  while (true) {
    text::TextScanner ahead = text;
    const MapOption* option = find_option(ahead.word());
    if (!option) return std::string(text.rest_of_line());
    text = ahead;
    for (int i = 0; i < option->words; ++i) {
      double number = 0;
      const bool is_number = text::parse_word(ahead.word(), number);
      if (option->words == 3 && !is_number) break;
      text = ahead;
    }
  }
}

/// One number stands for all three; spectral curves and XYZ colours are passed over.
void parse_diffuse(text::TextScanner& text, Vec3f& diffuse) {
  text::TextScanner ahead = text;
  const std::string_view word = ahead.word();
  if (word == "spectral" || word == "xyz") return;
  Vec3f color;
  color.x = color.y = color.z = text.number<float>("Kd");
  if (!text.at_line_end()) {
    color.y = text.number<float>("Kd");
    color.z = text.number<float>("Kd");
  }
  const auto limited = [](float level) { return level > 0.0f ? std::min(level, 1.0f) : 0.0f; };
  diffuse = {limited(color.x), limited(color.y), limited(color.z)};
}

std::vector<Material> parse_mtl(std::string_view bytes, const std::string& name) {
  if (bytes.starts_with(file::kByteOrderMark)) bytes.remove_prefix(file::kByteOrderMark.size());
  text::TextScanner text(bytes, name);
  std::vector<Material> materials;
  while (text.skip_space()) {
    const std::string_view key = text.word();
    if (key == "newmtl") {
      materials.emplace_back().name = text.rest_of_line();
    } else if (!materials.empty() && key == "Kd") {
      parse_diffuse(text, materials.back().diffuse);
    } else if (!materials.empty() && key == "map_Kd") {
      materials.back().texture_file = parse_map(text);
    }
    text.next_line();
  }
  return materials;
}

/// The files on an mtllib line: one name with spaces, or several names.
std::vector<std::filesystem::path> material_files(const std::filesystem::path& folder,
                                                  const std::string& line) {
  const auto is_file = [&](const std::string& name) {
    std::error_code error;
    return name.find('\0') == std::string::npos &&
           std::filesystem::is_regular_file(folder / name, error) &&
           std::filesystem::file_size(folder / name, error) > 0;
  };
  if (is_file(line)) return {folder / line};
  std::vector<std::filesystem::path> files;
  text::TextScanner text(line, "");
  while (!text.at_line_end()) {
    const std::string name(text.word());
    if (is_file(name)) files.push_back(folder / name);
  }
  return files;
}

}  // namespace

void load_materials(const std::filesystem::path& folder, const ObjScene& scene,
                    std::vector<Material>& materials) {
  std::unordered_map<std::string, Material*> wanted;
  for (Material& material : materials) wanted.emplace(material.name, &material);
  for (const std::string& line : scene.material_files) {
    for (const std::filesystem::path& path : material_files(folder, line)) {
      const FileBytes file = read_file(path, kLargestFileBytes);
      for (Material& found : parse_mtl(file.text(), path.string())) {
        const auto it = wanted.find(found.name);
        if (it == wanted.end()) continue;
        load_texture(path.parent_path(), found);
        *it->second = std::move(found);
        wanted.erase(it);
      }
    }
  }
}

}  // namespace detail::obj

std::vector<Material> read_mtl(const std::filesystem::path& path) {
  std::vector<Material> materials = read_mtl(read_file(path, kLargestFileBytes), path.string());
  for (Material& material : materials) load_texture(path.parent_path(), material);
  return materials;
}

std::vector<Material> read_mtl(std::span<const std::byte> file, const std::string& name) {
  return parse_mtl({reinterpret_cast<const char*>(file.data()), file.size()}, name);
}

}  // namespace sextant
