// `sextant attention --scheme NAME`: any scheme by name, with its gradients.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "apps/attention/attention_files.h"
#include "sextant/core/safetensors.h"

namespace sextant::app_tests {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class AttentionScheme : public AttentionFiles {
 protected:
  void SetUp() override {
    add("q", {1, 2, 5, 4}, 1);
    add("k", {1, 2, 5, 4}, 2);
    add("v", {1, 2, 5, 3}, 3);
    add("g", {1, 2, 5, 3}, 4);
  }
  void add(const std::string& name, const Shape& shape, unsigned seed) const {
    save<double>(name, shape, numbers(random_tensor<double>(shape, seed)));
  }
};

TEST_F(AttentionScheme, IsTheSameAsTheOptionThatSpellsItOut) {
  EXPECT_EQ(result("--scheme rotary --base 100 --causal top_left"),
            result("--rotary-base 100 --causal top_left"));
  EXPECT_EQ(result("--scheme none"), result(""));
  ASSERT_EQ(sextant(expanded("encode --scheme alibi --heads 2 --length 5 -o @bias")).code, 0);
  EXPECT_EQ(result("--scheme alibi --window 2,1"), result("--bias @bias --window 2,1"));
}

// Both are biases by distance: they add up.
TEST_F(AttentionScheme, OfATableGoesWithSlopes) {
  ASSERT_EQ(sextant(expanded("encode --scheme sandwich --heads 2 --length 5 -o @bias")).code, 0);
  EXPECT_EQ(result("--scheme sandwich --alibi"), result("--bias @bias --alibi"));
  EXPECT_NE(result("--scheme sandwich --alibi"), result("--scheme sandwich"));
}

TEST_F(AttentionScheme, SeveralGoTogether) {
  EXPECT_EQ(result("--scheme rotary:base=100+alibi --causal top_left"),
            result("--rotary-base 100 --scheme alibi --causal top_left"));
  EXPECT_EQ(result("--scheme rotary+alibi --base 100 --causal top_left"),
            result("--rotary-base 100 --scheme alibi --causal top_left"));
  EXPECT_NE(result("--scheme rotary+alibi"), result("--scheme rotary"));
  EXPECT_EQ(run("-o @out --scheme rotary+rotary_linear").code, 1);
  EXPECT_EQ(run("-o @out --scheme rotary+sinusoidal").code, 2);
  EXPECT_EQ(run("-o @out --scheme rotary+alibi --rotary-base 100").code, 2);
  EXPECT_EQ(run("-o @out --dout @g --dscheme @d --scheme rotary+t5").code, 2);
  EXPECT_EQ(run("-o @out --scheme rotary+t5 --scheme-weights @d").code, 2);
}

TEST_F(AttentionScheme, ReachesAsFarAsTheDistancesGo) {
  save<std::int64_t>("off", {1}, {7});
  EXPECT_EQ(run("-o @out --scheme alibi --query-offsets @off").code, 0);
  EXPECT_EQ(run("-o @out --scheme rotary --query-offsets @off").code, 0);
  save<std::int64_t>("off", {1}, {-7});
  EXPECT_EQ(run("-o @out --scheme alibi --query-offsets @off").code, 0);
  EXPECT_EQ(run("-o @out --scheme rotary --query-offsets @off").code, 1);
}

TEST_F(AttentionScheme, GoesByIdsInsteadOfPlaces) {
  const std::vector<double> shifted = {3, 4, 5, 6, 7}, spread = {0, 10, 20, 30, 40};
  save<std::int64_t>("qp", {1, 5}, shifted);
  save<std::int64_t>("kp", {1, 5}, shifted);
  const std::string ids = " --query-positions @qp --key-positions @kp";
  EXPECT_EQ(result("--scheme alibi" + ids), result("--scheme alibi"));  // distances are the same
  save<std::int64_t>("qp", {1, 5}, spread);
  save<std::int64_t>("kp", {1, 5}, spread);
  EXPECT_NE(result("--scheme alibi" + ids), result("--scheme alibi"));
  EXPECT_NE(result("--scheme rotary" + ids), result("--scheme rotary"));
  EXPECT_EQ(run("-o @out --scheme rotary --query-positions @qp").code, 2);
  save<std::int64_t>("kp", {1, 4}, {0, 1, 2, 3});
  EXPECT_EQ(run("-o @out --scheme rotary" + ids).code, 1);
  save<std::int64_t>("kp", {1, 5}, {-1, 1, 2, 3, 4});
  EXPECT_EQ(run("-o @out --scheme rotary" + ids).code, 1);
  EXPECT_EQ(run("-o @out --scheme alibi" + ids).code, 0);
}

TEST_F(AttentionScheme, WritesTheGradientsOfItsWeights) {
  const std::string file = folder_ / "d.safetensors";
  const Outcome made =
      run("--scheme t5 --num-buckets 8 --max-distance 6 --causal top_left --dout "
          "@g --dscheme " +
          file + " --json");
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(made.json()["options"]["scheme"], "t5");
  EXPECT_EQ(made.json()["options"]["parameters"]["bidirectional"], true);
  EXPECT_EQ(made.json()["outputs"]["dscheme"]["weights"]["table"], (std::vector{8, 2}));
  const SafetensorsFile gradients = load_safetensors(file);
  const Array& table = gradients.tensors.at("table");
  ASSERT_EQ(table.shape, (Shape{8, 2}));
  EXPECT_EQ(table.dtype, DType::float64);
  // Against central differences of the loss <g, out>: the biases are kept in float32, so the steps
  // are powers of two that the sums hold exactly enough; 2^-10 leaves a third derivative times
  // 2^-20 / 6, and a float32 bias of size one wrong by 2^-25, divided by the step 2^-14.
  const auto loss = [&](std::int64_t at, double step) {
    Tensor<double> moved({8, 2});
    for (std::int64_t i = 0; i < 16; ++i) moved.data()[i] = static_cast<double>(i % 5) / 8;
    moved.data()[at] += step;
    save_npy(file + ".npy", moved);
    std::map<std::string, Array> weights;
    weights["table"] = load_npy(file + ".npy");
    save_safetensors(file + ".w.safetensors", weights);
    const auto out = result(
        "--scheme t5 --num-buckets 8 --max-distance 6 --causal top_left "
        "--scheme-weights " +
        file + ".w.safetensors");
    const auto g = read_numbers<double>(this->file("g"));
    double sum = 0;
    for (std::size_t i = 0; i < out.size(); ++i) sum += out[i] * g[i];
    return sum;
  };
  loss(0, 0);  // writes the weights
  ASSERT_EQ(
      run("--scheme t5 --num-buckets 8 --max-distance 6 --causal top_left --dout @g --dscheme " +
          file + " --scheme-weights " + file + ".w.safetensors")
          .code,
      0);
  const Tensor<double> exact = load_safetensors(file).tensors.at("table").to<double>();
  const double step = 0x1p-10;
  for (const std::int64_t at : {0, 1, 2, 3, 5}) {
    const double slope = (loss(at, step) - loss(at, -step)) / (2 * step);
    EXPECT_NEAR(exact.data()[at], slope, 1e-4) << at;
  }
}

TEST_F(AttentionScheme, RefusesWhatCannotBe) {
  const Outcome added = run("-o @out --scheme sinusoidal");
  EXPECT_EQ(added.code, 2);
  EXPECT_THAT(added.err, StartsWith("sextant: [attention.scheme] "));
  EXPECT_THAT(added.err, HasSubstr("embeddings"));
  save<double>("bias", {2, 9}, std::vector<double>(18));
  EXPECT_EQ(run("-o @out --scheme alibi --bias @bias").code, 2);
  EXPECT_EQ(run("-o @out --scheme rotary --rotary-base 7").code, 2);
  EXPECT_EQ(run("-o @out --scheme rotary --colour red").code, 2);
  EXPECT_EQ(run("--dout @g --dscheme x.safetensors").code, 2);
  EXPECT_EQ(run("--dout @g --scheme alibi --dscheme x.safetensors").code, 2);
  EXPECT_EQ(run("--dout @g --scheme t5 --dscheme x.npy").code, 2);
}

}  // namespace
}  // namespace sextant::app_tests
