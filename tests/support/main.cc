// The test programs' main(), in a library of ours: libfasttext.so has one too, and comes before
// GoogleTest's on the link line.
#include <gmock/gmock.h>

int main(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
#ifdef SEXTANT_SANITIZED  // locks of its run-time that are held at a fork stay so
  GTEST_FLAG_SET(death_test_style, "threadsafe");
#endif
  return RUN_ALL_TESTS();
}
