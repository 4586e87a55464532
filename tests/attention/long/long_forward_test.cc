// Outputs and log-sum-exps of rows with up to a million keys: their error does not grow with the
// number of keys, and decoding gives the same bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "attention/long/long_rows.h"
#include "attention/same_bits.h"
#include "sextant/attention/attention.h"

namespace sextant::long_forward_test {
namespace {

using Case = std::tuple<std::int64_t, Row, bool>;  // keys, row, whether there is a sink

class LongForward : public ::testing::TestWithParam<Case> {};

// The last row sees all keys, those before it fewer; far more rows than decoding takes at once.
TEST_P(LongForward, IsExactToTheBoundAndDecodesToTheSameBits) {
  const auto [keys, kind, has_sink] = GetParam();
  constexpr std::int64_t kQueries = 70;
  const LongRows in(kind, kQueries, keys);
  const std::vector<double> sinks(has_sink ? 1 : 0, 0.75);
  Tensor<float> out(in.q.shape()), logs(Shape{1, 1, kQueries});
  AttentionOptions<float> options;
  options.causal = Causal::bottom_right;
  options.sinks = sinks;
  attention<float>(in.q, in.k, in.v, out, options, logs);

  for (const std::int64_t query : {std::int64_t{0}, std::int64_t{37}, kQueries - 1}) {
    SCOPED_TRACE(query);
    const std::int64_t seen = keys - kQueries + 1 + query;
    const ExactRow exact(in, query, seen, has_sink ? sinks[0] : kNoSink);
    EXPECT_NEAR(logs(0, 0, query), exact.log_sum_exp, kLongError);
    for (std::int64_t c = 0; c < LongRows::kWidth; ++c) {
      double sum = 0, size = 0;
      for (std::int64_t j = 0; j < seen; ++j) {
        const double term =
            exact.weights[static_cast<std::size_t>(j)] * static_cast<double>(in.v(0, 0, j, c));
        sum += term;
        size += std::abs(term);
      }
      EXPECT_NEAR(out(0, 0, query, c), sum, kLongError * size) << "channel " << c;
    }

    Tensor<float> alone(Shape{1, 1, 1, LongRows::kWidth}), log_alone(Shape{1, 1, 1});
    attention<float>(in.q.view().narrow(2, query, 1), in.k.view().narrow(2, 0, seen),
                     in.v.view().narrow(2, 0, seen), alone, options, log_alone);
    EXPECT_TRUE(same_bits<float>(alone, out.view().narrow(2, query, 1)));
    EXPECT_EQ(log_alone.data()[0], logs(0, 0, query));
  }
}

std::string name_of_case(const ::testing::TestParamInfo<Case>& info) {
  const auto [keys, row, has_sink] = info.param;
  return std::string(name_of(row)) + (has_sink ? "_sink_" : "_") + std::to_string(keys);
}

// A span has 4,096 keys.
INSTANTIATE_TEST_SUITE_P(Keys, LongForward,
                         ::testing::Combine(::testing::Values(4096, 4097, 20000, 1 << 17),
                                            ::testing::ValuesIn(kRows), ::testing::Bool()),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(DISABLED_Million, LongForward,
                         ::testing::Combine(::testing::Values(1 << 20), ::testing::ValuesIn(kRows),
                                            ::testing::Bool()),
                         name_of_case);

}  // namespace
}  // namespace sextant::long_forward_test
