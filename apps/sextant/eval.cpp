// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "apps/sextant/command/command.h"
#include "apps/sextant/command/options_cli.h"
#include "apps/sextant/command/progress_bar.h"
#include "apps/sextant/eval/judged_image.h"
#include "apps/sextant/eval/pictures.h"
#include "apps/sextant/eval/recognized_image.h"
#include "apps/sextant/eval/refine_set.h"
#include "apps/sextant/eval/set_images.h"
#include "apps/sextant/eval/set_models.h"
#include "apps/sextant/eval/summary.h"
#include "apps/sextant/recognize/known_objects.h"
#include "apps/sextant/subcommands.h"
#include "sextant/core/for_each.h"
#include "sextant/core/options_json.h"
#include "sextant/io/bop_dataset.h"
#include "sextant/io/file.h"
#include "sextant/io/image_file.h"
#include "sextant/io/json_file.h"
#include "sextant/io/png.h"

namespace sextant::app {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct EvalCommand {
  CommonOptions common;
  std::string set;
  std::string split;
  std::string results;
  RecognizeSet recognize;  ///< with a library, where the results are not given
  std::string output;
  std::string targets;
  double min_score = -1e300;
  int tiles = 60;
  int first = 0;
  int images = 0;  ///< 0 for all
  std::string truth = "given";
  JudgeOptions judge;
  RefineTruthOptions refine;
  bool own_criterion = false;  ///< by flags, instead of the set's
};

/// Everything that the judgement of an image depends on.
std::uint64_t key_of(const SetImage& image, const EvalCommand& command, const SetNotes& notes,
                     const std::string& models_key) {
  Fingerprint key;
  key.add(models_key);
  key.add(options_to_json(command.judge.criterion).dump());
  key.add(options_to_json(command.judge).dump());
  key.add(image.depth_file.string());
  if (!image.depth_file.empty()) {
    key.add(static_cast<double>(fs::last_write_time(image.depth_file).time_since_epoch().count()));
  }
  const Camera& camera = image.image->camera.camera;
  for (const double value :
       {camera.fx_px, camera.fy_px, camera.cx_px, camera.cy_px, image.image->camera.depth_unit_m(),
        double(image.judged.scene), double(image.judged.image)}) {
    key.add(value);
  }
  for (const TrueInstance& instance : image.judged.truth) {
    key.add(instance.object_id);
    key.add(instance.visible);
    key.add(instance.camera_from_object);
  }
  for (const Report& report : image.judged.reports) {
    key.add(report.object_id);
    key.add(report.score);
    key.add(report.camera_from_object);
    key.add(notes.may_be_unlisted(image.judged.scene, report.object_id));
  }
  return key.value();
}

/// Which models there are, and when they were written.
std::string models_key_of(const fs::path& set) {
  std::string key;
  for (const char* name : {"models_eval", "models"}) {
    const fs::path folder = set / name;
    if (!fs::is_directory(folder)) continue;
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(folder)) {
      files.push_back(fmt::format("{}:{};", entry.path().filename().string(),
                                  entry.last_write_time().time_since_epoch().count()));
    }
    std::sort(files.begin(), files.end());
    for (const std::string& file : files) key += file;
    return key;
  }
  return key;
}

void judge(const Context& context, const EvaluatedModels& models, const EvalCommand& command,
           const SetNotes& notes, VisibleSurfaceMemory& memory, SetImage& image) {
  Camera camera;
  const Image<float> depth = read_pixels(image, camera);
  std::vector<char> unlisted;
  for (const Report& report : image.judged.reports) {
    unlisted.push_back(notes.may_be_unlisted(image.judged.scene, report.object_id) ? 1 : 0);
  }
  const Image<float> measured = copy(context, depth);
  try {
    image.judged.judgement = judge_image(context, models, camera, measured, image.judged.truth,
                                         image.judged.reports, unlisted, command.judge, memory);
  } catch (const Cancelled&) {
    throw;
  } catch (const Error& error) {
    fail("scene ", image.judged.scene, ", image ", image.judged.image, ": ", error.what());
  }
}

