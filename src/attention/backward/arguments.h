// A backward call after checking.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "attention/call/arguments.h"
#include "sextant/attention/backward.h"

namespace sextant::attention_detail {

template <class T>
struct BackwardArguments {
  using Wide = typename AttentionGradients<T>::Wide;

  Arguments<T> scores;
  View<const T> v, out, dout;
  AttentionGradients<T> wanted;
  // The mask's gradient like the mask itself, axes of size 1 with stride 0; null: not computed.
  Wide* mask = nullptr;
  std::array<std::int64_t, 4> mask_strides{};
  View<const float> log_sum_exp;        // empty: to be computed
  std::vector<TermNeeds> term_needs{};  // of options.terms, in their order

  // Gradients by distance: as lines, or pair by pair where distances are those of position ids.
  bool wants_distances() const noexcept { return !scores.by_ids && wants_bias(); }
  bool wants_distances_by_ids() const noexcept { return scores.by_ids && wants_bias(); }
  bool wants_sinks() const noexcept { return is_given(wanted.sinks); }
  bool wants_bias_terms() const noexcept { return wants_terms(false); }
  bool wants_logit_term() const noexcept { return wants_terms(true); }
  // Whether an element of the mask's gradient is a sum over several sequences or key heads.
  bool mask_is_shared() const noexcept;
  // Whether slices add to the same sums, and so have to add in order.
  bool slices_share_sums() const noexcept { return mask_is_shared() || wants_ordered(); }
  // Whether there are ordered sums over all slices: of BiasGradients.
  bool wants_ordered() const noexcept { return wants_bias_terms() || wants_distances_by_ids(); }

  // Slices: a sequence and key head each, sequences outermost. Gradients of k and v are sums within
  // a slice.
  std::int64_t slices() const noexcept {
    return scores.batch * scores.segment_count() * scores.kv_heads;
  }
  Sequence sequence_of_slice(std::int64_t slice) const noexcept {
    return scores.sequence(slice / scores.kv_heads);
  }
  std::int64_t key_head_of_slice(std::int64_t slice) const noexcept {
    return slice % scores.kv_heads;
  }
  std::int64_t group() const noexcept { return scores.heads_q / scores.kv_heads; }

 private:
  bool wants_terms(bool before_softcap) const noexcept {
    for (std::size_t n = 0; n < wanted.terms.size(); ++n) {
      if (term_needs[n].before_softcap == before_softcap && is_given<double>(wanted.terms[n])) {
        return true;
      }
    }
    return false;
  }
  bool wants_bias() const noexcept {
    return is_given(wanted.bias.values) || is_given(wanted.bias.slopes);
  }
};

// Writes 0 to every element.
template <class T>
void fill_zero(View<T> view) {
  if (view.count() == 0) return;
  std::array<std::int64_t, kMaxRank> index{};
  T* at = view.data();
  for (;;) {
    *at = T(0);
    int axis = view.rank() - 1;
    for (; axis >= 0; --axis) {
      auto& i = index[static_cast<std::size_t>(axis)];
      at += view.stride(axis);
      if (++i < view.size(axis)) break;
      at -= i * view.stride(axis);
      i = 0;
    }
    if (axis < 0) return;
  }
}

template <class T>
void zero_mask_gradient(const BackwardArguments<T>& b) {
  fill_zero(b.wanted.mask);
}

// Throws Error("attention_backward.<argument>", ...) for the first thing that does not fit.
template <class T>
BackwardArguments<T> check_backward(View<const T> q, View<const T> k, View<const T> v,
                                    View<const T> out, View<const T> dout,
                                    const AttentionGradients<T>& gradients,
                                    const AttentionOptions<T>& options,
                                    View<const float> log_sum_exp);

}  // namespace sextant::attention_detail
