// Rotating q and k, against copying or scaling the same arrays.
#include <memory>

#include "attention/cases.h"
#include "attention/inputs.h"
#include "sextant/schemes/rotated/rotary.h"
#include "support/peak.h"

namespace sextant::bench {
namespace {

struct Arrays {
  Tensor<float> q, k, q_out, k_out;
  RotationTable<float> table;
};

std::size_t floats(const Tensor<float>& tensor) { return static_cast<std::size_t>(tensor.count()); }

}  // namespace

Prepared prepare_rotate(const Problem& problem) {
  auto a = std::make_shared<Arrays>();
  const Shape size{1, problem.heads, problem.queries, problem.head_dim};
  a->q = uniform<float>(size, kSeedQ);
  a->k = uniform<float>(size, kSeedK);
  a->table = rotary({.head_dim = problem.head_dim,
                     .layout = problem.layout == "interleaved" ? RotaryLayout::interleaved
                                                               : RotaryLayout::half_split},
                    problem.queries);
  const double bytes = 16.0 * static_cast<double>(a->q.count());  // q and k, read and written
  if (problem.in_place) {
    // Turning keeps the size of the values, however often it is done.
    return {.run =
                [a, bytes](int threads) {
                  rotate<float>(a->q, a->q, a->table, threads);
                  rotate<float>(a->k, a->k, a->table, threads);
                  return bytes;
                },
            .yardstick =
                [a](int threads) {
                  return scale_floats(a->q.data(), floats(a->q), threads) +
                         scale_floats(a->k.data(), floats(a->k), threads);
                },
            .unit = "GB/s",
            .yardstick_name = "scaling in place"};
  }
  a->q_out = Tensor<float>(size);
  a->k_out = Tensor<float>(size);
  return {.run =
              [a, bytes](int threads) {
                rotate<float>(a->q, a->q_out, a->table, threads);
                rotate<float>(a->k, a->k_out, a->table, threads);
                return bytes;
              },
          .yardstick =
              [a](int threads) {
                return copy_floats(a->q.data(), a->q_out.data(), floats(a->q), threads) +
                       copy_floats(a->k.data(), a->k_out.data(), floats(a->k), threads);
              },
          .check = [a] { return summary(a->q_out); },
          .unit = "GB/s",
          .yardstick_name = "memcpy"};
}

}  // namespace sextant::bench
