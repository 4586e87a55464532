// Computes attention with exact distances near a query and grouped ones far from it: Self-Extend
// (Jin et al. 2024, 2401.01325, section 3), and with one group ReRoPE (Su 2023,
// kexue.fm/archives/9706). A model with rotary positions so reads texts longer than its training.
#pragma once

#include <cstdint>

#include "sextant/attention/backward.h"

namespace sextant {

// The query at position i and the key at position j <= i are rotated to the distance
//   i - j                                                      below `window`
//   floor(i / group) - floor(j / group) + window - floor(window / group)   from `window` on.
// With a group above all positions every far key is at distance `window`: ReRoPE.
struct SelfExtend {
  std::int64_t window = 1024;  // 1 .. 2^53
  std::int64_t group = 8;      // 1 .. 2^53; 1: plain rotary attention
};

// Computes attention() with these distances. It is two calls, of the near and of the far keys, each
// with its rows of options.rotation, merged by their log-sum-exps; keys far from every query cost
// nothing in the first, near ones nothing in the second. Shapes and options are those of
// attention(), in float32, except:
//  - options.rotation is needed, with rows for the positions of all queries and keys, and
//    options.causal, other than none: positions are diagonal_key(i) and j;
//  - window, segments, position ids, biases and terms must be absent. Masks, key_lengths, sinks,
//    the softcap, the scale and dropout work as in attention().
// log_sum_exps, [2, batch, heads_q, q_len] or empty, are those of the near keys with the sink, and
// of the far keys. A merged row adds two roundings and the error of float32 log-sum-exps, 2^-24 of
// them, to that of attention(). Throws Error for other options and what attention() throws for.
void self_extend_attention(View<const float> q, View<const float> k, View<const float> v,
                           View<float> out, const SelfExtend& extend,
                           const AttentionOptions<float>& options, View<float> log_sum_exps = {});

// Computes the gradients of q, k, v and sinks; the others must be absent. `out` and `log_sum_exps`
// are those of self_extend_attention(); without log_sum_exps it is recomputed. Where w is the share
// of a part's keys in a row, the part's gradients are those of attention_backward() for w dout.
void self_extend_backward(View<const float> q, View<const float> k, View<const float> v,
                          View<const float> out, View<const float> dout,
                          const AttentionGradients<float>& gradients, const SelfExtend& extend,
                          const AttentionOptions<float>& options,
                          View<const float> log_sum_exps = {});

}  // namespace sextant
