// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numbers>

#include "sextant/core/cuda/dispatch.h"
#include "sextant/core/rigid3.h"
#include "sextant/descriptor/pairs/list.h"
#include "sextant/descriptor/pairs/patches_math.h"
#include "tests/devices.h"

namespace sextant {

using namespace detail::pairs;
namespace {

constexpr Vec3f kHole{NAN, NAN, NAN};
const float kCosAngle = limits_of({}).cos_angle;

/// Numbers between -1 and 1, one after the other.
struct Draws {
  std::uint64_t seed;
  std::uint64_t drawn = 0;
  float operator()() { return 2.0f * Random{seed, drawn++}.uniform(0) - 1.0f; }
  Vec3f vector() {
    const float x = (*this)(), y = (*this)();
    return {x, y, (*this)()};
  }
};

struct Pixels {
  std::vector<Vec3f> points, normals;

  PatchBounds bounds() const {
    PatchBoxes boxes;
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (can_pair(points[i], normals[i])) boxes.add(points[i], normals[i]);
    }
    PatchBounds result(boxes);
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (can_pair(points[i], normals[i])) result.include(normals[i]);
    }
    return result;
  }
};

/// The smallest n · m, as the test of a pair computes it.
float least_turn(const Pixels& a, const Pixels& b) {
  float least = INFINITY;
  for (const Vec3f& n : a.normals) {
    for (const Vec3f& m : b.normals) least = std::min({least, dot(n, m), dot(m, n)});
  }
  return least;
}

TEST(PatchBounds, GapIsNeverAboveADistance) {
  Draws draw{testing::seed_of_test()};
  struct Range {
    float from, apart, size;
  };
  int apart = 0;
  for (const Range range :
       {Range{0, 3, 1}, Range{0, 0.1f, 1}, Range{1000, 2e-3f, 1e-3f}, Range{0, 1e-20f, 1e-20f},
        Range{0, 1e19f, 1e19f}, Range{0, 3e38f, 1e37f}}) {
    for (int trial = 0; trial < 100; ++trial) {
      Pixels patches[2];
      for (Pixels& patch : patches) {
        const Vec3f middle =
            Vec3f{range.from, range.from, range.from} + draw.vector() * range.apart;
        for (int i = 0; i < kPatchPixels; ++i) {
          patch.points.push_back(middle + draw.vector() * range.size);
          patch.normals.push_back({0, 0, -1});
        }
      }
      const PatchBounds a = patches[0].bounds(), b = patches[1].bounds();
      float nearest_sq = INFINITY;
      for (const Vec3f& p : patches[0].points) {
        for (const Vec3f& q : patches[1].points) {
          nearest_sq = std::min(nearest_sq, squared_distance(p, q));
          // Of single pixels it is the distance itself.
          EXPECT_EQ(PatchBounds(p, {}).gap_sq(PatchBounds(q, {})), squared_distance(p, q));
        }
      }
      EXPECT_LE(a.gap_sq(b), nearest_sq);
      EXPECT_EQ(a.gap_sq(b), b.gap_sq(a));
      apart += a.gap_sq(b) > 0 ? 1 : 0;
    }
  }
  EXPECT_GT(apart, 100);
}

TEST(PatchBounds, TurnedNormalsAreNeverTooAlike) {
  Draws draw{testing::seed_of_test()};
  int alike = 0, unlike = 0;
  for (const float cone : {0.0f, 1e-4f, 0.02f, 0.06f, 0.13f, 0.3f, 3.0f}) {
    for (int trial = 0; trial < 300; ++trial) {
      const Vec3f axis = normalized(draw.vector());
      const float between = 0.3f * std::abs(draw());
      Pixels patches[2];
      for (Pixels& patch : patches) {
        const Vec3f middle = normalized(axis + draw.vector() * between);
        for (int i = 0; i < kPatchPixels; ++i) {
          patch.points.push_back({});
          patch.normals.push_back(normalized(middle + draw.vector() * cone));
        }
      }
      const bool too_alike = patches[0].bounds().too_alike(patches[1].bounds(), kCosAngle);
      EXPECT_EQ(too_alike, patches[1].bounds().too_alike(patches[0].bounds(), kCosAngle));
      if (too_alike) {
        EXPECT_GE(least_turn(patches[0], patches[1]), kCosAngle);
      }
      (too_alike ? alike : unlike) += 1;
    }
  }
  EXPECT_GT(alike, 300);
  EXPECT_GT(unlike, 300);
}

