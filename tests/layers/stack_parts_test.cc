// What stacks of others have: blocks side by side, norms of results, norms of q and k, scores with
// a scale and a cap, layers that differ in their positions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <vector>

#include "sextant/core/error.h"
#include "sextant/layers/stack_decoder.h"
#include "stack_probe.h"

namespace sextant {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

struct Part {
  const char* name;
  std::function<void(StackOptions&)> set;
  bool cross = true;  // whether a decoder with cross attention may have it
};

const std::vector<Part>& parts() {
  static const std::vector<Part> all = {
      {"blocks side by side, one norm",
       [](StackOptions& o) { o.parallel = ParallelBlocks::one_norm; }, false},
      {"blocks side by side, two norms",
       [](StackOptions& o) { o.parallel = ParallelBlocks::two_norms; }, false},
      {"norms before and of the result", [](StackOptions& o) { o.output_norm = true; }},
      {"norms of the result alone",
       [](StackOptions& o) {
         o.output_norm = true;
         o.pre_norm = false;
       }},
      {"norms of each head of q and k",
       [](StackOptions& o) {
         o.attention.qk_norm = QkNorm::head;
         o.epsilon = 0.01;  // with less, four alike channels are too curved for differences
       }},
      {"RMS norms of all of q and of k",
       [](StackOptions& o) {
         o.attention.qk_norm = QkNorm::all;
         o.norm = NormKind::rms;
         o.epsilon = 0.01;
       }},
      {"a scale and a cap of the scores",
       [](StackOptions& o) {
         o.attention.scale = 1.5;
         o.attention.softcap = 2;
       }},
      {"a first attention without norm", [](StackOptions& o) { o.first_norm = false; }},
      {"biases of results of attention alone",
       [](StackOptions& o) {
         o.bias = false;
         o.out_bias = true;
       }},
  };
  return all;
}

Probe probe_of(const Part& part) {
  Probe probe{small(), {.schemes = {"rotary"}, .width = 16, .heads = 4, .head_dim = 4}, 0.2};
  probe.options.attention = {.width = 16, .heads = 4, .kv_heads = 2};
  probe.options.causal = true;
  part.set(probe.options);
  return probe;
}

TEST(StackParts, HaveTheirGradients) {
  for (const Part& part : parts()) {
    SCOPED_TRACE(part.name);
    Probe probe = probe_of(part);
    probe.check();
    if (!part.cross) continue;
    probe.options.cross = true;
    probe.check();
  }
}

// The kinds of layers of a model: none at all, a rotation of its own, biases that learn.
const PositionOptions kKinds = {
    .schemes = {"rotary", "t5"},
    .other_kinds = {{"none"}, {{"rotary", {{"base", "10"}}}, {"t5"}}, {"clipped", "shaw"}},
    .width = 8,
    .heads = 2,
    .head_dim = 4,
    .length = 5};

TEST(StackParts, HaveTheGradientsOfEachKindOfLayers) {
  Probe probe{small(), kKinds, 0};
  probe.options.causal = true;
  probe.options.layers = 4;
  probe.options.kinds = {2, 0, 3, 2};
  probe.check();
}

TEST(StackParts, NameTheWeightsOfEachKindOfLayers) {
  PositionModule<double> positions(kKinds);
  std::vector<std::string> names;
  for (const auto& each : listed(positions)) names.push_back(each.name);
  EXPECT_THAT(names, ::testing::Contains("t5.table"));
  EXPECT_THAT(names, ::testing::Contains("2.t5.table"));
  EXPECT_THAT(names, ::testing::Contains("3.shaw.key_table"));
}

// Decodes 7 tokens, 1 and 2 and 4 at a time, and compares with the pass over all of them.
void expect_decoded(const StackOptions& options, const PositionOptions& position_options) {
  NumpyRandom random(3);
  const TransformerStack<float> stack(options, random);
  const PositionModule<float> positions(position_options);
  const std::int64_t width = options.attention.width, segments[] = {0, 7};
  Tensor<float> x({7, width});
  for (float& each : x.span()) each = static_cast<float>(random.normal());
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  const PositionTables<float> tables = positions.tables(segments);
  const View<const float> all = stack.infer(x, {.segments = segments, .positions = &tables}, pass);
  StackDecoder decoder(stack, positions, 1, 7);
  for (std::int64_t first = 0; first < 7; first = 2 * first + 1) {
    const std::int64_t count = first + 1;
    const View<const float> part = decoder.read(x.view().narrow(0, first, count), pass);
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::int64_t c = 0; c < width; ++c) {
        ASSERT_NEAR(part(i, c), all(first + i, c), 1e-5) << first + i;
      }
    }
  }
}

