// SPDX-License-Identifier: Apache-2.0
#include "apps/sextant/recognize/in_photos.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <future>
#include <map>
#include <optional>

#include "apps/sextant/command/files.h"
#include "apps/sextant/command/options_cli.h"
#include "apps/sextant/command/progress_bar.h"
#include "apps/sextant/command/streams.h"
#include "apps/sextant/recognize/found.h"
#include "apps/sextant/recognize/overlay.h"
#include "apps/sextant/recognize/photo_found.h"
#include "apps/sextant/recognize/photographed_objects.h"
#include "apps/sextant/recognize/photos.h"
#include "sextant/geometry/undistort.h"
#include "sextant/io/image_file.h"

namespace sextant::app {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// A moment with the pictures that its photographs become; none where nobody asked for them.
struct Job {
  PhotoMoment moment;
  std::vector<std::string> overlays;
};

/// What all moments have in common.
struct PhotoFinder {
  const PhotoCommand& command;
  const PhotoList& list;
  std::string device;
  std::vector<PhotoRecognizer> recognizers;  ///< for one moment each
  std::optional<FoundOverlay> overlay;

  bool is_rig() const { return !list.rig.empty(); }
};

/// One photograph's picture has the name that was given; those of several lie in a folder of that
/// name, those of a rig with the camera's name behind their own.
std::string overlay_of(const PhotoCommand& command, const PhotoList& list,
                       const PhotoMoment& moment, std::size_t camera) {
  const bool rig = list.rig.size() > 1;
  if (!list.several && !rig) return command.overlay;
  const std::string stem = fs::path(moment.files[0]).stem().string();
  const std::string name = rig ? stem + "_" + list.rig[camera].name : stem;
  return (fs::path(command.overlay) / (name + ".png")).string();
}

/// Everything about files that can be wrong, before the first is read.
std::vector<Job> plan(const PhotoCommand& command, const PhotoList& list) {
  std::vector<InputFile> inputs{{"LIBRARY", command.library}, {"--camera", command.camera}};
  std::vector<OutputFile> outputs;
  std::vector<Job> jobs;
  std::map<std::string, std::string> drawn_from;
  if (!command.overlay.empty() && (list.several || list.rig.size() > 1)) {
    make_folder(command.overlay);
  }
  for (const PhotoMoment& moment : list.moments) {
    jobs.push_back({moment, {}});
    for (std::size_t c = 0; c < moment.files.size(); ++c) {
      inputs.push_back({"the input " + moment.files[c], moment.files[c]});
      if (command.overlay.empty()) continue;
      jobs.back().overlays.push_back(overlay_of(command, list, moment, c));
      const auto [drawn, fresh] = drawn_from.emplace(jobs.back().overlays.back(), moment.files[c]);
      require(fresh, moment.files[c], ": would overwrite what ", drawn->second,
              " becomes; recognise them one after the other");
      outputs.push_back({"--overlay", jobs.back().overlays.back(), kPictureFiles});
    }
  }
  check_files(inputs, outputs);
  return jobs;
}

/// What was found, over each photograph as a lens without distortion takes it.
void draw(const PhotoFinder& finder, const Job& job, const SeenPhotos& seen,
          const PhotoRecognition& found) {
  for (std::size_t c = 0; c < job.overlays.size(); ++c) {
    Image<Rgb8> picture = seen.photos[c].rgb8();
    const PosedCamera& posed = seen.cameras[c];
    const Camera plain = without_distortion(posed.camera);
    if (!posed.camera.distortion.is_zero()) {
      picture = undistort(Context::cpu(), ImageView<const Rgb8>(picture), posed.camera, plain);
    }
    std::vector<DrawnPose> poses;
    for (const PhotoDetection& d : found.detections) {
      poses.push_back({d.object_index, d.object,
                       inverse(posed.world_from_camera) * d.world_from_object, d.score,
                       color_of_detection(static_cast<std::int32_t>(poses.size()) + 1)});
    }
    std::erase_if(
        poses, [&](const DrawnPose& pose) { return !(pose.camera_from_object.translation.z > 0); });
    finder.overlay->draw(plain, poses, picture);
    write_image(job.overlays[c], picture);
  }
}

/// A moment with what was found, and how long that took.
struct Told {
  Result result;
  std::vector<std::string> remarks;
  std::string error;  ///< why it failed, if it did
  double ms = 0;
};

Told recognize_moment(const PhotoFinder& finder, PhotoRecognizer& recognizer, const Job& job) {
  using Milliseconds = std::chrono::duration<double, std::milli>;
  const auto start = std::chrono::steady_clock::now();
  const SeenPhotos seen = read_photos(finder.list, job.moment);
  const Milliseconds reading = std::chrono::steady_clock::now() - start;
  std::vector<PhotoView> photos;
  photos.reserve(seen.photos.size());
  for (const Photo& photo : seen.photos) photos.push_back(photo.view());
  PhotoRecognition found = recognizer.recognize(photos, seen.cameras);
  found.times.insert(found.times.begin(), {"read", reading.count()});
  Told told{{}, seen.remarks, {}, Milliseconds(std::chrono::steady_clock::now() - start).count()};
  const bool explain = finder.command.explain;
  told.result.document =
      photo_found_to_json(job.moment, finder.device, seen, finder.is_rig(), found, explain);
  told.result.text = photo_found_to_text(job.moment, finder.is_rig(), found, explain);
  if (job.overlays.empty()) return told;
  draw(finder, job, seen, found);
  if (finder.is_rig()) {
    told.result.wrote("overlay", job.overlays);
  } else {
    told.result.wrote("overlay", job.overlays.front());
  }
  return told;
}

/// How long moments took, for those who look at many.
struct Latencies {
  std::vector<double> ms;
  double all_ms = 0;  ///< from the first to the last, writing included

