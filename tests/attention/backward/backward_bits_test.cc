// The same bits of gradients whatever surrounds a sequence, however many threads work at it, on
// every instruction set.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "attention/same_bits.h"
#include "attention/strided.h"
#include "sextant/attention/backward.h"

namespace sextant::backward_bits_test {
namespace {

struct Inputs {
  View<const float> q, k, v, dout;
};

struct Gradients {
  Tensor<float> q, k, v, bias, slopes, mask, sinks;
};

// Sequences of causal, windowed, capped, biased attention with grouped heads and sinks, longer than
// the kernel's blocks.
class AttentionBackwardBits : public ::testing::Test {
 protected:
  static constexpr std::int64_t kLength = 331;

  AttentionBackwardBits() {
    options.causal = Causal::top_left;
    options.window = {250, -1};
    options.softcap = 4;
    bias.values = Tensor<float>(Shape{4, 2 * kLength - 1});
    bias.origin = kLength - 1;
    for (float& value : bias.values.span()) value = static_cast<float>(random.normal());
    bias.slopes = {0.5, 0.1, 0.01, 0};
    options.bias = &bias;
    options.sinks = sinks;
    options.threads = 1;
  }

  Gradients run(const Inputs& in) const {
    Tensor<float> out(in.dout.shape()), log_sum_exp(Shape{out.size(0), out.size(1), out.size(2)});
    attention<float>(in.q, in.k, in.v, out, options, log_sum_exp);
    Gradients g{Tensor<float>(in.q.shape()), Tensor<float>(in.k.shape()),
                Tensor<float>(in.v.shape()), Tensor<float>(bias.values.shape()),
                Tensor<float>(Shape{4}),     Tensor<float>(),
                Tensor<float>(Shape{4})};
    AttentionGradients<float> views{
        .q = g.q, .k = g.k, .v = g.v, .bias = {g.bias, g.slopes}, .sinks = g.sinks};
    if (const auto* mask = std::get_if<FloatMask<float>>(&options.mask)) {
      g.mask = Tensor<float>(mask->shape());
      views.mask = g.mask;
    }
    attention_backward<float>(
        in.q, in.k, in.v, out, in.dout, views, options,
        gives_log_sum_exp ? View<const float>(log_sum_exp) : View<const float>());
    return g;
  }

  Inputs all() const { return {q, k, v, dout}; }
  static Inputs narrowed(const Inputs& in, int axis, std::int64_t begin, std::int64_t length) {
    return {in.q.narrow(axis, begin, length), in.k.narrow(axis, begin, length),
            in.v.narrow(axis, begin, length), in.dout.narrow(axis, begin, length)};
  }
  static void expect_same(const Gradients& a, const Gradients& b) {
    EXPECT_TRUE(same_bits<float>(a.q, b.q)) << "q";
    EXPECT_TRUE(same_bits<float>(a.k, b.k)) << "k";
    EXPECT_TRUE(same_bits<float>(a.v, b.v)) << "v";
    EXPECT_TRUE(same_bits<float>(a.bias, b.bias)) << "bias";
    EXPECT_TRUE(same_bits<float>(a.slopes, b.slopes)) << "slopes";
    EXPECT_TRUE(same_bits<float>(a.mask, b.mask)) << "mask";
    EXPECT_TRUE(same_bits<float>(a.sinks, b.sinks)) << "sinks";
  }
  // Gradients of some rows and batch rows of the whole.
  static void expect_part(const Gradients& part, const Gradients& whole, int axis,
                          std::int64_t begin, std::int64_t length) {
    const auto of = [&](const Tensor<float>& x) { return x.view().narrow(axis, begin, length); };
    EXPECT_TRUE(same_bits<float>(part.q, of(whole.q))) << "q";
    EXPECT_TRUE(same_bits<float>(part.k, of(whole.k))) << "k";
    EXPECT_TRUE(same_bits<float>(part.v, of(whole.v))) << "v";
  }

