// A call of attention in parts: sequences that have the same tables of positions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "layers/attention/attend.h"
#include "sextant/core/error.h"
#include "sextant/layers/attention_layer.h"

namespace sextant::layers {

template <class T>
AttentionOptions<T> options_of(const AttentionLayer<T>& layer, const AttentionCall<T>& call) {
  const bool cross = layer.options.cross;
  AttentionOptions<T> options = layer.operator_options();
  if (call.causal) options.causal = Causal::top_left;
  options.segments = call.segments;
  if (cross) options.key_segments = call.key_segments;
  return options;
}

// Sequences of a call with the same tables: their rows and the options of the operator for them.
template <class T>
struct Part {
  AttentionOptions<T> options;
  std::int64_t length;  // of the longest
  std::int64_t first_query, queries, first_key, keys;

  // Takes the part of [1, heads, tokens] and [1, heads, tokens, head_dim].
  template <class X>
  View<X> of_queries(View<X> x) const {
    return x.narrow(2, first_query, queries);
  }
  template <class X>
  View<X> of_keys(View<X> x) const {
    return x.narrow(2, first_key, keys);
  }
};

// use(part) for all sequences at once, or for one run after the other where positions want it.
// `dropout_key`: unset to drop no weights.
template <class T, class Use>
void each_part(const AttentionLayer<T>& layer, const AttentionCall<T>& call, std::int64_t queries,
               std::int64_t keys, const std::optional<RandomKey>& dropout_key, const Pass& pass,
               const Use& use) {
  const bool cross = layer.options.cross;
  if (cross) check_whole(pass, "attention_layer.context");
  Part<T> whole{options_of(layer, call), 0, 0, queries, 0, keys};
  whole.options.threads = pass.threads;
  if (dropout_key) {
    whole.options.dropout = pass.attention_dropout;
    whole.options.dropout_seed = seed_of(*dropout_key);
    whole.options.dropout_first_row = dropout_key->first_row;
  }
  if (call.positions == nullptr) return use(whole);
  const std::int64_t all_queries[] = {0, queries}, all_keys[] = {0, keys};
  const std::span<const std::int64_t> q =
      call.segments.empty() ? std::span<const std::int64_t>(all_queries) : call.segments;
  const std::span<const std::int64_t> k = cross && call.segments.empty()        ? all_keys
                                          : cross && !call.key_segments.empty() ? call.key_segments
                                                                                : q;
  const auto runs = call.positions->runs(q, k);
  if (runs.size() <= 1) {
    whole.length = runs.empty() ? 0 : runs[0].length;
    if (!runs.empty()) call.positions->set(whole.options, whole.length, call.kind);
    return use(whole);
  }
  if (pass.context_parallel != nullptr) {
    throw Error("attention_layer.segments",
                "must be of one length, or of lengths that have the same table of positions, where "
                "sequences are divided");
  }
  std::vector<std::int64_t> q_ends, k_ends;
  const auto from_zero = [](std::span<const std::int64_t> ends, std::vector<std::int64_t>& to) {
    to.assign(ends.begin(), ends.end());
    for (std::int64_t& end : to) end -= ends[0];
  };
  for (const auto& run : runs) {
    from_zero(q.subspan(run.first, run.last - run.first + 1), q_ends);
    from_zero(k.subspan(run.first, run.last - run.first + 1), k_ends);
    Part<T> part{whole.options, run.length,   q[run.first],
                 q_ends.back(), k[run.first], k_ends.back()};
    part.options.segments = q_ends;
    if (cross) part.options.key_segments = k_ends;
    if (dropout_key) part.options.dropout_first_row = dropout_key->first_row + part.first_query;
    call.positions->set(part.options, run.length, call.kind);
    use(part);
  }
}

}  // namespace sextant::layers