  json document() const;
  std::string text() const;

 private:
  struct Summary {
    double mean = 0, deviation = 0, p95 = 0;
  };
  Summary summary() const;
};

Latencies::Summary Latencies::summary() const {
  Summary s;
  std::vector<double> sorted = ms;
  std::sort(sorted.begin(), sorted.end());
  const auto count = static_cast<double>(sorted.size());
  for (const double x : sorted) s.mean += x / count;
  for (const double x : sorted) s.deviation += (x - s.mean) * (x - s.mean) / count;
  s.deviation = std::sqrt(s.deviation);
  s.p95 = sorted[std::min(sorted.size() - 1, static_cast<std::size_t>(0.95 * count))];
  return s;
}

json Latencies::document() const {
  const Summary s = summary();
  return {{"frames", ms.size()},
          {"frames_per_s", 1000 * static_cast<double>(ms.size()) / all_ms},
          {"latency_ms", {{"mean", s.mean}, {"deviation", s.deviation}, {"p95", s.p95}}}};
}

std::string Latencies::text() const {
  const Summary s = summary();
  return fmt::format(
      "{} frames, {:.2f} a second; latency {:.0f} ms, deviation {:.0f} ms, 95 % within {:.0f} ms\n",
      ms.size(), 1000 * static_cast<double>(ms.size()) / all_ms, s.mean, s.deviation, s.p95);
}

/// A moment that fails does not stop the others.
Told recognize_or_tell(const PhotoFinder& finder, PhotoRecognizer& recognizer, const Job& job) {
  try {
    return recognize_moment(finder, recognizer, job);
  } catch (const Cancelled&) {
    throw;
  } catch (const Error& error) {
    Told told;
    told.error = error.what();
    return told;
  }
}

/// What people read is printed moment by moment, so that Ctrl-C leaves what was found. With several
/// recognisers as many moments are on their way; they are told in their order all the same.
void recognize_all(PhotoFinder& finder, const std::vector<Job>& jobs) {
  const PhotoCommand& command = finder.command;
  Result result;
  result.document = {{"library", command.library}, {"frames", json::array()}};
  Latencies latencies;
  std::size_t failures = 0;
  const auto start = std::chrono::steady_clock::now();
  {
    ProgressBar bar("recognising", {"frames", 1});
    const Progress progress = bar.callback();
    std::vector<std::future<Told>> running(finder.recognizers.size());
    const auto begin = [&](std::size_t i) {
      const std::size_t slot = i % running.size();
      if (i >= jobs.size()) return;
      running[slot] =
          std::async(running.size() > 1 ? std::launch::async : std::launch::deferred,
                     [&finder, &jobs, i, slot] {
                       return recognize_or_tell(finder, finder.recognizers[slot], jobs[i]);
                     });
    };
    for (std::size_t i = 0; i < running.size(); ++i) begin(i);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      report(progress, static_cast<std::int64_t>(i), static_cast<std::int64_t>(jobs.size()));
      Told told = running[i % running.size()].get();
      begin(i + running.size());
      for (const std::string& remark : told.remarks) note(remark);
      if (!told.error.empty()) {
        note(fmt::format("sextant: {}", told.error));
        result.document["frames"].push_back(
            {{"frame", jobs[i].moment.name}, {"error", told.error}});
        ++failures;
        continue;
      }
      latencies.ms.push_back(told.ms);
      result.document["frames"].push_back(std::move(told.result.document));
      if (command.common.json) continue;
      erase_progress();
      print(told.result.text);
    }
  }
  latencies.all_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  if (!latencies.ms.empty()) {
    result.document["speed"] = latencies.document();
    if (!command.common.json) print(latencies.text());
  }
  if (command.common.json) print_result(command.common, result);
  require(failures == 0, failures, " of ", jobs.size(), " frames could not be looked at");
}

