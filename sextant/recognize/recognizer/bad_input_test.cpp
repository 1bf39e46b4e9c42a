// SPDX-License-Identifier: Apache-2.0
// Frames, cameras and libraries that are not what they should be: a clear word or an empty list,
// never a report.
#include <gtest/gtest.h>

#include "sextant/recognize/recognizer.h"
#include "sextant/render/rasterize.h"
#include "sextant/synth/catalogue.h"
#include "sextant/synth/sensor_noise.h"
#include "tests/devices.h"
#include "tests/error_message.h"
#include "tests/solids.h"

namespace sextant {
namespace {

LearnedObject object_of(const std::string& name, TriangleMesh mesh) {
  LearnedObject object;
  object.name = name;
  object.mesh = std::move(mesh);
  return object;
}

TriangleMesh scaled(TriangleMesh mesh, float factor) {
  for (Vec3f& p : mesh.vertices.points.host()) p = p * factor;
  return mesh;
}

/// The tasmanian devil before a wall, with a Kinect's noise.
struct Frame {
  Camera camera{320, 240, 300, 300, 159.5, 119.5, {}};
  Rigid3d camera_from_object{exp_rotation(Vec3d{1.9, 0.3, -0.4}), {0.03, 0.04, 0.6}};
  Image<float> depth_m;

