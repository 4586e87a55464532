// What a call of ranks::attention() will do, before it does it: the algorithm, what is sent, how
// evenly the work is spread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/ranks/attention.h"

namespace sextant::ranks {

struct AttentionPlan {
  // One algorithm's share: what the busiest rank does.
  struct Cost {
    Algorithm algorithm;
    std::string why_not;         // empty: this algorithm can take the call
    std::int64_t bytes = 0;      // received
    std::int64_t messages = 0;   // received
    std::int64_t memory = 0;     // bytes beside the parts of q, k, v and out
    double seconds = 0;          // by the machine's numbers: arithmetic, and what it cannot hide
    double seconds_exposed = 0;  // of these, waiting for messages
    // pairs / (ranks * the largest share): 1 where no rank idles; in a ring, whose ranks wait for
    // one another at each step, with the sum of the largest shares of the steps.
    double balance = 1;
  };
  Algorithm algorithm = Algorithm::ring;  // the one that will be used
  Sharding sharding = Sharding::contiguous;
  int ranks = 1;
  std::int64_t pairs = 0;           // of a query and a visible key, in all heads and sequences
  std::vector<std::int64_t> share;  // of these, on each rank
  double balance = 1;               // of the algorithm that will be used
  std::vector<Cost> costs;          // ring, gather, ulysses
  std::vector<std::string> notes;

  std::string explain() const;  // a few lines of text
};

// The plan of ranks::attention() with the same arguments; a call that all ranks make. Throws Error
// as that does.
template <AttentionElement T>
AttentionPlan plan(const Communicator& comm, View<const T> q, std::type_identity_t<View<const T>> k,
                   std::type_identity_t<View<const T>> v,
                   const AttentionOptions<std::type_identity_t<T>>& options = {},
                   const Options& ranks = {});

// The sizes of a call: q [batch, heads_q, q_len, head_dim], k [batch, kv_heads, k_len, head_dim],
// v [batch, kv_heads, k_len, v_dim], of the whole sequences.
struct CallSizes {
  std::int64_t batch = 1, heads_q = 1, kv_heads = 1, q_len = 0, k_len = 0, head_dim = 64,
               v_dim = 64;
};

// The plan of a call on `count` ranks that need not be there: no message is sent, one process asks.
// Masks and position ids among the options have a row for each of the whole's queries. Counting
// takes one or two microseconds for each pair of ranks. Throws Error as plan() does.
template <AttentionElement T>
AttentionPlan plan_for(int count, const CallSizes& sizes,
                       const AttentionOptions<std::type_identity_t<T>>& options = {},
                       const Options& ranks = {});

}  // namespace sextant::ranks