PhotoRecognizeOptions options_of(const PhotoFlags& flags) {
  PhotoRecognizeOptions options = photo_recognize_options(flags.preset);
  if (flags.fast) options.sift = fast_sift_options();
  if (flags.accept) options.poses.accept = *flags.accept;
  return options;
}

}  // namespace

void add_photo_flags(CLI::App& command, PhotoFlags& flags) {
  const FlagAdder add(command);
  add("preset", flags.preset, "of photographs: how poses are made of matches", kPhotoPresets);
  command.add_flag("--fast", flags.fast, "of photographs: fewer, larger features in less time");
  command
      .add_option_function<std::string>(
          "--mode", [&flags](const std::string& text) { flags.throughput = text == "throughput"; },
          "of many photographs: one after the other with all threads (latency), or several at a "
          "time (throughput)")
      ->check(CLI::IsMember({"latency", "throughput"}))
      ->default_str("latency");
}

std::vector<std::string> photo_flags() { return {"--preset", "--fast", "--mode"}; }

void recognize_in_photos(const PhotoCommand& command) {
  CommonOptions common = command.common;
  // Poses are found on the CPU.
  if (common.device == "best") common.device = "cpu";
  const Context context = context_for(common);
  require(context.is_cpu() || !command.flags.throughput,
          "--mode throughput: gives each photograph a thread of the CPU; take --device cpu");
  const Library is_there(command.library, LibraryAccess::kRead);
  const PhotoList list = list_photos(command.words, command.camera);
  const std::vector<Job> jobs = plan(command, list);
  const std::vector<LearnedObject> objects =
      load_photographed_objects(command.library, command.only);
  PhotoFinder finder{command, list, to_string(context.device()), {}, std::nullopt};
  const std::size_t most = command.flags.throughput && list.several ? context.threads() : 1;
  for (std::size_t i = 0; i < std::min(most, jobs.size()); ++i) {
    finder.recognizers.emplace_back(most > 1 ? Context::cpu(1) : context, objects,
                                    options_of(command.flags));
  }
  if (!command.overlay.empty()) finder.overlay.emplace(objects);
  if (list.several) return recognize_all(finder, jobs);
  const ElapsedLine line("recognising");
  const Told told = recognize_moment(finder, finder.recognizers[0], jobs[0]);
  for (const std::string& remark : told.remarks) note(remark);
  print_result(command.common, told.result);
}

}  // namespace sextant::app
