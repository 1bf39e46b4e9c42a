// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "apps/sextant/eval/judged_image.h"
#include "apps/sextant/eval/summary.h"

namespace sextant::app {

/// The colours of overlays and their meaning.
struct OverlayColor {
  const char* name;
  Rgb8 color;
};
inline constexpr OverlayColor kRightColor{"right", {40, 200, 70}};
inline constexpr OverlayColor kWrongColor{"wrong", {255, 150, 0}};
inline constexpr OverlayColor kFalseColor{"false", {240, 30, 40}};
inline constexpr OverlayColor kMissedColor{"missed", {60, 130, 255}};
inline constexpr OverlayColor kUncountedColor{"not counted", {190, 190, 190}};

/// A picture or, without one, the depth map in grey, with the outlines of what was reported and of
/// what was missed, `width` pixels wide.
Image<Rgb8> overlay(const EvaluatedModels& models, const Camera& camera, const Image<Rgb8>& color,
                    const Image<float>& depth_m, const JudgedImage& image, int width);

/// Tiles of equal width in rows of four.
Image<Rgb8> contact_sheet(std::span<const Image<Rgb8>> tiles);

/// Precision over recall, and the share of right reports over the score, as SVG.
std::string precision_recall_svg(const Summary& summary);
std::string reliability_svg(const Summary& summary);

/// The page that holds everything and opens from disk; pictures lie beside it.
std::string report_page(const Summary& summary, const SetNotes& notes, const std::string& results,
                        const std::string& sheet_remark);

}  // namespace sextant::app
