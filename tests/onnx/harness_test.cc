// The harness must be able to fail: wrong numbers, folders that make no sense, and what the program
// says about them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "onnx/case.h"
#include "onnx/program.h"
#include "onnx/written_case.h"
#include "sextant/core/files.h"
#include "sextant/core/npy.h"
#include "support/temporary_folder.h"

namespace sextant::onnx {
namespace {

using ::testing::HasSubstr;

// The reason of failure after something was done to the files of a case that passes.
std::string reason_after(const std::function<void(Json&)>& edit,
                         const std::function<void(const std::string&)>& spoil = {},
                         const AttentionCase& wanted = {.past = 2, .presents = true}) {
  const TemporaryFolder folder;
  const std::string path = write_attention(folder / "case", wanted);
  EXPECT_EQ(run_case(path).reason, "");
  if (edit) WrittenCase::edit(path, edit);
  if (spoil) spoil(path);
  return run_case(path).reason;
}

// Multiplies element 1 of an array by 1 + change.
auto change(const std::string& file, float by) {
  return [=](const std::string& folder) {
    const std::string path = folder + "/" + file;
    auto values = load_npy(path).to<float>();
    values.data()[1] += values.data()[1] * by;
    save_npy(path, values);
  };
}

TEST(OnnxHarness, SeesAWrongNumber) {
  EXPECT_EQ(reason_after({}, change("Y.npy", 0.0005f)), "");  // within 1e-3
  EXPECT_THAT(reason_after({}, change("Y.npy", 0.01f)), HasSubstr("Y [0, 0, 0, 1] is "));
  EXPECT_THAT(reason_after({}, change("Y.npy", std::numeric_limits<float>::infinity())),
              HasSubstr("not inf"));
  EXPECT_THAT(reason_after({}, change("Y.npy", std::numeric_limits<float>::quiet_NaN())),
              HasSubstr("not nan"));
  // Copies have no tolerance.
  EXPECT_THAT(reason_after({}, change("present_value.npy", 2e-7f)), HasSubstr("present_value"));
  EXPECT_THAT(reason_after({}, change("V.npy", 0.5f)), HasSubstr("Y"));
}

TEST(OnnxHarness, TellsTheLargestError) {
  const TemporaryFolder folder;
  const std::string path = write_attention(folder / "case", {});
  const double before = run_case(path).largest_error;
  EXPECT_GE(before, 0);
  EXPECT_LT(before, 1e-5);
  auto values = load_npy(path + "/Y.npy").to<float>();
  values.data()[3] += 0.5f;
  values.data()[4] -= 0.25f;
  save_npy(path + "/Y.npy", values);
  EXPECT_NEAR(run_case(path).largest_error, 0.5, 1e-5);
}

TEST(OnnxHarness, SaysWhatIsMalformed) {
  const auto without = [](const char* name) { return [=](Json& about) { about.erase(name); }; };
  for (const char* name : {"op", "attributes", "tolerance", "inputs", "outputs"}) {
    EXPECT_THAT(reason_after(without(name)), HasSubstr(name));
  }
  EXPECT_THAT(reason_after([](Json& a) { a["op"] = "Softmax"; }), HasSubstr("got Softmax"));
  EXPECT_THAT(reason_after([](Json& a) { a["op"] = 3; }), HasSubstr("string"));
  EXPECT_THAT(reason_after([](Json& a) { a["inputs"].erase(6); }), HasSubstr("7 entries, got 6"));
  EXPECT_THAT(reason_after([](Json& a) { a["inputs"][0] = nullptr; }), HasSubstr("inputs"));
  EXPECT_THAT(reason_after([](Json& a) { a["inputs"][4] = nullptr; }), HasSubstr("past_key"));
  EXPECT_THAT(reason_after([](Json& a) { a["inputs"][0]["dtype"] = "float16"; }),
              HasSubstr("must be float16, got float32"));
  EXPECT_THAT(reason_after([](Json& a) { a["inputs"][0]["dtype"] = "complex"; }),
              HasSubstr("dtype"));
  EXPECT_THAT(reason_after([](Json& a) { a["inputs"][0]["shape"][0] = 9; }), HasSubstr("Q.npy"));
  EXPECT_THAT(reason_after([](Json& a) { a["inputs"][0]["file"] = "no.npy"; }),
              HasSubstr("no.npy"));
  EXPECT_THAT(reason_after([](Json& a) { a["attributes"]["is_causal"] = "yes"; }),
              HasSubstr("is_causal"));
  EXPECT_THAT(reason_after([](Json& a) { a["attributes"]["temperature"] = 1; }),
              HasSubstr("temperature"));
  EXPECT_THAT(reason_after([](Json& a) { a["attributes"]["softmax_precision"] = 2; }),
              HasSubstr("must be 1, 10, 11 or 16"));
  EXPECT_THAT(reason_after([](Json& a) { a["attributes"]["qk_matmul_output_mode"] = 4; }),
              HasSubstr("qk_matmul_output_mode"));
  EXPECT_THAT(reason_after([](Json& a) { a["attributes"]["left_window_size"] = -2; }),
              HasSubstr("window.left"));
  EXPECT_THAT(reason_after([](Json& a) {
                for (auto& output : a["outputs"]) output = nullptr;
              }),
              HasSubstr("at least one output"));
}

TEST(OnnxHarness, SaysWhatDoesNotFit) {
  const auto heads = [](std::int64_t q) {
    return [=](Json& about) { about["attributes"]["q_num_heads"] = q; };
  };
  const AttentionCase rank3{.rank3 = true};
  EXPECT_THAT(reason_after(heads(3), {}, rank3), HasSubstr("must divide"));
  EXPECT_THAT(reason_after(heads(0), {}, rank3), HasSubstr("must divide"));
  EXPECT_THAT(reason_after([](Json& a) { a["attributes"].erase("q_num_heads"); }, {}, rank3),
              HasSubstr("q_num_heads"));
  const auto longer = [](const char* file, std::size_t position, const Shape& shape) {
    return [=](const std::string& folder) {
      save_npy(folder + "/" + file, Tensor<float>(shape));
      WrittenCase::edit(folder, [&](Json& about) {
        about["inputs"][position]["shape"] = std::vector<std::int64_t>(shape.begin(), shape.end());
      });
    };
  };
  EXPECT_THAT(reason_after({}, longer("attn_mask.npy", 3, Shape{3, 6}), {.mask = {3, 5}}),
              HasSubstr("mask"));
  EXPECT_THAT(reason_after({}, longer("past_key.npy", 4, Shape{2, 2, 2, 5})), HasSubstr("past"));
  EXPECT_THAT(reason_after({}, longer("Q.npy", 0, Shape{2, 12})), HasSubstr("rank 3 or 4"));
}

TEST(OnnxHarness, RefusesPositionsOutsideTheCache) {
  for (const std::int64_t id : {-1, 9}) {
    const TemporaryFolder folder;
    const std::string path = write_rotary(folder / "case", {});
    Tensor<std::int64_t> ids(Shape{2, 4});
    ids(1, 3) = id;
    save_npy(path + "/position_ids.npy", ids);
    EXPECT_THAT(run_case(path).reason, HasSubstr("position_ids"));
  }
}

struct Printed {
  int status;
  std::string out, err;
};

Printed printed(const std::vector<std::string>& arguments) {
  std::ostringstream out, err;
  const int status = run_program(arguments, out, err);
  return {status, out.str(), err.str()};
}

TEST(OnnxProgram, PrintsALinePerCaseAndTheSum) {
  const TemporaryFolder folder;
  write_attention(folder / "b_good", {});
  write_rotary(folder / "c_good", {});
  write_file(folder / "README.md", "no case\n");
  const Printed good = printed({folder.path()});
  EXPECT_EQ(good.status, 0);
  EXPECT_EQ(good.err, "");
  EXPECT_THAT(good.out, ::testing::MatchesRegex("b_good passed, largest error [0-9.e+-]+\n"
                                                "c_good passed, largest error [0-9.e+-]+\n"
                                                "2 passed, 0 failed\n"));

  std::filesystem::create_directory(folder / "a_empty");
  std::filesystem::create_directory(folder / "d_broken");
  write_file(folder / "d_broken/case.json", "{\n\"op\": ");
  change("Y.npy", 0.5f)(write_attention(folder / "e_wrong", {}));
  const Printed bad = printed({folder.path()});
  EXPECT_EQ(bad.status, 1);
  EXPECT_THAT(bad.out, ::testing::MatchesRegex("a_empty failed, largest error inf: [^\n]+\n"
                                               "b_good passed, largest error [0-9.e+-]+\n"
                                               "c_good passed, largest error [0-9.e+-]+\n"
                                               "d_broken failed, largest error inf: [^\n]+\n"
                                               "e_wrong failed, largest error [0-9.e+-]+: [^\n]+\n"
                                               "2 passed, 3 failed\n"));
}

TEST(OnnxProgram, FailsWithoutACase) {
  const TemporaryFolder folder;
  const Printed none = printed({folder.path()});
  EXPECT_EQ(none.status, 1);
  EXPECT_EQ(none.out, "0 passed, 0 failed\n");
}

TEST(OnnxProgram, NeedsOneFolder) {
  const TemporaryFolder folder;
  write_file(folder / "file", "");
  const std::vector<std::vector<std::string>> wrong = {
      {}, {folder.path(), folder.path()}, {folder / "none"}, {folder / "file"}};
  for (const auto& arguments : wrong) {
    const Printed result = printed(arguments);
    EXPECT_EQ(result.status, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_THAT(result.err, HasSubstr("onnx_conformance"));
  }
}

}  // namespace
}  // namespace sextant::onnx
