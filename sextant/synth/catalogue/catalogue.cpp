// SPDX-License-Identifier: Apache-2.0
#include "sextant/synth/catalogue.h"

#include <array>

#include "sextant/core/rigid3.h"
#include "sextant/synth/catalogue/packages.h"
#include "sextant/synth/catalogue/toys.h"

namespace sextant {

namespace {

enum class Resting { kUpright, kTwoSides, kSixSides, kCan };

struct Recipe {
  CatalogueEntry entry;
  Resting resting;
  TriangleMesh (*make)();
};

constexpr Recipe kRecipes[] = {
    {{"cube", "8 cm, six colours", ObjectSet::kToys}, Resting::kSixSides, make_cube},
    {{"pyramid", "square base of 11 cm, 9 cm high", ObjectSet::kToys},
     Resting::kUpright,
     make_pyramid},
    {{"speaker", "cabinet of 10 x 9 x 16 cm with two drivers", ObjectSet::kToys},
     Resting::kUpright,
     make_speaker},
    {{"tortoise", "on four feet, plated shell", ObjectSet::kToys},
     Resting::kUpright,
     make_tortoise},
    {{"mask", "a face with holes for eyes and mouth", ObjectSet::kToys},
     Resting::kUpright,
     make_mask},
    {{"tasmanian_devil", "the animal, on four feet", ObjectSet::kToys},
     Resting::kUpright,
     make_tasmanian_devil},
    {{"apple", "with stalk and leaf", ObjectSet::kToys}, Resting::kUpright, make_apple},
    {{"cereal_box", "carton of 16 x 6 x 22 cm", ObjectSet::kPrinted},
     Resting::kSixSides,
     [] {
       return make_carton({0.16, 0.06, 0.22}, 1);
     }},
    {{"tea_box", "carton of 13 x 7 x 8 cm", ObjectSet::kPrinted},
     Resting::kSixSides,
     [] {
       return make_carton({0.13, 0.07, 0.08}, 5);
     }},
    {{"cracker_box", "carton of 10 x 5 x 15 cm", ObjectSet::kPrinted},
     Resting::kSixSides,
     [] {
       return make_carton({0.10, 0.05, 0.15}, 2);
     }},
    {{"soup_can", "can of 7 cm diameter, 10 cm high", ObjectSet::kPrinted},
     Resting::kCan,
     [] { return make_can(0.035, 0.10, 6); }},
    {{"drink_can", "can of 6 cm diameter, 12 cm high", ObjectSet::kPrinted},
     Resting::kCan,
     [] { return make_can(0.030, 0.12, 12); }},
    {{"ten_of_hearts", "playing card", ObjectSet::kPrinted},
     Resting::kTwoSides,
     [] { return make_card(10, Suit::kHearts); }},
    {{"queen_of_spades", "playing card", ObjectSet::kPrinted}, Resting::kTwoSides, [] {
       return make_card(12, Suit::kSpades);
     }}};

constexpr auto kEntries = [] {
  std::array<CatalogueEntry, std::size(kRecipes)> entries;
  for (std::size_t i = 0; i < entries.size(); ++i) entries[i] = kRecipes[i].entry;
  return entries;
}();

const Recipe& recipe_of(std::string_view name) {
  std::string names;
  for (const Recipe& recipe : kRecipes) {
    if (recipe.entry.name == name) return recipe;
    names += (names.empty() ? "" : ", ") + std::string(recipe.entry.name);
  }
  fail("object '", name, "' is none of ", names);
}

/// The rotation that brings the axis, one of ±x, ±y, ±z, to point up.
Mat3d bringing_up(const Vec3d& axis) {
  if (axis.z < 0) return {{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}}};
  if (axis.z > 0) return Mat3d::identity();
  const Vec3d side{0, 0, 1};
  return {{cross(side, axis), side, axis}};
}

}  // namespace

std::span<const CatalogueEntry> object_catalogue() { return kEntries; }

TriangleMesh make_object(std::string_view name) { return recipe_of(name).make(); }

std::vector<Mat3d> resting_rotations(std::string_view name) {
  std::vector<Mat3d> rotations{Mat3d::identity()};
  const Resting resting = recipe_of(name).resting;
  if (resting != Resting::kUpright) rotations.push_back(bringing_up({0, 0, -1}));
  if (resting == Resting::kSixSides) {
    for (const Vec3d& axis : {Vec3d{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}}) {
      rotations.push_back(bringing_up(axis));
    }
  }
  if (resting == Resting::kCan) {
    // A can also lies on one of the flat strips that its wall consists of.
    constexpr int kSides = 96;
    for (int i = 0; i < kSides; i += 12) {
      const double turn = 2 * M_PI * (i + 0.5) / kSides;
      rotations.push_back(bringing_up({1, 0, 0}) * exp_rotation(Vec3d{0, 0, turn}));
    }
  }
  return rotations;
}

}  // namespace sextant
