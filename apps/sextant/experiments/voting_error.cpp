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

constexpr float kSigma_m = 1.0f;  // inferred from the number of votes that the paper gives
constexpr int kPoints = 1000;
constexpr int kDraws = 5;

struct Method {
  const char* name;
  Buffer<Vec3f> (*normals)(const Context& context, View<const Vec3f> points);
};

Buffer<Vec3f> voted(const Context& context, View<const Vec3f> points, bool second_pass) {
  return std::move(
      vote(context, points, {.sigma_m = kSigma_m, .second_pass = second_pass}).normals);
}

const Method kMethods[] = {
    {"voting", [](const Context& c, View<const Vec3f> p) { return voted(c, p, false); }},
    {"PCA of 15 nearest",
     [](const Context& c, View<const Vec3f> p) { return estimate_cloud_normals(c, p, {.k = 15}); }},
    {"weighted PCA",
     [](const Context& c, View<const Vec3f> p) {
       return estimate_cloud_normals(
           c, p, {.method = CloudNormalsMethod::kWeighted, .sigma_m = kSigma_m});
     }},
    {"voting, second pass",
     [](const Context& c, View<const Vec3f> p) { return voted(c, p, true); }},
    {"PCA of all within 3 sigma", [](const Context& c, View<const Vec3f> p) {
       return estimate_cloud_normals(c, p, {.radius_m = 3 * kSigma_m});
     }}};

/// Angles between found and true normals as lines, in degrees, of several draws.
std::vector<double> errors_deg(const Context& context, const Method& method, double noise_m) {
  std::vector<double> errors;
  for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
    const SurveyCloud cloud = paraboloid_survey(kPoints, noise_m, draw);
    const Buffer<Vec3f> points = copy(context, cloud.points);
    const std::vector<Vec3f> normals = to_host(context, method.normals(context, points));
    const std::vector<double> of_draw = normal_errors_deg(normals, cloud.normals);
    errors.insert(errors.end(), of_draw.begin(), of_draw.end());
  }
  return errors;
}

double votes_of(const Context& context, const std::vector<Vec3f>& points) {
  return mean_votes(context, vote(context, copy(context, points), {.sigma_m = kSigma_m}));
}

/// The shares of the errors in the bins of a histogram.
void add_histogram(const std::string& name, const std::vector<double>& errors,
                   std::vector<measure::Row>& rows) {
  constexpr double kEnds_deg[] = {0, 2, 4, 6, 8, 10, 15, 20, 90};
  for (std::size_t bin = 0; bin + 1 < std::size(kEnds_deg); ++bin) {
    double inside = 0;
    for (const double e : errors) inside += e >= kEnds_deg[bin] && e < kEnds_deg[bin + 1];
    rows.push_back({fmt::format("{}, noise 0.1, errors of {} to {} deg", name, kEnds_deg[bin],
                                kEnds_deg[bin + 1]),
                    "%",
                    {},
                    100 * inside / static_cast<double>(errors.size()),
                    {},
                    {}});
  }
}

}  // namespace

/// z = 1 - 0.02 x² - 0.02 y² with 1000 points, σ = 1. The paper shows histograms of voting and of
/// PCA over 15 neighbours without figures; PCA is the peer here.
std::vector<measure::Row> voting_error(const Context& context) {
  std::vector<measure::Row> rows;
  const std::vector<Vec3f> clean = paraboloid_survey(kPoints, 0.1, 0).points;
  rows.push_back({"mean voters per votee", "votes", {}, votes_of(context, clean), {}, {}, 217.3});
  if (auto captured = captured_cloud("Curveplane")) {
    captured->resize(kPoints);
    rows.push_back({"mean voters per votee, the authors' points",
                    "votes",
                    {},
                    votes_of(context, *captured),
                    {},
                    {},
                    217.3});
  }
  for (const double noise_m : {0.0, 0.1, 0.316}) {
    const double peer = mean_of(errors_deg(context, kMethods[1], noise_m));
    for (const Method& method : kMethods) {
      const std::vector<double> errors = errors_deg(context, method, noise_m);
      measure::Row row{fmt::format("mean error, noise {:.3g}, {}", noise_m, method.name),
                       "deg",
                       peer,
                       mean_of(errors),
                       {},
                       {}};
      // Without noise the nearest neighbours are the best; with noise all must beat them.
      if (noise_m > 0 && &method != &kMethods[1]) {
        row.goal = peer;
        row.met = row.ours < peer;
      }
      rows.push_back(row);
    }
  }
  for (const Method& method : kMethods) {
    add_histogram(method.name, errors_deg(context, method, 0.1), rows);
  }
  return rows;
}

}  // namespace sextant::app
