// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/experiments/voting_clouds.h"

#include <cstdlib>
#include <filesystem>

#include "sextant/io/vtk.h"
#include "sextant/synth/survey_clouds.h"

namespace sextant::app {

namespace {

constexpr double kNoise_m = 0.01;  // of a scanning laser range finder
constexpr std::uint64_t kSeed = 1;

}  // namespace

std::vector<Vec3f> made_stairs(float sigma_m, double mean_votes) {
  std::vector<Vec3f> points = stairs_survey(14778, kNoise_m, kSeed).points;
  scale_to_neighbours(Context::cpu(), 3 * sigma_m, mean_votes, points);
  return points;
}

std::vector<Vec3f> made_apartment(float sigma_m, double mean_votes) {
  std::vector<Vec3f> points = apartment_survey(63900, kNoise_m, kSeed).points;
  scale_to_neighbours(Context::cpu(), 3 * sigma_m, mean_votes, points);
  return points;
}

std::vector<Vec3f> made_plain(float sigma_m, double mean_votes) {
  std::vector<Vec3f> points = plain_survey(40800, kNoise_m, kSeed).points;
  scale_to_neighbours(Context::cpu(), 3 * sigma_m, mean_votes, points);
  return points;
}

std::optional<TriangleMesh> captured_file(const std::string& name) {
  const char* folder = std::getenv("SEXTANT_SHARED_DATA");
  if (!folder) return {};
  const auto file = std::filesystem::path(folder) / "tensor_voting" / (name + ".vtk");
  if (!std::filesystem::exists(file)) return {};
  return read_vtk(file);
}

std::optional<std::vector<Vec3f>> captured_cloud(const std::string& name) {
  const std::optional<TriangleMesh> mesh = captured_file(name);
  if (!mesh) return {};
  const auto points = mesh->vertices.points.host();
  return std::vector<Vec3f>(points.begin(), points.end());
}

double mean_votes(const Context& context, const VotingResult& result) {
  double sum = 0;
  for (const std::int32_t votes : to_host(context, result.votes)) sum += votes;
  return sum / static_cast<double>(result.size());
}

SaliencySummary summary_of(const Context& context, const VotingResult& result) {
  const std::vector<Saliency> saliencies = to_host(context, result.saliencies);
  const std::vector<std::int32_t> votes = to_host(context, result.votes);
  double confidence = 0, edges = 0, voted = 0;
  for (std::size_t i = 0; i < saliencies.size(); ++i) {
    if (votes[i] == 0) continue;
    confidence += double(saliencies[i].confidence);
    edges += saliencies[i].plate > saliencies[i].stick;
    ++voted;
  }
  return {confidence / voted, 100 * edges / voted};
}

}  // namespace sextant::app
