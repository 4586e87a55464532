// The attention operator, softmax(scale q k^T + biases and masks) v, one function for every scheme
// (Vaswani et al. 2017, 1706.03762, eq. 1). docs/attention.md explains the conventions.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "sextant/core/dtype.h"
#include "sextant/core/names.h"
#include "sextant/core/tensor.h"
#include "sextant/tables/distance_bias.h"
#include "sextant/tables/rotation_table.h"
#include "sextant/tables/score_term.h"

namespace sextant {

// Which keys are visible to a query, and which key is on its diagonal: distances of biases and
// windows are counted from that key.
enum class Causal {
  none,          // every key; key i is on the diagonal of query i
  top_left,      // key j <= i
  bottom_right,  // key j <= i + k_len - q_len: the last query attends to every key (decoding with a
                 // cache)
  at_offsets,    // key j <= i + query_offsets[b]
  at_lengths,    // key j <= i + key_lengths[b] - q_len: the last query attends to every key before
                 // the padding (a buffer filled to different lengths; ONNX's nonpad_kv_seqlen and
                 // flash-attention's cache_seqlens)
};

// How many keys to the left and right of the diagonal are visible to a query, the key on the
// diagonal not counted; -1: no limit.
struct Window {
  std::int64_t left = -1;
  std::int64_t right = -1;
};

// Masks broadcast to [batch, heads_q, q_len, k_len]: rank 1 to 4, aligned at the last axis, sizes
// equal or 1, any strides.
using BoolMask = View<const bool>;  // true: visible; every byte but 0 is true
// Added to the scores; -infinity hides. float32 also for 16-bit q, k, v.
template <class T>
using MaskElement = std::conditional_t<std::same_as<T, double>, double, float>;
template <class T>
using FloatMask = View<const MaskElement<T>>;

// The element types of q, k, v and out: float32 and the 16-bit storage types are computed in
// float32 by the fast path, float64 in float64 by plain loops.
template <class T>
concept AttentionElement = Floating<T>;

// Options of a call. All are off by default and all may be combined. Set them by name, because more
// may be added. Views and pointers are borrowed for the call.
template <class M>
struct AttentionOptionsOf {
  // Unset: none. With q_len != k_len a window or a distance bias then needs query_offsets or a
  // named alignment, because no default would be right for all.
  std::optional<Causal> causal{};
  // [batch]: the diagonal key of each sequence's query 0, in -2^60 .. 2^60; for caches, chunks and
  // padding. Only with causal unset, none or at_offsets. Empty: by causal.
  std::span<const std::int64_t> query_offsets{};
  Window window{};
  std::variant<std::monostate, BoolMask, View<const M>> mask{};
  std::span<const std::int64_t> key_lengths{};  // [batch]: keys from key_lengths[b] on are padding;
                                                // moves no diagonal but that of at_lengths.
                                                // Empty: none
  // Packed sequences: batch row b holds the sequences [segments[s], segments[s + 1]), which do not
  // attend to one another; positions (causal, window, distances, rotation) restart at each. First
  // entry 0, ascending, last entry q_len. Not with query_offsets or key_lengths. Empty: one
  // sequence.
  std::span<const std::int64_t> segments{};
  // The same for the keys of those sequences: as many entries, 0 first, ascending, k_len last.
  // Queries of sequence s attend to keys [key_segments[s], key_segments[s + 1]), aligned by
  // `causal` with the lengths of that sequence. Empty: as the queries, so q_len = k_len.
  std::span<const std::int64_t> key_segments{};
  // Position ids: [batch or 1, q_len] and [batch or 1, k_len], any strides, both or neither, within
  // +-2^53, in any order. Rotation rows, distances of `bias` and terms by position use them: a
  // pair's distance is its key's id minus its query's, and tables must have the rows of all ids and
  // every distance that causal, window and key_lengths leave. Causal, window, key_lengths,
  // segments, masks and terms before the softcap still use the index in the sequence. Empty:
  // diagonal_key(i) and j.
  MemberView<const std::int64_t> query_positions{}, key_positions{};
  // Added. A table has 1 or heads_q rows and must hold every distance that causal, window and
  // key_lengths leave; slopes are of heads_q heads.
  const DistanceBias* bias = nullptr;
  // Added as well: generated in tiles, never all at once. Refused: null pointers, two that are
  // added before the softcap, and what a term's check() refuses.
  std::vector<const ScoreTerm*> terms{};
  // [heads_q] or empty: a logit per head that takes part in the softmax, as if a key with value 0
  // had this score. Within +-1e38, or -infinity.
  std::span<const double> sinks{};
  // Without ids, query i is rotated by row diagonal_key(i) of the table, key j by row j of
  // table.for_keys(), before the scores; diagonal_key by causal and query_offsets. The tables must
  // have these rows. Those by head have heads_q heads for queries and kv_heads for keys. Null:
  // none.
  const RotationTable<float>* rotation = nullptr;
  // score -> softcap * tanh(score / softcap), 1e-30 .. 1e30; 0: off.
  double softcap = 0;
  // Within +-1e38; unset: 1 / sqrt(head_dim), or what the term before the softcap says.
  std::optional<double> scale{};
  int threads = 0;  // 0: default_threads(); the result does not depend on it
};

// The options of a call with elements T; they differ by the type of a float mask alone.
template <class T>
using AttentionOptions = AttentionOptionsOf<MaskElement<T>>;

// The term that is added before the softcap; null: none.
template <class M>
const ScoreTerm* logit_term_of(const AttentionOptionsOf<M>& options) {
  for (const ScoreTerm* term : options.terms) {
    if (term != nullptr && term->needs().before_softcap) return term;
  }
  return nullptr;
}

// The scale of a call that gives none.
template <class M>
double default_scale(const AttentionOptionsOf<M>& options, std::int64_t head_dim) {
  const ScoreTerm* term = logit_term_of(options);
  const double products = term == nullptr ? 1 : term->needs().products;
  return 1 / std::sqrt(products * static_cast<double>(head_dim));
}

// q: [batch, heads_q, q_len, head_dim]; k: [batch, kv_heads, k_len, head_dim];
// v: [batch, kv_heads, k_len, v_dim]; out: [batch, heads_q, q_len, v_dim], which has no element in
// common with another array of the call. heads_q is a multiple of kv_heads: query head h reads key
// head h / (heads_q / kv_heads). Any strides: [batch, length, heads, head_dim] is a transposed
// view. Lengths, batch and v_dim may be 0, heads and head_dim may not. Order: rotation, scale,
// term before the softcap, softcap, biases, other terms and masks (added up), softmax. float32
// accumulation for float32 and 16-bit arrays, denormal numbers and probabilities below 2^-126
// treated as 0, one rounding of 16-bit results; float64 for float64.
//
// A row without visible keys, or with scores of -infinity only, is zeros. Hidden keys and values
// are not read: NaN there has no effect. A visible NaN in a score makes its rows NaN, in v its
// channel. Scores of +infinity have equal weights. A key of weight 0 adds
// nothing, whatever v holds. The bits of a row depend on its query, on its visible keys and their
// index in the sequence, and on its options; they do not depend on threads, batch, packing, padding
// after it, or how a prompt was cut into chunks. docs/attention-kernel.md says how. Throws Error
// when shapes, strides or options do not fit, or the results overlap one another or an input;
// nothing is written then.
//
// `log_sum_exp` is a second output, [batch, heads_q, q_len], any strides: log(sum(exp(scores))) of
// every row, the sink included; -infinity for rows without visible keys. Scores below -2.35e38 (a
// mask of the lowest float) count as that in float32. Empty: not computed.
template <AttentionElement T>
void attention(std::type_identity_t<View<const T>> q, std::type_identity_t<View<const T>> k,
               std::type_identity_t<View<const T>> v, View<T> out,
               const AttentionOptions<std::type_identity_t<T>>& options = {},
               View<float> log_sum_exp = {});

// The same into a tensor.
template <AttentionElement T>
void attention(std::type_identity_t<View<const T>> q, std::type_identity_t<View<const T>> k,
               std::type_identity_t<View<const T>> v, Tensor<T>& out,
               const AttentionOptions<std::type_identity_t<T>>& options = {},
               View<float> log_sum_exp = {}) {
  attention<T>(q, k, v, out.view(), options, log_sum_exp);
}

// What attention_weights() gives: ONNX Attention's qk_matmul_output_mode 0 to 3.
enum class Stage {
  scores,         // scale q k^T, of hidden pairs too
  capped,         // after the softcap; hidden pairs too, which have no term before it
  biased,         // after biases and masks; hidden pairs are -infinity
  probabilities,  // after the softmax; hidden pairs are 0, and rows without visible keys
};

// "bottom_right" for Causal::bottom_right; parse_name<Causal>() reads it back.
std::string_view name_of(Causal causal) noexcept;
std::string_view name_of(Stage stage) noexcept;

// Which weights to compute, in the order given, repetitions allowed.
struct WeightsOptions {
  std::vector<std::int64_t> heads{};  // which query heads; empty: all
  std::vector<std::int64_t> rows{};   // which queries; empty: all
  Stage stage = Stage::probabilities;
};

// The weights [batch, chosen heads, chosen rows, k_len] at one stage; memory is that of the result
// and some blocks per thread. Probabilities are those that attention() multiplies v by, rounded to
// T. A pair is hidden that causal, window, key_lengths, a mask or an infinite bias hides; the first
// two stages show it, padding included, so that a rotation needs positions for padding there. Pairs
// of different segments have no score and are -infinity at these stages too. The bits of a row do
// not depend on which others are chosen. Shapes, options and errors as in attention().
// attention_statistics() (statistics.h) summarises weight matrices that are too large to store.
template <AttentionElement T>
Tensor<T> attention_weights(View<const T> q, std::type_identity_t<View<const T>> k,
                            const AttentionOptions<std::type_identity_t<T>>& options = {},
                            const WeightsOptions& chosen = {});

// The same from a tensor.
template <AttentionElement T>
Tensor<T> attention_weights(const Tensor<T>& q, std::type_identity_t<View<const T>> k,
                            const AttentionOptions<std::type_identity_t<T>>& options = {},
                            const WeightsOptions& chosen = {}) {
  return attention_weights<T>(q.view(), k, options, chosen);
}

}  // namespace sextant
