// SPDX-License-Identifier: Apache-2.0
// Exact nearest neighbours of 128-byte descriptors on the CPU beside FAISS's flat index, OpenCV's
// brute-force matcher and hnswlib's graph, all with two threads. Usage: match_bench [RESULT.json]
#include <faiss/IndexFlat.h>
#include <hnswlib/hnswlib.h>
#include <omp.h>

#include <atomic>
#include <opencv2/features2d.hpp>
#include <thread>

#include "bench/like_descriptors.h"
#include "measure/report.h"
#include "sextant/match/descriptors.h"

namespace sextant::measure {
namespace {

constexpr std::int64_t kQueries = 10000;
constexpr std::int64_t kBase = 60000;
constexpr int kLength = 128;
constexpr int kThreads = 2;

std::vector<float> as_floats(const std::vector<std::uint8_t>& bytes) {
  return {bytes.begin(), bytes.end()};
}

struct Timed {
  double ms = 0;
  std::vector<std::int64_t> nearest;  ///< of each query
};

/// The median of a few runs.
Timed timed(int runs, const std::function<std::vector<std::int64_t>()>& work) {
  Timed result;
  std::vector<double> sample;
  for (int i = 0; i < runs; ++i) {
    sample.push_back(milliseconds([&] { result.nearest = work(); }));
  }
  result.ms = spread_of(sample).median;
  return result;
}

Timed ours(const std::vector<std::uint8_t>& queries, const std::vector<std::uint8_t>& base) {
  const Context context = Context::cpu(kThreads);
  return timed(5, [&] {
    const NearestDescriptors found =
        nearest_descriptors(context, DescriptorRows<std::uint8_t>{view_of(queries), kLength},
                            DescriptorRows<std::uint8_t>{view_of(base), kLength});
    std::vector<std::int64_t> nearest;
    for (std::int64_t q = 0; q < kQueries; ++q) nearest.push_back(found.indices.host()[2 * q]);
    return nearest;
  });
}

Timed by_faiss(const std::vector<float>& queries, const std::vector<float>& base) {
  faiss::IndexFlatL2 index(kLength);
  index.add(kBase, base.data());
  return timed(3, [&] {
    std::vector<float> distances(kQueries * 2);
    std::vector<faiss::Index::idx_t> indices(kQueries * 2);
    index.search(kQueries, queries.data(), 2, distances.data(), indices.data());
    std::vector<std::int64_t> nearest;
    for (std::int64_t q = 0; q < kQueries; ++q) nearest.push_back(indices[2 * q]);
    return nearest;
  });
}

Timed by_opencv(std::vector<float> queries, std::vector<float> base) {
  cv::setNumThreads(kThreads);
  const cv::Mat query_rows(kQueries, kLength, CV_32F, queries.data());
  const cv::Mat base_rows(kBase, kLength, CV_32F, base.data());
  return timed(2, [&] {
    std::vector<std::vector<cv::DMatch>> matches;
    cv::BFMatcher(cv::NORM_L2).knnMatch(query_rows, base_rows, matches, 2);
    std::vector<std::int64_t> nearest;
    for (const auto& match : matches) nearest.push_back(match[0].trainIdx);
    return nearest;
  });
}

/// The time of the search alone; building the graph takes far longer and is not counted.
Timed by_hnsw(const std::vector<float>& queries, const std::vector<float>& base) {
  hnswlib::L2Space space(kLength);
  hnswlib::HierarchicalNSW<float> graph(&space, kBase, 16, 200);
  const auto in_two_threads = [](std::int64_t count,
                                 const std::function<void(std::int64_t)>& work) {
    std::atomic<std::int64_t> next{0};
    const auto loop = [&] {
      for (std::int64_t i = next++; i < count; i = next++) work(i);
    };
    std::thread other(loop);
    loop();
    other.join();
  };
  in_two_threads(kBase, [&](std::int64_t i) {
    graph.addPoint(base.data() + i * kLength, static_cast<std::size_t>(i));
  });
  graph.setEf(100);
  return timed(3, [&] {
    std::vector<std::int64_t> nearest(kQueries);
    in_two_threads(kQueries, [&](std::int64_t q) {
      auto found = graph.searchKnn(queries.data() + q * kLength, 2);
      while (found.size() > 1) found.pop();
      nearest[static_cast<std::size_t>(q)] = static_cast<std::int64_t>(found.top().second);
    });
    return nearest;
  });
}

double agreement(const Timed& a, const Timed& b) {
  double same = 0;
  for (std::size_t i = 0; i < a.nearest.size(); ++i) same += a.nearest[i] == b.nearest[i];
  return same / static_cast<double>(a.nearest.size());
}

int run(const std::string& file) {
  omp_set_num_threads(kThreads);
  const std::vector<std::uint8_t> base = bytes_like_sift(kBase, 1);
  const std::vector<std::uint8_t> queries = bytes_like_sift(kQueries, 2);
  const std::vector<float> float_base = as_floats(base);
  const std::vector<float> float_queries = as_floats(queries);

  const Timed mine = ours(queries, base);
  const Timed faiss = by_faiss(float_queries, float_base);
  const Timed opencv = by_opencv(float_queries, float_base);
  const Timed hnsw = by_hnsw(float_queries, float_base);
  require(agreement(mine, faiss) > 0.999,
          "match_bench: FAISS finds other neighbours: ", agreement(mine, faiss));

  const std::string what = "2 nearest of 10000 x 60000 rows of 128 bytes, 2 threads, ";
  std::vector<Row> rows;
  const auto add = [&](const std::string& peer, const Timed& theirs, double goal) {
    rows.push_back({what + "peer " + peer, "ms", theirs.ms, mine.ms, theirs.ms / goal,
                    mine.ms <= theirs.ms / goal});
    rows.push_back({"nearest neighbours that " + peer + " finds too",
                    "share",
                    {},
                    agreement(mine, theirs),
                    {},
                    {}});
  };
  add("FAISS IndexFlatL2", faiss, 5);
  add("OpenCV BFMatcher", opencv, 5);
  add("hnswlib, ef 100, without building", hnsw, 1);
  publish("match", list_devices().devices.front().name, rows, file);
  return 0;
}

}  // namespace
}  // namespace sextant::measure

int main(int argc, char** argv) {
  return sextant::measure::run_main(argc, argv, sextant::measure::run);
}
