// The attention operator over a sequence that is divided among ranks, and its gradients.
// docs/parallel.md says when to use which algorithm.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "sextant/attention/attention.h"
#include "sextant/attention/backward.h"
#include "sextant/ranks/communicator.h"
#include "sextant/ranks/sharding.h"

namespace sextant::ranks {

// How ranks work together.
enum class Algorithm {
  automatic,  // what plan() expects to be fastest
  ring,     // keys and values are sent in slices, while ranks compute with those before (Liu et al.
            // 2023, 2310.01889); memory falls with the number of ranks
  gather,   // every rank fetches all keys and values that its queries see, then calls attention()
  ulysses,  // whole sequences of some heads on each rank: all-to-all before and after (Jacobs et
            // al. 2023, 2309.14509)
};
std::string_view name_of(Algorithm algorithm) noexcept;

// The type in which keys and values are sent, and which they are rounded to on all ranks alike.
enum class WireType { unchanged, float16, bfloat16 };
std::string_view name_of(WireType wire_type) noexcept;

// What one rank can do, for plan(). The defaults are those of one core of a server and of a network
// of 10 Gbit/s.
struct Machine {
  double multiply_adds = 2e10;  // per second, in the operator, on all threads of a rank
  double bytes = 1e9;           // per second, from one rank to another
  double latency = 50e-6;       // seconds, of a message
};

struct Options {
  Algorithm algorithm = Algorithm::automatic;
  Sharding sharding = Sharding::contiguous;  // of q, k, v and out
  WireType wire_type = WireType::unchanged;
  // The bits of attention() in one process, whatever the number of ranks: algorithm gather or
  // ulysses. Gradients then take algorithm ulysses, and where a gradient is a sum over heads, one
  // rank computes all of it.
  bool reproducible = false;
  // Keys and values are sent in slices of at most so many bytes, of which a ring keeps four:
  // multiples of 128 keys, at least that. 0: an eighth of what a rank has, 4 .. 16 MiB.
  std::int64_t slice_bytes = 0;
  Machine machine{};
};

// attention() of the sequences whose parts the ranks hold. q, out: [batch, heads_q, own positions,
// ...], k, v: [batch, kv_heads, own positions, ...], divided as ranks.sharding says; q_len and
// k_len are the sums over the ranks and may differ. The rest of `options` is that of the whole call
// and the same on all ranks: query_offsets, key_lengths, segments, key_segments, bias, rotation,
// sinks with positions of the whole sequence. What has a row per query or key is divided as they
// are: position ids [batch or 1, own positions]; of a mask the axis of queries, whose axis of keys
// has all k_len (it has a row for each query where that holds on every rank, otherwise one on all).
// `log_sum_exp`: [batch, heads_q, own positions] or empty.
//
// All ranks must call it. Different shapes, types or options on them, and what attention() refuses,
// are the same Error on every rank. (Tables of rotations and biases are compared by shape and by a
// sample.) For a given number of ranks the bits are the same in every run and for any number of
// threads. Between numbers of ranks results differ as the sum of a softmax in another order does:
// by the operator's own error and 2^-23 (1 + |log_sum_exp|) of the largest value.
//
// Content terms take gather or ulysses, and so does float64. Striped parts take ulysses; for the
// other algorithms, redistribute() makes them zigzag, once for many calls. With algorithm ring a
// row that sees scores of +infinity in several slices has no defined weights among them.
template <AttentionElement T>
void attention(const Communicator& comm, std::type_identity_t<View<const T>> q,
               std::type_identity_t<View<const T>> k, std::type_identity_t<View<const T>> v,
               View<T> out, const AttentionOptions<std::type_identity_t<T>>& options = {},
               const Options& ranks = {}, View<float> log_sum_exp = {});

// attention_backward(): `out` and `log_sum_exp` are those of ranks::attention(), which must be
// given. Gradients of q, k, v are divided as these are; the others are sums over all ranks, the
// same on each, added along a fixed tree. That of a mask is divided as the mask is.
// Algorithms: ring, or ulysses for float64, content terms, where results are not finite, and on
// request.
template <AttentionElement T>
void attention_backward(const Communicator& comm, std::type_identity_t<View<const T>> q,
                        std::type_identity_t<View<const T>> k,
                        std::type_identity_t<View<const T>> v,
                        std::type_identity_t<View<const T>> out,
                        std::type_identity_t<View<const T>> dout,
                        const AttentionGradients<T>& gradients,
                        const AttentionOptions<std::type_identity_t<T>>& options,
                        const Options& ranks, View<const float> log_sum_exp);

}  // namespace sextant::ranks
