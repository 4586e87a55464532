// The gradients of one task that are summed over all tasks: those of the parameters of bias terms,
// and of biases by distance where distances are between position ids. Every task has its own sums,
// which are added in the order of tasks, so that the bits do not depend on threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "attention/backward/arguments.h"

namespace sextant::attention_detail {

// Gradients for the pairs of one head of one sequence.
class BiasGradients {
 public:
  // [parameters] of each bias term, [columns] of the bias by distance, 1 of the slope: gradients
  // that are not wanted have no elements, the slope is 0.
  explicit BiasGradients(const BackwardArguments& arguments);

  // Adds those of the scores of a rectangle, dscores[i * row_stride + j]; 0 where hidden. For terms
  // that read no rows.
  void add(const Sequence& at, const ScoreRect& rect, double* dscores, std::int64_t row_stride);
  // The same of one query and the bias by distance alone.
  void add_by_ids(const Sequence& at, std::int64_t query, std::int64_t first_key, std::int64_t keys,
                  const double* dscores);

  void clear() noexcept { std::fill(sums_.begin(), sums_.end(), 0.0); }
  // Returns the gradients of the n-th bias term; null: not wanted, and no term reads rows.
  double* parameters(std::size_t n) noexcept {
    return has_terms_ ? sums_.data() + begins_[n] : nullptr;
  }
  // Returns the gradients of all bias terms, one after the other; none if they are not wanted.
  std::span<const double> terms() const noexcept {
    return {sums_.data(), b_.wants_bias_terms() ? terms_ : 0};
  }
  std::span<const double> bias() const noexcept { return {sums_.data() + terms_, columns_}; }
  double slope() const noexcept { return sums_.empty() ? 0 : sums_.back(); }

 private:
  const BackwardArguments& b_;
  bool has_terms_ = false;
  std::vector<std::size_t> begins_;  // of the bias terms in sums_
  std::size_t terms_ = 0, columns_ = 0;
  std::vector<double> sums_;  // empty: none is wanted
};

}  // namespace sextant::attention_detail