TEST(StackParts, DecodeWhatTheWholePassGives) {
  for (const Part& part : parts()) {
    SCOPED_TRACE(part.name);
    const Probe probe = probe_of(part);
    expect_decoded(probe.options, probe.position_options);
  }
  StackOptions options = small();
  options.causal = true;
  options.layers = 4;
  options.kinds = {2, 0, 1, 3};
  PositionOptions kinds = kKinds;
  kinds.length = 16;
  kinds.other_kinds[2] = {{"window", {{"left", "2"}}}};
  expect_decoded(options, kinds);
}

// A cache of 16 bits takes half the memory, and its results differ from those of float32 by the
// rounding of keys and values: those have at most 2^-9 of themselves, which two layers with norms
// pass on without making it more than some times larger.
TEST(StackParts, DecodeWithACacheOf16Bits) {
  StackOptions options = small();
  options.causal = true;
  options.layers = 2;
  NumpyRandom random(3);
  const TransformerStack<float> stack(options, random);
  const PositionModule<float> positions(
      {.schemes = {"rotary"},
       .width = options.attention.width,
       .heads = options.attention.heads,
       .head_dim = options.attention.width / options.attention.heads});
  Tensor<float> x({40, options.attention.width});
  for (float& each : x.span()) each = static_cast<float>(random.normal());
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  const auto decoded = [&](CacheType type, std::int64_t& bytes) {
    StackDecoder decoder(stack, positions, 1, 40, type);
    decoder.read(x.view().narrow(0, 0, 30), pass);
    const std::int64_t same_row[] = {0, 0};
    decoder.reorder(same_row);
    decoder.reorder(std::span(same_row).first(1));
    bytes = decoder.cache_bytes();
    return copy_of(decoder.read(x.view().narrow(0, 30, 10), pass));
  };
  std::int64_t wide = 0, narrow = 0;
  const Tensor<float> exact = decoded(CacheType::float32, wide);
  double before = std::numeric_limits<double>::infinity();
  for (const auto& [type, error] : {std::pair(CacheType::bfloat16, std::ldexp(1.0, -9)),
                                    std::pair(CacheType::float16, std::ldexp(1.0, -12)),
                                    std::pair(CacheType::int8, 1.0 / 254)}) {
    const Tensor<float> rounded = decoded(type, narrow);
    if (type == CacheType::int8) {
      const std::int64_t width = options.attention.width / options.attention.heads;
      EXPECT_EQ(narrow * 4 * width, wide * (width + 4));  // a scale for each row
      before = std::numeric_limits<double>::infinity();
    } else {
      EXPECT_EQ(2 * narrow, wide);
    }
    double largest = 0;
    for (std::int64_t i = 0; i < exact.count(); ++i) {
      largest = std::max(largest, std::abs(static_cast<double>(exact.data()[i]) -
                                           static_cast<double>(rounded.data()[i])));
    }
    EXPECT_GT(largest, 0) << name_of(type);
    EXPECT_LT(largest, 8 * error) << name_of(type);
    EXPECT_LT(largest, before / 2) << "float16 has three more bits";
    before = largest;
  }
  EXPECT_THROW(StackDecoder(stack, positions, 1, 7, static_cast<CacheType>(4)), Error);
}

// What a part is, on numbers: in float64 against sums that the layers give.
Tensor<double> run(const TransformerStack<double>& stack, View<const double> x) {
  const std::int64_t segments[] = {0, x.size(0)};
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
  return copy_of(stack.infer(x, {.segments = segments}, pass));
}

