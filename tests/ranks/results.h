// What a case gives, in one process and on ranks, and how far two results are apart.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "ranks/arrays.h"
#include "sextant/ranks/attention.h"

namespace sextant::ranks {

// What a call gives.
template <class T>
struct Result {
  Tensor<T> out;
  Tensor<float> logs;
};

template <class T>
Result<T> in_one_process(const Whole<T>& whole) {
  Result<T> result{Tensor<T>(whole.out_shape()), Tensor<float>({kBatch, kHeads, whole.of.q_len})};
  sextant::attention<T>(whole.q, whole.k, whole.v, result.out.view(), whole.options(),
                        result.logs.view());
  return result;
}

template <class T>
Result<T> on_ranks(const Part<T>& part, const Options& ranks, int threads = 0) {
  Result<T> result{Tensor<T>(part.out_shape()), Tensor<float>(part.log_shape())};
  AttentionOptions<T> options = part.options;
  options.threads = threads;
  ranks::attention<T>(world(), part.q, part.k, part.v, result.out.view(), options, ranks,
                      result.logs.view());
  return result;
}

template <class T>
bool same_bits(const Tensor<T>& a, const Tensor<T>& b) {
  return a.shape() == b.shape() &&
         std::equal(reinterpret_cast<const unsigned char*>(a.data()),
                    reinterpret_cast<const unsigned char*>(a.data() + a.count()),
                    reinterpret_cast<const unsigned char*>(b.data()));
}

// Root of the mean square of the difference; infinite where the shapes differ, and where one is
// finite and the other not.
template <class A, class B>
double distance(const Tensor<A>& a, const Tensor<B>& b) {
  if (!(a.shape() == b.shape())) return std::numeric_limits<double>::infinity();
  double sum = 0;
  for (std::int64_t n = 0; n < a.count(); ++n) {
    const auto x = static_cast<double>(a.data()[n]), y = static_cast<double>(b.data()[n]);
    if (x == y) continue;
    sum += (x - y) * (x - y);
  }
  if (std::isnan(sum)) return std::numeric_limits<double>::infinity();
  return std::sqrt(sum / static_cast<double>(std::max<std::int64_t>(1, a.count())));
}

template <class A>
double size_of(const Tensor<A>& a) {
  return distance(a, Tensor<A>(a.shape()));
}

}  // namespace sextant::ranks
