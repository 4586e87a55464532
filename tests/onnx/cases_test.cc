// ONNX's own conformance cases for Attention and RotaryEmbedding, read from
// ../shared/conformance/onnx; one line per case that fails.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "onnx/case.h"
#include "onnx/program.h"
#include "support/folders.h"

namespace sextant::onnx {
namespace {

TEST(OnnxConformance, EveryCasePasses) {
  const auto folder =
      std::filesystem::path(sextant::tests::shared_folder()) / "conformance" / "onnx";
  if (!std::filesystem::is_directory(folder)) {
    ASSERT_EQ(std::getenv("CI"), nullptr) << "conformance vectors are missing: " << folder;
    GTEST_SKIP() << "no conformance vectors at " << folder;
  }
  const auto cases = cases_in(folder.string());
  EXPECT_GE(cases.size(), 57u);
  for (const auto& each : cases) EXPECT_EQ(run_case(each).reason, "") << each;
}

}  // namespace
}  // namespace sextant::onnx
