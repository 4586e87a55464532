#include "attention/call/sequences.h"

#include <algorithm>
#include <string>

#include "attention/call/refuse.h"

namespace sextant::attention_detail {
namespace {

constexpr std::int64_t kMaxOffset = std::int64_t{1} << 60;

void check_per_sequence(std::string_view function, std::string_view argument,
                        std::span<const std::int64_t> values, std::int64_t sequences,
                        std::int64_t min, std::int64_t max) {
  if (static_cast<std::int64_t>(values.size()) != sequences) {
    refuse(function, argument,
           "must have one entry per sequence, " + std::to_string(sequences) + ", got " +
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

void check_boundaries(std::string_view function, std::string_view argument,
                      std::span<const std::int64_t> segments, std::int64_t length) {
  const bool ends = segments.front() == 0 && segments.back() == length;
  if (ends && std::is_sorted(segments.begin(), segments.end())) return;
  refuse(function, argument,
         "must ascend from 0 to the length " + std::to_string(length) + ", got " +
             std::to_string(segments.front()) + " .. " + std::to_string(segments.back()) +
             (ends ? ", not ascending" : ""));
}

// Where the diagonal is: fills causal, offset and offsets.
template <class M>
void align(std::string_view function, const AttentionOptionsOf<M>& options, AttentionCall& a) {
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
    check_per_sequence(function, "query_offsets", options.query_offsets, a.sequences(), -kMaxOffset,
                       kMaxOffset);
    a.offsets = options.query_offsets.data();
    if (causal != Causal::none && causal != Causal::at_offsets) {
      refuse(function, "query_offsets",
             "must be given with causal at_offsets or none, got causal " +
                 std::string(name_of(causal)));
    }
  } else if (causal == Causal::at_offsets && a.batch > 0) {
    refuse(function, "query_offsets", "must be given with causal at_offsets, got none");
  }
  const bool measures = options.bias || options.rotation;
  const ScoreTerm* term = logit_term_of(options);
  const bool counts = options.window.left >= 0 || options.window.right >= 0 ||
                      (measures && !a.by_ids) || (term != nullptr && term->needs().diagonal);
  if (options.causal || has_offsets || !counts) return;
  for (std::int64_t n = 0; n < a.segment_count(); ++n) {  // equal in all batch rows
    const Sequence at = a.sequence(n);
    if (at.q_len == at.k_len) continue;
    refuse(function, "causal",
           "must be named, or query_offsets given, for a window, distance bias, slopes or rotation "
           "with q_len " +
               std::to_string(at.q_len) + " and k_len " + std::to_string(at.k_len));
  }
}

// Beyond every distance for an open side, yet sums of three such numbers do not overflow.
std::int64_t window_side(std::string_view function, std::string_view side, std::int64_t keys) {
  if (keys < -1) {
    refuse(function, side, "must be >= 0, or -1 for open, got " + std::to_string(keys));
  }
  return keys < 0 ? PositionRange::kUnlimited : std::min(keys, PositionRange::kUnlimited);
}

}  // namespace

template <class M>
void read_segments(std::string_view function, const AttentionOptionsOf<M>& options,
                   AttentionCall& a) {
  const auto segments = options.segments, keys = options.key_segments;
  if (segments.empty()) {
    if (!keys.empty()) refuse(function, "key_segments", "must be given with segments");
    return;
  }
  if (a.k.is_paged()) {
    check_boundaries(function, "segments", segments, a.q_len);
    a.segments = segments;
    return;
  }
  if (keys.empty() && a.q_len != a.k_len) {
    refuse(function, "segments",
           "must be given with key_segments or q_len = k_len, got " + std::to_string(a.q_len) +
               " and " + std::to_string(a.k_len));
  }
  if (!options.query_offsets.empty() || !options.key_lengths.empty()) {
    refuse(function, "segments", "must not be combined with query_offsets or key_lengths");
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

template <class M>
void read_sequences(std::string_view function, const AttentionOptionsOf<M>& options,
                    AttentionCall& a) {
  align(function, options, a);
  a.left = window_side(function, "window.left", options.window.left);
  a.right = window_side(function, "window.right", options.window.right);
  if (options.key_lengths.empty()) return;
  check_per_sequence(function, "key_lengths", options.key_lengths, a.sequences(), 0, a.k_len);
  a.key_lengths = options.key_lengths.data();
}

Sequence AttentionCall::sequence(std::int64_t number) const noexcept {
  const std::int64_t row = number / segment_count(), segment = number % segment_count();
  Sequence at{.batch = row,
              .k_batch = k.is_paged() ? number : row,
              .number = number,
              .q_len = q_len,
              .k_len = k_len};
  if (!segments.empty()) {
    const auto n = static_cast<std::size_t>(segment);
    at.q_begin = segments[n];
    at.q_len = segments[n + 1] - at.q_begin;
    if (packs_keys()) {
      at.k_begin = key_segments[n];
      at.k_len = key_segments[n + 1] - at.k_begin;
    }
  }
  at.offset = offsets != nullptr ? offsets[number] : bottom_right ? at.k_len - at.q_len : 0;
  if (key_lengths != nullptr) at.k_len = key_lengths[number];
  if (at_lengths) at.offset = at.k_len - at.q_len;  // nothing else moves with the lengths
  return at;
}

Sequence AttentionCall::sequence_of(std::int64_t batch_row, std::int64_t query) const noexcept {
  if (segments.empty()) return sequence(batch_row);
  const auto after = std::upper_bound(segments.begin(), segments.end(), query);
  return sequence(batch_row * segment_count() + (after - segments.begin()) - 1);
}

double AttentionCall::pairs() const noexcept {
  if (segments.empty()) return static_cast<double>(batch * q_len) * static_cast<double>(k_len);
  double of_row = 0;
  for (std::int64_t n = 0; n < segment_count(); ++n) {
    const Sequence at = sequence(n);
    of_row += static_cast<double>(at.q_len) * static_cast<double>(at.k_len);
  }
  return static_cast<double>(batch) * of_row;
}

template void read_segments(std::string_view, const AttentionOptionsOf<float>&, AttentionCall&);
template void read_segments(std::string_view, const AttentionOptionsOf<double>&, AttentionCall&);
template void read_sequences(std::string_view, const AttentionOptionsOf<float>&, AttentionCall&);
template void read_sequences(std::string_view, const AttentionOptionsOf<double>&, AttentionCall&);

}  // namespace sextant::attention_detail
