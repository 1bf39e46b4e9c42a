// SPDX-License-Identifier: Apache-2.0
// How long a library of 1000 objects takes to fill and to load, each with what learning from a mesh
// leaves of an object: 4000 tensors, 700 SHOT descriptors, 1500 samples and 10 000 triangles. What
// was loaded is compared with what was put. Usage: library_bench [RESULT.json]
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>

#include "measure/report.h"
#include "sextant/library/resident.h"
#include "tests/learned_objects.h"

namespace sextant::measure {
namespace {

constexpr int kObjects = 1000;
constexpr int kKinds = 8;  ///< objects that differ; the others have names of their own alone

std::vector<LearnedObject> make_kinds() {
  std::vector<LearnedObject> kinds;
  for (std::uint64_t i = 0; i < kKinds; ++i) {
    kinds.push_back(testing::make_learned_object("", i,
                                                 {.rings = 50,
                                                  .views = 40,
                                                  .samples = 1500,
                                                  .shot = 700,
                                                  .tensors = 4000,
                                                  .bins_per_tensor = 100,
                                                  .appearance = 0}));
  }
  return kinds;
}

/// The bins of the last object's tensors are those that were put.
void require_same(const Context& context, const ResidentLibrary& resident,
                  const LearnedObject& last) {
  require(resident.objects.size() == kObjects && resident.tensors.size() == 1,
          "the library has lost objects");
  const std::vector<float> values = to_host(context, resident.tensors[0].set.values);
  const auto own = last.tensors.set.values.host();
  require(
      std::memcmp(values.data() + values.size() - own.size(), own.data(), own.size_bytes()) == 0,
      "the last object has other tensors than it was put with");
}

int run(const std::string& file) {
  const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                     ("sextant-bench-" + std::to_string(::getpid()) + ".sxt");
  std::vector<LearnedObject> kinds = make_kinds();
  std::vector<Row> rows;
  std::vector<double> puts;
  {
    Library library(path);
    for (int i = 0; i < kObjects; ++i) {
      LearnedObject& object = kinds[static_cast<std::size_t>(i % kKinds)];
      object.name = "object " + std::to_string(i);
      puts.push_back(milliseconds([&] { library.put(object); }));
    }
  }
  const double megabytes = 1e-6 * static_cast<double>(std::filesystem::file_size(path));
  rows.push_back({"put an object", "ms", {}, spread_of(puts).median, {}, {}});
  rows.push_back({"file of 1000 objects", "MB", {}, megabytes, {}, {}});

  const Library library(path, LibraryAccess::kRead);
  rows.push_back({"list 1000 objects", "ms", {}, milliseconds([&] { library.list(); }), {}, {}});
  std::vector<Context> contexts{Context::cpu(1), Context::cpu(2)};
  if (!Context::best().is_cpu()) contexts.push_back(Context::best());
  for (const Context& context : contexts) {
    const std::string where = context.is_cpu() ? std::to_string(context.threads()) + " threads"
                                               : to_string(context.device());
    ResidentLibrary resident;
    double least_ms = INFINITY;
    for (int turn = 0; turn < 3; ++turn) {
      resident = {};
      least_ms =
          std::min(least_ms, milliseconds([&] { resident = load_resident(context, library); }));
    }
    require_same(context, resident, kinds[(kObjects - 1) % kKinds]);
    rows.push_back(
        {"load 1000 objects (" + where + ")", "ms", {}, least_ms, 10000.0, least_ms <= 10000});
    rows.push_back({"memory that they take (" + where + ")",
                    "MB",
                    {},
                    1e-6 * static_cast<double>(resident.bytes().total()),
                    {},
                    {}});
  }
  std::filesystem::remove(path);
  publish("library", list_devices().devices.back().name, rows, file);
  return 0;
}

}  // namespace
}  // namespace sextant::measure

int main(int argc, char** argv) {
  return sextant::measure::run_main(argc, argv, sextant::measure::run);
}
