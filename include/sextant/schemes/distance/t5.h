// Makes T5's relative positions: a learned number per head for each bucket of distances, one bucket
// for each short distance, logarithmic buckets for longer ones (Raffel et al. 2019, 1910.10683,
// section 2.1).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sextant/core/lifetime.h"
#include "sextant/core/tensor.h"
#include "sextant/tables/distance_bias.h"

namespace sextant {

struct T5 {
  // 2 .. 4096; for both directions even and at least 4: half of them are for the future.
  std::int64_t num_buckets = 32;
  // From this distance on there is one bucket; at least the number of distances with a separate
  // bucket (half the buckets of a direction) plus 1, at most 2^28.
  std::int64_t max_distance = 128;
  bool bidirectional = true;  // false: every key in the future is in bucket 0
};

// Computes the bucket of a distance. With n buckets for a direction and e = n / 2: distances below
// e have one each; bucket e + k starts at the smallest integer distance d with ln(d / e) /
// ln(max_distance / e) * (n - e) >= k. The edges are computed in integer arithmetic, so rounding
// misplaces no distance.
class T5Buckets {
 public:
  // Throws Error if an option is out of its range.
  explicit T5Buckets(const T5& options = {});

  // distance = key - query, any number.
  std::int64_t operator()(std::int64_t distance) const noexcept;

  // Returns the smallest distance of each bucket of a direction, ascending: {0, 1, ..., 7, 8, 12,
  // 16, 23, 32, 46, 64, 91} for the defaults. If two are equal, the first bucket is empty.
  std::span<const std::int64_t> edges() const noexcept SEXTANT_LIFETIME_BOUND { return edges_; }

 private:
  std::vector<std::int64_t> edges_;
  bool bidirectional_;
};

// Returns the bucket of one distance.
std::int64_t t5_bucket(std::int64_t distance, const T5& options = {});

struct T5Weights {
  Tensor<double> table{};  // [num_buckets, heads], finite
};

// Returns values[head, key - query + length - 1] = table[bucket(key - query), head], [heads, 2
// length - 1]. Throws Error if an option or a shape is wrong, and unless length is in 1 .. 2^28
// with at most 2^31 numbers in the bias.
DistanceBias t5(const T5& options, const T5Weights& weights, std::int64_t length);

// Returns the gradient of the weights from that of the bias, [heads, 2 length - 1]: for the table,
// the sum over each bucket.
T5Weights t5_backward(const T5& options, const T5Weights& weights, View<const double> gradient);

}  // namespace sextant