TEST(PatchBounds, HoldAtTheVeryLimit) {
  // Two fans of normals in one plane, whose outer normals are `widest` apart: the worst case of the
  // bound, at the limit and by as little as rounding beside it.
  Draws draw{testing::seed_of_test()};
  const double limit = static_cast<double>(PairsOptions{}.least_angle_rad);
  int turned = 0;
  for (const double beside : {-1e-3, -3e-5, -1e-6, -1e-7, 0.0, 1e-7, 1e-6, 1e-5}) {
    for (int trial = 0; trial < 200; ++trial) {
      const double widest = limit + beside;
      // Without width the bound is n · m itself, and the slack is all there is against rounding.
      const double width = trial % 2 == 0 ? 0.0 : std::abs(static_cast<double>(draw()));
      const double fan = widest / 4 * width;
      const Mat3d rotation = exp_rotation(cast<double>(draw.vector() * 3.0f));
      Pixels patches[2];
      for (int side = 0; side < 2; ++side) {
        const double sign = side == 0 ? -1 : 1;
        for (const double angle : {widest / 2, widest / 2 - 2 * fan}) {
          const Vec3d n{sign * std::sin(angle), 0, -std::cos(angle)};
          patches[side].points.push_back({});
          patches[side].normals.push_back(cast<float>(rotation * n));
        }
      }
      const bool too_alike = patches[0].bounds().too_alike(patches[1].bounds(), kCosAngle);
      if (least_turn(patches[0], patches[1]) < kCosAngle) {
        EXPECT_FALSE(too_alike) << beside << " " << fan;
        ++turned;
      }
      // The bound takes arcs for chords, which are shorter by at most widest³ / 24 = 7.5e-4.
      if (beside == -1e-3) {
        EXPECT_TRUE(too_alike) << fan;
      }
    }
  }
  EXPECT_GE(turned, 200);  // at 1e-5, which is 2.6e-6 of the cosine: ten roundings
}

TEST(PatchBounds, OfWhatIsNotAPatch) {
  const Vec3f p{1, 2, 3}, n{0, 0, -1};
  const PatchBounds one = Pixels{{p}, {n}}.bounds();
  EXPECT_TRUE(one.too_alike(one, kCosAngle));
  for (const Pixels& nothing : {Pixels{}, Pixels{{kHole, p}, {n, kHole}}}) {
    const PatchBounds empty = nothing.bounds();
    for (const PatchBounds& other : {one, empty}) {
      EXPECT_EQ(empty.gap_sq(other), INFINITY);
      EXPECT_EQ(other.gap_sq(empty), INFINITY);
      EXPECT_TRUE(empty.too_alike(other, kCosAngle));
    }
  }
  // Normals of another length than 1 have n · m = 0, 4 and infinity with themselves.
  for (const Vec3f& odd : {Vec3f{}, Vec3f{0, 0, -2}, Vec3f{INFINITY, 0, 0}}) {
    for (const PatchBounds& bounds :
         {PatchBounds(p, odd), Pixels{{p}, {odd}}.bounds(), Pixels{{p, p}, {n, odd}}.bounds(),
          Pixels{{p, p}, {odd, -odd}}.bounds()}) {
      EXPECT_FALSE(bounds.too_alike(one, kCosAngle));
      EXPECT_FALSE(one.too_alike(bounds, kCosAngle));
      EXPECT_FALSE(bounds.too_alike(bounds, kCosAngle));
    }
  }
}

/// Surfaces that are hard on bounds and on ties.
enum Awkward { kRough, kWavy, kSpecked, kFarAway, kBroken, kFacets, kStep, kKinds };

