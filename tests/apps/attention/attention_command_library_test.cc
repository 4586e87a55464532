// `sextant attention` against the library: the same bits for every type, with every option at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/attention/attention_files.h"
#include "sextant/attention/backward.h"
#include "sextant/attention/plan.h"
#include "sextant/core/parallel.h"
#include "sextant/schemes/distance/alibi.h"
#include "sextant/schemes/rotated/rotary.h"

namespace sextant::app_tests {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

template <class T>
class AttentionByLibrary : public AttentionFiles {
 protected:
  using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;

  void SetUp() override {
    store("q", q);
    store("k", k);
    store("v", v);
    store("g", grad);
    save_npy(file("m"), mask);
    save_npy(file("b"), bias.values);
    save_npy(file("s"), filled<double>(Shape{4}, sinks));
    save_npy(file("n"), filled<std::int32_t>(Shape{2}, {7, 6}));
    options.causal = Causal::at_offsets;
    options.query_offsets = offsets;
    options.key_lengths = lengths;
    options.window = {3, -1};
    options.mask = std::as_const(mask).view();
    bias.slopes = alibi_slopes(4);
    options.bias = &bias;
    options.sinks = sinks;
    options.rotation = &rotation;
    options.softcap = 3;
    options.scale = 0.3;
  }
  // As scripts store it: bfloat16 as its bits.
  void store(const std::string& name, const Tensor<T>& values) const {
    save_npy(file(name), values);
    if (std::is_same_v<T, bfloat16>) {
      ASSERT_EQ(load_npy(file(name)).dtype, DType::uint16);
    }
  }
  static Tensor<Wide> mask_with_holes() {
    auto values = random_tensor<Wide>(Shape{2, 1, 5, 7}, 5);
    for (std::int64_t i = 0; i < values.count(); i += 6) values.data()[i] = -INFINITY;
    return values;
  }

