// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>

#include "apps/sextant/command/command.h"
#include "apps/sextant/command/files.h"
#include "apps/sextant/command/options_cli.h"
#include "apps/sextant/command/progress_bar.h"
#include "apps/sextant/command/streams.h"
#include "apps/sextant/recognize/found.h"
#include "apps/sextant/recognize/frames.h"
#include "apps/sextant/recognize/in_photos.h"
#include "apps/sextant/recognize/known_objects.h"
#include "apps/sextant/recognize/overlay.h"
#include "apps/sextant/recognize/photos.h"
#include "apps/sextant/recognize/scale.h"
#include "apps/sextant/recognize/truth.h"
#include "apps/sextant/subcommands.h"
#include "sextant/io/image_file.h"

namespace sextant::app {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct RecognizeCommand {
  CommonOptions common;
  std::string library;
  FrameInput input;
  std::vector<std::string> only;
  std::string overlay;
  std::string segment;
  std::string truth;
  bool explain = false;
  double budget_ms = 0;
  RecognizeOptions options;
  PhotoFlags photos;
};

/// A frame with the files that it becomes; an empty name is a file that nobody asked for.
struct Job {
  FrameFile frame;
  std::string overlay;
  std::string segment;
};

void check_usage(const CLI::App& flags, const RecognizeCommand& command) {
  if (command.overlay.empty()) {
    refuse_flags(flags, {"--color"}, "objects are found by depth; it is drawn on with --overlay");
  }
}

/// Where the file of a frame goes: one frame's has the name that was given, and those of several
/// lie in the folder of that name.
std::string output_of(const std::string& given, bool several, const FrameFile& frame,
                      const char* extension) {
  if (given.empty() || !several) return given;
  return (fs::path(given) / (fs::path(frame.file).stem().string() + extension)).string();
}

/// Everything about files that can be wrong, before the first is read.
std::vector<Job> plan(const RecognizeCommand& command, const FrameList& list) {
  std::vector<InputFile> inputs{
      {"LIBRARY", command.library}, {"--camera", command.input.camera}, {"--truth", command.truth}};
  std::vector<OutputFile> outputs;
  std::vector<Job> jobs;
  if (list.several) {
    for (const std::string& folder : {command.overlay, command.segment}) {
      if (!folder.empty()) make_folder(folder);
    }
  }
  for (const FrameFile& frame : list.frames) {
    jobs.push_back({frame, output_of(command.overlay, list.several, frame, ".png"),
                    output_of(command.segment, list.several, frame, ".ply")});
    inputs.push_back({list.several ? "the input " + frame.file : "INPUT", frame.file});
    if (!frame.color.empty()) inputs.push_back({"--color", frame.color});
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    outputs.push_back({"--overlay", jobs[i].overlay, kPictureFiles});
    outputs.push_back({"--segment", jobs[i].segment, kValueFiles});
    if (command.overlay.empty() && command.segment.empty()) continue;
    for (std::size_t earlier = 0; earlier < i; ++earlier) {
      require(fs::path(jobs[earlier].frame.file).stem() != fs::path(jobs[i].frame.file).stem(),
              jobs[i].frame.file, ": would overwrite what ", jobs[earlier].frame.file,
              " becomes; recognise them one after the other");
    }
  }
  check_files(inputs, outputs);
  return jobs;
}

/// What all frames have in common.
struct Finder {
  const RecognizeCommand& command;
  std::string device;
  Recognizer recognizer;
  const std::vector<LearnedObject>& objects;
  std::optional<FoundOverlay> overlay;
  std::optional<std::vector<TrueObject>> truth;
};

/// A frame, and how long it took to read it.
struct ReadFrame {
  SeenFrame seen;
  double ms = 0;
};

ReadFrame read_noting(const Finder& finder, const Job& job) {
  const ElapsedLine line("reading");
  const auto start = std::chrono::steady_clock::now();
  SeenFrame frame = read_frame(finder.command.input, job.frame);
  const std::string doubt = doubt_scale(frame, finder.objects);
  if (!doubt.empty()) note(fmt::format("{}: {}", job.frame.file, doubt));
  const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
  return {std::move(frame), taken.count()};
}

Result recognize_frame(const Finder& finder, const Job& job, const ReadFrame& read,
                       const Progress& progress) {
  const RecognizeCommand& command = finder.command;
  const SeenFrame& frame = read.seen;
  RecognizeHints hints;
  hints.budget_ms = command.budget_ms;
  Recognition found = finder.recognizer.recognize(frame.depth_m, frame.camera, hints, progress);
  if (!found.complete) {
    note(fmt::format("{}: the time was over before every object was looked for", job.frame.file));
  }
  found.times.insert(found.times.begin(), {"read", read.ms});
  Result result;
  result.document = found_to_json(job.frame.file, finder.device, frame, found, command.explain);
  result.text = found_to_text(job.frame.file, frame, found, command.explain);
  if (finder.truth) tell_truth(*finder.truth, finder.objects, found, result);
  if (!job.overlay.empty()) {
    write_image(job.overlay, finder.overlay->draw(frame, found));
    result.wrote("overlay", job.overlay);
  }
  if (!job.segment.empty()) {
    write_geometry_noting(job.segment, segmented_cloud(frame, found));
    result.wrote("segment", job.segment);
  }
  return result;
}

/// A frame that fails does not stop the others. What people read is printed frame by frame, so that
/// Ctrl-C leaves what was found.
void recognize_all(const Finder& finder, const std::vector<Job>& jobs) {
  const RecognizeCommand& command = finder.command;
  Result result;
  result.document = {{"library", command.library}, {"frames", json::array()}};
  std::size_t failures = 0;
  {
    ProgressBar bar("recognising", {"frames", 1});
    const Progress progress = bar.callback();
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      report(progress, static_cast<std::int64_t>(i), static_cast<std::int64_t>(jobs.size()));
      try {
        Result told = recognize_frame(finder, jobs[i], read_noting(finder, jobs[i]), {});
        result.document["frames"].push_back(std::move(told.document));
        if (command.common.json) continue;
        erase_progress();
        print(told.text);
      } catch (const Cancelled&) {
        throw;
      } catch (const Error& error) {
        note(fmt::format("sextant: {}", error.what()));
        result.document["frames"].push_back(
            {{"frame", jobs[i].frame.file}, {"error", error.what()}});
        ++failures;
      }
    }
  }
  if (command.common.json) print_result(command.common, result);
  require(failures == 0, failures, " of ", jobs.size(), " frames could not be looked at");
}