  Frame() {
    const Context context = Context::cpu();
    const TriangleMesh toy = make_object("tasmanian_devil");
    const Instance instance{0, 0, 0, cast<float>(camera_from_object)};
    Rendering seen = render(context, RenderScene(context, toy), camera, {&instance, 1});
    for (float& z : seen.depth_m.host()) z = z > 0 ? z : 1.0f;
    depth_m = add_sensor_noise(context, seen.depth_m_of(0), {}, camera, {}, 1);
  }
};

Recognizer recognizer_of(LearnedObject object) {
  // Few poses are enough for one toy before a wall.
  return {Context::cpu(), std::span(&object, 1), {.refined = 40, .polished = 10}};
}
Recognizer recognizer_of_toy(float factor = 1) {
  return recognizer_of(object_of("toy", scaled(make_object("tasmanian_devil"), factor)));
}

TEST(RecognizerBadInput, TheFrameItselfIsGood) {
  const Frame frame;
  const Recognition found = recognizer_of_toy().recognize(frame.depth_m, frame.camera);
  ASSERT_EQ(found.detections.size(), 1u);
  EXPECT_LT(norm(found.detections[0].camera_from_object.translation -
                 frame.camera_from_object.translation),
            0.01);
}

TEST(RecognizerBadInput, NumbersThatAreNoDepths) {
  const Recognizer recognizer = recognizer_of_toy();
  const Camera camera = Frame().camera;
  Image<float> depth_m(Context::cpu(), camera.width, camera.height);
  for (const float z : {NAN, INFINITY, -INFINITY, -1.0f, 0.0f, 1e-30f, 1e30f, 3.4e38f}) {
    for (float& pixel : depth_m.pixels().host()) pixel = z;
    EXPECT_TRUE(recognizer.recognize(depth_m, camera).detections.empty()) << z;
  }
  // All of them side by side.
  const float kinds[] = {NAN, INFINITY, -1.0f, 0.0f, 1e-30f, 3.4e38f, 0.7f};
  std::size_t i = 0;
  for (float& pixel : depth_m.pixels().host()) pixel = kinds[++i % 7];
  EXPECT_TRUE(recognizer.recognize(depth_m, camera).detections.empty());
}

TEST(RecognizerBadInput, ASingleValueAndAlmostNothing) {
  const Recognizer recognizer = recognizer_of_toy();
  const Camera camera = Frame().camera;
  Image<float> depth_m(Context::cpu(), camera.width, camera.height);
  for (const float z : {0.05f, 0.5f, 4.0f, 60.0f}) {
    for (float& pixel : depth_m.pixels().host()) pixel = z;
    EXPECT_TRUE(recognizer.recognize(depth_m, camera).detections.empty()) << z;
  }
  // A few measured pixels among holes.
  for (float& pixel : depth_m.pixels().host()) pixel = NAN;
  for (int v = 100; v < 112; ++v) {
    for (int u = 150; u < 162; ++u) depth_m(u, v) = 0.6f;
  }
  EXPECT_TRUE(recognizer.recognize(depth_m, camera).detections.empty());
}

TEST(RecognizerBadInput, ImagesOfOnePixelAndOfNone) {
  const Recognizer recognizer = recognizer_of_toy();
  for (const int side : {1, 2, 9}) {
    Image<float> depth_m(Context::cpu(), side, side);
    for (float& pixel : depth_m.pixels().host()) pixel = 0.6f;
    const Camera camera{side, side, 300, 300, 0.5 * (side - 1), 0.5 * (side - 1), {}};
    EXPECT_TRUE(recognizer.recognize(depth_m, camera).detections.empty()) << side;
  }
}

TEST(RecognizerBadInput, AWrongFocalLengthFindsNothing) {
  const Frame frame;
  const Recognizer recognizer = recognizer_of_toy();
  for (const double factor : {0.5, 2.0}) {
    Camera wrong = frame.camera;
    wrong.fx_px *= factor;
    wrong.fy_px *= factor;
    EXPECT_TRUE(recognizer.recognize(frame.depth_m, wrong).detections.empty()) << factor;
  }
}

TEST(RecognizerBadInput, ALibraryInTheWrongUnit) {
  const Frame frame;
  // No object is 170 m or 0.17 mm large: that is told when the library is taken.
  for (const float factor : {1000.0f, 0.001f}) {
    EXPECT_TRUE(
        testing::mentions(testing::error_message([&] { recognizer_of_toy(factor); }), "toy"));
    EXPECT_TRUE(
        testing::mentions(testing::error_message([&] { recognizer_of_toy(factor); }), "unit"));
  }
  // In inches or centimetres it might be one, but it is not there.
  for (const float factor : {1 / 2.54f, 2.54f, 10.0f, 0.1f}) {
    EXPECT_TRUE(recognizer_of_toy(factor).recognize(frame.depth_m, frame.camera).detections.empty())
        << factor;
  }
}

TEST(RecognizerBadInput, AnObjectLargerThanTheView) {
  const Camera camera = Frame().camera;
  // A wall that is all that the camera sees may be any part of the box's face.
  const Recognizer recognizer =
      recognizer_of(object_of("crate", testing::box(2.0, 1.5, 1.0).mesh()));
  Image<float> depth_m(Context::cpu(), camera.width, camera.height);
  for (float& pixel : depth_m.pixels().host()) pixel = 0.5f;
  EXPECT_TRUE(recognizer.recognize(depth_m, camera).detections.empty());
  EXPECT_TRUE(recognizer.recognize(Frame().depth_m, camera).detections.empty());
}

TEST(RecognizerBadInput, AnObjectOfThreeTriangles) {
  const Frame frame;
  TriangleMesh mesh;
  mesh.vertices.points =
      copy(Context::cpu(), std::vector<Vec3f>{{0, 0, 0}, {0.1f, 0, 0}, {0, 0.1f, 0}, {0, 0, 0.1f}});
  mesh.triangles = copy(Context::cpu(), std::vector<Vec3i>{{0, 2, 1}, {0, 1, 3}, {0, 3, 2}});
  const Recognizer recognizer = recognizer_of(object_of("corner", std::move(mesh)));
  EXPECT_TRUE(recognizer.recognize(frame.depth_m, frame.camera).detections.empty());
}

TEST(RecognizerBadInput, ObjectsWithoutASurface) {
  TriangleMesh flat;  // all corners in one place
  flat.vertices.points = copy(Context::cpu(), std::vector<Vec3f>(3, Vec3f{0.1f, 0.1f, 0.1f}));
  flat.triangles = copy(Context::cpu(), std::vector<Vec3i>{{0, 1, 2}});
  EXPECT_TRUE(testing::mentions(
      testing::error_message([&] { recognizer_of(object_of("dot", std::move(flat))); }), "dot"));
  TriangleMesh nowhere = make_object("apple");
  for (Vec3f& p : nowhere.vertices.points.host()) p = {NAN, NAN, NAN};
  EXPECT_TRUE(testing::mentions(
      testing::error_message([&] { recognizer_of(object_of("ghost", std::move(nowhere))); }),
      "ghost"));
}

}  // namespace
}  // namespace sextant