Pixels awkward_surface(Awkward kind, int width, int height, Draws draw) {
  Pixels result;
  for (int v = 0; v < height; ++v) {
    for (int u = 0; u < width; ++u) {
      Vec3f p{static_cast<float>(u), static_cast<float>(v), 8};  // equal distances everywhere
      Vec3f n{0, 0, -1};
      if (kind == kRough) n = normalized(draw.vector());
      if (kind == kWavy) {
        n = normalized(Vec3f{0.13f * draw(), 0.13f * draw(), -1});
        p += draw.vector() * 0.4f;
      }
      if (kind == kSpecked && draw() > 0.9f) n = {0.6f, 0, -0.8f};
      if (kind == kFarAway) {
        p = p + Vec3f{60000, -30000, 9000};
        n = normalized(Vec3f{0.2f * draw(), 0.2f * draw(), -1});
      }
      if (kind == kBroken) {
        n = draw.vector() * 3.0f;
        if (draw() > 0.95f) n = Vec3f{INFINITY, 0, 1};
        if (draw() > 0.95f) n = kHole;
        if (draw() > 0.9f) n = {};
        if (draw() > 0.9f) p = kHole;
        if (draw() > 0.95f) p.x = INFINITY;
        if (draw() > 0.95f) p.z = draw() * 3e38f;
      }
      if (kind == kFacets) {
        // Neighbouring patches are turned by the limit, give or take a rounding.
        const float half = 0.13089969f * (1.0f + 2e-7f * draw());
        n = {(u / kPatchEdge_px + v / kPatchEdge_px) % 2 == 0 ? std::sin(half) : -std::sin(half), 0,
             -std::cos(half)};
      }
      if (kind == kStep && u > width / 2) {
        p.z = 30;
        n = normalized(Vec3f{0.5f, 0.1f * draw(), -1});
      }
      result.points.push_back(p);
      result.normals.push_back(n);
    }
  }
  return result;
}

struct Awkwardness {
  Awkward kind;
  int width, height;
  PairsOptions options;
  float resolution_m = 1.0f;
};

std::vector<Awkwardness> awkward_searches() {
  std::vector<Awkwardness> all;
  for (int kind = 0; kind < kKinds; ++kind) {
    const auto as = static_cast<Awkward>(kind);
    all.push_back({as, 45, 39, {}});
    all.push_back({as, 37, 6, {.least_resolutions = 0, .window_px = 5}});
    all.push_back({as, 3, 50, {.least_angle_rad = 0, .window_px = 13}});
    all.push_back({as, 18, 21, {.least_resolutions = 1, .least_angle_rad = 3}});
    all.push_back({as, 33, 17, {.least_resolutions = 0, .window_px = 1}, 1e30f});
  }
  return all;
}

/// A search for every pixel, on the host.
struct AwkwardJob {
  Awkwardness search;
  Pixels pixels;
  SurfaceStatistics statistics;

  explicit AwkwardJob(const Awkwardness& from)
      : search(from),
        pixels(awkward_surface(from.kind, from.width, from.height, {testing::seed_of_test()})) {
    statistics.resolution_m = from.resolution_m;
  }
  PairsJob job() const {
    const std::int64_t count = std::int64_t{search.width} * search.height;
    return {{pixels.points.data(), search.width, search.height, search.width, {}},
            {pixels.normals.data(), search.width, search.height, search.width, {}},
            &statistics,
            limits_of(search.options),
            search.options.window_px,
            {count, count, 0},
            nullptr};
  }
};

/// All candidates of a pixel, one after the other.
Partners plain_search(const PairsJob& job, int u, int v) {
  const PairTest test(job.limits, job.statistics->resolution_m);
  Partners partners(test);
  search_window(job, test, u, v, 0, 1, partners);
  return partners;
}