/// Judges what the file of judged images does not have yet. Batches end with their lines on disk,
/// so that an interruption costs one batch; the result does not depend on who judged what.
void judge_all(const Context& context, const EvaluatedModels& models, const EvalCommand& command,
               const SetNotes& notes, std::vector<SetImage>& images) {
  JudgedImages store(fs::path(command.output) / "judged.jsonl");
  const std::string models_key = models_key_of(command.set);
  std::vector<SetImage*> open;
  for (SetImage& image : images) {
    image.key = key_of(image, command, notes, models_key);
    if (!store.find(image.key, image.judged)) open.push_back(&image);
  }
  ProgressBar bar("judging", {"images", 1});
  const Progress progress = bar.callback();
  constexpr std::size_t kBatch = 32;
  const std::size_t done_before = images.size() - open.size();
  for (std::size_t first = 0; first < open.size(); first += kBatch) {
    const std::size_t last = std::min(first + kBatch, open.size());
    if (context.is_cpu()) {
      for_each_chunk(context, static_cast<std::int64_t>(last - first), 1,
                     [&](std::int64_t i, std::int64_t) {
                       VisibleSurfaceMemory memory;
                       judge(Context::cpu(1), models, command, notes, memory,
                             *open[first + static_cast<std::size_t>(i)]);
                     });
    } else {
      VisibleSurfaceMemory memory;
      for (std::size_t i = first; i < last; ++i) {
        judge(context, models, command, notes, memory, *open[i]);
      }
    }
    for (std::size_t i = first; i < last; ++i) store.append(open[i]->key, open[i]->judged);
    report(progress, static_cast<std::int64_t>(done_before + last),
           static_cast<std::int64_t>(images.size()));
  }
}

/// Overlays of at most `most` images, spread evenly over the set.
std::string write_sheet(const EvaluatedModels& models, const std::vector<SetImage>& images,
                        int most, const fs::path& file) {
  constexpr int kTileWidth = 320;
  const std::size_t count = std::min(images.size(), static_cast<std::size_t>(most));
  std::vector<Image<Rgb8>> tiles;
  ProgressBar bar("drawing", {"pictures", 1});
  const Progress progress = bar.callback();
  for (std::size_t i = 0; i < count; ++i) {
    const SetImage& image = images[i * images.size() / count];
    Camera camera;
    const Image<float> depth = read_pixels(image, camera);
    Image<Rgb8> color;
    if (!image.color_file.empty()) color = read_image(image.color_file);
    tiles.push_back(overlay(models, camera, color, depth, image.judged, kTileWidth));
    report(progress, static_cast<std::int64_t>(i) + 1, static_cast<std::int64_t>(count));
  }
  if (tiles.empty()) return "The set has no images.";
  write_png(file, contact_sheet(tiles).view());
  return count == images.size()
             ? fmt::format("All {} images.", count)
             : fmt::format("{} of {} images, spread evenly over the set.", count, images.size());
}

void write_text(const fs::path& path, const std::string& text) {
  write_file_atomically(path, [&](FileWriter& writer) { writer.write(text); });
}

/// Whether the set has photographs alone. Of the options of recognition by depth only the least
/// score is one of photographs too.
bool are_photographs(const EvalCommand& command, const std::vector<SetImage>& images) {
  const bool photographs = images.front().depth_file.empty();
  for (const SetImage& image : images) {
    require(image.depth_file.empty() == photographs, image.scene->folder.string(), ": image ",
            image.image->id, photographs ? " has depth" : " is a photograph",
            ", others are not; judge them by themselves with --first and --images");
  }
  RecognizeOptions rest = command.recognize.options;
  rest.accept = RecognizeOptions{}.accept;
  require(!photographs || options_to_json(rest) == options_to_json(RecognizeOptions{}), command.set,
          ": has photographs, and of the flags of recognition by depth only --accept "
          "has an effect on them; leave the others out");
  require(photographs || command.recognize.preset == PhotoPreset::kDefault, command.set,
          ": has depth maps, and --preset is for photographs");
  return photographs;
}

