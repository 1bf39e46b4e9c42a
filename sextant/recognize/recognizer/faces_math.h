// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/rigid3.h"
#include "sextant/recognize/recognizer/frame.h"
#include "sextant/recognize/recognizer/math.h"
#include "sextant/recognize/recognizer/poses_math.h"

// Where the measured surface ends that the face of a box lies on, for host and device. Lines are
// walked across it, side by side; the face is turned until its sides are parallel to the ends.

namespace sextant::detail::recognizer {

inline constexpr int kFaceLines = 9;  ///< to each of the four ends of a face
inline constexpr int kFaceTurns = 2;  ///< times that a face is turned

/// A flat face that a box shows.
struct Face {
  Vec3d middle;
  Vec3d normal;    ///< towards the camera
  Vec3d along[2];  ///< its sides
  double length_m[2] = {};
  double most_m = 0;     ///< that is walked
  float diameter_m = 0;  ///< see ModelView::part_diameter_m
  std::int32_t object = 0;
  bool is_lost = false;  ///< there is no surface, or it has no ends
  bool is_settled = false;
};

/// Where a line on a face leaves the measured surface, from its middle on.
struct FaceEnd {
  double at_m = 0;
  bool is_known = false;   ///< false where the line finds no surface
  bool is_seen = false;    ///< false where the frame ends before
  bool is_hidden = false;  ///< behind something nearer
};

/// Of either side, against its direction and along it.
struct FaceEnds {
  FaceEnd of[2][2];
};

/// Walks from `start` along `along` while the measured surface is the face's.
SEXTANT_HD inline FaceEnd walk_on_face(const FrameView& frame, const Face& face, const Vec3d& start,
                                       const Vec3d& along) {
  constexpr double kLeastStep_m = 0.001, kGap_m = 0.004;
  const double pixel_m = start.z / static_cast<double>(frame.camera.fx_px);
  const double step_m = max_of(pixel_m, kLeastStep_m);
  const int most_gap = max_of(3, static_cast<int>(std::lround(kGap_m / step_m)));
  const auto cosine = static_cast<float>(-dot(face.normal, start) / norm(start));
  int last_on = -1;
  bool hidden = false;
  for (int k = 0; k * step_m < face.most_m; ++k) {
    const Vec3f x = cast<float>(start + along * (k * step_m));
    if (!(x.z > 0)) return {};
    const Vec2<int> p = nearest_pixel(frame.camera, x);
    if (!frame.contains(p.x, p.y)) {
      return last_on < 0 ? FaceEnd{} : FaceEnd{k * step_m, true, false, false};
    }
    const float measured = frame.depth_m(p.x, p.y);
    hidden |= measured < x.z;
    const float tolerance = depth_tolerance_m(frame.noise.sigma_m(x.z), face.diameter_m, cosine);
    if (std::abs(measured - x.z) <= tolerance) {
      last_on = k;
      hidden = false;
    } else if (k - last_on > most_gap) {
      return last_on < 0 ? FaceEnd{} : FaceEnd{(last_on + 0.5) * step_m, true, true, hidden};
    }
  }
  return {face.most_m, true, false, false};
}

/// Walks all lines of all faces: line k of end e of face f is number (4 f + e) kFaceLines + k.
struct WalkFaces {
  FrameView frame;
  const Face* faces;
  FaceEnd* lines;

  /// How far from the middle a line begins, across its direction.
  SEXTANT_HD static double place(const Face& face, int side, int line) {
    return 0.85 * face.length_m[1 - side] * ((line + 0.5) / kFaceLines - 0.5);
  }
  SEXTANT_HD void operator()(std::int64_t i) const {
    const Face& face = faces[i / (4 * kFaceLines)];
    if (face.is_lost || face.is_settled) return;
    const auto line = static_cast<int>(i % kFaceLines);
    const auto end = static_cast<int>(i / kFaceLines % 4);
    const int side = end / 2;
    const double sign = end % 2 == 0 ? -1 : 1;
    const Vec3d start = face.middle + face.along[1 - side] * place(face, side, line);
    lines[i] = walk_on_face(frame, face, start, face.along[side] * sign);
  }
};

SEXTANT_HD inline void sort_few(double* values, int count) {
  for (int i = 1; i < count; ++i) {
    for (int k = i; k > 0 && values[k] < values[k - 1]; --k) {
      const double value = values[k];
      values[k] = values[k - 1];
      values[k - 1] = value;
    }
  }
}

/// Makes ends of the lines, and turns a face that is not parallel to them, unless it is the last
/// time.
struct EndFaces {
  const FaceEnd* lines;
  Face* faces;
  FaceEnds* ends;
  bool is_last;

  /// The middle one of an end's lines, once they are made parallel to it.
  struct Line {
    FaceEnd end;
    double slope = 0;
    double weight = 0;  ///< of the slope
  };
  SEXTANT_HD static Line end_of(const Face& face, int side, const FaceEnd* of_end) {
    double at[kFaceLines], places[kFaceLines], values[kFaceLines];
    int count = 0, seen = 0, hidden = 0;
    for (int i = 0; i < kFaceLines; ++i) {
      if (!of_end[i].is_known) continue;
      at[count] = of_end[i].at_m;
      places[count++] = WalkFaces::place(face, side, i);
      seen += of_end[i].is_seen ? 1 : 0;
      hidden += of_end[i].is_hidden ? 1 : 0;
    }
    Line line;
    if (2 * count <= kFaceLines) return line;
    // The median of the slopes between lines that lie well apart.
    const int half = count / 2;
    for (int i = 0; i + half < count; ++i) {
      values[i] = (at[i + half] - at[i]) / (places[i + half] - places[i]);
    }
    sort_few(values, count - half);
    line.slope = values[(count - half) / 2];
    for (int i = 0; i < count; ++i) values[i] = at[i] - line.slope * places[i];
    sort_few(values, count);
    constexpr double kStraight_m = 0.004;
    const double spread = values[count * 3 / 4] - values[count / 4];
    const double span = places[count - 1] - places[0];
    line.weight = 2 * seen > count && spread < kStraight_m ? span * span : 0;
    line.end = {values[half], true, 2 * seen > count, 2 * hidden > count};
    return line;
  }

  SEXTANT_HD void operator()(std::int64_t i) const {
    constexpr double kParallel = 0.003, kMostTurn = 0.5;
    Face& face = faces[i];
    if (face.is_lost || face.is_settled) return;
    double sum = 0, weights = 0;
    for (int end = 0; end < 4; ++end) {
      const int side = end / 2;
      const Line line = end_of(face, side, lines + (4 * i + end) * kFaceLines);
      if (!line.end.is_known) {
        face.is_lost = true;
        return;
      }
      ends[i].of[side][end % 2] = line.end;
      const double sign = end % 2 == side ? 1 : -1;  // of a turn that the slope asks for
      sum += line.weight * line.slope * sign;
      weights += line.weight;
    }
    const double turn = weights > 0 ? sum / weights : 0;
    face.is_settled = is_last || std::abs(turn) < kParallel;
    if (face.is_settled) return;
    face.is_lost = std::abs(turn) > kMostTurn;
    const Mat3d rotation = exp_rotation(cross(face.along[0], face.along[1]) * std::atan(turn));
    for (Vec3d& along : face.along) along = rotation * along;
  }
};

}  // namespace sextant::detail::recognizer
