// T5's buckets, of every setting, cut and transposed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "identify/identified.h"
#include "sextant/schemes/distance/t5.h"

namespace sextant {
namespace {

Tensor<double> buckets_of(const T5& options, std::int64_t queries, std::int64_t keys,
                          std::int64_t offset = 0, bool transposed = false) {
  const T5Buckets bucket(options);
  Tensor<double> map({queries, keys});
  for (std::int64_t q = 0; q < queries; ++q) {
    for (std::int64_t k = 0; k < keys; ++k) {
      const std::int64_t distance = k - q - offset;
      map(q, k) = static_cast<double>(bucket(transposed ? -distance : distance));
    }
  }
  return map;
}

TEST(IdentifyBuckets, OfEverySetting) {
  for (const T5& options : {T5{32, 128, true}, T5{32, 128, false}, T5{320, 800, true},
                            T5{64, 256, true}, T5{16, 64, false}}) {
    for (const bool transposed : {false, true}) {
      SCOPED_TRACE(std::to_string(options.num_buckets) + (transposed ? " transposed" : ""));
      const std::int64_t length = options.max_distance + 20;
      const Identification found = identified(buckets_of(options, length, length, 0, transposed));
      ASSERT_EQ(found.scheme, "t5") << found.explanation;
      EXPECT_EQ(number(found, "num_buckets"), static_cast<double>(options.num_buckets));
      EXPECT_EQ(number(found, "max_distance"), static_cast<double>(options.max_distance));
      EXPECT_EQ(found.parameters.at("bidirectional"), options.bidirectional ? "yes" : "no");
      EXPECT_EQ(found.mistake, transposed ? "transposed" : "");
    }
  }
}

TEST(IdentifyBuckets, AlsoOfRowsAndOfQueriesBehindACache) {
  Tensor<double> line({401});
  for (std::int64_t i = 0; i < 401; ++i) line(i) = static_cast<double>(t5_bucket(i - 200));
  const Identification found = identified(line);
  EXPECT_EQ(found.scheme, "t5") << found.explanation;
  EXPECT_EQ(found.form, "buckets [distance + 200]");
  const Identification cached = identified(buckets_of({}, 8, 300, 292));
  EXPECT_EQ(cached.scheme, "t5") << cached.explanation;
}

TEST(IdentifyBuckets, OtherWholeNumbersAreUnknown) {
  Tensor<double> counting({40, 40});
  for (std::int64_t i = 0; i < 1600; ++i) counting.data()[i] = static_cast<double>(i % 40);
  EXPECT_EQ(identified(counting).scheme, "unknown");
  Tensor<double> wrong = buckets_of({}, 150, 150);
  wrong(140, 3) = 7;
  EXPECT_EQ(identified(wrong).scheme, "unknown");
}

}  // namespace
}  // namespace sextant