/// Looks for the objects of the library in the images, and takes what it finds for the results.
void recognize_images(EvalCommand& command, const SetNotes& notes,
                      const std::vector<EvaluatedModel>& models, std::vector<SetImage>& images) {
  const bool photographs = are_photographs(command, images);
  std::vector<ImageToRecognize> wanted;
  for (const SetImage& image : images) {
    const fs::path& file = photographs ? image.color_file : image.depth_file;
    require(!file.empty(), image.scene->folder.string(), ": image ", image.image->id,
            " has neither depth nor a picture");
    wanted.push_back({image.judged.scene, image.judged.image, file, image.image->camera});
  }
  SetObjects objects;
  for (const EvaluatedModel& model : models) {
    const auto name = notes.objects.find(model.object_id);
    objects[model.object_id] = name == notes.objects.end() ? "" : name->second;
  }
  command.recognize.threads = command.common.threads;
  const std::vector<RecognizedImage> found =
      recognize_set(command.recognize, wanted, photographs, objects, command.output);
  // Images in which nothing was found have no line in the file, but took their time.
  for (std::size_t i = 0; i < images.size(); ++i) images[i].judged.seconds = found[i].seconds;
  command.results = (fs::path(command.output) / "results.csv").string();
}

void run(EvalCommand& command) {
  const Context context = context_for(command.common);
  const SetNotes notes = read_set_notes(command.set);
  if (!command.own_criterion) command.judge.criterion = notes.criterion;
  SetNotes shown = notes;
  shown.criterion = command.judge.criterion;
  make_folder(command.output);
  check_writable(fs::path(command.output) / "index.html");
  std::vector<BopScene> scenes;
  for (const BopSceneFolder& folder : find_bop_scenes(command.set, command.split)) {
    scenes.push_back(read_bop_scene(folder));
  }
  std::vector<SetImage> images = images_of(scenes, command.first, command.images);
  require(!images.empty(), command.set, ": has no image number ", command.first);
  std::vector<EvaluatedModel> list;
  {
    const ElapsedLine line("reading models");
    list = read_set_models(command.set);
  }
  if (!command.recognize.library.empty()) recognize_images(command, notes, list, images);
  add_reports(command.results, command.min_score, scenes, images);
  std::vector<BopTarget> targets;
  const fs::path targets_file = command.targets.empty()
                                    ? fs::path(command.set) / "test_targets_bop19.json"
                                    : fs::path(command.targets);
  if (!command.targets.empty() || fs::exists(targets_file)) {
    targets = read_bop_targets(targets_file);
    // Of a part of the set, only what is asked for there.
    std::erase_if(targets, [&](const BopTarget& target) {
      return std::none_of(images.begin(), images.end(), [&](const SetImage& image) {
        return image.judged.scene == target.scene_id && image.judged.image == target.image_id;
      });
    });
  }
  const EvaluatedModels models = make_evaluated_models(context, std::move(list));
  if (command.truth == "refined") {
    refine_set(context, command.set, models, command.refine, images);
    shown.truth += ", refined on depth";
  }
  judge_all(context, models, command, notes, images);
  std::vector<JudgedImage> judged;
  judged.reserve(images.size());
  for (const SetImage& image : images) judged.push_back(image.judged);
  const bool has_depth = std::any_of(images.begin(), images.end(), [](const SetImage& image) {
    return !image.depth_file.empty();
  });
  const Summary summary = summarize(judged, targets, has_depth);
  const fs::path out = command.output;
  std::string remark = "No overlays were asked for.";
  if (command.tiles > 0) {
    if (context.is_cpu()) {
      remark = write_sheet(models, images, command.tiles, out / "contact_sheet.png");
    } else {
      const EvaluatedModels on_host =
          make_evaluated_models(Context::cpu(), read_set_models(command.set));
      remark = write_sheet(on_host, images, command.tiles, out / "contact_sheet.png");
    }
  }
  write_text(out / "precision_recall.svg", precision_recall_svg(summary));
  if (summary.calibration) write_text(out / "reliability.svg", reliability_svg(summary));
  write_text(out / "index.html", report_page(summary, shown, command.results, remark));
  json document =
      measure::to_json("eval " + notes.name, to_string(context.device()), rows_of(summary));
  document["evaluation"] = to_json(summary, shown);
  Result result{{}, text_of(summary, shown)};
  if (command.truth == "refined") {
    document["refined_truth"] = refinement_json(images);
    result.text += refinement_text(images);
    write_text(out / "refined_truth.jsonl", refinement_lines(images));
  }
  write_json_file(out / "report.json", document);
  result.document = document;
  result.wrote("report", (out / "index.html").string());
  print_result(command.common, result);
}

