// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sextant/evaluate/matching.h"
#include "sextant/evaluate/pose_error.h"
#include "sextant/evaluate/visible_surface.h"

namespace sextant {

/// The objects of a data set, ready to be drawn and compared.
struct EvaluatedModels {
  std::vector<EvaluatedModel> models;
  std::vector<Bounds> bounds;  ///< of each
  RenderScene scene;           ///< their meshes in this order

  /// The place of an object in the list; -1 when it is not there.
  int find(int object_id) const;
};
EvaluatedModels make_evaluated_models(const Context& context, std::vector<EvaluatedModel> models);

/// What becomes of a report.
enum class Verdict : std::int32_t {
  kRight,     ///< within the criterion of an instance that no better report has taken
  kWrong,     ///< an instance is there, but the pose is off, or it is reported a second time
  kFalse,     ///< no instance of the object is there
  kUnlisted,  ///< none is listed there, but the truth is known not to list all: not counted
  kHidden  ///< right, for an instance of which too little is visible to be asked for: not counted
};
inline constexpr Choice<Verdict> kVerdicts[] = {{"right", Verdict::kRight},
                                                {"wrong", Verdict::kWrong},
                                                {"false", Verdict::kFalse},
                                                {"unlisted", Verdict::kUnlisted},
                                                {"hidden", Verdict::kHidden}};

struct Report {
  int object_id = 0;
  double score = 0;
  Rigid3d camera_from_object;
};

struct TrueInstance {
  int object_id = 0;
  Rigid3d camera_from_object;
  double visible = 1;  ///< share that is visible
};

struct JudgedReport {
  Verdict verdict = Verdict::kFalse;
  int instance = -1;          ///< of a right, hidden or wrong report: the one that is nearest
  PoseDifference difference;  ///< to it; NaN without one
};

struct JudgedInstance {
  bool wanted = true;  ///< visible enough to be asked for
  int report = -1;     ///< the right one; -1 when it was missed
};

/// The errors of a report against an instance of the same object, as BOP thresholds them.
struct BopErrors {
  int report = 0;
  int instance = 0;
  double mssd = 0;                  ///< as a share of the diameter
  double mspd_px = 0;               ///< in pixels of an image 640 wide
  double vsd[kVsdTolerances] = {};  ///< 1 without a depth map
};

struct ImageJudgement {
  std::vector<JudgedReport> reports;
  std::vector<JudgedInstance> instances;
  std::vector<BopErrors> errors;  ///< pairs so far apart that no threshold admits them are left out
};

struct JudgeOptions {
  PoseCriterion criterion;
  double least_visible = 0.1;  ///< share of an instance that must be visible to be asked for
  double near = 0.5;  ///< diameters between middles within which a report means an instance
  bool bop = true;    ///< compute MSSD, MSPD and VSD too

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("least_visible", self.least_visible, "visible share of instances that are asked for",
          Range{0, 1});
    visit("near", self.near, "diameters within which a report means an instance", Range{0, 10});
  }
};

/// Judges the reports of one image. `measured_m` is a depth map on the context's device, or empty
/// for a photograph. `may_be_unlisted` says for each report whether the truth may lack its object
/// here; empty for none. Error for a report or instance of an object that is not among the models.
/// Waits for the device.
ImageJudgement judge_image(const Context& context, const EvaluatedModels& models,
                           const Camera& camera, ImageView<const float> measured_m,
                           std::span<const TrueInstance> truth, std::span<const Report> reports,
                           std::span<const char> may_be_unlisted, const JudgeOptions& options,
                           VisibleSurfaceMemory& memory);

}  // namespace sextant
