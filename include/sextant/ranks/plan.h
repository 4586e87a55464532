// Describes a call of ranks::attention() without running it: the algorithm, the messages, the
// balance of the work.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/ranks/attention.h"

namespace sextant::ranks {

struct AttentionPlan {
  // The cost of one algorithm on the busiest rank.
  struct Cost {
    Algorithm algorithm;
    std::string why_not;        // the reason why this algorithm cannot run the call; empty: it can
    std::int64_t bytes = 0;     // received bytes
    std::int64_t messages = 0;  // received messages
    std::int64_t memory = 0;    // bytes in addition to the parts of q, k, v and out
    // Computed from the machine's numbers: arithmetic, and messages that it cannot hide.
    double seconds = 0;
    double seconds_exposed = 0;  // the part of these that waits for messages
    // pairs / (ranks * the largest share): 1 if no rank idles. In a ring, whose ranks wait for one
    // another at each step, it is computed with the sum of the largest shares of the steps.
    double balance = 1;
  };
  Algorithm algorithm = Algorithm::ring;  // the chosen algorithm
  Sharding sharding = Sharding::contiguous;
  int ranks = 1;
  std::int64_t pairs = 0;  // pairs of a query and a visible key, in all heads and sequences
  std::vector<std::int64_t> share;  // pairs on each rank
  double balance = 1;               // balance of the chosen algorithm
  std::vector<Cost> costs;          // ring, gather, ulysses
  std::vector<std::string> notes;

  std::string explain() const;  // returns a few lines of text
};

// Returns the plan of ranks::attention() with the same arguments. All ranks must call it. Throws
// Error as that does.
template <AttentionElement T>
AttentionPlan plan(const Communicator& comm, View<const T> q, std::type_identity_t<View<const T>> k,
                   std::type_identity_t<View<const T>> v,
                   const AttentionOptions<std::type_identity_t<T>>& options = {},
                   const Options& ranks = {});

// The sizes of a call for the whole sequences: q [batch, heads_q, q_len, head_dim], k [batch,
// kv_heads, k_len, head_dim], v [batch, kv_heads, k_len, v_dim].
struct CallSizes {
  std::int64_t batch = 1, heads_q = 1, kv_heads = 1, q_len = 0, k_len = 0, head_dim = 64,
               v_dim = 64;
};

// Returns the plan of a call on `count` ranks that need not exist: one process computes it without
// messages. Masks and position ids among the options have a row for each query of the whole.
// Counting takes one or two microseconds for each pair of ranks. Throws Error as plan() does.
template <AttentionElement T>
AttentionPlan plan_for(int count, const CallSizes& sizes,
                       const AttentionOptions<std::type_identity_t<T>>& options = {},
                       const Options& ranks = {});

}  // namespace sextant::ranks