void run(const RecognizeCommand& command) {
  const PoseSources sources = pose_sources(command.options.sources);
  CommonOptions common = command.common;
  // Descriptors propose poses on the CPU alone.
  if (common.device == "best" && (sources.tensors || sources.shot)) common.device = "cpu";
  const Context context = context_for(common);
  const Library is_there(command.library, LibraryAccess::kRead);
  const FrameList list = list_frames(command.input);
  const std::vector<Job> jobs = plan(command, list);
  require(command.truth.empty() || (!list.several && !list.frames[0].is_points),
          "--truth: is that of one depth map");
  std::optional<std::vector<TrueObject>> truth;
  if (!command.truth.empty()) truth = read_truth(command.truth);
  const std::vector<LearnedObject> objects =
      load_known_objects(Context::cpu(), command.library, command.options, command.only);
  std::optional<Finder> finder;
  try {
    const ElapsedLine line("preparing objects");
    finder.emplace(Finder{command, to_string(context.device()),
                          Recognizer(context, objects, command.options), objects, std::nullopt,
                          std::move(truth)});
    if (!command.overlay.empty()) finder->overlay.emplace(objects);
  } catch (const Cancelled&) {
    throw;
  } catch (const Error& error) {
    fail(command.library, ": ", error.what());
  }
  if (list.several) return recognize_all(*finder, jobs);
  Result result;
  const ReadFrame frame = read_noting(*finder, jobs[0]);
  {
    ProgressBar bar("recognising", {"objects", 1});
    result = recognize_frame(*finder, jobs[0], frame, bar.callback());
  }
  print_result(command.common, result);
}

