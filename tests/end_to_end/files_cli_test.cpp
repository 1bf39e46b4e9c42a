// SPDX-License-Identifier: Apache-2.0
// What can be known to be wrong before the work is said before the work: names of files, and
// options that have no effect.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "sextant/io/geometry_file.h"
#include "sextant/io/png.h"
#include "tests/end_to_end/command_line.h"
#include "tests/meshes.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;
using testing::Outcome;

class FilesCli : public testing::CommandLine {
 protected:
  void prepare() override {
    TriangleMesh ball = testing::sphere(0.3f, 24, 48);
    ASSERT_TRUE(write_geometry(folder_ / "ball.ply", ball).empty());
    ball.triangles = {};
    ASSERT_TRUE(write_geometry(folder_ / "with_normals.ply", ball).empty());
    ball.vertices.normals = {};
    ASSERT_TRUE(write_geometry(folder_ / "points.ply", ball).empty());
    Image<float> depth(Context::cpu(), 32, 24);
    for (float& z : depth.pixels().host()) z = 1.0f;
    write_depth_png(folder_ / "depth.png", depth);
    Image<Rgb8> color(Context::cpu(), 32, 24);
    for (Rgb8& pixel : color.pixels().host()) pixel = {200, 100, 50};
    write_png(folder_ / "color.png", color);
    std::ofstream(folder_ / "camera.json")
        << R"({"width": 32, "height": 24, "fx": 30, "fy": 30, "cx": 15.5, "cy": 11.5})";
    before_ = files();
  }

  std::size_t files() const {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(folder_.path())) {
      const std::string name = entry.path().filename();
      count += name != "stdout.txt" && name != "stderr.txt";
    }
    return count;
  }

  /// The command is refused with a status and words, and nothing was written.
  void expect_refused(const std::string& arguments, int status, const std::string& words) const {
    const Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.status, status) << arguments << "\n" << outcome.err;
    EXPECT_NE(outcome.err.find(words), std::string::npos) << arguments << "\n" << outcome.err;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_EQ(files(), before_) << arguments;
  }

  std::size_t before_ = 0;
};

/// The input is missing as well, of which nobody would hear if the work had begun.
TEST_F(FilesCli, OutputsAreLookedAtBeforeTheInput) {
  for (const std::string command :
       {"convert missing.ply nowhere/a.ply", "normals missing.ply -o nowhere/a.ply",
        "normals missing.ply --picture nowhere/a.png", "curvature missing.ply -o nowhere/a.ply",
        "mesh missing.ply -o nowhere/a.ply", "segment missing.ply -o nowhere/a.ply",
        "segment missing.ply --labels nowhere/a.png", "describe missing.ply -o nowhere/a.sxd",
        "describe missing.ply --npy nowhere/a.npy", "depth missing.png --picture nowhere/a.png",
        "depth missing.png --depth-output nowhere/a.png"}) {
    expect_refused(command, 1, "the folder nowhere: No such file or directory");
  }
  for (const std::string command :
       {"convert missing.ply a.txt", "normals missing.ply -o a.txt",
        "normals missing.ply --picture a.ply", "curvature missing.ply -o a.obj",
        "mesh missing.ply -o a.pcd", "segment missing.ply -o a.obj",
        "segment missing.ply --labels a.jpg", "describe missing.ply -o a.ply",
        "describe missing.ply --npy a.txt", "depth missing.png --picture a.bmp",
        "depth missing.png --depth-output a.jpg", "normals missing.ply -o a"}) {
    expect_refused(command, 1, "extension");
  }
  expect_refused("convert missing.ply --into made --to txt", 1, "extension");
  expect_refused("normals missing.ply -o .", 1, "extension");
  fs::create_directory(folder_ / "folder.ply");
  before_ = files();
  expect_refused("normals missing.ply -o folder.ply", 1, "is a folder");
  expect_refused("synth --output camera.json", 1, "camera.json: cannot be made");
  expect_refused("convert missing.ply --into camera.json --to pcd", 1, "cannot be made");
  if (geteuid() == 0) return;  // who may write everywhere
  fs::create_directory(folder_ / "locked");
  fs::permissions(folder_ / "locked", fs::perms::owner_read | fs::perms::owner_exec);
  before_ = files();
  expect_refused("normals missing.ply -o locked/a.ply", 1, "locked: Permission denied");
}

