// A backward call after checking.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "attention/call/arguments.h"
#include "sextant/attention/backward.h"

namespace sextant::attention_detail {

// AttentionGradients of any element type; those that are not given are not computed.
struct WantedGradients {
  AnyOutput q{}, k{}, v{}, bias_values{}, bias_slopes{}, mask{}, sinks{};
  std::vector<MemberView<double>> terms{};

  WantedGradients() = default;
  template <class T>
  explicit WantedGradients(const AttentionGradients<T>& g)
      : q(given<T>(g.q)),
        k(given<T>(g.k)),
        v(given<T>(g.v)),
        bias_values(given(g.bias.values)),
        bias_slopes(given(g.bias.slopes)),
        mask(given(g.mask)),
        sinks(given(g.sinks)),
        terms(g.terms) {}

  bool wants_bias() const noexcept { return bias_values.is_given() || bias_slopes.is_given(); }

 private:
  template <class T>
  static AnyOutput given(const View<T>& view) {
    return attention_detail::is_given(view) ? AnyOutput(view) : AnyOutput();
  }
};

struct BackwardArguments {
  AttentionCall scores;
  KeyArray v;
  AnyView out, dout;
  WantedGradients wanted;
  // Of the mask's gradient as of the mask: 0 along axes of size 1.
  std::array<std::int64_t, 4> mask_strides{};
  View<const float> log_sum_exp;        // empty: to be computed
  std::vector<TermNeeds> term_needs{};  // of options.terms, in their order

  // Gradients by distance: as lines, or pair by pair where distances are those of position ids.
  bool wants_distances() const noexcept { return !scores.by_ids && wanted.wants_bias(); }
  bool wants_distances_by_ids() const noexcept { return scores.by_ids && wanted.wants_bias(); }
  bool wants_mask() const noexcept { return wanted.mask.is_given(); }
  bool wants_sinks() const noexcept { return wanted.sinks.is_given(); }
  bool wants_bias_terms() const noexcept { return wants_terms(false); }
  bool wants_logit_term() const noexcept { return wants_terms(true); }
  // Whether an element of the mask's gradient is a sum over several sequences or key heads.
  bool mask_is_shared() const noexcept;
  // Whether slices add to the same sums, and so have to add in order.
  bool slices_share_sums() const noexcept { return mask_is_shared() || wants_ordered(); }
  // Whether there are ordered sums over all slices: of BiasGradients.
  bool wants_ordered() const noexcept { return wants_bias_terms() || wants_distances_by_ids(); }

  // Whether the kernels give the gradients of scores tile by tile, for biases and terms.
  bool wants_tiles() const noexcept { return wants_ordered() || terms_add_to_slices(); }
  // Whether terms add to gradients of a slice, so that its tasks run one after another: those of
  // the rows that they read, and of the parameters of the term of the logits.
  bool terms_add_to_slices() const noexcept {
    return scores.terms_read_rows() || wants_logit_term();
  }

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
};

// Throws Error("<function>.<argument>", ...) for the first thing that does not fit.
template <class M>
BackwardArguments check_backward(std::string_view function, const AnyView& q, const AnyView& k,
                                 const AnyView& v, const AnyView& out, const AnyView& dout,
                                 const WantedGradients& gradients,
                                 const AttentionOptionsOf<M>& options,
                                 View<const float> log_sum_exp);

}  // namespace sextant::attention_detail
