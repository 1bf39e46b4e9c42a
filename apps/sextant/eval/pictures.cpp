// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/eval/pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/sextant/picture/lettering.h"
#include "apps/sextant/picture/outline.h"

namespace sextant::app {

namespace {

/// The picture in the size of a tile: each pixel the mean of those that it covers.
Image<Rgb8> shrunk(const Image<Rgb8>& from, int width, int height) {
  Image<Rgb8> to(Context::cpu(), width, height);
  for (int v = 0; v < height; ++v) {
    for (int u = 0; u < width; ++u) {
      const int left = u * from.width() / width, top = v * from.height() / height;
      const int right = std::max(left + 1, (u + 1) * from.width() / width);
      const int bottom = std::max(top + 1, (v + 1) * from.height() / height);
      int r = 0, g = 0, b = 0;
      for (int y = top; y < bottom; ++y) {
        for (int x = left; x < right; ++x) {
          r += from(x, y).x;
          g += from(x, y).y;
          b += from(x, y).z;
        }
      }
      const int n = (right - left) * (bottom - top);
      to(u, v) = {static_cast<std::uint8_t>(r / n), static_cast<std::uint8_t>(g / n),
                  static_cast<std::uint8_t>(b / n)};
    }
  }
  return to;
}

const OverlayColor& color_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kRight:
      return kRightColor;
    case Verdict::kWrong:
      return kWrongColor;
    case Verdict::kFalse:
      return kFalseColor;
    case Verdict::kUnlisted:
    case Verdict::kHidden:
      break;
  }
  return kUncountedColor;
}

void draw_pose(const EvaluatedModels& models, const Camera& camera, int object_id,
               const Rigid3d& pose, const Rgb8& color, Image<Rgb8>& picture) {
  constexpr float kTint = 0.25f;
  const int mesh = models.find(object_id);
  if (mesh < 0) return;
  draw_outline(depth_of_object(models.scene, mesh, camera, pose), color, kTint, picture);
}

std::string hex(const Rgb8& c) { return fmt::format("#{:02x}{:02x}{:02x}", c.x, c.y, c.z); }

constexpr int kPlot = 300;   ///< pixels of a plot's side
constexpr int kMargin = 45;  ///< for its letters

/// The frame of a plot with both axes from 0 to 1.
std::string plot_start(const char* x_label, const char* y_label) {
  const int size = kPlot + 2 * kMargin;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{0}\" viewBox=\"0 0 {0} "
      "{0}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"{0}\" height=\"{0}\" fill=\"white\"/>\n",
      size);
  for (int i = 0; i <= 5; ++i) {
    const int x = kMargin + kPlot * i / 5, y = kMargin + kPlot - kPlot * i / 5;
    svg += fmt::format(
        "<path d=\"M{} {}V{}M{} {}H{}\" stroke=\"#ddd\"/>"
        "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{:.1f}</text>"
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{:.1f}</text>\n",
        x, kMargin, kMargin + kPlot, kMargin, y, kMargin + kPlot, x, kMargin + kPlot + 16, i / 5.0,
        kMargin - 6, y + 4, i / 5.0);
  }
  svg += fmt::format(
      "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>"
      "<text x=\"14\" y=\"{}\" text-anchor=\"middle\" transform=\"rotate(-90 14 {})\">{}</text>\n",
      kMargin + kPlot / 2, kMargin + kPlot + 36, x_label, kMargin + kPlot / 2, kMargin + kPlot / 2,
      y_label);
  return svg;
}

double plot_x(double value) { return kMargin + kPlot * value; }
double plot_y(double value) { return kMargin + kPlot * (1 - value); }

/// Signs that HTML takes for its own.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

Image<Rgb8> overlay(const EvaluatedModels& models, const Camera& camera, const Image<Rgb8>& color,
                    const Image<float>& depth_m, const JudgedImage& image, int width) {
  Image<Rgb8> picture;
  if (!color.empty() && color.width() == camera.width && color.height() == camera.height) {
    picture = copy(Context::cpu(), color);
  } else if (!depth_m.empty()) {
    picture = grey_of(depth_m);
  } else {
    picture = Image<Rgb8>(Context::cpu(), camera.width, camera.height);
    for (Rgb8& pixel : picture.pixels().host()) pixel = {};
  }
  for (std::size_t i = 0; i < image.truth.size(); ++i) {
    const JudgedInstance& instance = image.judgement.instances[i];
    if (!instance.wanted || instance.report >= 0) continue;
    draw_pose(models, camera, image.truth[i].object_id, image.truth[i].camera_from_object,
              kMissedColor.color, picture);
  }
  for (std::size_t i = 0; i < image.reports.size(); ++i) {
    draw_pose(models, camera, image.reports[i].object_id, image.reports[i].camera_from_object,
              color_of(image.judgement.reports[i].verdict).color, picture);
  }
  const int height = std::max(1, width * camera.height / camera.width);
  Image<Rgb8> tile = shrunk(picture, width, height);
  draw_text(tile, 4, 4, fmt::format("{}/{}", image.scene, image.image), {255, 255, 0}, 2);
  return tile;
}

