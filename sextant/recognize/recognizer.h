// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/core/options.h"
#include "sextant/core/progress.h"
#include "sextant/library/library.h"

namespace sextant {

/// What proposes poses; all are compared with the frame in the same way.
struct PoseSources {
  bool point_pairs = false;  ///< votes of pairs of points
  bool tensors = false;      ///< tensors of the frame that resemble those of an object's views
  bool shot = false;         ///< SHOT of the frame that resembles that of an object
};

/// "point-pairs", "tensors" and "shot", those that are wanted, with commas between them. Throws
/// Error for other words and for none.
PoseSources pose_sources(std::string_view words);

/// How objects are looked for. Lengths are shares of an object's diameter or multiples of the
/// sensor's noise, so that one setting serves small and large objects.
struct RecognizeOptions {
  std::string sources = "point-pairs";  ///< what proposes poses, as pose_sources reads it
  float accept = 0.5f;                  ///< least score of a detection
  float noise_per_m = 0;                ///< the sensor's deviation of 1/z; 0 finds it in the frame
  float noise_floor_m = 0.0005f;        ///< what its depth errs by even when near
  float pitch_m = 0.0012f;              ///< finer maps are averaged to pixels of about this size
  float normal_radius_m = 0.008f;       ///< of the plane that is fitted for a normal
  float plane_share = 0.3f;  ///< of the points that one plane must hold to be left out of votes
  int reference_step = 8;    ///< of the sampled points every so many propose poses
  int clusters = 1500;       ///< of an object's poses that are compared with the frame
  int refined = 150;         ///< of these that are refined and verified
  int polished = 40;         ///< of these that are slid along what refinement leaves free

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("sources", self.sources, "what proposes poses: any of point-pairs,tensors,shot");
    visit("accept", self.accept, "least score of a detection", Range{0, 1});
    visit("noise_per_m", self.noise_per_m,
          "deviation of 1/z of the sensor; 0 finds it in the frame", Range{0, 0.1});
    visit("noise_floor_m", self.noise_floor_m, "what depth errs by even when near", Range{0, 0.1});
    visit("pitch_m", self.pitch_m, "finer maps are averaged to about this pixel size",
          Range{0, 0.1});
    visit("normal_radius_m", self.normal_radius_m, "of the plane fitted for a normal",
          Range{1e-4, 0.1});
    visit("plane_share", self.plane_share,
          "share of the points that a plane must hold to be left out of votes", Range{0.01, 1});
    visit("reference_step", self.reference_step, "every so many sampled points propose poses",
          Range{1, 1000});
    visit("clusters", self.clusters, "poses of an object compared with the frame", Range{1, 10000});
    visit("refined", self.refined, "poses of an object refined and verified", Range{1, 10000});
    visit("polished", self.polished, "poses slid along what refinement leaves free",
          Range{0, 10000});
  }
};

/// What a recogniser with these options needs of the objects of a library.
ObjectParts parts_to_recognize(const RecognizeOptions& options = {});

/// What comparing the rendered object with the frame says. Shares lie in [0, 1].
struct VerificationTerms {
  float pixels = 0;     ///< rendered, in pixels of the frame
  float supported = 0;  ///< share of the pixels where the measured surface is the object's
  float violated = 0;   ///< ... lies behind it: the sensor saw through the object
  float occluded = 0;   ///< ... lies before it
  float no_data = 0;    ///< ... was not measured
  float outside = 0;    ///< ... of the object's outline box that lies outside the frame
  float normals = 0;    ///< of the supported ones, share whose normals agree
  float residual = 0;   ///< root mean square of the supported depths, in tolerances
  float extent = 0;     ///< square root of the supported area over the diameter
  /// Length of the seams at which the measured surface leaves the object's without a step, over the
  /// outline's: that of a pose that sinks into another body or sticks out of it.
  float departs = 0;
  /// How much of it is hidden by what it touches, as where it sinks into a table: [0, 1].
  float sinks = 0;
  float buried = 0;  ///< share of the pixels where the dominant plane lies before the object
  /// The logarithm of how much nearer the measured depths are to the object than to the plane, and
  /// to the quadratic surface, that fits them best: 0 where these explain them as well.
  float plane_gain = 0;
  float bend_gain = 0;
  float outline = 0;      ///< cells of the outline
  float confirmed = 0;    ///< share of the outline's cells where the measured surface ends too
  float continues = 0;    ///< ... goes on
  float falls_short = 0;  ///< ... ends before the outline
  float crease = 0;       ///< ... turns into another surface, as where an object stands on a table
  float hidden = 0;       ///< ... vanishes behind something nearer
  float unknown = 0;      ///< ... is not measured
  float edge_offset = 1;  ///< mean distance of edges found from the outline, over the walk's length
  float edge_m = 0;       ///< the same distance in metres; 0 where no edge was found
  float weakest = 1;      ///< deviation along the direction that is known least, over the diameter
  float boxes = 0;  ///< side by side that were told as a whole; 0 where the object is told alone
  float rows = 0;   ///< that rows of whole boxes fill measured faces, as a logarithm of odds
};