/// The same for photographs, which have options of their own.
void run_on_photos(const CLI::App& flags, const RecognizeCommand& command) {
  std::vector<std::string> of_depth = flags_of<RecognizeOptions>();
  std::erase(of_depth, flag_of("accept"));
  for (const char* flag :
       {"--color", "--segment", "--budget-ms", "--truth", "--unit-m", "--viewpoint-m"}) {
    of_depth.emplace_back(flag);
  }
  refuse_flags_for_input(flags, of_depth, command.input.words[0] + " is a photograph");
  PhotoCommand photos{command.common, command.library, command.input.words, command.input.camera,
                      command.only,   command.overlay, command.explain,     command.photos};
  if (is_given(flags, "--accept")) photos.flags.accept = command.options.accept;
  recognize_in_photos(photos);
}

}  // namespace

void add_recognize(CLI::App& app) {
  auto state = std::make_shared<RecognizeCommand>();
  CLI::App* command = add_command(
      app, "recognize", "Finds the objects of a library in depth maps, clouds and photographs",
      "sextant recognize objects.sxt depth.png --camera camera.json\n"
      "  sextant recognize objects.sxt depth.png --camera camera.json --color color.png \\\n"
      "      --overlay found.png --segment found.ply\n"
      "  sextant recognize objects.sxt depth.png --camera camera.json --json --explain\n"
      "  sextant recognize objects.sxt scan.ply --only milk --json\n"
      "  sextant recognize objects.sxt frames/ --camera camera.json --overlay pictures/\n"
      "  sextant recognize objects.sxt kitchen.jpg --camera camera.json --overlay found.png\n"
      "  sextant recognize objects.sxt left.jpg right.jpg --camera rig.json --json",
      state->common);
  command->add_option("library", state->library, "file of the library, made by 'sextant learn'")
      ->required();
  command
      ->add_option(
          "INPUT", state->input.words,
          "depth maps (PNG, PGM, TIFF) or photographs with --camera, folders of them, clouds or "
          "meshes")
      ->required();
  command->add_option("--camera", state->input.camera,
                      "camera file of depth maps and photographs, or several cameras with their "
                      "poses (docs/camera.md)");
  command->add_option("--color", state->input.color,
                      "picture with the pixels of the depth map, to draw on; of several frames, a "
                      "folder of pictures with their names");
  command->add_option("--overlay", state->overlay,
                      "picture with what was found (.png, .jpg); of several frames, a folder");
  command->add_option("--segment", state->segment,
                      "the points, coloured by detection (.ply, .pcd, .vtk); of several frames, a "
                      "folder");
  command
      ->add_option("--budget-ms", state->budget_ms,
                   "look for no further object after this time; 0 for no limit")
      ->check(within<double>({0, 1e9}))
      ->capture_default_str();
  command->add_flag("--explain", state->explain, "also tell the rejected poses and why");
  command->add_option("--truth", state->truth,
                      "ground_truth.json of 'sextant synth': also tell how far off poses are");
  command->add_option("--only", state->only, "look for these objects of the library alone")
      ->type_name("NAME");
  command
      ->add_option("--unit-m", state->input.unit_m,
                   "metres per unit of the input (default: 1 for clouds; for depth maps what the "
                   "camera file says, else 0.001 for integers and 1 for floats)")
      ->check(within<double>({1e-9, 1e9}));
  command
      ->add_option("--viewpoint-m", state->input.viewpoint_m,
                   "where points in any order are seen from: x y z in metres (default: where the "
                   "file says the sensor stood, else the origin)")
      ->expected(3)
      ->check(within<double>({-1e9, 1e9}));
  add_flags(*command, state->options);
  check_sources_flag(*command);
  add_photo_flags(*command, state->photos);
  command->callback([state, command] {
    if (names_photos(state->input.words)) return run_on_photos(*command, *state);
    refuse_flags_for_input(*command, photo_flags(), "it is for photographs");
    check_usage(*command, *state);
    run(*state);
  });
}

}  // namespace sextant::app
