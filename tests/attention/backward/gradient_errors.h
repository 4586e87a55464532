// How far rounding may lead gradients from the exact ones, and whether that would hide a mistake.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>

#include "reference/rounding_error.h"
#include "sextant/core/dtype.h"
#include "sextant/core/tensor.h"

namespace sextant {

// The arithmetic that gradients of arrays of T are made in, a wider one, and what storing rounds.
template <class T>
struct Rounding {
  using Plain = float;
  using Exact = double;
  static constexpr double kUnit = 0x1p-24;
  static constexpr double kStored = std::is_same_v<T, float16>    ? 0x1p-11
                                    : std::is_same_v<T, bfloat16> ? 0x1p-8
                                                                  : kUnit;
  // Half of the smallest float16; what the others lose there, even of sums, is far below.
  static constexpr double kMin = std::is_same_v<T, float16> ? 0x1p-25 : 1e-30;
};
template <>
struct Rounding<double> {
  using Plain = double;
  using Exact = long double;
  static constexpr double kUnit = 0x1p-53, kStored = kUnit;
  static constexpr double kMin = 1e-40;  // generators take gradients as two float32
};

// The errors of a test's gradients, by name.
class GradientErrors {
 public:
  // Each element may be off by eight deviations of what the plain formula rounds, and by what
  // storing it as T does: four, because errors of every element are looked at, times two, because
  // other orders of sums have other partial sums, and 2^x of scaled scores with a stored
  // log-sum-exp rounds each weight a few times more. All arrays have one shape.
  template <class T, class Plain>
  void compare(const std::string& name, const Tensor<double>& got, const Tensor<double>& exact,
               const Tensor<Plain>& plain, const Tensor<reference::RoundingError>& expected) {
    ASSERT_EQ(got.shape(), exact.shape()) << name;
    double most = 0;
    std::int64_t worst = 0;
    Squares sums;
    for (std::int64_t n = 0; n < got.count(); ++n) {
      const double value = exact.data()[n], error = std::abs(got.data()[n] - value);
      const double stored = Rounding<T>::kStored * std::abs(value) + Rounding<T>::kMin;
      const double deviation = Rounding<T>::kUnit * expected.data()[n].deviation();
      const double tolerance = 8 * deviation + stored;
      if (!(error <= most * tolerance)) {
        most = error / tolerance;
        worst = n;
      }
      sums.add(value, sizeof(T) == 2 ? std::max(0.0, error - stored) : error,
               static_cast<double>(plain.data()[n]) - value);
      sums.tolerance += square(tolerance);
      sums.deviation += square(deviation);
    }
    EXPECT_LE(most, 1) << name << " at " << worst << " is " << got.data()[worst] << ", not "
                       << exact.data()[worst];
    Tally& tally = tallies_[name];
    tally.add(sums);
    if (sums.exact > 0) ++(sums.would_show() ? tally.loud : tally.mute);
  }

  // Without looking at the elements: for values that are so large that errors are not linear.
  void tally(const std::string& name, const Tensor<double>& got, const Tensor<double>& exact,
             const Tensor<float>& plain) {
    ASSERT_EQ(got.shape(), exact.shape()) << name;
    Squares sums;
    for (std::int64_t n = 0; n < got.count(); ++n) {
      const double value = exact.data()[n];
      sums.add(value, got.data()[n] - value, static_cast<double>(plain.data()[n]) - value);
    }
    tallies_[name].add(sums);
  }

  // At a test's end. Root mean squares are at most twice what the plain formula is off by; it may
  // be lucky with few numbers, for which its expected error counts. No tolerance could hide an
  // error of 10 %, neither in all calls together nor in two of three; what is left are calls in
  // which each query sees little but one key, so that gradients cancel.
  void expect_small() const {
    for (const auto& [name, tally] : tallies_) {
      const Squares& sums = tally.sums;
      const double plain = sums.numbers < kFew ? std::max(sums.plain, sums.deviation) : sums.plain;
      EXPECT_LE(std::sqrt(sums.ours), 2 * std::sqrt(plain)) << name;
      EXPECT_GE(std::sqrt(sums.exact), kShows * 2 * std::sqrt(plain)) << name;
      EXPECT_TRUE(sums.would_show()) << name;
      EXPECT_LE(2 * tally.mute, tally.loud) << name;
    }
  }

 private:
  static constexpr double kShows = 20;  // times the tolerance: an error of 10 % is twice that
  static constexpr std::int64_t kFew = 2000;

  static double square(double x) { return x * x; }

  struct Squares {
    double exact = 0, ours = 0, plain = 0, deviation = 0, tolerance = 0;
    std::int64_t numbers = 0;  // that are not 0

    void add(double value, double error, double plain_error) {
      exact += square(value);
      ours += square(error);
      plain += square(plain_error);
      numbers += value != 0 ? 1 : 0;
    }
    bool would_show() const { return square(kShows) * tolerance <= exact; }
  };
  struct Tally {
    Squares sums;
    int loud = 0, mute = 0;  // calls

    void add(const Squares& more) {
      sums.exact += more.exact;
      sums.ours += more.ours;
      sums.plain += more.plain;
      sums.deviation += more.deviation;
      sums.tolerance += more.tolerance;
      sums.numbers += more.numbers;
    }
  };
  std::map<std::string, Tally> tallies_;
};

}  // namespace sextant
