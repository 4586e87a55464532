// Gradients that are sums over sequences: partial sums by sequence and head, added up in one fixed
// order at the end, so that no thread can change a bit.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "backward_arguments.h"

namespace sextant::detail {

// Memory: heads_q (q_len + k_len) numbers per batch row, if a bias or slopes are learned.
template <class T>
class BackwardSums {
 public:
  using Wide = typename BackwardArguments<T>::Wide;

  explicit BackwardSums(const BackwardArguments<T>& arguments);

  // Of a sequence and head: sum over its pairs with key - query = distance of dS, at
  // [distance + q_len - 1] (queries and keys counted in the sequence). Null: not wanted. Zeros at
  // first.
  Wide* distances(const Sequence& sequence, std::int64_t head) noexcept;
  // The gradient of the head's sink from this sequence.
  double& sink(const Sequence& sequence, std::int64_t head) noexcept;
  // [gradient_size] of the indexed bias, over all sequences and heads: for one to add to at a time,
  // in order. Empty: not wanted. Zeros at first.
  std::span<double> indexed() noexcept { return indexed_; }

  // Adds a unit's gradient of the content term; returns when all units before it have added theirs.
  // Units must be begun in order.
  void add_content(std::int64_t unit, const double* gradient);

  // Writes the gradients of bias, slopes, sinks, indexed bias and content.
  void finish();

 private:
  static std::int64_t distance_count(const Sequence& at) noexcept {
    return at.q_len == 0 || at.k_len == 0 ? 0 : at.q_len + at.k_len - 1;
  }

  const BackwardArguments<T>& b_;
  std::vector<std::int64_t> begins_;  // of each sequence in distances_, times heads_q
  std::vector<Wide> distances_;
  std::vector<double> sinks_;  // [sequences, heads_q]
  std::vector<double> indexed_;
  std::vector<double> content_;
  std::int64_t next_unit_ = 0;  // whose turn it is to add to content_
  std::mutex mutex_;
  std::condition_variable turn_;
};

}  // namespace sextant::detail