TEST_F(FilesCli, NoFileIsTwoThings) {
  fs::create_directory(folder_ / "deep");
  fs::create_directory_symlink("deep", folder_ / "also_deep");
  fs::create_symlink("points.ply", folder_ / "link.ply");
  fs::create_hard_link(folder_ / "points.ply", folder_ / "hard.ply");
  fs::create_symlink("new.png", folder_ / "to_new.png");
  before_ = files();
  const std::string depth = "segment depth.png --camera camera.json ";
  for (const std::string& arguments :
       {depth + "--labels a.png --picture a.png", depth + "--labels a.png --picture ./a.png",
        depth + "--labels deep/a.png --picture also_deep/a.png",
        depth + "--labels new.png --picture to_new.png", depth + "--labels depth.png",
        std::string("normals points.ply -o points.ply"),
        std::string("normals points.ply -o deep/../points.ply"),
        std::string("normals points.ply -o link.ply"), std::string("normals link.ply -o hard.ply"),
        std::string("convert points.ply ./points.ply"),
        std::string("convert points.ply ball.ply --into . --to ply"),
        std::string("depth depth.png --depth-output a.png --picture a.png"),
        std::string("depth depth.png --camera camera.json --color color.png --cloud-output a.ply "
                    "--picture color.png")}) {
    expect_refused(arguments, 2, "is the same file as");
  }
  // Devices take from all.
  EXPECT_EQ(shell("\"$SEXTANT\" info points.ply >/dev/null"), 0);
}

/// Every number of every command, read from the help texts.
TEST_F(FilesCli, NumbersThatAreNoneAreRefused) {
  int tried = 0;
  for (const std::string command :
       {"devices", "info points.ply", "convert points.ply a.ply", "synth", "depth depth.png",
        "normals points.ply", "curvature points.ply", "mesh depth.png", "segment points.ply",
        "describe points.ply"}) {
    std::istringstream help(run(command + " --help").out);
    for (std::string line; std::getline(help, line);) {
      std::istringstream words(line);
      std::string flag, type;
      words >> flag >> type;
      const bool number = type.starts_with("FLOAT") || type.starts_with("INT") ||
                          type.starts_with("UINT") || type == "N";
      if (!flag.starts_with("--") || !number) continue;
      for (const std::string value : {"nan", "inf", "-inf"}) {
        const std::string values = line.find(" x 3 ") == std::string::npos ? value : value + " 0 0";
        expect_refused(command + " " + flag + "=" + values, 2, flag);
        ++tried;
      }
    }
  }
  EXPECT_GT(tried, 250);
  expect_refused("normals points.ply -o a.ply --k 3.5", 2, "--k: '3.5' is not a whole number");
  expect_refused("normals points.ply -o a.ply --k many", 2, "--k: 'many' is not a number");
  expect_refused("info points.ply --unit-m 1,5", 2, "--unit-m: '1,5' is not a number");
}

TEST_F(FilesCli, ArgumentsOfTheLibraryHaveTheirFlagsInMessages) {
  expect_refused("normals points.ply -o a.ply --k 2", 1, "sextant: --k: 2 is less than 3");
  expect_refused("describe points.ply -o a.sxd --normals-k 2", 1,
                 "sextant: --normals-k: 2 is less");
  expect_refused("describe with_normals.ply -o a.sxd --leaf-m 1e-8", 1, "sextant: --leaf-m: 1e-08");
  expect_refused("normals k -o a.ply", 1, "sextant: k: cannot be opened");
}

