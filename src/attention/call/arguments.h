// A call of the operator after checking: plain sizes, strides and limits, nothing optional left.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "attention/call/key_array.h"
#include "attention/call/position_ids.h"
#include "attention/call/sequence.h"
#include "core/arrays/any_view.h"
#include "kernels/attention/score_numbers.h"
#include "kernels/attention/weight_dropout.h"
#include "kernels/bf16/bf16_products.h"
#include "sextant/attention/attention.h"

namespace sextant::attention_detail {

// Whether an optional array is given: an empty view is of rank 1 without memory.
template <class T>
bool is_given(View<T> view) noexcept {
  return view.data() != nullptr || view.rank() != 1;
}

// A mask broadcast to [batch, heads_q, q_len, k_len]: axes of size 1 have stride 0.
template <class M>
struct BroadcastMask {
  const M* data = nullptr;  // null: there is none
  std::array<std::int64_t, 4> strides{};
};

// Keys [begin, end) that may be visible to a query, before masks and -infinity in biases.
struct KeyRange {
  std::int64_t begin, end;
};

// A term of the scores and its needs.
struct TermUse {
  const ScoreTerm* term = nullptr;
  TermNeeds needs{};
};

struct AttentionCall {
  AnyView q{};
  KeyArray k{};
  std::int64_t batch = 0, heads_q = 0, kv_heads = 0, q_len = 0, k_len = 0, head_dim = 0;
  kernels::ScoreNumbers<double> numbers{};
  kernels::WeightDropout dropout{};  // of all heads
  std::optional<std::int64_t> dropout_first_row{};
  bool causal = false;
  // The window; an open side is larger than every distance.
  std::int64_t left = 0, right = 0;
  bool bottom_right = false;  // the last query's diagonal key is the last key, or
  bool at_lengths = false;    // the last one before key_lengths
  // [sequences] or null: the diagonal key of query 0, and the length of keys.
  const std::int64_t* offsets = nullptr;
  const std::int64_t* key_lengths = nullptr;
  BroadcastMask<std::uint8_t> bool_mask{};  // bytes, because any but 0 is true
  BroadcastMask<float> float_mask{};
  BroadcastMask<double> double_mask{};  // of float64 calls
  const DistanceBias* bias = nullptr;
  std::span<const std::int64_t> segments{};  // of queries; empty: a batch row is one sequence
  // The same number; those of queries if they are equal; empty if the keys are in a cache.
  std::span<const std::int64_t> key_segments{};
  std::span<const double> sinks{};    // [heads_q] or empty
  TermUse logit_term{};               // the one that is added before the softcap; null: none
  std::vector<TermUse> bias_terms{};  // the others
  // How many of them add vectors to values, and the last of these.
  int value_terms = 0;
  const ScoreTerm* value_term = nullptr;
  bool by_ids = false;  // positions are these ids:
  PositionIds query_ids{}, key_ids{};
  PositionIds query_rows{}, key_rows{};  // and the rows of the rotation's tables that have them
  const RotationTable<float>* rotation = nullptr;
  View<float> log_sum_exp{};
  const kernels::Bf16Products* rounded = nullptr;  // null: products are of float32
  int threads = 0;

  std::int64_t key_head(std::int64_t head) const noexcept { return head / (heads_q / kv_heads); }

  // Sequences of all batch rows, in order, and the one that holds a query.
  std::int64_t segment_count() const noexcept {
    return segments.empty() ? 1 : static_cast<std::int64_t>(segments.size()) - 1;
  }
  std::int64_t sequences() const noexcept { return batch * segment_count(); }
  // Returns the number of first sequences that have all values: batch rows differ only in data
  // given per sequence.
  std::int64_t distinct_sequences() const noexcept {
    const bool alike = offsets == nullptr && key_lengths == nullptr && !by_ids;
    return (alike ? std::min<std::int64_t>(batch, 1) : batch) * segment_count();
  }
  // Whether the keys of segments are packed like the queries. Those in a cache are not.
  bool packs_keys() const noexcept { return !segments.empty() && !k.is_paged(); }
  // The batch rows of arrays by key, as ids of keys.
  std::int64_t key_batch() const noexcept { return k.is_paged() ? sequences() : batch; }
  Sequence sequence(std::int64_t number) const noexcept;
  Sequence sequence_of(std::int64_t batch_row, std::int64_t query) const noexcept;
  // Pairs of a query and a key of its sequence, in one head of all sequences.
  double pairs() const noexcept;

