// The adapters for ONNX's operators against the float64 oracle, in combinations that ONNX's own
// cases do not have.
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "onnx/case.h"
#include "onnx/written_case.h"
#include "sextant/core/npy.h"
#include "support/temporary_folder.h"

namespace sextant::onnx {
namespace {

std::string outcome(const AttentionCase& wanted) {
  const TemporaryFolder folder;
  return run_case(write_attention(folder / "case", wanted)).reason;
}

std::string outcome(const RotaryCase& wanted) {
  const TemporaryFolder folder;
  return run_case(write_rotary(folder / "case", wanted)).reason;
}

constexpr DType kTypes[] = {DType::float32, DType::float16, DType::bfloat16, DType::float64};

TEST(OnnxAttention, MasksOfEveryRankBroadcast) {
  const std::vector<std::vector<std::int64_t>> shapes = {
      {5},          {1, 5},       {3, 5},       {2, 1, 5},    {1, 3, 5},   {2, 3, 5},
      {2, 1, 1, 5}, {1, 2, 1, 5}, {2, 1, 3, 5}, {1, 1, 1, 5}, {2, 2, 3, 5}};
  for (const auto& shape : shapes)
    for (const bool allows : {false, true}) {
      EXPECT_EQ(outcome({.mask = shape, .bool_mask = allows}), "") << Shape(shape).to_string();
    }
}

TEST(OnnxAttention, MasksLackKeysThatAreThenExcluded) {
  const std::vector<std::vector<std::int64_t>> shapes = {
      {4}, {1}, {3, 2}, {3, 1}, {2, 1, 3}, {2, 2, 3, 1}, {2, 1, 1, 4}};
  for (const auto& shape : shapes)
    for (const bool allows : {false, true}) {
      EXPECT_EQ(outcome({.past = 2, .mask = shape, .bool_mask = allows}), "")
          << Shape(shape).to_string();
    }
}

TEST(OnnxAttention, WindowsCountFromTheOwnKey) {
  for (const int left : {-1, 0, 2})
    for (const int right : {-1, 0, 1})
      for (const int causal : {0, 1})
        for (const std::int64_t past : {0, 3}) {
          EXPECT_EQ(outcome({.past = past,
                             .attributes = {{"left_window_size", left},
                                            {"right_window_size", right},
                                            {"is_causal", causal}}}),
                    "")
              << left << " " << right << " " << causal << " " << past;
        }
}

TEST(OnnxAttention, ValidLengthsMoveTheDiagonalBelowZeroToo) {
  for (const int causal : {0, 1})
    for (const int left : {-1, 1}) {
      EXPECT_EQ(outcome({.q_len = 4,
                         .k_len = 7,
                         .mask = {2, 1, 4, 6},
                         .bool_mask = true,
                         .key_lengths = {2, 6},
                         .attributes = {{"is_causal", causal},
                                        {"left_window_size", left},
                                        {"qk_matmul_output_mode", 2}},
                         .scores = true}),
                "");
    }
  EXPECT_EQ(outcome({.key_lengths = {0, 5}}), "");  // a sequence without keys
}

TEST(OnnxAttention, PaddingMayHoldAnything) {
  for (const int precision : {1, 10, 11}) {
    const TemporaryFolder folder;
    const std::string path = write_attention(
        folder / "case",
        {.key_lengths = {4, 5},
         .attributes = {{"softmax_precision", precision}, {"qk_matmul_output_mode", 3}},
         .scores = true});
    for (const char* name : {"/K.npy", "/V.npy"}) {
      auto values = load_npy(path + name).to<float>();
      for (std::int64_t d = 0; d < values.size(3); ++d) {
        values(0, 1, 4, d) = std::numeric_limits<float>::quiet_NaN();
      }
      save_npy(path + name, values);
    }
    EXPECT_EQ(run_case(path).reason, "") << precision;
  }
}

TEST(OnnxAttention, EveryTypeGivesEveryStage) {
  for (const DType type : kTypes)
    for (int mode = 0; mode < 4; ++mode) {
      EXPECT_EQ(outcome({.heads_q = 4,
                         .kv_heads = 2,
                         .v_dim = 3,
                         .past = 2,
                         .type = type,
                         .mask = {3, 7},
                         .attributes = {{"softcap", 1.3}, {"qk_matmul_output_mode", mode}},
                         .presents = true,
                         .scores = true}),
                "")
          << dtype_name(type) << " mode " << mode;
    }
}

TEST(OnnxAttention, HeadsInTheLastAxisInEveryType) {
  for (const DType type : kTypes) {
    EXPECT_EQ(outcome({.heads_q = 6,
                       .kv_heads = 3,
                       .v_dim = 5,
                       .past = 3,
                       .type = type,
                       .rank3 = true,
                       .attributes = {{"is_causal", 1}, {"scale", 0.7}},
                       .presents = true}),
              "")
        << dtype_name(type);
  }
}

TEST(OnnxAttention, PresentWithoutPastIsTheInputByHeads) {
  EXPECT_EQ(outcome({.rank3 = true, .presents = true}), "");
  EXPECT_EQ(outcome({.presents = true}), "");
}

TEST(OnnxAttention, ValuesMayHaveATypeOfTheirOwn) {
  EXPECT_EQ(outcome({.past = 1, .v_type = DType::float16, .presents = true}), "");
}

TEST(OnnxAttention, TheSoftmaxRunsInTheTypeAskedFor) {
  for (const int precision : {1, 10, 11, 16})
    for (const DType type : {DType::float32, DType::float16, DType::bfloat16, DType::float64}) {
      AttentionCase wanted{.heads_q = 4,
                           .past = 3,
                           .type = type,
                           .mask = {4, 3, 8},
                           .attributes = {{"softmax_precision", precision},
                                          {"qk_matmul_output_mode", 3},
                                          {"is_causal", 1}},
                           .scores = true};
      EXPECT_EQ(outcome(wanted), "") << precision << " " << dtype_name(type);
      // It is no matter of taste: with other digits the probabilities would be others.
      if (precision != 10 && precision != 16) continue;
      if (type != DType::float32) continue;
      const TemporaryFolder folder;
      const std::string path = write_attention(folder / "case", wanted);
      WrittenCase::edit(path, [](Json& about) { about["attributes"].erase("softmax_precision"); });
      EXPECT_FALSE(run_case(path).passed()) << precision;
    }
}

TEST(OnnxAttention, AScaleOfZeroIsAScale) {
  EXPECT_EQ(outcome({.attributes = {{"scale", 0.0}}}), "");
  EXPECT_EQ(outcome({.attributes = {{"scale", -0.3}}}), "");
}

TEST(OnnxRotary, EveryLayoutInEveryType) {
  for (const DType type : kTypes)
    for (const bool interleaved : {false, true})
      for (const bool rank3 : {false, true})
        for (const bool positions : {false, true})
          for (const std::int64_t rotary_dim : {0, 4}) {
            EXPECT_EQ(outcome(RotaryCase{.rotary_dim = rotary_dim,
                                         .interleaved = interleaved,
                                         .rank3 = rank3,
                                         .positions = positions,
                                         .type = type}),
                      "")
                << dtype_name(type) << interleaved << rank3 << positions << rotary_dim;
          }
}

}  // namespace
}  // namespace sextant::onnx
