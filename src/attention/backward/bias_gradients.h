// Adds the gradients of terms and biases, tile by tile. Those of one task that are summed over all
// tasks, of the parameters of bias terms and of biases by distance between position ids, are sums
// of the task, which are added in the order of tasks, so that the bits do not depend on threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "attention/backward/arguments.h"
#include "attention/call/biases.h"

namespace sextant::attention_detail {

// What terms add to the gradients of a slice, in float64.
struct TermGradients {
  double* dq = nullptr;                // [queries of a task, head_dim]; null: no term reads q
  double* dk = nullptr;                // [keys of the slice, head_dim]; null: no term reads k
  double* logit_parameters = nullptr;  // of the term of the logits
  std::int64_t first_query = 0;        // of the task
  float* memory = nullptr;             // term_floats()
};

// Gradients for the pairs of one head of one sequence.
class BiasGradients {
 public:
  // [parameters] of each bias term, [columns] of the bias by distance, 1 of the slope: gradients
  // that are not wanted have no elements, the slope is 0.
  explicit BiasGradients(const BackwardArguments& arguments);

  // Adds those of the scores of a rectangle, dscores[i * row_stride + j]; 0 where hidden.
  void add(const HeadBiases& head, const ScoreRect& rect, float* dscores, std::int64_t row_stride,
           const TermGradients& terms);
  // The same of one query and the bias by distance alone.
  template <class Real>
  void add_by_ids(const Sequence& at, std::int64_t query, std::int64_t first_key, std::int64_t keys,
                  const Real* dscores);

  void clear() noexcept { std::fill(sums_.begin(), sums_.end(), 0.0); }
  // Returns the gradients of the n-th bias term; null: not wanted, and no term reads rows.
  double* parameters(std::size_t n) noexcept {
    return has_terms_ ? sums_.data() + begins_[n] : nullptr;
  }
  // Returns the gradients of the vectors that a term adds to the values of a head; null: not
  // wanted.
  double* of_value_vectors(std::int64_t head, double* logit_parameters) noexcept;
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
