// What tokens take from the scores of earlier tokens in selective attention, block of queries by
// block.
#pragma once

#include <cstdint>
#include <string_view>

#include "sextant/attention/selective_attention.h"

namespace sextant::attention_detail {

inline constexpr std::int64_t kSelectionRows = 256;  // queries of a block

// Some queries, and the keys that they see.
struct SelectionBlock {
  std::int64_t first, rows;
  std::int64_t keys() const noexcept { return first + rows; }

  template <class T>
  View<T> of_queries(const View<T>& x) const {
    return x.narrow(2, first, rows);
  }
  template <class T>
  View<T> of_keys(const View<T>& x) const {
    return x.narrow(2, 0, keys());
  }
};

// Throws Error that names `function` for options that selective attention does not have.
void check_selection(std::string_view function, View<const float> q, View<const float> k,
                     const SelectiveAttention& selective, const AttentionOptions<float>& options);

// The rows of the head that selects, rotated, and its gradients.
class Selection {
 public:
  // The arguments have passed the checks.
  Selection(View<const float> q, View<const float> k, const SelectiveAttention& selective,
            const AttentionOptions<float>& options);

  // Returns z of a block, [batch, 1, rows, keys]. Pairs with j >= i mean nothing.
  Tensor<float> scores(const SelectionBlock& block) const;
  // Adds what the rows of a block take, S, to `taken`, [batch, length]. Where there is a mask, it
  // becomes -F of the block.
  void take(const SelectionBlock& block, const Tensor<float>& z, Tensor<double>& taken,
            Tensor<float>* mask = nullptr) const;
  // Turns z of a block into its gradient, from that of its mask and `later`, the gradients of S
  // from the rows after the block, to which those of its own rows are added.
  void untake(const SelectionBlock& block, const Tensor<float>& of_mask, Tensor<double>& later,
              Tensor<float>& z) const;
  // Adds to the gradients of rotated queries and keys from that of z. Rows of pairs without a
  // gradient have no effect, whatever their numbers.
  void add_gradients(const SelectionBlock& block, const Tensor<float>& of_z);
  // Adds the gradients of the rows before their rotation to arrays of all heads; either may be
  // empty.
  void finish(const View<float>& dq, const View<float>& dk);

 private:
  RotationTable<float> head_table(const RotationTable<float>& table, std::int64_t head) const;

  const AttentionOptions<float>& options_;
  std::int64_t head_, key_head_;
  double scale_;
  Tensor<float> q_, k_, dq_, dk_;  // [batch, 1, length, head_dim]; q_ is scaled
};

}  // namespace sextant::attention_detail
