// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "apps/sextant/experiments/experiments.h"
#include "apps/sextant/experiments/normal_error.h"
#include "apps/sextant/experiments/voting_clouds.h"
#include "sextant/surface/cloud_normals.h"
#include "sextant/surface/voting.h"
#include "sextant/synth/survey_clouds.h"

namespace sextant::app {

namespace {

constexpr float kSigmas_m[] = {0.05f, 0.1f, 0.2f, 0.3f, 0.5f, 1.0f};

/// Stairs of which the faces of single steps and the slope of the whole flight are known: steps of
/// 0.3 × 0.17 m. Points nearer than 0.6 m to a landing are not compared.
struct Stairs {
  std::vector<Vec3f> points, faces, slopes;
  std::vector<std::size_t> compared;
};

Stairs make_stairs() {
  constexpr int kPoints = 60000;  // 4 cm apart, so that a tread has several across
  SurveyCloud cloud = stairs_survey(kPoints, 0.01, 1);
  Stairs stairs;
  for (std::size_t i = 0; i < cloud.points.size(); ++i) {
    const Vec3f& p = cloud.points[i];
    const bool goes_back = p.y > 1.7f;  // the flights in between run towards smaller x
    stairs.slopes.push_back(normalized(Vec3f{goes_back ? 0.17f : -0.17f, 0, 0.3f}));
    if (p.x > 0.6f && p.x < 2.4f) stairs.compared.push_back(i);
  }
  stairs.points = std::move(cloud.points);
  stairs.faces = std::move(cloud.normals);
  return stairs;
}

/// Of the points that are compared.
std::vector<double> errors_deg(const Stairs& stairs, const std::vector<Vec3f>& normals,
                               const std::vector<Vec3f>& truth) {
  std::vector<Vec3f> found, wanted;
  for (const std::size_t i : stairs.compared) {
    found.push_back(normals[i]);
    wanted.push_back(truth[i]);
  }
  return normal_errors_deg(found, wanted);
}

void add_summary(const std::string& at, const SaliencySummary& summary,
                 std::vector<measure::Row>& rows) {
  rows.push_back({at + ", mean confidence", "", {}, summary.confidence, {}, {}});
  rows.push_back({at + ", more plate than stick: edges", "%", {}, summary.edges_percent, {}, {}});
}

/// What the paper shows of stairs: with a small σ the normals are those of the steps, with a large
/// one those of the slope, so that the flight is one plane.
void add_made_stairs(const Context& context, std::vector<measure::Row>& rows) {
  const Stairs stairs = make_stairs();
  const Buffer<Vec3f> points = copy(context, stairs.points);
  for (const float sigma_m : kSigmas_m) {
    const VotingResult result = vote(context, points, {.sigma_m = sigma_m});
    const std::vector<Vec3f> normals = to_host(context, result.normals);
    const std::vector<double> to_slope = errors_deg(stairs, normals, stairs.slopes);
    const double face_deg = mean_of(errors_deg(stairs, normals, stairs.faces));
    const double slope_deg = mean_of(to_slope);
    double on_slope = 0;
    for (const double deg : to_slope) on_slope += deg < 15;
    const std::string at = fmt::format("made stairs, sigma {} m", sigma_m);
    measure::Row to_faces{at + ", normals to the faces of steps", "deg", {}, face_deg, {}, {}};
    measure::Row to_slopes{at + ", normals to the slope", "deg", {}, slope_deg, {}, {}};
    if (sigma_m <= 0.1f) to_faces.goal = slope_deg, to_faces.met = face_deg < slope_deg;
    if (sigma_m >= 0.5f) to_slopes.goal = face_deg, to_slopes.met = slope_deg < face_deg;
    rows.push_back(to_faces);
    rows.push_back(to_slopes);
    rows.push_back({at + ", normals within 15 deg of the slope",
                    "%",
                    {},
                    100 * on_slope / static_cast<double>(to_slope.size()),
                    {},
                    {}});
    add_summary(at, summary_of(context, result), rows);
  }
}

/// The authors' stairs have no truth: the normals are compared with those of the smallest σ.
void add_captured_stairs(const Context& context, const std::vector<Vec3f>& host,
                         std::vector<measure::Row>& rows) {
  const Buffer<Vec3f> points = copy(context, host);
  std::vector<Vec3f> first;
  for (const float sigma_m : {0.1f, 0.2f, 0.3f, 0.5f, 1.0f}) {
    const VotingResult result = vote(context, points, {.sigma_m = sigma_m});
    std::vector<Vec3f> normals = to_host(context, result.normals);
    const std::string at = fmt::format("the authors' stairs, sigma {} m", sigma_m);
    rows.push_back({at + ", mean votes", "votes", {}, mean_votes(context, result), {}, {}});
    if (first.empty()) {
      first = std::move(normals);
    } else {
      for (std::size_t i = 0; i < normals.size(); ++i) {
        if (!is_finite(first[i])) normals[i] = first[i];  // is left out
      }
      const double angle_deg = mean_of(normal_errors_deg(normals, first));
      rows.push_back({at + ", normals to those of 0.1 m", "deg", {}, angle_deg, {}, {}});
    }
    add_summary(at, summary_of(context, result), rows);
  }
}

/// The surface of Fig. 2, where a large σ removes noise and, in the end, the bend.
void add_paraboloid(const Context& context, std::vector<measure::Row>& rows) {
  constexpr int kDraws = 5;
  for (const float sigma_m : {0.25f, 0.5f, 1.0f, 2.0f, 4.0f}) {
    std::vector<double> voted, weighted;
    for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
      const SurveyCloud cloud = paraboloid_survey(1000, 0.1, draw);
      const Buffer<Vec3f> points = copy(context, cloud.points);
      const auto add = [&](const Buffer<Vec3f>& normals, std::vector<double>& errors) {
        const auto found = normal_errors_deg(to_host(context, normals), cloud.normals);
        errors.insert(errors.end(), found.begin(), found.end());
      };
      add(vote(context, points, {.sigma_m = sigma_m}).normals, voted);
      add(estimate_cloud_normals(context, points,
                                 {.method = CloudNormalsMethod::kWeighted, .sigma_m = sigma_m}),
          weighted);
    }
    const std::string at = fmt::format("surface of Fig. 2, noise 0.1, sigma {}", sigma_m);
    rows.push_back({at + ", error of voting", "deg", {}, mean_of(voted), {}, {}});
    rows.push_back({at + ", error of weighted PCA", "deg", {}, mean_of(weighted), {}, {}});
  }
}

}  // namespace

/// The paper shows pictures without figures.
std::vector<measure::Row> voting_sigma(const Context& context) {
  std::vector<measure::Row> rows;
  add_made_stairs(context, rows);
  add_paraboloid(context, rows);
  if (const auto captured = captured_cloud("sparseFloor")) {
    add_captured_stairs(context, *captured, rows);
  }
  return rows;
}

}  // namespace sextant::app
