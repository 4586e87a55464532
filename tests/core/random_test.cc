// The stream of numpy.random.RandomState, bit for bit. Expected values: NumPy 1.24.2.
#include "sextant/core/random.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace sextant {
namespace {

TEST(NumpyRandom, UniformEqualsRandomSample) {
  NumpyRandom random(2311);
  EXPECT_EQ(random.uniform(), 0.32156467800918354);
  EXPECT_EQ(random.uniform(), 0.8460114347601038);
  EXPECT_EQ(random.uniform(), 0.21877162838102282);
  EXPECT_EQ(random.uniform(), 0.14948059640379563);
}

TEST(NumpyRandom, NormalEqualsStandardNormal) {
  NumpyRandom random(2311);
  EXPECT_EQ(random.normal(), 0.8891867992647735);
  EXPECT_EQ(random.normal(), -0.4585465013513121);
  EXPECT_EQ(random.normal(), -0.5095936002897763);
  EXPECT_EQ(random.normal(), -0.4088566194242423);
  EXPECT_EQ(random.normal(), 0.08642137992920484);
  EXPECT_EQ(random.normal(), -0.1864575998604551);
}

TEST(NumpyRandom, ASecondNormalSurvivesUniformsInBetween) {
  NumpyRandom random(0);
  EXPECT_EQ(random.normal(), 1.764052345967664);
  EXPECT_EQ(random.normal(), 0.4001572083672233);
  EXPECT_EQ(random.normal(), 0.9787379841057392);
  EXPECT_EQ(random.normal(), 2.240893199201458);
  EXPECT_EQ(random.normal(), 1.8675579901499675);
  EXPECT_EQ(random.uniform(), 0.4375872112626925);
  EXPECT_EQ(random.uniform(), 0.8917730007820798);
  EXPECT_EQ(random.uniform(), 0.9636627605010293);
  EXPECT_EQ(random.normal(), -0.977277879876411);  // made together with the fifth
}

TEST(NumpyRandom, StaysEqualFarDownTheStream) {
  NumpyRandom random(7);
  double last = 0;
  for (int i = 0; i < 100001; ++i) last = random.normal();
  EXPECT_EQ(last, -0.040355389114829734);
  EXPECT_EQ(random.uniform(), 0.18904026340021185);
}

TEST(NumpyRandom, TakesTheLargestSeed) {
  NumpyRandom random(4294967295);
  EXPECT_EQ(random.uniform(), 0.0976320289940138);
  EXPECT_EQ(random.uniform(), 0.9123828453026218);
}

TEST(NumpyRandom, GivesTheRawStream) {
  NumpyRandom random(5489);  // the generator's published default seed and its first output
  EXPECT_EQ(random.bits(), 3499211612U);
}

}  // namespace
}  // namespace sextant
