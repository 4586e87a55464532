// Rows of terms on every compiled instruction set: the bits of a loop, for any number of them.
#include "kernels/attention/bias_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/rotate/every_target.h"
#include "sextant/core/random.h"

namespace sextant::kernels {
namespace {

constexpr float kHidden = -std::numeric_limits<float>::infinity();
constexpr std::int64_t kMost = 70;  // more than four of the widest vectors

struct Rows {
  std::vector<float> numbers = std::vector<float>(kMost), to = std::vector<float>(kMost);
  std::vector<double> wide = std::vector<double>(kMost);
};
Rows random_rows() {
  Rows rows;
  NumpyRandom random(3);
  for (std::size_t n = 0; n < kMost; ++n) {
    rows.numbers[n] = static_cast<float>(random.normal());
    rows.to[n] = n % 5 == 3 ? kHidden : static_cast<float>(random.normal());
    rows.wide[n] = random.normal();
  }
  return rows;
}

// Calls add(count, to) for all counts, and compares with expected(n) for n < count.
template <class Add, class Expected>
void compare(const Rows& rows, const Add& add, const Expected& expected) {
  on_every_target([&] {
    for (std::int64_t count = 0; count < kMost; ++count) {
      std::vector<float> to = rows.to;
      add(count, to.data());
      for (std::int64_t n = 0; n < kMost; ++n) {
        const auto at = static_cast<std::size_t>(n);
        const float wanted = n < count ? expected(n) : rows.to[at];
        ASSERT_EQ(std::memcmp(&to[at], &wanted, sizeof wanted), 0) << n << " of " << count;
      }
    }
  });
}

TEST(BiasRows, AddNumbers) {
  const Rows rows = random_rows();
  compare(
      rows, [&](std::int64_t count, float* to) { add_row(rows.numbers.data(), count, to); },
      [&](std::int64_t n) {
        return rows.to[static_cast<std::size_t>(n)] + rows.numbers[static_cast<std::size_t>(n)];
      });
}

TEST(BiasRows, AddALineInFloat64) {
  const Rows rows = random_rows();
  constexpr double kSlope = 0.1, kIntercept = -0.7;
  compare(
      rows,
      [&](std::int64_t count, float* to) {
        add_line(rows.wide.data(), kSlope, kIntercept, count, to);
      },
      [&](std::int64_t n) {
        const double product = kSlope * rows.wide[static_cast<std::size_t>(n)];
        return rows.to[static_cast<std::size_t>(n)] + static_cast<float>(product + kIntercept);
      });
}

TEST(BiasRows, AddToVisibleInBothDirections) {
  Rows rows = random_rows();
  for (std::size_t n = 0; n < kMost; n += 5) {
    rows.numbers[n] = std::nanf("");  // read for hidden pairs alone, in one of the directions
  }
  for (std::size_t n = 0; n < kMost; ++n) rows.to[n] = n % 5 == 0 ? kHidden : rows.to[n];
  for (const std::int64_t step : {-1, 0, 1}) {
    SCOPED_TRACE(step);
    const float* from = rows.numbers.data() + (step < 0    ? kMost - 5 - kMost % 5
                                               : step == 0 ? 1
                                                           : 0);
    const std::int64_t most = step < 0 ? from - rows.numbers.data() + 1 : kMost;
    compare(
        rows,
        [&](std::int64_t count, float* to) {
          add_to_visible(from, step, 0.3F, std::min(count, most), to);
        },
        [&](std::int64_t n) {
          const float before = rows.to[static_cast<std::size_t>(n)];
          if (n >= most || before == kHidden) return before;
          const float product = 0.3F * from[n * step];
          return before + product;
        });
  }
}

}  // namespace
}  // namespace sextant::kernels
