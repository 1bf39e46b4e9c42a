// SPDX-License-Identifier: Apache-2.0
// PCL's operations for `sextant reproduce`, which does not link PCL:
//   sextant_peer_pcl OPERATION INPUT.pcd OUTPUT [KEY=VALUE ...]
// writes the result as floats, point by point, to OUTPUT and prints one line of JSON. A further
// operation is one function and one line in kOperations.
#include <omp.h>
#include <pcl/features/normal_3d_omp.h>
#include <pcl/features/principal_curvatures.h>
#include <pcl/features/shot_omp.h>
#include <pcl/io/pcd_io.h>
#include <pcl/search/kdtree.h>

#include <chrono>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "measure/report.h"
#include "sextant/core/error.h"

namespace sextant::measure {
namespace {

using Points = pcl::PointCloud<pcl::PointXYZ>;
using Normals = pcl::PointCloud<pcl::Normal>;

/// The KEY=VALUE words; one that no operation asked for is refused.
class Settings {
 public:
  Settings(std::string input, int count, char** words) : input_(std::move(input)) {
    for (int i = 0; i < count; ++i) {
      const std::string word = words[i];
      const std::size_t equals = word.find('=');
      require(equals != std::string::npos, "'", word, "' is not KEY=VALUE");
      values_[word.substr(0, equals)] = word.substr(equals + 1);
    }
  }
  double number(const std::string& key, double otherwise) {
    asked_.insert(key);
    const auto found = values_.find(key);
    if (found == values_.end()) return otherwise;
    std::size_t used = 0;
    double value = 0;
    try {
      value = std::stod(found->second, &used);
    } catch (const std::exception&) {
    }
    require(used == found->second.size() && used > 0, key, ": '", found->second, "' is no number");
    return value;
  }
  /// The file, for what it holds beside the points.
  const std::string& input() const { return input_; }
  void refuse_others() const {
    for (const auto& [key, value] : values_) {
      require(asked_.count(key) > 0, "there is no setting '", key, "' here");
    }
  }

 private:
  std::string input_;
  std::map<std::string, std::string> values_;
  std::set<std::string> asked_;
};

/// What an operation gives: its floats and the milliseconds of its steps.
struct Outcome {
  int floats_per_point = 0;
  std::vector<float> values;
  nlohmann::json times_ms = nlohmann::json::object();
};

/// Runs the step `repeats` times and notes the median.
template <class Work>
void time_step(Outcome& outcome, const char* step, int repeats, const Work& work) {
  std::vector<double> sample;
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    sample.push_back(time.count());
  }
  outcome.times_ms[step] = spread_of(sample).median;
}

/// Neighbours for normals: all within `radius`, or the k nearest where it is 0.
struct NormalsSettings {
  double radius_m;
  int k;
  int threads;
  int repeats;

