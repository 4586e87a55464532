// Gradients that are sums over sequences: partial sums by sequence and head, added in a fixed order
// at the end, so that the bits do not depend on threads.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "attention/backward/arguments.h"
#include "attention/backward/bias_gradients.h"

namespace sextant::attention_detail {

// The gradient of a mask, [batch, heads, queries, keys], axes that it is broadcast along with
// stride 0: in place where every element has one term, else sums in float64.
struct MaskSums {
  AnyOutput in_place{};
  double* sums = nullptr;
  std::array<std::int64_t, 4> strides{};

  void add(std::int64_t index, double term) const noexcept {
    if (sums != nullptr) {
      sums[index] += term;
    } else {
      const auto add_to = [&]<class Wide>(Wide* of) { of[index] += static_cast<Wide>(term); };
      in_place.dtype() == DType::float64 ? add_to(static_cast<double*>(in_place.data()))
                                         : add_to(static_cast<float*>(in_place.data()));
    }
  }
};

// Memory: heads_q (q_len + k_len) numbers per batch row, if a bias by distance is learned; a number
// for each of a mask's elements, if it is broadcast.
class BackwardSums {
 public:
  explicit BackwardSums(const BackwardArguments& arguments);

  // For a sequence and head: the sum of dS over its pairs with key - query = distance, at [distance
  // + q_len - 1] (queries and keys counted in the sequence). Null: not computed. Initially zero.
  double* distances(const Sequence& sequence, std::int64_t head) noexcept;
  // The gradient of the head's sink from this sequence.
  double& sink(const Sequence& sequence, std::int64_t head) noexcept;
  // Adds a task's gradients to the sums over all sequences: one task at a time, in order.
  void add(std::int64_t head, const BiasGradients& gradients) noexcept;
  // The gradient of the mask, if it is wanted.
  const MaskSums& mask() const noexcept { return mask_; }
  // Moves the sums over all slices here from another call's, the mask's too.
  void take_ordered(BackwardSums& other) noexcept;

  // Whether slices add to the gradient of the term of the logits: one at a time, in order.
  bool wants_logit_term() const noexcept { return b_.wants_logit_term(); }
  void add_logit_term(const double* parameters) noexcept;

  // Writes the gradients of biases by distance, masks, sinks and terms.
  void finish();

 private:
  void finish_lines();  // table and slopes of distances()
  void begin_mask();
  void finish_mask();
  static std::int64_t distance_count(const Sequence& at) noexcept {
    return at.q_len == 0 || at.k_len == 0 ? 0 : at.q_len + at.k_len - 1;
  }

  const BackwardArguments& b_;
  std::vector<std::int64_t> begins_;  // of each sequence in distances_, times heads_q
  std::vector<double> distances_;
  std::vector<double> sinks_;  // [sequences, heads_q]
  // Sums over tasks: of the bias terms, one after the other; [rows of the bias, columns];
  // [heads_q]. Empty: not wanted.
  std::vector<double> bias_terms_, bias_by_ids_, slopes_by_ids_;
  std::vector<double> logit_term_;
  MaskSums mask_;
  std::vector<double> mask_sums_;  // empty: in place, or not wanted
};

}  // namespace sextant::attention_detail
