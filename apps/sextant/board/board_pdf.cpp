// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "apps/sextant/board/board_sheet.h"

namespace sextant::app {

namespace {

constexpr double kPoints_per_m = 72 / 0.0254;
constexpr double kCapitalShare = 0.718;  // height of Helvetica's capitals, of its size

/// The file of these objects, numbered from 1: the first is the catalogue.
std::string file_of(const std::vector<std::string>& objects) {
  std::string file = "%PDF-1.4\n";
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    places.push_back(file.size());
    file += fmt::format("{} 0 obj\n{}\nendobj\n", i + 1, objects[i]);
  }
  const std::size_t table = file.size();
  file += fmt::format("xref\n0 {}\n0000000000 65535 f \n", objects.size() + 1);
  for (const std::size_t place : places) file += fmt::format("{:010} 00000 n \n", place);
  file += fmt::format("trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{}\n%%EOF\n",
                      objects.size() + 1, table);
  return file;
}

}  // namespace

std::string board_pdf(const BoardSheet& sheet) {
  const double width = sheet.board.width_m * kPoints_per_m;
  const double height = sheet.board.height_m * kPoints_per_m;
  const auto place = [&](const Vec2d& at_m) {
    return Vec2d{at_m.x * kPoints_per_m + width / 2, at_m.y * kPoints_per_m + height / 2};
  };
  std::string drawing;
  for (const Ink& ink : sheet.ink) {
    const Vec2d low = place(ink.low_m), high = place(ink.high_m);
    drawing += fmt::format("{} g {:.4f} {:.4f} {:.4f} {:.4f} re f\n", ink.white ? 1 : 0, low.x,
                           low.y, high.x - low.x, high.y - low.y);
  }
  for (const Label& label : sheet.labels) {
    const Vec2d at = place(label.at_m);
    drawing += fmt::format("0 g BT /F1 {:.3f} Tf {:.4f} {:.4f} Td ({}) Tj ET\n",
                           label.height_m * kPoints_per_m / kCapitalShare, at.x, at.y, label.text);
  }
  return file_of(
      {"<< /Type /Catalog /Pages 2 0 R /ViewerPreferences << /PrintScaling /None >> >>",
       "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
       fmt::format("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {:.4f} {:.4f}] /Contents 4 0 R "
                   "/Resources << /Font << /F1 5 0 R >> >> >>",
                   width, height),
       fmt::format("<< /Length {} >>\nstream\n{}endstream", drawing.size(), drawing),
       "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"});
}

}  // namespace sextant::app
