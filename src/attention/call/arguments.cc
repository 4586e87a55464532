// Checks the arguments of the operator.
#include "attention/call/arguments.h"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <string>

#include "attention/call/extents.h"
#include "attention/call/input_arrays.h"
#include "attention/call/position_tables.h"
#include "attention/call/refuse.h"
#include "attention/call/rotation_rows.h"
#include "attention/call/sequences.h"
#include "core/arrays/overlap.h"
#include "core/numbers/max_position.h"
#include "sextant/core/numbers.h"
#include "sextant/core/parallel.h"

namespace sextant::attention_detail {
namespace {

// Numbers that float32 holds times log2(e), as kernels take them.
constexpr double kLargest = 1e38;
// Kernels divide scores by the cap: quotients of scores above 2^-26, which is less than float32
// tells apart from 0 in a softmax, are no denormal numbers, and one of the cap is no infinity.
constexpr double kSmallestCap = 1e-30, kLargestCap = 1e30;

template <class M>
void broadcast(std::string_view function, View<const M> mask, const AttentionCall& a,
               BroadcastMask<M>& result) {
  const Shape scores{a.batch, a.heads_q, a.q_len, a.k_len};
  const int rank = mask.rank();
  bool fits = rank >= 1 && rank <= 4;
  result = {mask.data(), {}};
  for (int axis = 0; fits && axis < rank; ++axis) {
    const int target = 4 - rank + axis;
    fits = mask.size(axis) == 1 || mask.size(axis) == scores[target];
    if (fits && mask.size(axis) != 1) {
      result.strides[static_cast<std::size_t>(target)] = mask.stride(axis);
    }
  }
  if (!fits) {
    refuse(function, "mask",
           "must broadcast to " + scores.to_string() + ", got " + mask.shape().to_string());
  }
  check_memory(name_in(function, "mask"), mask);
}

// A bool that others wrote may hold any byte, and to read it as a bool would be undefined.
View<const std::uint8_t> bytes_of(BoolMask mask) {
  std::array<std::int64_t, kMaxRank> strides{};
  for (int axis = 0; axis < mask.rank(); ++axis) {
    strides[static_cast<std::size_t>(axis)] = mask.stride(axis);
  }
  return {reinterpret_cast<const std::uint8_t*>(mask.data()), mask.shape(),
          std::span<const std::int64_t>(strides).first(static_cast<std::size_t>(mask.rank()))};
}

// The memory of a cache is its own.
void check_keys(std::string_view function, std::string_view argument, const KeyArray& keys,
                std::string_view axes) {
  if (!keys.is_paged()) check_array(function, argument, keys.view(), axes);
}

// Terms check for which calls they have numbers. `v_dim` is -1 for calls without values.
void check_terms(const AttentionCall& a, std::int64_t v_dim) {
  if (!a.has_terms()) return;
  const Extents extents(a, v_dim);
  for (const TermUse& use : a.bias_terms) use.term->check(extents.call());
  if (a.logit_term.term != nullptr) a.logit_term.term->check(extents.call());
}

void check_per_head(std::string_view function, std::string_view argument,
                    std::span<const double> values, std::int64_t heads, bool hides) {
  if (static_cast<std::int64_t>(values.size()) != heads) {
    refuse(function, argument,
           "must have one entry per head of q, " + std::to_string(heads) + ", got " +
               std::to_string(values.size()));
  }
  for (const double value : values) {
    if (hides ? std::abs(value) <= kLargest || value == -HUGE_VAL : std::isfinite(value)) continue;
    refuse(function, argument,
           std::string(hides ? "must be within +-1e38 or -infinity" : "must be finite") + ", got " +
               shortest(value));
  }
}

template <class M>
void read_position_ids(std::string_view function, const AttentionOptionsOf<M>& options,
                       AttentionCall& a) {
  const bool query_ids = is_given(options.query_positions);
  if (query_ids != is_given(options.key_positions)) {
    refuse(function, query_ids ? "key_positions" : "query_positions",
           std::string("must be given with ") + (query_ids ? "query_positions" : "key_positions"));
  }
  if (!query_ids) return;
  a.by_ids = true;
  a.query_ids = check_position_ids(name_in(function, "query_positions"), options.query_positions,
                                   a.batch, a.q_len);
  a.key_ids = check_position_ids(name_in(function, "key_positions"), options.key_positions,
                                 a.key_batch(), a.k_len);
}

template <class M>
void read_mask(std::string_view function, const AttentionOptionsOf<M>& options, AttentionCall& a) {
  if (const auto* bool_mask = std::get_if<BoolMask>(&options.mask)) {
    broadcast(function, bytes_of(*bool_mask), a, a.bool_mask);
  } else if (const auto* float_mask = std::get_if<View<const M>>(&options.mask)) {
    if constexpr (std::same_as<M, double>) {
      broadcast(function, *float_mask, a, a.double_mask);
    } else {
      broadcast(function, *float_mask, a, a.float_mask);
    }
  }
}

// Biases, sinks and the rotation.
template <class M>
void read_terms(std::string_view function, const AttentionOptionsOf<M>& options, AttentionCall& a) {
  a.bias = options.bias;
  const PositionRanges ranges = position_ranges(a);
  if (a.has_bias_table()) check_bias(function, a, ranges.distances);
  if (a.bias != nullptr && !a.bias->slopes.empty()) {
    check_per_head(function, "bias.slopes", a.bias->slopes, a.heads_q, false);
  }
  if (!options.sinks.empty()) {
    check_per_head(function, "sinks", options.sinks, a.heads_q, true);
    a.sinks = options.sinks;
  }
  for (const ScoreTerm* term : options.terms) {
    if (term == nullptr) refuse(function, "terms", "must not hold null pointers");
    const TermUse use{term, term->needs()};
    if (use.needs.value_dim > 0) {
      ++a.value_terms;
      a.value_term = term;
    }
    if (!use.needs.before_softcap) {
      a.bias_terms.push_back(use);
    } else if (a.logit_term.term == nullptr) {
      a.logit_term = use;
    } else {
      refuse(function, "terms", "must have at most one that is added before the softcap, got two");
    }
  }
  if (options.rotation != nullptr) {
    a.rotation = options.rotation;
    check_rotation(function, a, ranges);
    if (a.by_ids) read_rotation_rows(function, a);
  }
}

template <class M>
void read_numbers(std::string_view function, const AttentionOptionsOf<M>& options,
                  AttentionCall& a) {
  const bool caps = options.softcap >= kSmallestCap && options.softcap <= kLargestCap;
  if (!caps && options.softcap != 0) {
    refuse(function, "softcap", "must be 0 or 1e-30 .. 1e30, got " + shortest(options.softcap));
  }
  a.numbers.softcap = options.softcap;
  a.numbers.scale = options.scale.value_or(default_scale(options, a.head_dim));
  if (!(std::abs(a.numbers.scale) <= kLargest)) {
    refuse(function, "scale", "must be within +-1e38, got " + shortest(a.numbers.scale));
  }
  if (!(options.dropout >= 0 && options.dropout < 1)) {
    refuse(function, "dropout",
           "must be in 0 .. 1, and less than 1, got " + shortest(options.dropout));
  }
  a.dropout.threshold = static_cast<std::uint32_t>(std::min(options.dropout * 0x1p32, 0x1p32 - 1));
  a.dropout.factor = 1 / (1 - options.dropout);
  a.dropout.seed = options.dropout_seed;
  a.dropout_first_row = options.dropout_first_row;
  const std::int64_t first_row = options.dropout_first_row.value_or(0);
  if (first_row < 0 || first_row > kMaxPosition) {
    refuse(function, "dropout_first_row", "must be in 0 .. 2^53, got " + std::to_string(first_row));
  }
  if (options.threads < 0 || options.threads > kMaxThreads) {
    refuse(function, "threads",
           "must be in 0 .. " + std::to_string(kMaxThreads) + ", got " +
               std::to_string(options.threads));
  }
  a.threads = options.threads;
  if (options.matmul_precision == MatmulPrecision::bfloat16) a.rounded = kernels::bf16_products();
}

}  // namespace

template <class M>
AttentionCall check_scores(std::string_view function, const AnyView& q, const KeyArray& k,
                           const AttentionOptionsOf<M>& options) {
  check_array(function, "q", q, "[batch, heads_q, q_len, head_dim]");
  check_keys(function, "k", k, "[batch, kv_heads, k_len, head_dim]");
  AttentionCall a{.q = q,
                  .k = k,
                  .batch = q.size(0),
                  .heads_q = q.size(1),
                  .kv_heads = k.size(1),
                  .q_len = q.size(2),
                  .k_len = k.size(2),
                  .head_dim = q.size(3)};
  if (a.heads_q == 0 || a.head_dim == 0) {
    refuse(function, "q",
           "must have at least one head and one channel, got " + q.shape().to_string());
  }
  check_shape(function, "k", k, Shape{a.batch, a.kv_heads, a.k_len, a.head_dim});
  if (a.kv_heads == 0 || a.heads_q % a.kv_heads != 0) {
    refuse(function, "k",
           "must have a number of heads that divides " + std::to_string(a.heads_q) +
               ", the heads of q, got " + k.shape().to_string());
  }

  read_segments(function, options, a);
  read_position_ids(function, options, a);
  read_sequences(function, options, a);
  read_mask(function, options, a);
  read_terms(function, options, a);
  read_numbers(function, options, a);
  check_terms(a, -1);
  return a;
}

void check_v(std::string_view function, const AttentionCall& a, const KeyArray& v) {
  check_keys(function, "v", v, "[batch, kv_heads, k_len, v_dim]");
  check_shape(function, "v", v, Shape{a.batch, a.kv_heads, a.k_len, v.size(3)});
  check_terms(a, v.size(3));
}

template <class M>
void check_values(std::string_view function, AttentionCall& a, const KeyArray& v,
                  const AnyOutput& out, View<float> log_sum_exp,
                  const AttentionOptionsOf<M>& options) {
  check_v(function, a, v);
  check_array(function, "out", out, "[batch, heads_q, q_len, v_dim]");
  check_shape(function, "out", out, Shape{a.batch, a.heads_q, a.q_len, v.size(3)});
  const auto borrowed = [](const KeyArray& keys) {
    return keys.is_paged() ? AnyView() : keys.view();
  };
  CallArrays arrays = input_arrays(function, a.q, borrowed(a.k), borrowed(v), options);
  arrays.add_output("out", out);
  if (!is_given(log_sum_exp)) return;
  check_shape(function, "log_sum_exp", log_sum_exp, Shape{a.batch, a.heads_q, a.q_len});
  arrays.add_output("log_sum_exp", log_sum_exp);
  a.log_sum_exp = log_sum_exp;
}

void check_no_dropout(std::string_view function, const AttentionCall& a, std::string_view why) {
  if (a.dropout.is_on()) refuse(function, "dropout", "must be 0: " + std::string(why));
}

void check_indices(std::string_view where, std::span<const std::int64_t> indices,
                   std::int64_t size) {
  for (const std::int64_t index : indices) {
    if (index < 0 || index >= size) {
      throw Error(where,
                  "must be in 0 .. " + std::to_string(size - 1) + ", got " + std::to_string(index));
    }
  }
}

#define SEXTANT_INSTANTIATE(M)                                                                    \
  template AttentionCall check_scores(std::string_view, const AnyView&, const KeyArray&,          \
                                      const AttentionOptionsOf<M>&);                              \
  template void check_values(std::string_view, AttentionCall&, const KeyArray&, const AnyOutput&, \
                             View<float>, const AttentionOptionsOf<M>&);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::attention_detail
