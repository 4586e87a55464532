// The gradients of one task that are summed over all tasks: those of an indexed bias, and of biases
// by distance where distances are between position ids. Every task has its own sums, which are
// added in the order of tasks, so that the bits do not depend on threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "attention/backward/arguments.h"

namespace sextant::attention_detail {

// Of pairs of one head of one sequence.
template <class T>
class BiasGradients {
 public:
  // [gradient_size] of the indexed bias, [columns] of the bias by distance, 1 of the slope:
  // gradients that are not wanted have no elements, the slope is 0.
  explicit BiasGradients(const BackwardArguments<T>& arguments);

  // The gradients of scores [queries, keys], counted in the sequence; 0 where hidden.
  void add(const Sequence& at, std::int64_t head, std::int64_t first_query, std::int64_t queries,
           std::int64_t first_key, std::int64_t keys, const float* dscores,
           std::int64_t row_stride);

  void clear() noexcept { std::fill(sums_.begin(), sums_.end(), 0.0); }
  std::span<const double> indexed() const noexcept { return {sums_.data(), indexed_}; }
  std::span<const double> bias() const noexcept { return {sums_.data() + indexed_, columns_}; }
  double slope() const noexcept { return sums_.empty() ? 0 : sums_.back(); }

 private:
  void add_by_ids(const Sequence& at, std::int64_t query, std::int64_t first_key, std::int64_t keys,
                  const float* dscores);

  const BackwardArguments<T>& b_;
  std::size_t indexed_ = 0, columns_ = 0;
  std::vector<double> sums_;  // empty: none is wanted
};

}  // namespace sextant::attention_detail