// norm(x); attention and feed-forward of what they are given.
struct Layers {
  explicit Layers(const TransformerLayer<double>& of) : layer(of) {}
  Tensor<double> norm(const Norm<double>& by, const Tensor<double>& x) {
    Tensor<double> y(x.shape());
    by.forward(x, y, pass);
    return y;
  }
  Tensor<double> self(const Tensor<double>& x) {
    Tensor<double> y(x.shape());
    const std::int64_t segments[] = {0, x.size(0)};
    layer.self.forward(x, {}, {.segments = segments}, y, pass);
    return y;
  }
  Tensor<double> feed(const Tensor<double>& x) {
    Tensor<double> y(x.shape());
    layer.feed_forward.forward(x, y, pass);
    return y;
  }
  const TransformerLayer<double>& layer;
  Workspace memory;
  Pass pass{.memory = memory, .threads = 1};
};

Tensor<double> plus(const Tensor<double>& a, const Tensor<double>& b) {
  Tensor<double> sum = a.clone();
  for (std::int64_t i = 0; i < b.count(); ++i) sum.data()[i] += b.data()[i];
  return sum;
}

TEST(StackParts, AreWhatTheirNamesSay) {
  for (const Part& part : parts()) {
    SCOPED_TRACE(part.name);
    StackOptions options = small();
    options.layers = 1;
    options.final_norm = false;
    part.set(options);
    NumpyRandom random(3);
    TransformerStack<double> stack(options, random);
    for (const auto& each : listed(stack)) {
      for (double& value : each.tensor->span()) value += 0.1 * random.normal();
    }
    const TransformerLayer<double>& layer = stack.layers[0];
    Layers of(layer);
    const Tensor<double> x = random_tensor({5, 8}, 4);
    Tensor<double> wanted;
    if (options.parallel != ParallelBlocks::none) {
      const Tensor<double> read = of.norm(*layer.self_norm, x);
      const bool one = options.parallel == ParallelBlocks::one_norm;
      EXPECT_EQ(layer.feed_forward_norm.has_value(), !one);
      wanted = plus(plus(x, of.self(read)),
                    one ? of.feed(read) : of.feed(of.norm(*layer.feed_forward_norm, x)));
    } else if (!options.output_norm) {
      EXPECT_EQ(layer.self_norm.has_value(), options.first_norm);
      const Tensor<double> h =
          plus(x, options.first_norm ? of.self(of.norm(*layer.self_norm, x)) : of.self(x));
      wanted = plus(h, of.feed(of.norm(*layer.feed_forward_norm, h)));
    } else if (options.pre_norm) {
      const Tensor<double> h =
          plus(x, of.norm(*layer.self_output_norm, of.self(of.norm(*layer.self_norm, x))));
      wanted = plus(h, of.norm(*layer.feed_forward_output_norm,
                               of.feed(of.norm(*layer.feed_forward_norm, h))));
    } else {
      const Tensor<double> h = plus(x, of.norm(*layer.self_norm, of.self(x)));
      wanted = plus(h, of.norm(*layer.feed_forward_norm, of.feed(h)));
    }
    const Tensor<double> got = run(stack, x);
    for (std::int64_t i = 0; i < got.count(); ++i) {
      ASSERT_NEAR(got.data()[i], wanted.data()[i], 1e-12);
    }
  }
}

TEST(StackParts, ThatDoNotGoTogetherAreRefused) {
  NumpyRandom random(3);
  const auto refuse = [&random](const StackOptions& options, const char* said) {
    EXPECT_THAT([&] { TransformerStack<float>(options, random); },
                ThrowsMessage<Error>(HasSubstr(said)));
  };
  StackOptions options = small();
  options.parallel = ParallelBlocks::one_norm;
  options.output_norm = true;
  refuse(options, "stack.parallel");
  options.output_norm = false;
  options.cross = true;
  refuse(options, "stack.parallel");
  options = small();
  options.first_norm = false;
  options.parallel = ParallelBlocks::two_norms;
  refuse(options, "stack.first_norm");
  options = small();
  options.kinds = {0};
  refuse(options, "stack.kinds");
  options.kinds.clear();
  options.attention.softcap = -1;
  refuse(options, "attention_layer.softcap");
  PositionOptions positions = kKinds;
  positions.other_kinds[0] = {"sinusoidal"};
  EXPECT_THAT([&] { PositionModule<float>{positions}; },
              ThrowsMessage<Error>(HasSubstr("must be one that works in attention")));
}

}  // namespace
}  // namespace sextant
