// Checks what a caller gave to the operator; every Error of the floor but those of names comes from
// here.
#include "attention/call/arguments.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/overlap.h"
#include "sextant/core/numbers.h"
#include "sextant/core/parallel.h"

namespace sextant::attention_detail {
namespace {

// Beyond every distance, yet sums of three such numbers do not overflow.
constexpr std::int64_t kUnlimited = PositionRange::kUnlimited;
constexpr std::int64_t kMaxOffset = std::int64_t{1} << 60;

std::string name_in(std::string_view function, std::string_view argument) {
  return std::string(function) + "." + std::string(argument);
}

[[noreturn]] void refuse(std::string_view function, std::string_view argument,
                         const std::string& what) {
  throw Error(name_in(function, argument), what);
}

template <class T>
void check_array(std::string_view function, std::string_view argument, View<T> view,
                 std::string_view axes) {
  if (view.rank() != 4) {
    refuse(function, argument,
           "must be " + std::string(axes) + ", got " + view.shape().to_string());
  }
  check_memory(name_in(function, argument), view);
}

template <class T>
void check_shape(std::string_view function, std::string_view argument, View<T> view,
                 const Shape& wanted) {
  if (!(view.shape() == wanted)) {
    refuse(function, argument,
           "must be " + wanted.to_string() + ", got " + view.shape().to_string());
  }
}

template <class M>
BroadcastMask<M> broadcast(std::string_view function, View<const M> mask, const Shape& scores) {
  const int rank = mask.rank();
  bool fits = rank >= 1 && rank <= 4;
  BroadcastMask<M> result{mask.data(), {}};
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
  return result;
}

void check_per_sequence(std::string_view function, std::string_view argument,
                        std::span<const std::int64_t> values, std::int64_t batch, std::int64_t min,
                        std::int64_t max) {
  if (static_cast<std::int64_t>(values.size()) != batch) {
    refuse(function, argument,
           "must have one entry per sequence, " + std::to_string(batch) + ", got " +
               std::to_string(values.size()));
  }
  for (const std::int64_t value : values) {
    if (value < min || value > max) {
      refuse(function, argument,
             "must be in " + std::to_string(min) + " .. " + std::to_string(max) + ", got " +
                 std::to_string(value));
    }
  }
}

// Where the diagonal is: fills causal, offset and offsets.
template <class T>
void align(std::string_view function, const AttentionOptions<T>& options, Arguments<T>& a) {
  const Causal causal = options.causal.value_or(Causal::none);
  if (name_of(causal) == "unknown") {
    refuse(function, "causal",
           "must be one of the named values, got " + std::to_string(static_cast<int>(causal)));
  }
  const bool has_offsets = !options.query_offsets.empty();
  a.causal = causal != Causal::none;
  a.bottom_right = causal == Causal::bottom_right;
  a.at_lengths = causal == Causal::at_lengths;
  if (a.at_lengths && options.key_lengths.empty() && a.batch > 0) {
    refuse(function, "key_lengths", "must be given with causal at_lengths, got none");
  }
  if (has_offsets) {
    check_per_sequence(function, "query_offsets", options.query_offsets, a.batch, -kMaxOffset,
                       kMaxOffset);
    a.offsets = options.query_offsets.data();
    if (causal != Causal::none && causal != Causal::at_offsets) {
      refuse(function, "query_offsets",
             "must go with causal at_offsets or none, got causal " + std::string(name_of(causal)));
    }
  } else if (causal == Causal::at_offsets && a.batch > 0) {
    refuse(function, "query_offsets", "must be given with causal at_offsets, got none");
  }
  const bool measures = options.bias || options.rotation;
  const bool counts = options.window.left >= 0 || options.window.right >= 0 ||
                      (measures && !a.by_ids) || options.content;
  if (options.causal || has_offsets || !counts) return;
  for (std::int64_t n = 0; n < a.segment_count(); ++n) {  // alike in all batch rows
    const Sequence at = a.sequence(n);
    if (at.q_len == at.k_len) continue;
    refuse(function, "causal",
           "must be named, or query_offsets given, for a window, distance bias, slopes or rotation "
           "with q_len " +
               std::to_string(at.q_len) + " and k_len " + std::to_string(at.k_len));
  }
}

void check_window_side(std::string_view function, std::string_view side, std::int64_t keys) {
  if (keys < -1) {
    refuse(function, side, "must be >= 0, or -1 for open, got " + std::to_string(keys));
  }
}

// The positions that may occur: distances of pairs, masks aside, and positions of queries and keys.
struct PositionRanges {
  PositionRange distances, queries, keys;
};

// Adds the ranges of a sequence with position ids.
template <class T>
void add_ranges_by_ids(const Arguments<T>& a, const Sequence& at, PositionRanges& ranges) {
  const std::int64_t* queries = a.query_ids.at(at.batch, at.q_begin);
  const std::int64_t* keys = a.key_ids.at(at.batch, at.k_begin);
  const PositionRange of_queries = range_of(queries, at.q_len);
  ranges.queries.add(of_queries.min, of_queries.max);
  if (at.k_len == 0) return;
  const PositionRange of_keys = range_of(keys, at.k_len);
  ranges.keys.add(of_keys.min, of_keys.max);
  if (!a.has_bias_table()) return;
  SlidingRange window(keys, at.k_len);
  for (std::int64_t i = 0; i < at.q_len; ++i) {
    const KeyRange range = a.visible(at, i);
    if (range.first == range.last) continue;
    const PositionRange span = window.of(range.first, range.last);
    ranges.distances.add(span.min - queries[i], span.max - queries[i]);
  }
}

template <class T>
PositionRanges position_ranges(const Arguments<T>& a) {
  PositionRanges ranges;
  // Batch rows differ only by what is given per sequence.
  const bool alike = a.offsets == nullptr && a.key_lengths == nullptr && !a.by_ids;
  const std::int64_t rows = alike ? std::min<std::int64_t>(a.batch, 1) : a.batch;
  const std::int64_t sequences = rows * a.segment_count();
  for (std::int64_t n = 0; n < sequences; ++n) {
    const Sequence at = a.sequence(n);
    if (at.q_len == 0) continue;
    if (a.by_ids) {
      add_ranges_by_ids(a, at, ranges);
      continue;
    }
    // Queries are rotated also where they have no keys.
    ranges.queries.add(a.diagonal_key(at, 0), a.diagonal_key(at, at.q_len - 1));
    if (at.k_len == 0) continue;
    ranges.keys.add(0, at.k_len - 1);
    // Each row sees an interval of distances, one further left than the row before it, so that the
    // union is an interval too.
    const std::int64_t first = std::max(-a.diagonal_key(at, at.q_len - 1), -a.left);
    const std::int64_t last = std::min(
        {at.k_len - 1 - a.diagonal_key(at, 0), a.right, a.causal ? std::int64_t{0} : kUnlimited});
    if (first <= last) ranges.distances.add(first, last);
  }
  return ranges;
}

// Refuses a bias without a distance that some row would read: a guess (0, the last one, hidden)
// would be a silent mistake for one scheme or another.
template <class T>
void check_bias(std::string_view function, const Arguments<T>& a, const PositionRange& ranges) {
  const Tensor<float>& values = a.bias->values;
  if (values.rank() != 2 || (values.size(0) != 1 && values.size(0) != a.heads_q)) {
    refuse(function, "bias",
           "must be [1 or " + std::to_string(a.heads_q) + ", distances], got " +
               values.shape().to_string());
  }
  if (ranges.is_empty()) return;
  const std::int64_t origin = a.bias->origin, distances = values.size(1);
  if (origin < -kUnlimited || origin > kUnlimited || ranges.min + origin < 0 ||
      ranges.max + origin >= distances) {
    refuse(function, "bias",
           "must hold the distances " + std::to_string(ranges.min) + " .. " +
               std::to_string(ranges.max) + ", got " + values.shape().to_string() +
               " with origin " + std::to_string(origin));
  }
}

// One of a rotation's tables against the heads and positions that it is for.
void check_table(std::string_view function, std::string_view argument,
                 const RotationTable<float>& table, std::int64_t heads, std::int64_t head_dim,
                 const PositionRange& positions) {
  const Shape& shape = table.cos.shape();
  const int rank = shape.rank();
  if ((rank != 2 && rank != 3) || !(shape == table.sin.shape())) {
    refuse(function, argument,
           "must have cos and sin of one shape [positions, pairs] or [heads, positions, pairs], "
           "got " +
               shape.to_string() + " and " + table.sin.shape().to_string());
  }
  if (rank == 3 && shape[0] != heads) {
    refuse(function, argument,
           "must be for " + std::to_string(heads) + " heads, got " + shape.to_string());
  }
  const std::int64_t span = 2 * shape[rank - 1];
  if (table.first_channel < 0 || table.first_channel > head_dim - span) {
    refuse(function, argument,
           "must rotate channels of the " + std::to_string(head_dim) + " a head has, got " +
               std::to_string(span) + " from channel " + std::to_string(table.first_channel));
  }
  if (positions.is_empty()) return;
  const std::int64_t rows = shape[rank - 2];
  if (positions.min < 0 || positions.max >= rows) {
    refuse(function, argument,
           "must have a row for each of the positions " +
               std::to_string(std::min<std::int64_t>(positions.min, 0)) + " .. " +
               std::to_string(positions.max) + ", got " + std::to_string(rows) +
               " rows from position 0");
  }
}

template <class T>
void check_rotation(std::string_view function, const Arguments<T>& a,
                    const PositionRanges& ranges) {
  const RotationTable<float>& table = *a.rotation;
  if (table.keys) {
    check_table(function, "rotation", table, a.heads_q, a.head_dim, ranges.queries);
    check_table(function, "rotation.keys", *table.keys, a.kv_heads, a.head_dim, ranges.keys);
    return;
  }
  if (table.cos.rank() == 3 && a.heads_q != a.kv_heads) {
    refuse(
        function, "rotation",
        "must have a table of keys where it is by head and k has fewer heads than q, got heads " +
            std::to_string(a.kv_heads) + " and " + std::to_string(a.heads_q));
  }
  PositionRange both = ranges.queries;
  if (!ranges.keys.is_empty()) both.add(ranges.keys.min, ranges.keys.max);
  check_table(function, "rotation", table, a.heads_q, a.head_dim, both);
}

template <class T>
ContentTerm::Call content_call(const Arguments<T>& a, std::int64_t v_dim) {
  Arguments<T> by_index = a;
  by_index.by_ids = false;
  const PositionRanges ranges = position_ranges(by_index);
  return {.batch = a.batch,
          .heads = a.heads_q,
          .head_dim = a.head_dim,
          .v_dim = v_dim,
          .k_len = a.k_len,
          .looks_ahead = ranges.distances.max > 0,
          .packed = !a.segments.empty(),
          .first_position = std::min<std::int64_t>(ranges.queries.min, 0),
          .last_position = std::max({ranges.queries.max, ranges.keys.max, std::int64_t{-1}})};
}

void check_per_head(std::string_view function, std::string_view argument,
                    std::span<const double> values, std::int64_t heads, bool may_hide) {
  if (static_cast<std::int64_t>(values.size()) != heads) {
    refuse(function, argument,
           "must have one entry per head of q, " + std::to_string(heads) + ", got " +
               std::to_string(values.size()));
  }
  for (const double value : values) {
    if (std::isfinite(value) || (may_hide && value < 0)) continue;
    refuse(function, argument,
           std::string("must be finite") + (may_hide ? " or -infinity" : "") + ", got " +
               shortest(value));
  }
}

void check_boundaries(std::string_view function, std::string_view argument,
                      std::span<const std::int64_t> segments, std::int64_t length) {
  const bool ends = segments.front() == 0 && segments.back() == length;
  if (ends && std::is_sorted(segments.begin(), segments.end())) return;
  refuse(function, argument,
         "must ascend from 0 to the length " + std::to_string(length) + ", got " +
             std::to_string(segments.front()) + " .. " + std::to_string(segments.back()) +
             (ends ? ", not ascending" : ""));
}

template <class T>
void take_segments(std::string_view function, const AttentionOptions<T>& options, Arguments<T>& a) {
  const auto segments = options.segments, keys = options.key_segments;
  if (segments.empty()) {
    if (!keys.empty()) refuse(function, "key_segments", "must go with segments");
    return;
  }
  if (keys.empty() && a.q_len != a.k_len) {
    refuse(function, "segments",
           "must go with key_segments or q_len = k_len, got " + std::to_string(a.q_len) + " and " +
               std::to_string(a.k_len));
  }
  if (!options.query_offsets.empty() || !options.key_lengths.empty()) {
    refuse(function, "segments", "must not go with query_offsets or key_lengths");
  }
  check_boundaries(function, "segments", segments, a.q_len);
  a.segments = a.key_segments = segments;
  if (keys.empty()) return;
  if (keys.size() != segments.size()) {
    refuse(function, "key_segments",
           "must be as many as segments, " + std::to_string(segments.size()) + ", got " +
               std::to_string(keys.size()));
  }
  check_boundaries(function, "key_segments", keys, a.k_len);
  a.key_segments = keys;
}

}  // namespace

template <class T>
Sequence Arguments<T>::sequence(std::int64_t number) const noexcept {
  const std::int64_t row = number / segment_count(), segment = number % segment_count();
  Sequence at{.batch = row, .number = number, .q_len = q_len, .k_len = k_len};
  if (!segments.empty()) {
    const auto n = static_cast<std::size_t>(segment);
    at.q_begin = segments[n];
    at.q_len = segments[n + 1] - at.q_begin;
    at.k_begin = key_segments[n];
    at.k_len = key_segments[n + 1] - at.k_begin;
  }
  at.offset = offsets != nullptr ? offsets[row] : bottom_right ? at.k_len - at.q_len : 0;
  if (key_lengths != nullptr) at.k_len = key_lengths[row];
  if (at_lengths) at.offset = at.k_len - at.q_len;  // nothing else moves with the lengths
  return at;
}

template <class T>
Sequence Arguments<T>::sequence_of(std::int64_t batch_row, std::int64_t query) const noexcept {
  if (segments.empty()) return sequence(batch_row);
  const auto after = std::upper_bound(segments.begin(), segments.end(), query);
  return sequence(batch_row * segment_count() + (after - segments.begin()) - 1);
}

template <class T>
double Arguments<T>::pairs() const noexcept {
  if (segments.empty()) return static_cast<double>(batch * q_len) * static_cast<double>(k_len);
  double of_row = 0;
  for (std::int64_t n = 0; n < segment_count(); ++n) {
    const Sequence at = sequence(n);
    of_row += static_cast<double>(at.q_len) * static_cast<double>(at.k_len);
  }
  return static_cast<double>(batch) * of_row;
}

template <class T>
Arguments<T> check_scores(std::string_view function, View<const T> q, View<const T> k,
                          const AttentionOptions<T>& options) {
  check_array(function, "q", q, "[batch, heads_q, q_len, head_dim]");
  check_array(function, "k", k, "[batch, kv_heads, k_len, head_dim]");
  Arguments<T> a{.q = q,
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

  const auto is_given = [](View<const std::int64_t> ids) {
    return ids.data() != nullptr || ids.rank() != 1;
  };
  const bool query_ids = is_given(options.query_positions);
  if (query_ids != is_given(options.key_positions)) {
    refuse(function, query_ids ? "key_positions" : "query_positions",
           std::string("must be given with ") + (query_ids ? "query_positions" : "key_positions"));
  }
  if (query_ids) {
    a.by_ids = true;
    a.query_ids = check_position_ids(name_in(function, "query_positions"), options.query_positions,
                                     a.batch, a.q_len);
    a.key_ids = check_position_ids(name_in(function, "key_positions"), options.key_positions,
                                   a.batch, a.k_len);
  }
  take_segments(function, options, a);
  align(function, options, a);
  check_window_side(function, "window.left", options.window.left);
  check_window_side(function, "window.right", options.window.right);
  a.left = options.window.left < 0 ? kUnlimited : std::min(options.window.left, kUnlimited);
  a.right = options.window.right < 0 ? kUnlimited : std::min(options.window.right, kUnlimited);
  if (!options.key_lengths.empty()) {
    check_per_sequence(function, "key_lengths", options.key_lengths, a.batch, 0, a.k_len);
    a.key_lengths = options.key_lengths.data();
  }

  const Shape scores{a.batch, a.heads_q, a.q_len, a.k_len};
  if (const auto* bool_mask = std::get_if<BoolMask>(&options.mask)) {
    a.bool_mask = broadcast(function, *bool_mask, scores);
  } else if (const auto* float_mask = std::get_if<FloatMask<T>>(&options.mask)) {
    a.float_mask = broadcast(function, *float_mask, scores);
  }
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
  a.indexed = options.indexed;
  if (options.rotation != nullptr) {
    a.rotation = options.rotation;
    check_rotation(function, a, ranges);
  }

  if (!(options.softcap >= 0) || std::isinf(options.softcap)) {
    refuse(function, "softcap", "must be finite and >= 0, got " + shortest(options.softcap));
  }
  a.softcap = options.softcap;
  a.scale = options.scale                ? *options.scale
            : options.content != nullptr ? options.content->default_scale(a.head_dim)
                                         : 1 / std::sqrt(static_cast<double>(a.head_dim));
  if (!std::isfinite(a.scale)) {
    refuse(function, "scale", "must be finite, got " + shortest(a.scale));
  }
  if (options.threads < 0 || options.threads > kMaxThreads) {
    refuse(function, "threads",
           "must be in 0 .. " + std::to_string(kMaxThreads) + ", got " +
               std::to_string(options.threads));
  }
  a.threads = options.threads;
  if (options.content != nullptr) {
    a.content = options.content;
    options.content->check(content_call(a, -1));
  }
  return a;
}

template <class T>
void check_v(std::string_view function, const Arguments<T>& a, View<const T> v) {
  check_array(function, "v", v, "[batch, kv_heads, k_len, v_dim]");
  check_shape(function, "v", v, Shape{a.batch, a.kv_heads, a.k_len, v.size(3)});
  if (a.content != nullptr) a.content->check(content_call(a, v.size(3)));
}

template <class T>
void check_values(std::string_view function, Arguments<T>& a, View<const T> v, View<T> out,
                  View<float> log_sum_exp) {
  check_v(function, a, v);
  check_array(function, "out", out, "[batch, heads_q, q_len, v_dim]");
  check_shape(function, "out", out, Shape{a.batch, a.heads_q, a.q_len, v.size(3)});
  check_output(name_in(function, "out"), out);
  const auto check_apart = [&](const char* name, View<const T> input) {
    if (surely_overlap(input, out)) {
      refuse(function, "out", std::string("must not overlap ") + name);
    }
  };
  check_apart("q", a.q);
  check_apart("k", a.k);
  check_apart("v", v);
  if (!is_wanted(log_sum_exp)) return;
  check_shape(function, "log_sum_exp", log_sum_exp, Shape{a.batch, a.heads_q, a.q_len});
  check_output(name_in(function, "log_sum_exp"), log_sum_exp);
  a.log_sum_exp = log_sum_exp;
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

#define SEXTANT_INSTANTIATE(T)                                                       \
  template struct Arguments<T>;                                                      \
  template Arguments<T> check_scores(std::string_view, View<const T>, View<const T>, \
                                     const AttentionOptions<T>&);                    \
  template void check_v(std::string_view, const Arguments<T>&, View<const T>);       \
  template void check_values(std::string_view, Arguments<T>&, View<const T>, View<T>, View<float>);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
SEXTANT_INSTANTIATE(float16)
SEXTANT_INSTANTIATE(bfloat16)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::attention_detail
