// Computes attention, softmax(scale q k^T + biases and masks) v, with one function for every scheme
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

// Says which keys are visible to a query and which key is on its diagonal. Distances of biases and
// windows are counted from the diagonal key.
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

// Says how many keys to the left and right of the diagonal are visible to a query, without the key
// on the diagonal; -1: no limit.
struct Window {
  std::int64_t left = -1;
  std::int64_t right = -1;
};

// Says to what the factors of the two products, q k^T and weights v, may be rounded. Their sums,
// the softmax and biases are of float32.
enum class MatmulPrecision {
  float32,
  bfloat16,  // for inference
};

// Masks broadcast to [batch, heads_q, q_len, k_len]: rank 1 to 4, aligned at the last axis, sizes
// equal or 1, any strides.
using BoolMask = View<const bool>;  // true: visible; every byte except 0 is true
// A float mask is added to the scores; -infinity hides. It is float32 also for 16-bit q, k, v.
template <class T>
using MaskElement = std::conditional_t<std::same_as<T, double>, double, float>;
template <class T>
using FloatMask = View<const MaskElement<T>>;

// The element types of q, k, v and out. The fast path computes float32 and the 16-bit storage types
// in float32; plain loops compute float64 in float64.
template <class T>
concept AttentionElement = Floating<T>;

// The options of a call are all off by default and can be combined. Set them by name, because more
// may be added. Views and pointers are borrowed for the call.
template <class M>
struct AttentionOptionsOf {
  // Unset means none. If q_len != k_len, a window or a distance bias then needs query_offsets or a
  // named alignment, because no default would be right for all calls.
  std::optional<Causal> causal{};
  // [batch]: the diagonal key of each sequence's query 0, in -2^60 .. 2^60, for caches, chunks and
  // padding. It needs causal unset, none or at_offsets. Empty: `causal` decides.
  std::span<const std::int64_t> query_offsets{};
  Window window{};
  std::variant<std::monostate, BoolMask, View<const M>> mask{};
  // [batch]: keys from key_lengths[b] on are padding; moves only the diagonal of at_lengths. Empty:
  // none.
  std::span<const std::int64_t> key_lengths{};
  // Packed sequences: batch row b holds the sequences [segments[s], segments[s + 1]), which do not
  // attend to one another; positions (causal, window, distances, rotation) restart at each. The
  // entries ascend from 0 to q_len. Not with query_offsets or key_lengths. Empty: one sequence.
  std::span<const std::int64_t> segments{};
  // The same for the keys of those sequences: as many entries, which ascend from 0 to k_len.
  // Queries of sequence s attend to keys [key_segments[s], key_segments[s + 1]), aligned by
  // `causal` with the lengths of that sequence. Empty: equal to the segments of the queries, so
  // q_len = k_len.
  std::span<const std::int64_t> key_segments{};
  // Position ids: [batch or 1, q_len] and [batch or 1, k_len], any strides, both or neither, within
  // +-2^53, in any order. Rotation rows, distances of `bias` and terms by position use them: a
  // pair's distance is its key's id minus its query's id. The tables must have the rows of all ids
  // and every distance that causal, window and key_lengths leave. Causal, window, key_lengths,
  // segments, masks and terms before the softcap still use the index in the sequence. Empty: the
  // ids are diagonal_key(i) and j.
  MemberView<const std::int64_t> query_positions{}, key_positions{};
  // A bias that is added. A table has 1 or heads_q rows and must hold every distance that causal,
  // window and key_lengths leave; slopes have heads_q numbers.
  const DistanceBias* bias = nullptr;
  // Terms that are also added; they are generated in tiles, never all at once. The call refuses
  // null pointers, two terms before the softcap, and calls that a term's check() refuses.
  std::vector<const ScoreTerm*> terms{};
  // [heads_q] or empty: a logit per head that takes part in the softmax, like the score of a key
  // with value 0. Within +-1e38, or -infinity.
  std::span<const double> sinks{};
  // The table that rotates q and k before the scores; null: none. Without ids, query i uses row
  // diagonal_key(i) of the table (by causal and query_offsets) and key j row j of table.for_keys().
  // The tables must have these rows. Tables by head have heads_q heads for queries and kv_heads for
  // keys.
  const RotationTable<float>* rotation = nullptr;
  // Replaces a score by softcap * tanh(score / softcap), 1e-30 .. 1e30; 0: off.
  double softcap = 0;
  // Within +-1e38; unset: 1 / sqrt(head_dim), or the scale of the term before the softcap.
  std::optional<double> scale{};
  // Dropout of weights, for training: each is 0 with this probability, 0 .. 1 (not 1), else it is
  // divided by 1 - dropout. The weights that are dropped depend on the seed, the indices of the
  // sequence and head, and the indices of query and key in the sequence (Philox 4x32-10, Salmon et
  // al. 2011): backward needs the same seed, the next training step another one. log_sum_exp is
  // that of the scores.
  double dropout = 0;
  std::uint64_t dropout_seed = 0;
  // For a call that is a part of a larger packed batch: the row there of the call's first query, 0
  // .. 2^53. The index of a sequence, for dropout, is then the row there of its first query,
  // dropout_first_row + b q_len + segments[s], so the weights that are dropped do not depend on how
  // sequences are divided among calls. Unset: sequences count from 0 in the call. Layers set it in
  // training; the command line and Python, whose calls are whole, do not have it.
  std::optional<std::int64_t> dropout_first_row{};
  // bfloat16: attention() rounds scaled q, k, weights and v where the processor multiplies numbers
  // of bfloat16 faster (AMX; AVX512_BF16 on AMD), each by at most 2^-8 of itself. Products stay in
  // float32 on other processors and where a sequence has up to 8 queries ("keys in lanes");
  // attention_plan() says which. Those of weights, statistics and gradients stay too.
  MatmulPrecision matmul_precision = MatmulPrecision::float32;
  int threads = 0;  // 0: default_threads(); the result does not depend on it
};