  // Queries and keys below count in the sequence.
  std::int64_t diagonal_key(const Sequence& at, std::int64_t query) const noexcept {
    return query + at.offset;
  }
  // How many keys after its diagonal key a query sees at most.
  std::int64_t right_limit() const noexcept {
    return causal ? std::min<std::int64_t>(right, 0) : right;
  }
  KeyRange visible(const Sequence& at, std::int64_t query) const noexcept {
    const std::int64_t diagonal = diagonal_key(at, query);
    const std::int64_t first = std::clamp<std::int64_t>(diagonal - left, 0, at.k_len);
    return {first, std::max(first, std::min(at.k_len, diagonal + right_limit() + 1))};
  }
  // The positions for rotation and distances.
  std::int64_t query_position(const Sequence& at, std::int64_t query) const noexcept {
    return by_ids ? *query_ids.at(at.batch, at.q_begin + query) : diagonal_key(at, query);
  }
  std::int64_t key_position(const Sequence& at, std::int64_t key) const noexcept {
    return by_ids ? *key_ids.at(at.k_batch, at.k_begin + key) : key;
  }
  bool has_mask() const noexcept {
    return bool_mask.data != nullptr || float_mask.data != nullptr || double_mask.data != nullptr;
  }
  bool has_terms() const noexcept { return logit_term.term != nullptr || !bias_terms.empty(); }
  // Whether numbers of the term of the logits are computed for whole rows (TermRows).
  bool uses_term_rows() const noexcept {
    return logit_term.term != nullptr &&
           (logit_term.needs.tiles == TermTiles::rows || numbers.has_steps());
  }
  // Whether the gradients of terms add to those of q and k.
  bool terms_read_rows() const noexcept {
    const auto reads = [](const TermUse& use) { return use.needs.reads_rows(); };
    return uses_term_rows() || reads(logit_term) || std::ranges::any_of(bias_terms, reads);
  }
  // A rectangle of scores as terms take it.
  ScoreRect rect(const Sequence& at, std::int64_t head, std::int64_t first_query,
                 std::int64_t queries, std::int64_t first_key, std::int64_t keys) const noexcept {
    return {.batch = at.k_batch,
            .sequence = at.number,
            .key_begin = at.k_begin,
            .head = head,
            .first_query = first_query,
            .queries = queries,
            .first_key = first_key,
            .keys = keys,
            .offset = diagonal_key(at, 0),
            .query_positions = by_ids ? query_ids.at(at.batch, at.q_begin + first_query) : nullptr,
            .key_positions = by_ids ? key_ids.at(at.k_batch, at.k_begin + first_key) : nullptr};
  }
  bool has_bias_table() const noexcept { return bias != nullptr && bias->has_table(); }
  // The table of a head: the bias of a pair is row[key's position - query's + bias->origin]. Null:
  // none.
  const float* bias_row(std::int64_t head) const noexcept {
    if (!has_bias_table()) return nullptr;
    return bias->values.data() + (bias->values.size(0) == 1 ? 0 : head * bias->values.size(1));
  }
  double slope(std::int64_t head) const noexcept {
    if (bias == nullptr || bias->slopes.empty()) return 0;
    return bias->slopes[static_cast<std::size_t>(head)];
  }
  // The dropout of a head from query `first_query` of the sequence on.
  kernels::WeightDropout dropout_of(const Sequence& at, std::int64_t head,
                                    std::int64_t first_query) const noexcept {
    const std::int64_t index =
        dropout_first_row ? *dropout_first_row + at.batch * q_len + at.q_begin : at.number;
    kernels::WeightDropout of_head = dropout;
    of_head.head = static_cast<std::uint64_t>(index) * static_cast<std::uint64_t>(heads_q) +
                   static_cast<std::uint64_t>(head);
    of_head.first_query = first_query;
    return of_head;
  }
  double sink(std::int64_t head) const noexcept {
    return sinks.empty() ? -std::numeric_limits<double>::infinity()
                         : sinks[static_cast<std::size_t>(head)];
  }
};

// Throws Error("<function>.<argument>", ...) for the first thing that does not fit.
template <class M>
AttentionCall check_scores(std::string_view function, const AnyView& q, const KeyArray& k,
                           const AttentionOptionsOf<M>& options);

// v against a call that passed check_scores().
void check_v(std::string_view function, const AttentionCall& call, const KeyArray& v);

// Checks the other arguments of attention(), and puts log_sum_exp into the call, which must have
// passed check_scores().
template <class M>
void check_values(std::string_view function, AttentionCall& call, const KeyArray& v,
                  const AnyOutput& out, View<float> log_sum_exp,
                  const AttentionOptionsOf<M>& options);

// Throws Error("<function>.dropout", ...) if a call has dropout, for functions without it.
void check_no_dropout(std::string_view function, const AttentionCall& call, std::string_view why);

// Throws Error unless all of `indices` are in [0, size).
void check_indices(std::string_view where, std::span<const std::int64_t> indices,
                   std::int64_t size);

}  // namespace sextant::attention_detail