TEST(PatchBounds, LeavingPatchesOutChangesNothing) {
  int visited = 0, left_out = 0;
  for (const Awkwardness& search : awkward_searches()) {
    SCOPED_TRACE(search.kind);
    const AwkwardJob awkward(search);
    const PairsJob job = awkward.job();
    const PairTest test(job.limits, search.resolution_m);
    const PairPatchGrid grid(search.width, search.height);
    const auto patch_at = [&](int column, int row) {
      Pixels patch;
      for (int i = 0; i < kPatchPixels; ++i) {
        const int u = column * kPatchEdge_px + i % kPatchEdge_px;
        const int v = row * kPatchEdge_px + i / kPatchEdge_px;
        const bool inside = job.points.contains(u, v);
        patch.points.push_back(inside ? job.points(u, v) : kHole);
        patch.normals.push_back(inside ? job.normals(u, v) : kHole);
      }
      return patch;
    };
    std::vector<PatchBounds> bounds;
    for (int i = 0; i < grid.size(); ++i) {
      bounds.push_back(patch_at(i % grid.across, i / grid.across).bounds());
    }
    constexpr PatchSteps kSteps;
    const int w = search.options.window_px;
    for (int v = 0; v < search.height; ++v) {
      for (int u = 0; u < search.width; ++u) {
        const Vec3f p = job.points(u, v), n = job.normals(u, v);
        Partners partners(test);
        for (int i = 0; can_pair(p, n) && i < PatchSteps::kCount; ++i) {
          const int column = u / kPatchEdge_px + kSteps.across[i];
          const int row = v / kPatchEdge_px + kSteps.down[i];
          if (!grid.contains(column, row)) continue;
          if (!reaches(w, kSteps.across[i]) || !reaches(w, kSteps.down[i])) continue;
          const PatchBounds& own =
              bounds[static_cast<std::size_t>(v / kPatchEdge_px * grid.across + u / kPatchEdge_px)];
          const PatchBounds& other = bounds[static_cast<std::size_t>(row * grid.across + column)];
          const bool out =
              own.too_alike(other, test.cos_angle) || own.gap_sq(other) > partners.distance_sq[2];
          (out ? left_out : visited) += 1;
          if (out) continue;
          for (int b = row * kPatchEdge_px; b < (row + 1) * kPatchEdge_px; ++b) {
            for (int a = column * kPatchEdge_px; a < (column + 1) * kPatchEdge_px; ++a) {
              if (!job.points.contains(a, b) || std::abs(a - u) > w || std::abs(b - v) > w)
                continue;
              partners.offer(test, p, n, job.points(a, b), job.normals(a, b), b * search.width + a);
            }
          }
        }
        const Partners expected = plain_search(job, u, v);
        EXPECT_TRUE(std::equal(partners.index, partners.index + kPartnersPerPoint, expected.index))
            << u << " " << v;
      }
    }
  }
  EXPECT_GT(visited, 10000);
  EXPECT_GT(left_out, 10000);
}

TEST(Pairs, OfAwkwardSurfacesAreThoseOfAPlainSearch) {
  for (const Awkwardness& search : awkward_searches()) {
    SCOPED_TRACE(search.kind);
    const AwkwardJob awkward(search);
    const PairsJob job = awkward.job();
    std::vector<std::int32_t> expected;
    for (int v = 0; v < search.height; ++v) {
      for (int u = 0; u < search.width; ++u) {
        std::array<std::int32_t, kPartnersPerPoint> found{};
        plain_search(job, u, v).store(found.data());
        expected.insert(expected.end(), found.begin(), found.end());
      }
    }
    for (const Context& context : testing::all_contexts()) {
      SCOPED_TRACE(testing::describe(context));
      const Image<Vec3f> points(copy(context, awkward.pixels.points), search.width, search.height);
      const Image<Vec3f> normals(copy(context, awkward.pixels.normals), search.width,
                                 search.height);
      const Buffer<SurfaceStatistics> known = statistics_with(context, search.resolution_m);
      Buffer<std::int32_t> partners(context, points.view().pixels() * kPartnersPerPoint);
      Buffer<PatchBounds> patches(context, PairPatchGrid(search.width, search.height).size());
      PairsJob here = job;
      here.points = points;
      here.normals = normals;
      here.statistics = known.data();
      here.partners = partners.data();
      here.patches = patches.data();
      detail::on_device(
          context, [&] { find_partners_cuda(context, here); },
          [&] { find_partners_dense(context, here); });
      EXPECT_EQ(to_host(context, partners), expected);
    }
  }
}

}  // namespace
}  // namespace sextant
