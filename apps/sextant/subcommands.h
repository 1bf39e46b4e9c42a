// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace CLI {
class App;
}

// What the command line offers: each function adds one subcommand and stands in the file that has
// its name.

namespace sextant::app {

void add_devices(CLI::App& app);
void add_info(CLI::App& app);
void add_convert(CLI::App& app);
void add_convert_dataset(CLI::App& app);
void add_synth(CLI::App& app);
void add_depth(CLI::App& app);
void add_normals(CLI::App& app);
void add_curvature(CLI::App& app);
void add_mesh(CLI::App& app);
void add_segment(CLI::App& app);
void add_describe(CLI::App& app);
void add_sift(CLI::App& app);
void add_align(CLI::App& app);
void add_board(CLI::App& app);
void add_learn(CLI::App& app);
void add_library(CLI::App& app);
void add_match(CLI::App& app);
void add_recognize(CLI::App& app);
void add_eval(CLI::App& app);
void add_reproduce(CLI::App& app);

}  // namespace sextant::app