void add_library(CLI::App& command, RecognizeSet& recognize) {
  command.add_option("--library", recognize.library,
                     "instead of --results: find the objects of this library in the images");
  command
      .add_option("--workers", recognize.workers,
                  "images in which objects are looked for at once, each on one thread; times are "
                  "those of a whole machine with one worker alone")
      ->check(within<int>({1, 1024}))
      ->capture_default_str();
  add_flags(command, recognize.options);
  check_sources_flag(command);
  const FlagAdder add(command);
  add("preset", recognize.preset, "of photographs: how poses are made of matches", kPhotoPresets);
}

/// Poses come from a file or from a library.
void check_source(const CLI::App& flags, const EvalCommand& command) {
  if (command.results.empty() == command.recognize.library.empty()) {
    throw CLI::ValidationError("pass either --results or --library");
  }
  if (!command.recognize.library.empty()) return;
  refuse_flags(flags, {"--workers", "--preset"}, "it belongs to --library");
  refuse_flags(flags, flags_of<RecognizeOptions>(), "it belongs to --library");
}

}  // namespace

void add_eval(CLI::App& app) {
  auto state = std::make_shared<EvalCommand>();
  CLI::App* command = add_command(
      app, "eval", "Judges poses for a BOP data set: any program's, or those found with a library",
      "sextant eval bop/linemod --results ours.csv --out report\n"
      "  sextant eval bop/bins --results peer.csv --out report --min-score 0.5\n"
      "  sextant eval bop/bins --results peer.csv --out report --measure mssd --share 0.2\n"
      "  sextant eval bop/linemod --library linemod.sxt --out report --workers 4\n"
      "  sextant eval bop/linemod --results ours.csv --out report --truth refined",
      state->common);
  command->add_option("dataset", state->set, "folder of a data set in the layout of BOP")
      ->required();
  command->add_option("--results", state->results,
                      "BOP results: scene_id,im_id,obj_id,score,R,t,time");
  add_library(*command, state->recognize);
  command
      ->add_option("--out", state->output,
                   "folder for the report; judged images in it are not judged again")
      ->required();
  command->add_option("--split", state->split, "folder of the set that is judged; default test");
  command->add_option("--targets", state->targets,
                      "what is to be found; default test_targets_bop19.json of the set, or all");
  command->add_option("--min-score", state->min_score, "reports with a lower score are left out")
      ->check(within<double>({-1e300, 1e300}));
  command->add_option("--tiles", state->tiles, "the most overlays on the contact sheet; 0 for none")
      ->check(within<int>({0, 10000}))
      ->capture_default_str();
  command->add_option("--images", state->images, "judge this many images, spread evenly; 0 for all")
      ->check(within<int>({0, 1e9}))
      ->capture_default_str();
  command
      ->add_option("--first", state->first, "leave out the images before this one, counted from 0")
      ->check(within<int>({0, 1e9}))
      ->capture_default_str();
  command
      ->add_option("--truth", state->truth,
                   "judge by the given poses, or by these moved onto the depth maps")
      ->check(CLI::IsMember({"given", "refined"}))
      ->capture_default_str();
  add_flags(*command, state->judge);
  add_flags(*command, state->judge.criterion);
  add_flags(*command, state->refine, "refine");
  command->callback([state, command]() {
    for (const std::string& flag : flags_of<PoseCriterion>()) {
      state->own_criterion |= is_given(*command, flag);
    }
    check_source(*command, *state);
    if (state->judge.criterion.measure == PoseMeasure::kDistanceAndAngle) {
      refuse_flags(*command, {"--share"}, "it belongs to --measure add, add-s and mssd");
    } else {
      refuse_flags(*command, {"--distance-m", "--angle-rad"},
                   "it belongs to --measure distance-and-angle");
    }
    if (state->truth == "given") {
      refuse_flags(*command, flags_of<RefineTruthOptions>("refine"),
                   "it belongs to --truth refined");
    }
    run(*state);
  });
}

}  // namespace sextant::app
