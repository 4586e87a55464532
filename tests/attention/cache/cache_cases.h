// Random tokens for caches, and what attend() must give: attention() with keys in one array.
#pragma once

#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "attention/same_bits.h"
#include "attention/strided.h"
#include "sextant/attention/kv_cache.h"

namespace sextant {

// The type of the arrays of a cache.
template <class T>
using FloatOf = typename KvCache<T>::Float;

// Random numbers [batch, heads, rows, channels] of an element type.
template <class T>
Tensor<T> random_rows(NumpyRandom& random, std::int64_t batch, std::int64_t heads,
                      std::int64_t rows, std::int64_t channels) {
  return normal<T>(Shape{batch, heads, rows, channels}, random);
}

// Appends `counts[s]` random positions to each sequence, packed.
template <class T>
void append_random(KvCache<T>& cache, NumpyRandom& random, std::span<const std::int64_t> counts) {
  std::vector<std::int64_t> segments{0};
  for (const std::int64_t count : counts) segments.push_back(segments.back() + count);
  const KvCacheSizes sizes = cache.sizes();
  const std::int64_t rows = segments.back();
  const auto k = random_rows<FloatOf<T>>(random, 1, sizes.kv_heads, rows, sizes.head_dim);
  const auto v = random_rows<FloatOf<T>>(random, 1, sizes.kv_heads, rows, sizes.v_dim);
  cache.append(k.view(), v.view(), {.segments = segments});
}

// The result for the queries of one sequence, whose keys are copied into one array.
template <class T>
Tensor<FloatOf<T>> attend_in_one_array(const KvCache<T>& cache, std::int64_t sequence,
                                       View<const FloatOf<T>> q,
                                       const AttentionOptions<FloatOf<T>>& options) {
  using F = FloatOf<T>;
  const Tensor<F> keys = cache.keys(), values = cache.values();
  const auto part = [&](const Tensor<F>& all) {
    return copy_of(all.view().narrow(0, sequence, 1).narrow(2, 0, cache.length(sequence)));
  };
  const Tensor<F> k = part(keys), v = part(values);
  Tensor<F> out(Shape{1, q.size(1), q.size(2), v.size(3)});
  AttentionOptions<F> here = options;
  here.segments = {};
  here.causal = Causal::bottom_right;
  attention<F>(q, k.view(), v.view(), out.view(), here);
  return out;
}

// One packed call for `counts[s]` queries of each sequence gives the bits of one call for each.
template <class T>
void expect_packed_bits(const KvCache<T>& cache, NumpyRandom& random,
                        std::span<const std::int64_t> counts, std::int64_t heads,
                        const AttentionOptions<FloatOf<T>>& options) {
  using F = FloatOf<T>;
  std::vector<std::int64_t> segments{0};
  for (const std::int64_t count : counts) segments.push_back(segments.back() + count);
  const KvCacheSizes sizes = cache.sizes();
  const auto q = random_rows<F>(random, 1, heads, segments.back(), sizes.head_dim);
  Tensor<F> out(Shape{1, heads, segments.back(), sizes.v_dim});
  AttentionOptions<F> packed = options;
  packed.segments = segments;
  cache.attend(q.view(), out.view(), packed);
  for (std::size_t s = 0; s < counts.size(); ++s) {
    const auto sequence = static_cast<std::int64_t>(s);
    const auto rows = q.view().narrow(2, segments[s], counts[s]);
    ASSERT_TRUE(same_bits<F>(out.view().narrow(2, segments[s], counts[s]),
                             attend_in_one_array<T>(cache, sequence, rows, options)))
        << counts[s] << " queries of sequence " << s << " with " << cache.length(sequence)
        << " keys";
  }
}

}  // namespace sextant