  NumpyRandom random{11};
  Tensor<float> q = normal<float>(Shape{2, 4, kLength, 20}, random),
                k = normal<float>(Shape{2, 2, kLength, 20}, random),
                v = normal<float>(Shape{2, 2, kLength, 33}, random),
                dout = normal<float>(Shape{2, 4, kLength, 33}, random);
  DistanceBias bias;
  std::vector<double> sinks{0, 1, -1, 2};
  AttentionOptions<float> options;
  bool gives_log_sum_exp = true;
};

TEST_F(AttentionBackwardBits, DoNotDependOnTheNumberOfThreads) {
  for (const bool given : {true, false}) {
    gives_log_sum_exp = given;
    options.threads = 1;
    const auto one = run(all());
    for (const int threads : {0, 2, 3, 7}) {
      SCOPED_TRACE(threads);
      options.threads = threads;
      expect_same(run(all()), one);
    }
  }
}

TEST_F(AttentionBackwardBits, OfOneHeadDoNotDependOnTheNumberOfThreads) {
  // One sequence and head: its blocks run one behind the other.
  const Inputs one_head{
      q.view().narrow(0, 0, 1).narrow(1, 0, 1), k.view().narrow(0, 0, 1).narrow(1, 0, 1),
      v.view().narrow(0, 0, 1).narrow(1, 0, 1), dout.view().narrow(0, 0, 1).narrow(1, 0, 1)};
  options.bias = nullptr;
  options.sinks = {};
  const auto backward = [&](int threads) {
    options.threads = threads;
    Tensor<float> out(one_head.dout.shape());
    attention<float>(one_head.q, one_head.k, one_head.v, out, options);
    Gradients g{Tensor<float>(one_head.q.shape()), Tensor<float>(one_head.k.shape()),
                Tensor<float>(one_head.v.shape())};
    attention_backward<float>(one_head.q, one_head.k, one_head.v, out, one_head.dout,
                              AttentionGradients<float>{.q = g.q, .k = g.k, .v = g.v}, options);
    return g;
  };
  for (const Causal causal : {Causal::none, Causal::top_left}) {
    options.causal = causal;
    const auto one = backward(1);
    for (const int threads : {2, 3, 7}) {
      SCOPED_TRACE(threads);
      expect_same(backward(threads), one);
    }
  }
}

TEST_F(AttentionBackwardBits, OfSharedMasksDoNotDependOnTheNumberOfThreads) {
  const std::vector<Shape> shapes{Shape{kLength, kLength}, Shape{2, 1, 1, kLength},
                                  Shape{1, 4, kLength, 1}, Shape{1, 1, 1, 1},
                                  Shape{2, 4, kLength, kLength}};
  for (const Shape& shape : shapes) {
    SCOPED_TRACE(shape.to_string());
    const auto mask = normal<float>(shape, random);
    options.mask = FloatMask<float>(mask);
    options.threads = 1;
    const auto one = run(all());
    for (const int threads : {2, 3, 7}) {
      SCOPED_TRACE(threads);
      options.threads = threads;
      expect_same(run(all()), one);
    }
  }
}

TEST_F(AttentionBackwardBits, DoNotDependOnTheBatchNorOnThePlaceInIt) {
  options.threads = 2;
  const auto whole = run(all());
  for (std::int64_t b = 0; b < 2; ++b) {
    expect_part(run(narrowed(all(), 0, b, 1)), whole, 0, b, 1);
  }
}

TEST_F(AttentionBackwardBits, OfPackedSequencesAreThoseOfEachAlone) {
  const std::vector<std::int64_t> segments{0, 5, 70, 70, kLength};
  options.segments = segments;
  const auto packed = run(all());
  options.segments = {};
  for (std::size_t n = 0; n + 1 < segments.size(); ++n) {
    const std::int64_t begin = segments[n], length = segments[n + 1] - begin;
    expect_part(run(narrowed(all(), 2, begin, length)), packed, 2, begin, length);
  }
}

TEST_F(AttentionBackwardBits, DoNotDependOnBlocksThatAMaskHides) {
  Tensor<bool> seen(Shape{1, kLength});
  for (std::int64_t j = 0; j < kLength; ++j) seen(0, j) = j < 128 || j >= 256;
  options.mask = BoolMask(seen);
  const auto finite = run(all());
  for (Tensor<float>* hidden : {&k, &v}) {
    const View<float> rows = hidden->view().narrow(2, 128, 128);
    for (std::int64_t n = 0; n < 4; ++n) {
      for (std::int64_t j = 0; j < 128; ++j) {
        rows(n / 2, n % 2, j, 3) = std::numeric_limits<float>::infinity();
      }
    }
    SCOPED_TRACE(hidden == &k ? "k" : "v");
    expect_same(run(all()), finite);
  }
}

TEST_F(AttentionBackwardBits, DoNotDependOnTheLayout) {
  const auto whole = run(all());
  const auto by_length = copy_of(q.view().transpose(1, 2)),
             by_channel = copy_of(k.view().transpose(2, 3)),
             by_width = copy_of(v.view().transpose(0, 3)),
             by_head = copy_of(dout.view().transpose(0, 1));
  expect_same(run({by_length.view().transpose(1, 2), by_channel.view().transpose(2, 3),
                   by_width.view().transpose(0, 3), by_head.view().transpose(0, 1)}),
              whole);
}

}  // namespace
}  // namespace sextant::backward_bits_test