Image<Rgb8> contact_sheet(std::span<const Image<Rgb8>> tiles) {
  constexpr std::size_t kColumns = 4;
  constexpr int kGap = 4;
  if (tiles.empty()) return {};
  const int width = tiles[0].width();
  int height = 0;
  for (const Image<Rgb8>& tile : tiles) height = std::max(height, tile.height());
  const int columns = static_cast<int>(std::min(kColumns, tiles.size()));
  const int rows = (static_cast<int>(tiles.size()) + columns - 1) / columns;
  Image<Rgb8> sheet(Context::cpu(), columns * (width + kGap), rows * (height + kGap));
  for (Rgb8& pixel : sheet.pixels().host()) pixel = {255, 255, 255};
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    const int left = static_cast<int>(i) % columns * (width + kGap);
    const int top = static_cast<int>(i) / columns * (height + kGap);
    for (int v = 0; v < tiles[i].height(); ++v) {
      for (int u = 0; u < tiles[i].width(); ++u) sheet(left + u, top + v) = tiles[i](u, v);
    }
  }
  return sheet;
}

std::string precision_recall_svg(const Summary& summary) {
  std::string svg = plot_start("recall", "precision");
  std::string path;
  for (const PrecisionRecall& point : summary.curve) {
    path += fmt::format("{}{:.2f} {:.2f}", path.empty() ? "M" : "L", plot_x(point.recall),
                        plot_y(point.precision));
  }
  if (!path.empty()) {
    svg +=
        fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"#2060c0\" stroke-width=\"2\"/>\n", path);
  }
  return svg + "</svg>\n";
}

std::string reliability_svg(const Summary& summary) {
  std::string svg = plot_start("score", "share that is right");
  svg += fmt::format("<path d=\"M{} {}L{} {}\" stroke=\"#999\" stroke-dasharray=\"4\"/>\n",
                     plot_x(0), plot_y(0), plot_x(1), plot_y(1));
  if (summary.calibration) {
    for (const ReliabilityBin& bin : summary.calibration->bins) {
      if (bin.count == 0) continue;
      svg += fmt::format(
          "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"#2060c0\" "
          "fill-opacity=\"0.5\"/><text x=\"{:.2f}\" y=\"{:.2f}\" text-anchor=\"middle\" "
          "font-size=\"10\">{}</text>\n",
          plot_x(bin.low) + 1, plot_y(bin.right_share), kPlot * (bin.high - bin.low) - 2,
          kPlot * bin.right_share, plot_x(0.5 * (bin.low + bin.high)), plot_y(bin.right_share) - 3,
          bin.count);
    }
  }
  return svg + "</svg>\n";
}

std::string report_page(const Summary& summary, const SetNotes& notes, const std::string& results,
                        const std::string& sheet_remark) {
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{0}</title>\n"
      "<style>body{{font-family:sans-serif;margin:2em;max-width:1320px}}pre{{background:#f4f4f4;"
      "padding:1em;overflow:auto}}img{{max-width:100%}}svg{{margin-right:1em}}</style></head>\n"
      "<body><h1>{0}</h1>\n<p>Results: {1}</p>\n<pre>{2}</pre>\n",
      escaped(notes.name), escaped(results), escaped(text_of(summary, notes)));
  if (!notes.remarks.empty()) {
    page += "<p>What is known of the truth:</p><ul>\n";
    for (const std::string& remark : notes.remarks) {
      page += "<li>" + escaped(remark) + "</li>\n";
    }
    page += "</ul>\n";
  }
  page += precision_recall_svg(summary);
  if (summary.calibration) page += reliability_svg(summary);
  page += "<p>";
  for (const OverlayColor& entry :
       {kRightColor, kWrongColor, kFalseColor, kMissedColor, kUncountedColor}) {
    page += fmt::format("<span style=\"color:{}\">&#9632;</span> {} &nbsp; ", hex(entry.color),
                        entry.name);
  }
  page += fmt::format(
      "</p>\n<p>{}</p>\n<img src=\"contact_sheet.png\" alt=\"overlays\">\n</body></html>\n",
      escaped(sheet_remark));
  return page;
}

}  // namespace sextant::app
