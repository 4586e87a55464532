// Computes attention in chunks whose distances stay below a model's trained length: dual chunk
// attention (An et al. 2024, 2402.17463, section 3), as Qwen2.5-1M has it.
#pragma once

#include <cstdint>

#include "sextant/attention/backward.h"

namespace sextant {

// With s = chunk_size - local_size, the query at position i and the key at position j <= i are
// rotated to the distance
//   i - j                                                 in the same chunk of s positions
//   min(s + i mod s, chunk_size - 1) - j mod s            in neighbouring chunks
//   chunk_size - 1 - j mod s                              in others
// which is below chunk_size. The distance in neighbouring chunks is exact for the first local_size
// positions of a chunk.
struct DualChunk {
  std::int64_t chunk_size = 262144;  // 2 .. 2^53: the trained length
  std::int64_t local_size = 8192;    // 1 .. chunk_size - 1
};

// Computes attention() with these distances: for each chunk of queries up to three calls, of the
// keys of the same chunk, of the chunk before, and of those before that, merged by their
// log-sum-exps. Shapes and options are those of attention(), in float32, except:
//  - options.rotation is needed, with rows 0 .. chunk_size - 1 (fewer if the text is shorter), and
//    options.causal, other than none: positions are diagonal_key(i) and j;
//  - window, segments, position ids, biases, terms, masks and dropout must be absent. key_lengths,
//    sinks, the softcap and the scale work as in attention().
// log_sum_exps, [3, batch, heads_q, q_len] or empty, are those of the three parts, the first with
// the sink. Throws Error for other options and what attention() throws for.
void dual_chunk_attention(View<const float> q, View<const float> k, View<const float> v,
                          View<float> out, const DualChunk& chunks,
                          const AttentionOptions<float>& options, View<float> log_sum_exps = {});

// Computes the gradients of q, k, v and sinks; the others must be absent. `out` and `log_sum_exps`
// are those of dual_chunk_attention().
void dual_chunk_backward(View<const float> q, View<const float> k, View<const float> v,
                         View<const float> out, View<const float> dout,
                         const AttentionGradients<float>& gradients, const DualChunk& chunks,
                         const AttentionOptions<float>& options, View<const float> log_sum_exps);

}  // namespace sextant