// The options of a call with elements T; they differ by the type of a float mask alone.
template <class T>
using AttentionOptions = AttentionOptionsOf<MaskElement<T>>;

// Returns the term that is added before the softcap; null: none.
template <class M>
const ScoreTerm* logit_term_of(const AttentionOptionsOf<M>& options) {
  for (const ScoreTerm* term : options.terms) {
    if (term != nullptr && term->needs().before_softcap) return term;
  }
  return nullptr;
}

// Returns the scale of a call without options.scale.
template <class M>
double default_scale(const AttentionOptionsOf<M>& options, std::int64_t head_dim) {
  const ScoreTerm* term = logit_term_of(options);
  const double products = term == nullptr ? 1 : term->needs().products;
  return 1 / std::sqrt(products * static_cast<double>(head_dim));
}

// Computes attention of
//  q: [batch, heads_q, q_len, head_dim]; k: [batch, kv_heads, k_len, head_dim];
//  v: [batch, kv_heads, k_len, v_dim]; out: [batch, heads_q, q_len, v_dim], which shares no element
// with another array of the call. heads_q is a multiple of kv_heads: query head h reads key head
// h / (heads_q / kv_heads). Any strides: [batch, length, heads, head_dim] is a transposed view.
// Lengths, batch and v_dim may be 0, heads and head_dim may not. The order is: rotation, scale,
// term before the softcap, softcap, biases, other terms and masks (added up), softmax. float32 and
// 16-bit arrays are accumulated in float32, with denormal numbers and probabilities below 2^-126
// treated as 0 and one rounding of 16-bit results; float64 arrays in float64.
//
// A row without visible keys, or with scores of -infinity only, is zeros. Hidden keys and values
// are not read: NaN there has no effect. A visible NaN in a score makes its rows NaN, in v its
// channel. Scores of +infinity have equal weights. A key of weight 0 adds nothing, for any numbers
// in v. The bits of a row depend on its query, on its visible keys and their index in the sequence,
// and on its options; they do not depend on threads, batch, packing, padding after it, or the
// chunks of a prompt. docs/attention-kernel.md explains this. Throws Error if shapes, strides or
// options do not fit, or if a result overlaps another or an input; then it writes nothing.
//
// `log_sum_exp` is a second output, [batch, heads_q, q_len], any strides: log(sum(exp(scores))) of
// every row, with the sink; -infinity for rows without visible keys. Scores below -2.35e38 (a mask
// of the lowest float) count as that in float32. Empty: not computed.
template <AttentionElement T>
void attention(std::type_identity_t<View<const T>> q, std::type_identity_t<View<const T>> k,
               std::type_identity_t<View<const T>> v, View<T> out,
               const AttentionOptions<std::type_identity_t<T>>& options = {},
               View<float> log_sum_exp = {});

// Computes the same into a new tensor.
template <AttentionElement T>
void attention(std::type_identity_t<View<const T>> q, std::type_identity_t<View<const T>> k,
               std::type_identity_t<View<const T>> v, Tensor<T>& out,
               const AttentionOptions<std::type_identity_t<T>>& options = {},
               View<float> log_sum_exp = {}) {
  attention<T>(q, k, v, out.view(), options, log_sum_exp);
}

// Names the results of attention_weights(): ONNX Attention's qk_matmul_output_mode 0 to 3.
enum class Stage {
  scores,         // scale q k^T, also of hidden pairs
  capped,         // after the softcap; also of hidden pairs, which have no term before it
  biased,         // after biases and masks; hidden pairs are -infinity
  probabilities,  // after the softmax; hidden pairs and rows without visible keys are 0
};

// Returns "bottom_right" for Causal::bottom_right; parse_name<Causal>() reads it back.
std::string_view name_of(Causal causal) noexcept;
std::string_view name_of(Stage stage) noexcept;
std::string_view name_of(MatmulPrecision precision) noexcept;

// Selects the weights to compute, in the given order, with repetitions.
struct WeightsOptions {
  std::vector<std::int64_t> heads{};  // which query heads; empty: all
  std::vector<std::int64_t> rows{};   // which queries; empty: all
  Stage stage = Stage::probabilities;
};

// Computes the weights [batch, chosen heads, chosen rows, k_len] at one stage, with memory for the
// result and some blocks per thread. The probabilities are those that attention() multiplies v by,
// rounded to T. Causal, window, key_lengths, masks and infinite biases hide pairs; the first two
// stages show hidden pairs and padding, so a rotation needs positions for padding there. Pairs of
// different segments have no score and are -infinity at these stages too. The bits of a row do not
// depend on the other chosen rows. Shapes, options and errors are those of attention().
// attention_statistics() (statistics.h) summarises weight matrices that are too large to store.
template <AttentionElement T>
Tensor<T> attention_weights(View<const T> q, std::type_identity_t<View<const T>> k,
                            const AttentionOptions<std::type_identity_t<T>>& options = {},
                            const WeightsOptions& chosen = {});

// Computes the same from a tensor.
template <AttentionElement T>
Tensor<T> attention_weights(const Tensor<T>& q, std::type_identity_t<View<const T>> k,
                            const AttentionOptions<std::type_identity_t<T>>& options = {},
                            const WeightsOptions& chosen = {}) {
  return attention_weights<T>(q.view(), k, options, chosen);
}

}  // namespace sextant
