// The test programs' main(), in a library of ours: libfasttext.so has one too, and comes before
// GoogleTest's on the link line.
#include <gmock/gmock.h>

int main(int argc, char** argv) {
  ::testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
