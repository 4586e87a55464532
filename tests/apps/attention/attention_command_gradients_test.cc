// Gradients of `sextant attention` against differences of its own results, in float64.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "apps/attention/attention_files.h"

namespace sextant::app_tests {
namespace {

using List = std::vector<double>;

double dot(const List& a, const List& b) {
  EXPECT_EQ(a.size(), b.size());
  double sum = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) sum += a[i] * b[i];
  return sum;
}

class AttentionDifferences : public AttentionFiles {
 protected:
  struct Input {
    Shape shape;
    List values;
  };

  void SetUp() override {
    add("q", {2, 2, 4, 2}, 1);
    add("k", {2, 1, 4, 2}, 2);
    add("v", {2, 1, 4, 3}, 3);
    add("g", {2, 2, 4, 3}, 4);
    add("m", {2, 1, 4, 4}, 5);
    add("b", {2, 7}, 6);
    add("s", {2}, 7);
  }
  void add(const std::string& name, const Shape& shape, unsigned seed) {
    inputs_[name] = {shape, numbers(random_tensor<double>(shape, seed))};
    store(name, inputs_[name].values);
  }
  void store(const std::string& name, const List& values) const {
    save<double>(name, inputs_.at(name).shape, values);
  }

  // The loss <g, attention> with input `name` moved by `step` along `direction`.
  double loss(const std::string& options, const std::string& name, const List& direction,
              double step) const {
    List moved = inputs_.at(name).values;
    for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += step * direction[i];
    store(name, moved);
    const double value = dot(result(options), inputs_.at("g").values);
    store(name, inputs_.at(name).values);
    return value;
  }

  // d(name) along a random direction against central differences of two steps, extrapolated: the
  // error is of order step^4, 2^-28, times a fifth derivative; inputs up to 2 and weights that sum
  // to one keep that below some hundreds. Steps are powers of two, so that biases, which are kept
  // in float32, hold the moved numbers exactly.
  void expect_gradient(const std::string& options, const std::string& name,
                       const std::string& output) const {
    const List direction = numbers(random_tensor<double>(inputs_.at(name).shape, 100));
    const auto difference = [&](double step) {
      return (loss(options, name, direction, step) - loss(options, name, direction, -step)) /
             (2 * step);
    };
    constexpr double kStep = 0x1p-7;
    const double expected = (4 * difference(kStep) - difference(2 * kStep)) / 3;
    const double slope = dot(read_numbers<double>(file(output)), direction);
    EXPECT_NEAR(slope, expected, 1000 * kStep * kStep * kStep * kStep) << name;
    EXPECT_GT(std::fabs(slope), 1e-3) << name << " says nothing";
  }

  std::map<std::string, Input> inputs_;
};

TEST_F(AttentionDifferences, OfEveryInputWithEveryOption) {
  const std::string options =
      "--mask @m --bias @b --sinks @s --alibi --causal top_left --window 2,0 --softcap 4 "
      "--scale 0.4 --rotary-base 20 ";
  const Outcome outcome =
      run("--dout @g --dq @dq --dk @dk --dv @dv --dmask @dm --dbias @db --dsinks @ds "
          "--dslopes @dl " +
          options);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  for (const auto& [name, output] : std::map<std::string, std::string>{
           {"q", "dq"}, {"k", "dk"}, {"v", "dv"}, {"m", "dm"}, {"b", "db"}, {"s", "ds"}}) {
    expect_gradient(options, name, output);
  }
  // A slope acts as a bias of -|distance| would.
  const List dbias = read_numbers<double>(file("db")), dslopes = read_numbers<double>(file("dl"));
  ASSERT_EQ(dslopes.size(), 2U);
  for (int head = 0; head < 2; ++head) {
    double expected = 0;
    for (int i = 0; i < 7; ++i) {
      expected -= std::abs(i - 3) * dbias[static_cast<std::size_t>(7 * head + i)];
    }
    // Sums of some 32 terms below 64, in another order.
    EXPECT_NEAR(dslopes[static_cast<std::size_t>(head)], expected, 32 * 64 * 0x1p-52);
    EXPECT_NE(expected, 0);
  }
}

TEST_F(AttentionDifferences, OfPaddedAndOfPackedSequences) {
  save_npy(file("n"), filled<std::int64_t>({2}, {4, 2}));
  save_npy(file("cu"), filled<std::int32_t>({3}, {0, 1, 4}));
  for (const std::string options :
       {"--key-lengths @n --causal at_lengths ", "--segments @cu --causal top_left "}) {
    const Outcome outcome = run("--dout @g --dq @dq --dk @dk --dv @dv " + options);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    expect_gradient(options, "q", "dq");
    expect_gradient(options, "k", "dk");
    expect_gradient(options, "v", "dv");
  }
}

}  // namespace
}  // namespace sextant::app_tests