  // Two batch rows, four heads over two, five queries, seven keys, of which seven and six count.
  Tensor<T> q = random_tensor<T>(Shape{2, 4, 5, 6}, 1), k = random_tensor<T>(Shape{2, 2, 7, 6}, 2),
            v = random_tensor<T>(Shape{2, 2, 7, 3}, 3),
            grad = random_tensor<T>(Shape{2, 4, 5, 3}, 4);
  Tensor<Wide> mask = mask_with_holes();
  DistanceBias bias{random_tensor<float>(Shape{4, 13}, 6), 6};
  std::vector<double> sinks = {0.5, -1, 2, 0};
  std::vector<std::int64_t> lengths = {7, 6}, offsets = {2, 1};
  RotationTable<float> rotation =
      rotary({.head_dim = 6, .base = 50, .layout = RotaryLayout::interleaved}, 7);
  AttentionOptions<T> options;
  const std::string line =
      std::string(std::is_same_v<T, bfloat16> ? "--dtype bfloat16 " : "") +
      "--causal at_lengths --key-lengths @n --window 3,-1 --mask @m --bias @b --alibi --sinks @s "
      "--rotary-base 50 --rotary-layout interleaved --softcap 3 --scale 0.3 ";
};
using Types = ::testing::Types<float, double, float16, bfloat16>;
TYPED_TEST_SUITE(AttentionByLibrary, Types);

TYPED_TEST(AttentionByLibrary, EveryOptionAtOnceHasTheSameBits) {
  using T = TypeParam;
  Tensor<T> out(Shape{2, 4, 5, 3});
  Tensor<float> lse(Shape{2, 4, 5});
  attention<T>(this->q, this->k, this->v, out, this->options, lse);
  const auto weights = attention_weights(this->q, this->k, this->options);

  const Outcome outcome = this->run("-o @out --log-sum-exp @lse --weights @w " + this->line);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(read_numbers<T>(this->file("out")), numbers(out));
  EXPECT_EQ(read_numbers<T>(this->file("w")), numbers(weights));
  EXPECT_EQ(read_numbers<float>(this->file("lse")), numbers(lse));
  const bool bits = std::is_same_v<T, bfloat16>;
  EXPECT_EQ(load_npy(this->file("out")).dtype, bits ? DType::uint16 : dtype_of<T>);
  EXPECT_EQ(load_npy(this->file("out")).shape, (Shape{2, 4, 5, 3}));
}

TYPED_TEST(AttentionByLibrary, GradientsHaveTheSameBits) {
  using T = TypeParam;
  using Sum = typename TestFixture::Wide;
  Tensor<T> out(Shape{2, 4, 5, 3}), dq(this->q.shape()), dk(this->k.shape()), dv(this->v.shape());
  Tensor<float> lse(Shape{2, 4, 5});
  Tensor<Sum> dbias(this->bias.values.shape()), dmask(this->mask.shape()), dslopes(Shape{4}),
      dsinks(Shape{4});
  attention<T>(this->q, this->k, this->v, out, this->options, lse);
  AttentionGradients<T> gradients{.q = dq, .k = dk, .v = dv};
  gradients.bias.values = dbias;
  gradients.mask = dmask;
  gradients.bias.slopes = dslopes;
  gradients.sinks = dsinks;
  attention_backward<T>(this->q, this->k, this->v, out, this->grad, gradients, this->options,
                        std::as_const(lse).view());

  const Outcome outcome = this->run(
      "--dout @g --dq @dq --dk @dk --dv @dv --dbias @db --dmask @dm --dslopes @dl --dsinks @ds " +
      this->line);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_FALSE(this->exists("out"));
  EXPECT_EQ(read_numbers<T>(this->file("dq")), numbers(dq));
  EXPECT_EQ(read_numbers<T>(this->file("dk")), numbers(dk));
  EXPECT_EQ(read_numbers<T>(this->file("dv")), numbers(dv));
  EXPECT_EQ(read_numbers<Sum>(this->file("db")), numbers(dbias));
  EXPECT_EQ(read_numbers<Sum>(this->file("dm")), numbers(dmask));
  EXPECT_EQ(read_numbers<Sum>(this->file("dl")), numbers(dslopes));
  EXPECT_EQ(read_numbers<Sum>(this->file("ds")), numbers(dsinks));
}

TYPED_TEST(AttentionByLibrary, ThreadsChangeNoBit) {
  ASSERT_EQ(this->run("-o @one --threads 1 " + this->line).code, 0);
  ASSERT_EQ(this->run("-o @three --threads 3 " + this->line).code, 0);
  EXPECT_EQ(contents(this->file("one")), contents(this->file("three")));
}

TYPED_TEST(AttentionByLibrary, ExplainPrintsThePlanAndAloneComputesNothing) {
  const std::string plan =
      attention_plan<TypeParam>(this->q, this->k, this->v, this->options).explain();
  const Outcome alone = this->run("--explain " + this->line);
  EXPECT_EQ(alone.code, 0) << alone.err;
  EXPECT_EQ(alone.out, plan);
  const Outcome both = this->run("--explain -o @out " + this->line);
  EXPECT_EQ(both.out, plan);
  EXPECT_TRUE(this->exists("out"));
}

class AttentionStreams : public AttentionFiles {
 protected:
  void SetUp() override { save_means(2, 2); }
};

TEST_F(AttentionStreams, AFileMayBeAStream) {
  const auto expected = result("--causal top_left");
  const auto through = [&](const std::string& line) {
    const Outcome outcome = shell(expanded(line));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return read_numbers<double>(file("p"));
  };
  EXPECT_EQ(through("sextant attention --q - --k @k --v @v --causal top_left -o @p <" + file("q")),
            expected);
  EXPECT_EQ(through("sextant attention --q @q --k @k --v @v --causal top_left -o - >" + file("p")),
            expected);
}

TEST_F(AttentionStreams, SeveralResultsMayGoToOpenFiles) {
  const Outcome outcome = shell(expanded(
      "sextant attention --q @q --k @k --v @v -o /dev/fd/3 --log-sum-exp /dev/fd/4 3>@a 4>@b"));
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(read_numbers<double>(file("a")), result("--log-sum-exp @l"));
  EXPECT_EQ(contents(file("b")), contents(file("l")));
}

TEST_F(AttentionStreams, FortranOrderAndOtherByteOrdersAreReadAsTheNumbersTheyAre) {
  const auto expected = result("");
  // [1, 1, 2, 1] of 1, 2 in big-endian Fortran order.
  std::string header = "{'descr': '>f8', 'fortran_order': True, 'shape': (1, 1, 2, 1), }";
  header.resize(117, ' ');
  std::string bytes = std::string("\x93NUMPY\x01\x00", 8) + '\x76' + '\0' + header + "\n";
  bytes += std::string("\x3f\xf0\0\0\0\0\0\0\x40\0\0\0\0\0\0\0", 16);
  put(file("v"), bytes);
  EXPECT_EQ(result(""), expected);
}

TEST_F(AttentionStreams, BfloatWithANameOfItsOwnNeedsNoOption) {
  for (const char* name : {"q", "k", "v"}) {
    save<bfloat16>(name, {1, 1, 2, 1}, {1, 2});
    std::string bytes = contents(file(name));
    const auto at = bytes.find("<u2");
    ASSERT_NE(at, std::string::npos);
    bytes.replace(at, 3, "<V2");  // what ml_dtypes writes
    put(file(name), bytes);
  }
  const auto named = result<bfloat16>("");
  EXPECT_EQ(load_npy(file("out")).dtype, DType::uint16);
  EXPECT_EQ(result<bfloat16>("--dtype bfloat16"), named);
}

TEST_F(AttentionStreams, JsonSumsUpWhatWasDone) {
  save<bool>("m", {2, 2}, {1, 1, 1, 1});
  const Outcome outcome =
      run("-o @out --log-sum-exp @l --mask @m --window 3,-1 --rotary-base 7 --threads 2 --json");
  EXPECT_EQ(outcome.code, 1);  // one channel cannot be turned
  const Outcome done = run("-o @out --log-sum-exp @l --mask @m --window 3,-1 --threads 2 --json");
  ASSERT_EQ(done.code, 0) << done.err;
  const auto json = done.json();
  EXPECT_EQ(json["dtype"], "float64");
  EXPECT_EQ(json["threads"], 2);
  EXPECT_EQ(json["inputs"]["q"]["file"], file("q"));
  EXPECT_EQ(json["inputs"]["mask"]["dtype"], "bool");
  EXPECT_EQ(json["inputs"]["mask"]["shape"], (std::vector{2, 2}));
  EXPECT_EQ(json["options"]["window"], (std::vector{3, -1}));
  for (const char* off : {"causal", "scale", "rotary"}) EXPECT_TRUE(json["options"][off].is_null());
  EXPECT_EQ(json["options"]["softcap"], 0);
  EXPECT_EQ(json["outputs"]["output"]["shape"], (std::vector{1, 1, 2, 1}));
  EXPECT_EQ(json["outputs"]["log-sum-exp"]["dtype"], "float32");
  EXPECT_EQ(json["outputs"].size(), 2U);
  EXPECT_EQ(run("-o @out --log-sum-exp @l --mask @m --window 3,-1 --threads 2 --json").out,
            done.out);
}

TEST_F(AttentionStreams, EmptyArraysGiveEmptyResults) {
  save<float>("q", {0, 2, 3, 4}, {});
  save<float>("k", {0, 2, 5, 4}, {});
  save<float>("v", {0, 2, 5, 4}, {});
  save_npy(file("n"), Tensor<std::int64_t>(Shape{0}));
  EXPECT_THAT(result<float>("--key-lengths @n --causal at_lengths"), IsEmpty());
  EXPECT_EQ(load_npy(file("out")).shape, (Shape{0, 2, 3, 4}));
}

}  // namespace
}  // namespace sextant::app_tests
