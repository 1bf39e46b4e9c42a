// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sextant/core/image.h"
#include "sextant/core/options.h"
#include "sextant/geometry/camera.h"

namespace sextant {

/// What a structured-light sensor of the Kinect's kind makes of a perfect depth map. Defaults are
/// that sensor's; every effect has its own switch (0 or false turns it off).
struct KinectNoiseOptions {
  float step_per_m = 2.85e-3f;    ///< a step of 1/8 px of disparity is this times z² in depth
  float sigma_per_m = 1.425e-3f;  ///< standard deviation before quantisation, times z²
  float min_depth_m = 0.4f;
  float max_depth_m = 8.0f;
  float grazing_start_rad = 1.22f;  ///< angle between ray and normal where returns begin to fail
  float grazing_end_rad = 1.48f;    ///< ... and where none is left
  float edge_loss = 0.35f;          ///< probability that a pixel at a depth edge has no return
  float edge_step = 0.03f;          ///< neighbours that differ by this share of z make an edge
  bool shadow = true;               ///< what the projector does not see has no return
  float baseline_m = 0.075f;        ///< the projector stands that far to the right of the camera

  template <class Self, class Visitor>
  static void fields(Self& self, Visitor&& visit) {
    visit("step_per_m", self.step_per_m, "quantisation step over depth squared, 0 for none",
          Range{0, 1});
    visit("sigma_per_m", self.sigma_per_m, "standard deviation over depth squared", Range{0, 1});
    visit("min_depth_m", self.min_depth_m, "nearer surfaces give no return", Range{0, 1e6});
    visit("max_depth_m", self.max_depth_m, "farther surfaces give no return", Range{0, 1e6});
    visit("grazing_start_rad", self.grazing_start_rad, "angle at which returns begin to fail",
          Range{0, 1.6});
    visit("grazing_end_rad", self.grazing_end_rad, "angle at which every return fails",
          Range{0, 1.6});
    visit("edge_loss", self.edge_loss, "probability of no return at a depth edge", Range{0, 1});
    visit("edge_step", self.edge_step, "share of the depth that makes an edge", Range{1e-6, 1});
    visit("shadow", self.shadow, "no return where the projector cannot see");
    visit("baseline_m", self.baseline_m, "distance of the projector from the camera", Range{0, 10});
  }
};

/// The depth map as the sensor would give it, NaN where there is no return.
///
/// Depth: q = 1 / (step z), the disparity in steps, gets normal noise of sigma/step and is rounded
/// to an integer: near z the depths are step z² apart and deviate by sqrt(sigma² + step²/12) z².
/// No return, decided per pixel in this order: the input is not a positive number or out of range;
/// the surface turns away by the angle a, with probability (cos start - cos a) / (cos start - cos
/// end); a 4-neighbour differs by more than edge_step z or is a hole, with probability edge_loss;
/// another surface stands between it and the projector (at most 96 px are searched).
///
/// `normals` are those of the surface, in the camera's frame; an empty image leaves grazing out.
/// Random numbers are functions of (seed, pixel). Same bits for any number of threads; CPU and CUDA
/// differ by one step where rounding decides, in fewer than one pixel of 10⁵. About 0.2 µs a pixel
/// on one CPU thread.
Image<float> add_kinect_noise(const Context& context, ImageView<const float> depth_m,
                              ImageView<const Vec3f> normals, const Camera& camera,
                              const KinectNoiseOptions& options = {}, std::uint64_t seed = 0);

/// The same into given memory of the same size, other than the input; allocates nothing and does
/// not wait.
void add_kinect_noise_into(const Context& context, ImageView<const float> depth_m,
                           ImageView<const Vec3f> normals, const Camera& camera,
                           const KinectNoiseOptions& options, std::uint64_t seed,
                           ImageView<float> noisy_m);

}  // namespace sextant