/// Calls visit(name, value) for each term, whose values may be changed where the terms may.
template <class Terms, class Visitor>
requires std::same_as<std::remove_const_t<Terms>, VerificationTerms>
constexpr void for_each_term(Terms& t, Visitor&& visit) {
  visit("pixels", t.pixels);
  visit("supported", t.supported);
  visit("violated", t.violated);
  visit("occluded", t.occluded);
  visit("no_data", t.no_data);
  visit("outside", t.outside);
  visit("normals", t.normals);
  visit("residual", t.residual);
  visit("extent", t.extent);
  visit("departs", t.departs);
  visit("sinks", t.sinks);
  visit("buried", t.buried);
  visit("plane_gain", t.plane_gain);
  visit("bend_gain", t.bend_gain);
  visit("outline", t.outline);
  visit("confirmed", t.confirmed);
  visit("continues", t.continues);
  visit("falls_short", t.falls_short);
  visit("crease", t.crease);
  visit("hidden", t.hidden);
  visit("unknown", t.unknown);
  visit("edge_offset", t.edge_offset);
  visit("edge_m", t.edge_m);
  visit("weakest", t.weakest);
  visit("boxes", t.boxes);
  visit("rows", t.rows);
}

/// Of the diameter: a direction in which a pose is known no better is left open by the frame.
inline constexpr double kOpenShare = 0.05;

/// An object found, or a pose that was considered and rejected.
struct Detection {
  std::string object;
  std::int32_t object_index = -1;
  Rigid3d camera_from_object;
  double score = 0;  ///< in [0, 1]: how probable it is that the pose is right
  /// Of a small motion about the object's centre in the camera's axes, rotation (rad) then
  /// translation (m), row by row. Directions that the frame leaves open have the object's size, and
  /// so have turns about an axis of symmetry.
  std::array<double, 36> covariance{};
  /// Motions that the frame leaves open, in the order of the covariance: along each the pose may
  /// err by more than kOpenShare of the diameter, angles counted at half a diameter from the
  /// centre. Each is as long as its deviation, and the largest comes first. Not looked for in
  /// rejected poses.
  std::vector<std::array<double, 6>> open;
  Vec3d centre_m;          ///< the point, in the object's frame, that the covariance is about
  double visible = 0;      ///< share of the rendered object that is seen
  double occluded = 0;     ///< share that something hides
  bool symmetric = false;  ///< whether other poses look the same
  std::string reason;      ///< why it was rejected; empty for a detection
  VerificationTerms terms;
  std::vector<std::int32_t> pixels;  ///< of the frame that it explains, ascending
};

struct StepTime {
  std::string step;
  double ms = 0;
};

struct Recognition {
  std::vector<Detection> detections;  ///< from the highest score down
  std::vector<Detection> rejected;    ///< likewise, at most 1000
  std::vector<StepTime> times;
  bool complete = true;  ///< false where the time was over before every object was looked for
};

/// A pose of an object, which is named by its place in the list that the recogniser was made of.
struct ObjectPose {
  std::int32_t object_index = -1;
  Rigid3d camera_from_object;
};

/// What is known of a frame beforehand.
struct RecognizeHints {
  /// Where poses are looked for: pixels that are not 0, as a detector of another kind gives them.
  /// What lies elsewhere still speaks for or against a pose. Empty for the whole frame.
  ImageView<const std::uint8_t> mask = {};
  std::vector<ObjectPose> poses = {};  ///< tried before all others, such as those of the last frame
  /// After this time no further object is looked for, and what was found by then is the answer. 0
  /// for no limit. Only then may the answer differ from run to run.
  double budget_ms = 0;
};

/// Poses on their way through the stages, for those who measure where right ones are lost.
struct RecognitionTrace {
  std::vector<ObjectPose> voted;    ///< clusters of votes that were compared with the frame
  std::vector<ObjectPose> refined;  ///< after refinement, before verification
};

/// Finds known objects in depth maps: pairs of points propose poses, which are refined on the depth
/// map and verified by rendering the object into it.
///
/// What it finds and misses on real frames is in docs/recognition.md. Bodies that differ from an
/// object by less than the sensor's noise, such as boxes of nearly its size, pass for it. Objects
/// without lookalikes (lookalikes.h) are accepted with the doubt that a plain box deserves.
///
/// The same bits from run to run and for any number of threads. On CUDA all objects are looked for
/// together, and device memory is taken for the first frame, and for one that shows more boxes than
/// all before; normals there differ by 0.01° from the CPU's, so that poses differ by some
/// hundredths of a millimetre.
class Recognizer {
 public:
  /// Makes tables and render meshes of the objects, which may go away afterwards. Throws Error for
  /// an object without samples and without a surface to take them from, and on CUDA for more than
  /// 4095 objects.
  Recognizer(const Context& context, std::span<const LearnedObject> objects,
             const RecognizeOptions& options = {});
  ~Recognizer();
  Recognizer(Recognizer&&) noexcept;
  Recognizer& operator=(Recognizer&&) noexcept;

  /// Depth in metres on the host, of a camera without distortion; NaN and what lies outside 1 mm to
  /// 1 km is a hole. Progress counts objects. A frame of holes gives an empty result. Several
  /// threads may call it; on CUDA they wait for each other, and the time that hints limit is looked
  /// at once, before poses are looked for.
  Recognition recognize(ImageView<const float> depth_m, const Camera& camera,
                        const RecognizeHints& hints = {}, const Progress& progress = {},
                        RecognitionTrace* trace = nullptr) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sextant
