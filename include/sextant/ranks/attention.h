// Computes attention over a sequence that is divided among ranks, and its gradients.
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

// The ways in which ranks work together.
enum class Algorithm {
  automatic,  // the fastest by plan()
  ring,    // keys and values are sent in slices, while ranks compute with the slices before (Liu et
           // al. 2023, 2310.01889); memory falls with the number of ranks
  gather,  // every rank fetches all keys and values that its queries see, then calls attention()
  ulysses,  // each rank has whole sequences of some heads: all-to-all before and after (Jacobs et
            // al. 2023, 2309.14509)
};
std::string_view name_of(Algorithm algorithm) noexcept;

// The type in which keys and values are sent, and to which all ranks round them.
enum class WireType { unchanged, float16, bfloat16 };
std::string_view name_of(WireType wire_type) noexcept;

// Describes the speed of one rank, for plan(). The defaults are those of one core of a server and
// of a network of 10 Gbit/s.
struct Machine {
  double multiply_adds = 2e10;  // per second, in the operator, on all threads of a rank
  double bytes = 1e9;           // per second, from one rank to another
  double latency = 50e-6;       // seconds per message
};

struct Options {
  Algorithm algorithm = Algorithm::automatic;
  Sharding sharding = Sharding::contiguous;  // division of q, k, v and out
  WireType wire_type = WireType::unchanged;
  // Gives the bits of attention() in one process for any number of ranks: algorithm gather or
  // ulysses. Gradients then use algorithm ulysses, and if a gradient is a sum over heads, one rank
  // computes all of it.
  bool reproducible = false;
  // The largest size of the slices in which keys and values are sent, of which a ring keeps four:
  // multiples of 128 keys, at least that. 0: an eighth of a rank's data, 4 .. 16 MiB.
  std::int64_t slice_bytes = 0;
  Machine machine{};
};

// Computes attention() of sequences whose parts the ranks hold. q, out: [batch, heads_q, own
// positions, ...], k, v: [batch, kv_heads, own positions, ...], divided by ranks.sharding; q_len
// and k_len are the sums over the ranks and may differ. The other `options` are those of the whole
// call and the same on all ranks: query_offsets, key_lengths, segments, key_segments, bias,
// rotation, sinks with positions of the whole sequence. Arrays with a row per query or key are
// divided as q and k are: position ids [batch or 1, own positions]; the queries' axis of a mask,
// whose axis of keys has all k_len (a mask has a row per query on every rank, or a single row on
// every rank). `log_sum_exp`: [batch, heads_q, own positions] or empty.
//
// All ranks must call it. Different shapes, types or options, and calls that attention() refuses,
// give the same Error on every rank. (Tables of rotations and biases are compared by shape and by a
// sample.) For a given number of ranks the bits are the same in every run and for any number of
// threads. For different numbers of ranks the sums of a softmax have a different order: results
// differ by the operator's own error and 2^-23 (1 + |log_sum_exp|) of the largest value.
//
// Content terms and float64 use gather or ulysses. Striped parts use ulysses; for the other
// algorithms, redistribute() makes them zigzag, once for many calls. With algorithm ring, a row
// that sees scores of +infinity in several slices has no defined weights among them.
template <AttentionElement T>
void attention(const Communicator& comm, std::type_identity_t<View<const T>> q,
               std::type_identity_t<View<const T>> k, std::type_identity_t<View<const T>> v,
               View<T> out, const AttentionOptions<std::type_identity_t<T>>& options = {},
               const Options& ranks = {}, View<float> log_sum_exp = {});

// Computes attention_backward(). `out` and `log_sum_exp` are those of ranks::attention() and must
// be given. Gradients of q, k, v are divided as these are; the others are sums over all ranks, the
// same on each, added along a fixed tree. That of a mask is divided as the mask is. Algorithms:
// ring, or ulysses for float64, for content terms, if results are not finite, and on request.
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