  explicit NormalsSettings(Settings& settings)
      : radius_m(settings.number("radius_m", 0)),
        k(static_cast<int>(settings.number("k", 15))),
        threads(static_cast<int>(settings.number("threads", omp_get_num_procs()))),
        repeats(static_cast<int>(settings.number("repeats", 1))) {
    require(radius_m >= 0 && k >= 1 && threads >= 1 && repeats >= 1,
            "radius_m is negative, or k, threads or repeats below 1");
  }
};

Normals::Ptr estimate(const Points::Ptr& points, const NormalsSettings& settings, double radius_m) {
  const auto normals = std::make_shared<Normals>();
  pcl::NormalEstimationOMP<pcl::PointXYZ, pcl::Normal> estimator(
      static_cast<unsigned>(settings.threads));
  estimator.setInputCloud(points);  // neighbours by PCL's own choice of search
  if (radius_m > 0) {
    estimator.setRadiusSearch(radius_m);
  } else {
    estimator.setKSearch(settings.k);
  }
  estimator.compute(*normals);
  return normals;
}

/// nx ny nz. Settings: radius_m, or k; threads; repeats.
Outcome normals(const Points::Ptr& points, Settings& words) {
  const NormalsSettings settings(words);
  words.refuse_others();
  Outcome outcome{3, {}};
  Normals::Ptr normals;
  time_step(outcome, "normals", settings.repeats,
            [&] { normals = estimate(points, settings, settings.radius_m); });
  for (const pcl::Normal& n : *normals) {
    outcome.values.insert(outcome.values.end(), {n.normal_x, n.normal_y, n.normal_z});
  }
  return outcome;
}

/// Every n-th point.
pcl::IndicesPtr every_nth(std::size_t points, int every) {
  const auto chosen = std::make_shared<pcl::Indices>();
  for (std::size_t i = 0; i < points; i += static_cast<std::size_t>(every)) {
    chosen->push_back(static_cast<pcl::index_t>(i));
  }
  return chosen;
}

/// pc1 pc2 and the direction x y z of pc1. Settings: radius_m; normals_radius_m (else the same);
/// every (only each such point, the others are NaN; the time is that of all, in proportion, and of
/// one tree where the points are in no rows). The search is PCL's own choice.
Outcome curvatures(const Points::Ptr& points, Settings& words) {
  const NormalsSettings settings(words);
  const double normals_radius_m = words.number("normals_radius_m", settings.radius_m);
  const int every = static_cast<int>(words.number("every", 1));
  words.refuse_others();
  require(settings.radius_m > 0 && every >= 1, "curvatures: pass radius_m above 0, every from 1");
  Outcome outcome{5, std::vector<float>(5 * points->size(), NAN)};
  Normals::Ptr normals;
  time_step(outcome, "normals", settings.repeats,
            [&] { normals = estimate(points, settings, normals_radius_m); });
  const pcl::IndicesPtr chosen = every_nth(points->size(), every);
  pcl::search::KdTree<pcl::PointXYZ>::Ptr tree;
  double tree_ms = 0;
  if (!points->isOrganized()) {
    time_step(outcome, "tree", settings.repeats, [&] {
      tree = std::make_shared<pcl::search::KdTree<pcl::PointXYZ>>();
      tree->setInputCloud(points);
    });
    tree_ms = outcome.times_ms["tree"];
  }
  pcl::PointCloud<pcl::PrincipalCurvatures> curvatures;
  time_step(outcome, "curvatures", settings.repeats, [&] {
    pcl::PrincipalCurvaturesEstimation<pcl::PointXYZ, pcl::Normal, pcl::PrincipalCurvatures>
        estimator;
    estimator.setInputCloud(points);
    estimator.setInputNormals(normals);
    estimator.setIndices(chosen);
    if (tree) estimator.setSearchMethod(tree);
    estimator.setRadiusSearch(settings.radius_m);
    estimator.compute(curvatures);
  });
  const double measured = outcome.times_ms["curvatures"];
  outcome.times_ms["curvatures"] = tree_ms + measured * static_cast<double>(points->size()) /
                                                 static_cast<double>(chosen->size());
  for (std::size_t j = 0; j < chosen->size(); ++j) {
    const pcl::PrincipalCurvatures& c = curvatures[j];
    const float values[] = {c.pc1, c.pc2, c.principal_curvature_x, c.principal_curvature_y,
                            c.principal_curvature_z};
    std::copy(std::begin(values), std::end(values),
              outcome.values.begin() + 5 * static_cast<std::ptrdiff_t>((*chosen)[j]));
  }
  return outcome;
}

template <class Estimator>
void compute_shot(Estimator estimator, const Points::Ptr& points, const Normals::Ptr& normals,
                  const pcl::IndicesPtr& chosen, double radius_m, bool sorted,
                  pcl::PointCloud<pcl::SHOT352>& found) {
  estimator.setInputCloud(points);
  estimator.setInputNormals(normals);
  estimator.setIndices(chosen);
  estimator.setSearchMethod(std::make_shared<pcl::search::KdTree<pcl::PointXYZ>>(sorted));
  estimator.setRadiusSearch(radius_m);
  estimator.compute(found);
}

/// The 352 numbers, then the x, y and z axis of the frame; with the normals of the file. Settings:
/// radius_m; threads (0: the class without OpenMP); sorted (0: the kd-tree leaves neighbours in any
/// order); every (only each such point, the others are NaN; the time is that of all, in
/// proportion); repeats.
Outcome shot(const Points::Ptr& points, Settings& words) {
  const double radius_m = words.number("radius_m", 0);
  const int threads = static_cast<int>(words.number("threads", 0));
  const bool sorted = words.number("sorted", 1) != 0;
  const int every = static_cast<int>(words.number("every", 1));
  const int repeats = static_cast<int>(words.number("repeats", 1));
  words.refuse_others();
  require(radius_m > 0 && threads >= 0 && every >= 1 && repeats >= 1,
          "shot: pass radius_m above 0, threads from 0, every and repeats from 1");
  const auto normals = std::make_shared<Normals>();
  require(pcl::io::loadPCDFile(words.input(), *normals) == 0, words.input(), ": has no normals");
  constexpr int kFloats = 352 + 9;
  Outcome outcome{kFloats, std::vector<float>(kFloats * points->size(), NAN)};
  const pcl::IndicesPtr chosen = every_nth(points->size(), every);
  pcl::PointCloud<pcl::SHOT352> found;
  time_step(outcome, "shot", repeats, [&] {
    if (threads == 0) {
      compute_shot(pcl::SHOTEstimation<pcl::PointXYZ, pcl::Normal, pcl::SHOT352>(), points, normals,
                   chosen, radius_m, sorted, found);
    } else {
      compute_shot(pcl::SHOTEstimationOMP<pcl::PointXYZ, pcl::Normal, pcl::SHOT352>(
                       static_cast<unsigned>(threads)),
                   points, normals, chosen, radius_m, sorted, found);
    }
  });
  const double measured = outcome.times_ms["shot"];
  outcome.times_ms["shot"] =
      measured * static_cast<double>(points->size()) / static_cast<double>(chosen->size());
  for (std::size_t j = 0; j < chosen->size(); ++j) {
    float* row = outcome.values.data() + static_cast<std::size_t>((*chosen)[j]) * kFloats;
    std::copy(std::begin(found[j].descriptor), std::end(found[j].descriptor), row);
    std::copy(std::begin(found[j].rf), std::end(found[j].rf), row + 352);
  }
  return outcome;
}

struct Operation {
  const char* name;
  Outcome (*run)(const Points::Ptr& points, Settings& settings);
};
constexpr Operation kOperations[] = {
    {"normals", normals}, {"curvatures", curvatures}, {"shot", shot}};

int run(int argc, char** argv) {
  std::string names;
  for (const Operation& operation : kOperations) names += std::string(" ") + operation.name;
  require(argc >= 4, "usage: sextant_peer_pcl OPERATION INPUT.pcd OUTPUT [KEY=VALUE ...], with",
          " OPERATION one of", names);
  for (const Operation& operation : kOperations) {
    if (operation.name != std::string(argv[1])) continue;
    const auto points = std::make_shared<Points>();
    require(pcl::io::loadPCDFile(argv[2], *points) == 0, argv[2], ": PCL cannot read it");
    Settings settings(argv[2], argc - 4, argv + 4);
    const Outcome outcome = operation.run(points, settings);
    write_file_atomically(argv[3], std::as_bytes(std::span(outcome.values)));
    const nlohmann::json line{{"library", "PCL " PCL_VERSION_PRETTY},
                              {"operation", operation.name},
                              {"points", points->size()},
                              {"floats_per_point", outcome.floats_per_point},
                              {"times_ms", outcome.times_ms}};
    std::printf("%s\n", line.dump().c_str());
    return 0;
  }
  fail("there is no operation '", argv[1], "'; there are", names);
}

}  // namespace
}  // namespace sextant::measure

int main(int argc, char** argv) {
  try {
    return sextant::measure::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "sextant_peer_pcl: %s\n", error.what());
    return 1;
  }
}
