// SPDX-License-Identifier: Apache-2.0
#include "sextant/recognize/photo_recognizer.h"

#include "sextant/core/cuda/dispatch.h"
#include "sextant/match/photo_matches/on_device.h"
#include "sextant/recognize/recognizer/step_clock.h"

namespace sextant {

struct PhotoRecognizer::State {
  Context context;
  PhotoRecognizeOptions options;
  ResidentAppearance appearance;
  std::vector<PhotoObject> objects;
  std::vector<std::string> without_appearance;
  std::vector<SiftFeatures> features;  ///< one for each photograph, kept for the next ones
  Workspace workspace;
  Context host;                                ///< where poses are looked for
  std::vector<Buffer<std::byte>> photos;       ///< on the device, if that is not the host
  detail::photo_matches::AppearanceRows rows;  ///< likewise
};

namespace {

/// The middle of the box around an object's points, and its diagonal where no diameter is known.
PhotoObject photo_object(const ResidentObject& object, View<const Vec3f> points) {
  PhotoObject result{object.name, {}, object.diameter_m};
  if (points.empty()) return result;
  Vec3f low = points[0], high = points[0];
  for (const Vec3f& p : points) {
    low = {min_of(low.x, p.x), min_of(low.y, p.y), min_of(low.z, p.z)};
    high = {max_of(high.x, p.x), max_of(high.y, p.y), max_of(high.z, p.z)};
  }
  result.centre_m = cast<double>((low + high) * 0.5f);
  if (!(result.diameter_m > 0)) result.diameter_m = static_cast<double>(norm(high - low));
  return result;
}

void check(const PhotoRecognizeOptions& options) {
  check_options(options.sift);
  check_options(options.match);
  check_options(options.poses);
  require(options.sift.numbers == SiftNumbers::kBytes,
          "sift.numbers: matching needs descriptors as bytes");
}

void check_photos(std::span<const PhotoView> photos, std::span<const PosedCamera> cameras) {
  require(!photos.empty(), "photos: there is none");
  require(photos.size() == cameras.size(), "photos: ", photos.size(), " for ", cameras.size(),
          " cameras; each photograph needs its camera");
  for (std::size_t i = 0; i < photos.size(); ++i) {
    const Camera& camera = cameras[i].camera;
    check_camera(camera);
    require(photos[i].width == camera.width && photos[i].height == camera.height, "photos: number ",
            i, " is ", photos[i].width, " x ", photos[i].height, " px, but its camera is for ",
            camera.width, " x ", camera.height, "; calibrate at the size of the photographs");
  }
}

}  // namespace

PhotoRecognizeOptions photo_recognize_options(PhotoPreset preset) {
  PhotoRecognizeOptions options;
  options.poses = photo_pose_options(preset);
  options.match.strategy = PhotoMatchStrategy::kNearest;
  if (preset == PhotoPreset::kCode) {
    options.match.k = 2;
    options.match.ratio = 0.866f;  // 0.75 of squared distances
  }
  return options;
}

PhotoRecognizer::PhotoRecognizer(const Context& context, std::span<const LearnedObject> objects,
                                 const PhotoRecognizeOptions& options) {
  check(options);
  ResidentLibrary resident = make_resident(context, objects, parts_to_recognize_photos());
  state_ = make_state(context, std::move(resident), options);
}

PhotoRecognizer::PhotoRecognizer(const Context& context, const Library& library,
                                 const PhotoRecognizeOptions& options, const Progress& progress) {
  check(options);
  ResidentLibrary resident = load_resident(context, library, parts_to_recognize_photos(), progress);
  state_ = make_state(context, std::move(resident), options);
}

std::unique_ptr<PhotoRecognizer::State> PhotoRecognizer::make_state(
    const Context& context, ResidentLibrary resident, const PhotoRecognizeOptions& options) {
  const Context host = context.is_cpu() ? context : Context::cpu();
  auto state = std::make_unique<State>(State{context, options, {}, {}, {}, {}, {}, host, {}, {}});
  std::int32_t begin = 0;
  const std::vector<std::int32_t> ends = to_host(context, resident.appearance.ends);
  const std::vector<Vec3f> host_points = to_host(context, resident.appearance.points);
  const View<const Vec3f> points = view_of(host_points);
  for (std::size_t i = 0; i < resident.objects.size(); ++i) {
    const std::int32_t end = ends.empty() ? begin : ends[i];
    state->objects.push_back(photo_object(resident.objects[i], points.subview(begin, end - begin)));
    if (end == begin) state->without_appearance.push_back(resident.objects[i].name);
    begin = end;
  }
  require(begin > 0, "objects: none of ", resident.objects.size(),
          " has an appearance; learn them from photographs or models of MOPED");
  state->appearance = std::move(resident.appearance);
  if (context.is_cuda()) {
    state->rows = detail::photo_matches::find_rows(context, state->appearance);
  }
  return state;
}

PhotoRecognizer::~PhotoRecognizer() = default;
PhotoRecognizer::PhotoRecognizer(PhotoRecognizer&&) noexcept = default;
PhotoRecognizer& PhotoRecognizer::operator=(PhotoRecognizer&&) noexcept = default;

std::span<const PhotoObject> PhotoRecognizer::objects() const { return state_->objects; }

std::span<const std::string> PhotoRecognizer::without_appearance() const {
  return state_->without_appearance;
}

PhotoRecognition PhotoRecognizer::recognize(std::span<const PhotoView> photos,
                                            std::span<const PosedCamera> cameras,
                                            const Progress& progress, PhotoTrace* trace) {
  check_photos(photos, cameras);
  State& state = *state_;
  PhotoRecognition result;
  detail::recognizer::StepClock clock(state.context, result.times);
  const auto steps = static_cast<std::int64_t>(2 * photos.size() + 3);
  std::int64_t done = 0;
  if (state.features.size() < photos.size()) {
    state.features.resize(photos.size());
    state.photos.resize(photos.size());
  }
  for (std::size_t i = 0; i < photos.size(); ++i) {
    report(progress, done++, steps);
    PhotoView photo = photos[i];
    if (state.context.is_cuda()) photo = copy_photo(state.context, photo, state.photos[i]);
    compute_sift_into(state.context, photo, {}, state.options.sift, state.features[i],
                      state.workspace);
    result.features.push_back(state.features[i].count);
  }
  clock.stop("features");
  for (std::size_t i = 0; i < photos.size(); ++i) {
    report(progress, done++, steps);
    const SiftFeatures& features = state.features[i];
    const Camera& camera = cameras[i].camera;
    std::vector<PhotoMatch> matches = detail::on_device(
        state.context,
        [&] {
          return detail::photo_matches::match_photo_on_device(state.context, features, camera,
                                                              state.appearance, state.rows,
                                                              state.options.match, state.workspace);
        },
        [&] {
          return match_photo(state.context, features, camera, state.appearance,
                             state.options.match);
        });
    for (PhotoMatch& match : matches) {
      match.photo = static_cast<std::int32_t>(i);
      result.matches.push_back(match);
    }
  }
  clock.stop("match");
  const Progress of_poses = [&](std::int64_t step, std::int64_t) {
    return !progress || progress(done + step, steps);
  };
  PhotoPoses poses = find_photo_poses(state.host, result.matches, cameras, state.objects,
                                      state.options.poses, of_poses, trace);
  result.detections = std::move(poses.detections);
  result.rejected = std::move(poses.rejected);
  result.times.insert(result.times.end(), poses.times.begin(), poses.times.end());
  return result;
}

PhotoRecognition PhotoRecognizer::recognize(const PhotoView& photo, const Camera& camera,
                                            const Progress& progress, PhotoTrace* trace) {
  const PosedCamera posed{camera, {}};
  return recognize(std::span(&photo, 1), std::span(&posed, 1), progress, trace);
}

}  // namespace sextant