TEST_F(FilesCli, OptionsWithoutEffectAreRefused) {
  const std::string depth = "depth.png --camera camera.json ";
  const struct {
    std::string arguments;
    int status;  ///< 2 where the command line shows it, 1 where the input must be looked at
    const char* flag;
  } cases[] = {
      {"info camera.json --unit-m 1", 1, "--unit-m"},
      {"info color.png --unit-m 1", 1, "--unit-m"},
      {"convert points.ply a.ply --quality 90", 2, "--quality"},
      {"convert points.ply a.ply --depth-unit-m 0.001", 2, "--depth-unit-m"},
      {"convert points.ply a.ply --encoding binary_compressed", 2, "--encoding"},
      {"convert points.ply a.obj --encoding binary", 2, "--encoding"},
      {"convert depth.png a.png --unit-m 1", 2, "--unit-m"},
      {"convert depth.png a.png --encoding ascii", 2, "--encoding"},
      {"convert depth.png a.png --quality 90", 2, "--quality"},
      {"convert color.png a.png --depth-unit-m 0.001", 1, "--depth-unit-m"},
      {"convert color.png a.jpg --output-depth-unit-m 0.001", 2, "--output-depth-unit-m"},
      {"convert depth.png a.tif --output-depth-unit-m 0.001", 2, "--output-depth-unit-m"},
      {"synth --list --output a", 2, "--output"},
      {"synth --output a --size-m 0.1", 2, "--size-m"},
      {"synth --output a --tilt-rad 0.1", 2, "--tilt-rad"},
      {"synth --output a --scene plane --size-m 0.1", 2, "--size-m"},
      {"synth --output a --scene box --objects 3", 2, "--objects"},
      {"synth --output a --scene box --meshes", 2, "--meshes"},
      {"synth --output a --scene box --noise kinect --blur-px 1", 2, "--blur-px"},
      {"synth --output a --edge-loss 0.5", 2, "--edge-loss"},
      {"depth depth.png --disparity --unit-m 0.001", 2, "--unit-m"},
      {"depth depth.png --baseline-m 0.1", 2, "--baseline-m"},
      {"depth depth.png --radius-px 3", 2, "--radius-px"},
      {"depth depth.png --output-unit-m 0.001", 2, "--output-unit-m"},
      {"depth depth.png --depth-output a.tif --output-unit-m 0.001", 2, "--output-unit-m"},
      {"depth depth.png --picture-near-m 0.5", 2, "--picture-near-m"},
      {"depth depth.png --disparity --camera camera.json", 2, "--camera"},
      {"depth depth.png --color color.png", 2, "--color"},
      {"normals " + depth + "-o a.ply --k 5", 1, "--k"},
      {"normals " + depth + "-o a.ply --sigma-m 1", 1, "--sigma-m"},
      {"normals " + depth + "-o a.ply --viewpoint-x-m 1", 1, "--viewpoint-x-m"},
      {"normals " + depth + "-o a.ply --second-pass", 1, "--second-pass"},
      {"normals " + depth + "-o a.ply --method quadric --radius-px 2", 1, "--radius-px"},
      {"normals points.ply -o a.ply --radius-px 2", 1, "--radius-px"},
      {"normals points.ply -o a.ply --decay smooth", 1, "--decay"},
      {"normals points.ply -o a.ply --method weighted --k 9", 1, "--k"},
      {"normals points.ply -o a.ply --method pca --sigma-m 1", 1, "--sigma-m"},
      {"normals points.ply -o a.ply --k 9 --radius-m 0.1", 2, "--k"},
      {"normals points.ply -o a.ply --color color.png", 2, "--color"},
      {"normals points.ply -o a.ply --camera camera.json", 1, "--camera"},
      {"curvature points.ply -o a.ply --stride-px 2", 1, "--stride-px"},
      {"curvature points.ply -o a.ply --limit-per-m 5", 2, "--limit-per-m"},
      {"curvature " + depth + "--picture a.png --denoised", 2, "--denoised"},
      {"curvature " + depth + "-o a.ply --weights none --weight-scale-m 1", 2, "--weight-scale-m"},
      {"curvature " + depth + "-o a.ply --weights none --first-unweighted", 2,
       "--first-unweighted"},
      {"curvature " + depth + "-o a.ply --cut-at-edges=false --depth-gate-m 1", 2,
       "--depth-gate-m"},
      {"curvature " + depth + "-o a.ply --average-cells=false --relative-cell-gate 0.1", 2,
       "--relative-cell-gate"},
      {"curvature " + depth + "-o a.ply --weight-scale-m 0.01", 1, "--weight-scale-m"},
      {"curvature " + depth + "-o a.ply --noise-grain-px 5", 2, "--noise-grain-px"},
      {"curvature " + depth + "-o a.ply --radius-m 0.03 --most-radius-m 0.1", 2, "--most-radius-m"},
      {"curvature " + depth + "-o a.ply --stride-px 3 --iterations 5 --depth-noise-per-m 0.001", 2,
       "--depth-noise-per-m"},
      {"mesh " + depth + "-o a.ply --edge-length frame --edge-steps-per-m 1", 2,
       "--edge-steps-per-m"},
      {"segment points.ply --reach-px 2", 1, "--reach-px"},
      {"segment " + depth + "--link-offset 0.5", 1, "--link-offset"},
      {"segment points.ply --json --rows 3", 2, "--rows"},
      {"describe points.ply -o a.sxd --tensor-bins 5", 2, "--tensor-bins"},
      {"describe points.ply -o a.sxd --pair-samples 5", 2, "--pair-samples"},
      {"describe points.ply -o a.sxd --iss-least-neighbours 5", 2, "--iss-least-neighbours"},
      {"describe points.ply -o a.sxd --keypoints all --leaf-m 1", 2, "--leaf-m"},
      {"describe points.ply -o a.sxd --seed 3", 2, "--seed"},
      {"describe points.ply -o a.sxd --radius-m 1 --radius-resolutions 9", 2,
       "--radius-resolutions"},
      {"describe points.ply -o a.sxd --shot-most-neighbours 99", 2, "--shot-most-neighbours"},
      {"describe points.ply -o a.sxd --picture-up x", 2, "--picture-up"},
      {"describe points.ply -o a.sxd --filter-radius-px 2", 2, "--filter-radius-px"},
      {"describe points.ply -o a.sxd --normals-k 9 --normals-sigma-m 1", 2, "--normals-sigma-m"},
      {"describe points.ply -o a.sxd --normals-radius-px 2", 1, "--normals-radius-px"},
      {"describe points.ply -o a.sxd --mesh-view-angle-rad 0.2", 1, "--mesh-view-angle-rad"},
      {"describe with_normals.ply -o a.sxd --normals-k 9", 1, "--normals-k"},
      {"describe ball.ply -o a.sxd --new-normals --normals-k 9", 1, "--normals-k"},
      {"describe ball.ply -o a.sxd --descriptor tensor --radius-m 1", 2, "--radius-m"},
      {"describe ball.ply -o a.sxd --descriptor tensor --pair-window-px 3", 1, "--pair-window-px"},
      {"describe ball.ply -o a.sxd --descriptor tensor --shot-bins paper", 2, "--shot-bins"},
      {"describe ball.ply -o a.sxd --descriptor tensor --keypoints iss", 2, "--keypoints"},
      {"describe " + depth + "-o a.sxd --normals-k 9", 1, "--normals-k"},
      {"describe " + depth + "-o a.sxd --mesh-edge-length frame", 1, "--mesh-edge-length"},
      {"describe " + depth + "--picture a.png --picture-turn-rad 1", 1, "--picture-turn-rad"},
  };
  for (const auto& c : cases) expect_refused(c.arguments, c.status, c.flag);
}

/// A sigma asks for weights, and a number of neighbours for a plane: both change the normals.
TEST_F(FilesCli, FlagsOfNormalsReachTheDescription) {
  const auto values = [&](const std::string& flags) {
    EXPECT_EQ(run("describe points.ply --npy a.npy --count 5 --device cpu " + flags).status, 0);
    return testing::text_of(folder_ / "a.npy");
  };
  const std::string plain = values("");
  EXPECT_NE(values("--normals-sigma-m 0.1"), plain);
  EXPECT_NE(values("--normals-k 40"), plain);
  EXPECT_EQ(values(""), plain);
}

}  // namespace
}  // namespace sextant
