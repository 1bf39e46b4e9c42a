// SPDX-License-Identifier: Apache-2.0
// The command line with standard streams that are closed, full or gone, on a terminal, with names
// in other encodings, and the form of its help.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sextant/io/geometry_file.h"
#include "tests/end_to_end/command_line.h"
#include "tests/end_to_end/slow_cloud.h"
#include "tests/meshes.h"

namespace sextant {
namespace {

using nlohmann::json;
using testing::Outcome;
using testing::text_of;

class StreamsCli : public testing::CommandLine {
 protected:
  void prepare() override {
    const TriangleMesh mesh = testing::mesh_of({{0, 0, 1}, {1, 0, 1}, {0, 1, 1}}, {{0, 1, 2}});
    ASSERT_TRUE(write_geometry(folder_ / "mesh.ply", mesh).empty());
  }
};

TEST_F(StreamsCli, AClosedOrFullStderrDoesNotStopTheWork) {
  // PCD cannot hold the triangle, of which a remark is made on stderr. Without care the remark of a
  // closed stderr would land in the file that is opened next.
  for (const char* stream : {"2>&-", "2>/dev/full", "2>&- <&-"}) {
    std::filesystem::remove(folder_ / "out.pcd");
    const std::string script = "\"$SEXTANT\" convert mesh.ply out.pcd >text ";
    EXPECT_EQ(shell(script + stream), 0) << stream;
    EXPECT_EQ(text_of(folder_ / "text"), "wrote out.pcd\n") << stream;
    EXPECT_EQ(read_geometry(folder_ / "out.pcd").vertices.size(), 3) << stream;
    // Failures and wrong usage keep their status where nobody hears of them.
    EXPECT_EQ(shell(std::string("\"$SEXTANT\" info missing.ply ") + stream), 1) << stream;
    EXPECT_EQ(shell(std::string("\"$SEXTANT\" fly ") + stream), 2) << stream;
    EXPECT_EQ(shell(std::string("\"$SEXTANT\" info mesh.ply --unit-m 0 ") + stream), 2) << stream;
  }
}

TEST_F(StreamsCli, AStderrWhoseReaderHasGoneDoesNotStopTheWork) {
  ASSERT_EQ(shell("( sleep 0.3; \"$SEXTANT\" convert mesh.ply out.pcd >text; echo $? >status ) "
                  "2>&1 | true; sleep 0.1; while ! [ -s status ]; do sleep 0.1; done"),
            0);
  EXPECT_EQ(text_of(folder_ / "status"), "0\n");
  EXPECT_EQ(read_geometry(folder_ / "out.pcd").vertices.size(), 3);
}

TEST_F(StreamsCli, AStdoutThatTakesNothingIsAFailure) {
  for (const char* arguments : {"info mesh.ply", "info --json mesh.ply", "--help", "info --help",
                                "--version", "", "convert mesh.ply out.ply"}) {
    for (const char* stream : {">/dev/full", ">&-"}) {
      const std::string script =
          "\"$SEXTANT\" " + std::string(arguments) + " 2>reason " + std::string(stream);
      EXPECT_EQ(shell(script), 1) << script;
      EXPECT_NE(text_of(folder_ / "reason").find("standard output: "), std::string::npos) << script;
    }
  }
  // A reader that has seen enough ends a pipeline in silence.
  EXPECT_EQ(shell("( sleep 0.3; \"$SEXTANT\" info mesh.ply 2>reason; echo $? >status ) | true; "
                  "while ! [ -s status ]; do sleep 0.1; done"),
            0);
  EXPECT_EQ(text_of(folder_ / "status"), "141\n");
  EXPECT_EQ(text_of(folder_ / "reason"), "");
}

TEST_F(StreamsCli, NamesInOtherEncodingsDoNotBreakJson) {
  const std::string name = "caf\xe9.ply";
  std::ofstream(folder_ / name) << "ply\nformat ascii 1.0\ncomment M\xfcnchen\nelement vertex 1\n"
                                   "property float x\nproperty float y\nproperty float z\n"
                                   "end_header\n0 0 1\n";
  const Outcome info = run("info --json '" + name + "'");
  ASSERT_EQ(info.status, 0) << info.err;
  EXPECT_EQ(json::parse(info.out).at("comments").at(0), "M\xef\xbf\xbdnchen");
  const Outcome converted = run("convert --json '" + name + "' 'to_" + name + "'");
  ASSERT_EQ(converted.status, 0) << converted.err;
  EXPECT_EQ(json::parse(converted.out).at("files").at(0).at("to"), "to_caf\xef\xbf\xbd.ply");
  EXPECT_TRUE(std::filesystem::exists(folder_ / ("to_" + name)));
  const Outcome segmented = run("segment --json --device cpu '" + name + "'");
  EXPECT_EQ(segmented.status, 0) << segmented.err;
  EXPECT_TRUE(json::accept(segmented.out));
}

TEST_F(StreamsCli, HelpFitsAHundredColumns) {
  // A command names those below it under "Subcommands:", a word at the start of each line.
  std::vector<std::string> commands{""};
  for (std::size_t i = 0; i < commands.size(); ++i) {
    const std::string command = commands[i];
    std::istringstream help(run(command + " --help").out);
    int lines = 0;
    bool lists = false;
    for (std::string line; std::getline(help, line); ++lines) {
      EXPECT_LE(line.size(), 100u) << command << ": " << line;
      if (line == "Subcommands:" || line.empty()) lists = !line.empty();
      const bool names_one = lists && line.starts_with("  ") && line.size() > 2 && line[2] != ' ';
      if (names_one) commands.push_back(command + " " + line.substr(2, line.find(' ', 2) - 2));
    }
    EXPECT_GT(lines, 10) << command;
  }
  EXPECT_GE(commands.size(), 24u);  // with the five of `library`
}

TEST_F(StreamsCli, ADeviceThatIsNotThereIsNamedInTheUsersWords) {
  const json devices = json::parse(run("devices --json").out).at("devices");
  const std::string beyond = "cuda:" + std::to_string(devices.size() - 1);
  for (const std::string& device : {beyond, std::string("cuda:99"), std::string("tpu")}) {
    for (const std::string command : {"devices", "info mesh.ply"}) {
      const Outcome outcome = run(command + " --device " + device);
      EXPECT_EQ(outcome.status, 1) << device;
      EXPECT_NE(outcome.err.find("--device"), std::string::npos) << outcome.err;
      EXPECT_NE(outcome.err.find(device), std::string::npos) << outcome.err;
      EXPECT_EQ(outcome.err.find("::"), std::string::npos) << outcome.err;
    }
  }
}

/// On a terminal, which `script` makes, work of more than a second says what it does.
TEST_F(StreamsCli, ATerminalShowsWhatComputesAndAPipeDoesNot) {
  if (shell("script -qec true /dev/null >/dev/null 2>&1") != 0) GTEST_SKIP() << "without script";
  testing::write_slow_cloud(folder_ / "slow.ply");
  const std::string work =
      "timeout -s INT 5 '" + std::string(testing::program()) + "' " + testing::kSlowNormals;
  shell("script -qec \"" + work + "\" /dev/null >terminal 2>&1 </dev/null");
  EXPECT_NE(text_of(folder_ / "terminal").find("normals: 1 s"), std::string::npos)
      << text_of(folder_ / "terminal");
  EXPECT_NE(text_of(folder_ / "terminal").find("normals: 2 s"), std::string::npos);
  shell(work + " >out 2>err </dev/null");
  EXPECT_EQ(text_of(folder_ / "out") + text_of(folder_ / "err"), "");
}

}  // namespace
}  // namespace sextant
