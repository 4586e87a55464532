// Stacks: gradients through every part, whatever the options and the positional scheme.
#include "sextant/layers/transformer_stack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sextant/schemes/scheme.h"
#include "stack_probe.h"
#include "support/error_of.h"

namespace sextant {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(TransformerStack, HasTheGradientsOfPreNormAndPostNormEncoders) {
  for (const bool pre_norm : {true, false}) {
    SCOPED_TRACE(pre_norm);
    Probe probe{small(), {}, 0};
    probe.options.pre_norm = pre_norm;
    probe.check();
  }
}

TEST(TransformerStack, HasTheGradientsOfADecoderWithCrossAttentionAndDropout) {
  Probe probe{small(), {}, 0.2, 0.3};
  probe.options.causal = probe.options.cross = true;
  probe.check();
}

TEST(TransformerStack, HasTheGradientsOfAttentionDropoutAlone) {
  for (const ParallelBlocks parallel : {ParallelBlocks::none, ParallelBlocks::two_norms}) {
    SCOPED_TRACE(name_of(parallel));
    Probe probe{small(), {.schemes = {"rotary"}, .width = 8, .heads = 2, .head_dim = 4}, 0, 0.4};
    probe.options.parallel = parallel;
    probe.check();
  }
}

TEST(TransformerStack, HasTheGradientsOfALlamaStyleBlock) {
  Probe probe{small(), {.schemes = {"rotary"}, .width = 16, .heads = 4, .head_dim = 4}, 0};
  probe.options.attention = {.width = 16, .heads = 4, .kv_heads = 2};
  probe.options.norm = NormKind::rms;
  probe.options.activation = Activation::swiglu;
  probe.options.causal = true;
  probe.options.bias = false;
  probe.check();
}

TEST(TransformerStack, HasTheGradientsOfWhatEverySchemeLearns) {
  for (const Scheme* scheme : schemes()) {
    if (scheme->weights.empty() || scheme->kind == SchemeKind::rotated) continue;
    if (scheme->weights_of_tokens) continue;
    SCOPED_TRACE(scheme->name);
    Probe probe{small(),
                {.schemes = {std::string(scheme->name)},
                 .width = 8,
                 .heads = 2,
                 .head_dim = 4,
                 .length = 5},
                0};
    probe.options.layers = 1;
    probe.options.causal = true;
    probe.check();
  }
}

// The two sequences have tables of their own, also where these learn and are longer than options.
TEST(TransformerStack, HasTheGradientsOfTablesThatDependOnTheLength) {
  const std::map<std::string, std::map<std::string, std::string>> parameters = {
      {"decomposed_2d", {{"columns", "2"}, {"rows", "3"}}},  // its weights are of one grid
      {"rotary_dynamic_ntk", {{"max_length", "2"}}},
      {"rotary_longrope", {{"original_length", "4"}, {"long_factor", "1,3"}}},
      {"swin", {{"columns", "2"}, {"rows", "3"}}}};  // its weights are of one window
  for (const Scheme* scheme : schemes()) {
    if (scheme->length_class == nullptr) continue;
    SCOPED_TRACE(scheme->name);
    const std::string name(scheme->name);
    const std::int64_t width = name == "sincos_2d" || name == "sincos_3d" ? 12 : 8;
    Probe probe{
        small(),
        {.schemes = {{name, parameters.contains(name) ? parameters.at(name)
                                                      : std::map<std::string, std::string>()}},
         .width = width,
         .heads = 2,
         .head_dim = width / 2,
         .length = 2},
        0,
        0.2};
    probe.options.attention.width = width;
    probe.options.layers = 1;
    probe.check();
  }
}

// What each of several schemes learns, from the gradient of what they make together.
TEST(TransformerStack, HasTheGradientsOfSchemesTogether) {
  const SchemeSpec longrope = {
      "rotary_longrope",
      {{"original_length", "4"}, {"long_factor", "1,3"}, {"short_factor", "1,2"}}};
  const SchemeSpec temperature = {"temperature", {{"floor_scale", "2"}, {"attn_scale", "0.5"}}};
  const SchemeSpecs lists[] = {
      {"rotary", "t5"},
      {"learned", "kerple_log"},
      {"sinusoidal", "alibi"},
      {"sinusoidal", "learned"},
      {"kerple_log", "t5", "alibi"},
      {"learned", "rotary", temperature, "t5", "shaw"},
      {{"clipped", {{"max_distance", "2"}}}, "t5", "fire"},
      {longrope, temperature},
      {longrope, "t5"},
      {"rotary", {"swin", {{"columns", "2"}, {"rows", "3"}}}},
  };
  for (const SchemeSpecs& list : lists) {
    SCOPED_TRACE(names_of(list));
    Probe probe{small(), {.schemes = list, .width = 8, .heads = 2, .head_dim = 4, .length = 6}, 0};
    probe.options.layers = 1;
    probe.options.causal = true;
    probe.check();
  }
}

TEST(TransformerStack, RefusesSchemesThatDoNotGoTogether) {
  const auto refusal_of = [](const SchemeSpecs& schemes) -> std::string {
    return error_of([&] {
      PositionModule<float>({.schemes = schemes, .width = 8, .heads = 2, .head_dim = 4});
    });
  };
  EXPECT_THAT(refusal_of({"rotary", "rotary_linear"}), HasSubstr("must have at most one rotation"));
  EXPECT_THAT(refusal_of({"rotary", "t5", "xpos"}), HasSubstr("must have at most one rotation"));
  EXPECT_THAT(refusal_of({"t5", "t5"}), HasSubstr("must not occur twice, got t5+t5"));
  EXPECT_THAT(refusal_of({"shaw", "deberta"}), HasSubstr("must have at most one content term"));
  EXPECT_THAT(refusal_of({"rotary", "rotaryy"}), HasSubstr("rotaryy"));
  EXPECT_EQ(refusal_of({"rotary", "none"}), "no error");
}

TEST(TransformerStack, NamesTheWeightsOfSeveralSchemesByTheirScheme) {
  const auto names_of_weights = [](const SchemeSpecs& schemes) {
    PositionModule<float> positions(
        {.schemes = schemes, .width = 8, .heads = 2, .head_dim = 4, .length = 4});
    Parameters<float> list;
    positions.append_parameters(list, "positions.");
    std::vector<std::string> names;
    for (const auto& each : list) names.push_back(each.name);
    return names;
  };
  EXPECT_THAT(names_of_weights({"t5"}), ElementsAre("positions.table"));
  EXPECT_THAT(names_of_weights({"learned", "rotary", "t5"}),
              ElementsAre("positions.learned.table", "positions.t5.table"));
  EXPECT_THAT(names_of_weights({}), IsEmpty());
}

TEST(TransformerStack, RefusesASchemeWhoseWeightsAreMadeOfTokens) {
  EXPECT_THROW(PositionModule<float>({.schemes = {"forgetting"}, .heads = 2, .head_dim = 4}),
               Error);
}

TEST(TransformerStack, RefusesSequencesBeyondALearnedWindow) {
  PositionModule<float> positions({.schemes = {"swin"}, .heads = 2, .head_dim = 4, .length = 4});
  EXPECT_NO_THROW((void)positions.tables(1));  // of the window of options.length, 2 x 2
  EXPECT_THROW((void)positions.tables(5), Error);
  const PositionTables<float> tables = positions.tables(4);
  EXPECT_TRUE(tables.has(3));
  AttentionOptions<float> options;
  EXPECT_NO_THROW(tables.set(options, 4));
  EXPECT_THROW(tables.set(options, 5), Error);
}

TEST(TransformerStack, RefusesSizesThatDoNotFit) {
  NumpyRandom random(1);
  StackOptions options = small();
  options.attention.heads = 3;
  EXPECT_THROW(TransformerStack<float>(options, random), Error);
  options = small();
  options.layers = 0;
  EXPECT_THROW(TransformerStack<float>(options, random), Error);
  options = small();
  options.attention.kv_heads = 3;
  EXPECT_THROW(TransformerStack<float>(options, random), Error);
}

}  // namespace
}  // namespace sextant
