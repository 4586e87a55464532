// Rows of terms on every compiled instruction set: the bits of a loop, for any number of them.
#include "kernels/attention/bias_rows.h"

#include <gtest/gtest.h>

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
constexpr std::int32_t kMost = 70;  // more than four of the widest vectors

// Numbers of which each fifth is NaN, and scores that are hidden there and in other places.
struct Numbers {
  Numbers() {
    NumpyRandom random(3);
    for (std::size_t n = 0; n < wide.size(); ++n) {
      wide[n] = random.normal();
      plain[n] = static_cast<float>(random.normal());
      holed[n] = n % 5 == 0 ? std::nanf("") : plain[n];
      scores[n] = n % 5 == 0 || n % 7 == 3 ? kHidden : static_cast<float>(random.normal());
    }
  }
  std::vector<double> wide = std::vector<double>(kMost);
  std::vector<float> plain = std::vector<float>(kMost), holed = plain, scores = plain;
};

bool same_bits(const std::vector<float>& x, const std::vector<float>& y) {
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
}

TEST(BiasRows, AddNumbers) {
  const Numbers n;
  on_every_target([&] {
    for (std::int32_t count = 0; count <= kMost; ++count) {
      std::vector<float> to = n.scores, expected = to;
      for (std::int32_t i = 0; i < count; ++i) expected[i] += n.plain[i];
      const BiasRow row{n.plain.data(), to.data(), count, 1};
      add_rows(&row, 1);
      ASSERT_TRUE(same_bits(to, expected)) << count;
    }
  });
}

TEST(BiasRows, AddLinesInFloat64) {
  const Numbers n;
  on_every_target([&] {
    for (std::int32_t count = 0; count <= kMost; ++count) {
      std::vector<float> to = n.scores, expected = to;
      for (std::int32_t i = 0; i < count; ++i) {
        const double product = 0.1 * n.wide[i];
        expected[i] += static_cast<float>(product + -0.7);
      }
      const BiasLine line{n.wide.data(), to.data(), count, 0.1, -0.7};
      add_lines(&line, 1);
      ASSERT_TRUE(same_bits(to, expected)) << count;
    }
  });
}

TEST(BiasRows, AddToVisibleInBothDirections) {
  const Numbers n;
  on_every_target([&] {
    for (const std::int32_t step : {-1, 0, 1}) {
      // Falling from a multiple of 5, NaN is for hidden pairs alone, as it is rising.
      const std::int32_t first = step == -1 ? 65 : step == 0 ? 1 : 0;
      for (std::int32_t count = 0; count <= (step == -1 ? 66 : kMost); ++count) {
        std::vector<float> to = n.scores, expected = to;
        for (std::int32_t i = 0; i < count; ++i) {
          const float product = 0.3F * n.holed[first + i * step];
          if (to[i] != kHidden) expected[i] += product;
        }
        const BiasRow row{&n.holed[first], to.data(), count, step};
        add_to_visible(&row, 1, 0.3F);
        ASSERT_TRUE(same_bits(to, expected)) << "step " << step << ", " << count;
      }
    }
  });
}

TEST(BiasRows, AddDiagonalsOfProducts) {
  constexpr std::int32_t kQueries = 3, kColumns = 5;
  const Numbers n;
  on_every_target([&] {
    for (std::int32_t keys = 1; keys <= 23; ++keys) {
      std::vector<std::int32_t> columns(kQueries + keys - 1);
      for (std::int32_t d = 0; d < kQueries + keys - 1; ++d) columns[d] = d * d % kColumns;
      for (const bool by_key : {false, true}) {
        const std::int32_t by_query = by_key ? 0 : kColumns, of_key = by_key ? 2 : 0;
        std::vector<float> to(kQueries * 25, 0.5F), expected = to;
        to[27] = expected[27] = kHidden;
        for (std::int32_t i = 0; i < kQueries; ++i) {
          for (std::int32_t j = 0; j < keys; ++j) {
            float& score = expected[i * 25 + j];
            const float product =
                0.3F * n.plain[i * by_query + j * of_key + columns[kQueries - 1 - i + j]];
            if (score != kHidden) score += product;
          }
        }
        add_diagonals_to_visible({.products = n.plain.data(),
                                  .by_query = by_query,
                                  .by_key = of_key,
                                  .columns = columns.data(),
                                  .queries = kQueries,
                                  .keys = keys,
                                  .to = to.data(),
                                  .to_row = 25},
                                 0.3F);
        ASSERT_TRUE(same_bits(to, expected)) << keys << (by_key ? " by key" : " by query");
      }
    }
  });
}

TEST(BiasRows, AreAddedWhenThereAreManyAndAtTheEnd) {
  const Numbers n;
  std::vector<float> to(kMost * 5, 0.0F);
  {
    RowList<BiasRow, decltype(&add_rows)> rows(&add_rows);
    for (std::size_t i = 0; i < to.size(); ++i) rows.add({&n.plain[i % kMost], &to[i], 1, 1});
  }
  for (std::size_t i = 0; i < to.size(); ++i) ASSERT_EQ(to[i], n.plain[i % kMost]) << i;
}

}  // namespace
}  // namespace sextant::kernels
