// What a call of ranks::attention() will do, before it does it: the form, what travels, how evenly
// the work is spread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/ranks/attention.h"

namespace sextant::ranks {

struct AttentionPlan {
  // One form's share: what the busiest rank does.
  struct Cost {
    Form form;
    bool possible = true;
    std::string why_not;         // of one that is not possible
    std::int64_t bytes = 0;      // received
    std::int64_t messages = 0;   // received
    std::int64_t memory = 0;     // bytes beside the parts of q, k, v and out
    double seconds = 0;          // by the machine's numbers: arithmetic, and what it cannot hide
    double seconds_exposed = 0;  // of these, waiting for messages
  };
  Form form = Form::ring;  // the one that will be used
  Division division = Division::contiguous;
  int ranks = 1;
  std::int64_t pairs = 0;           // of a query and a visible key, in all heads and sequences
  std::vector<std::int64_t> share;  // of these, on each rank
  // pairs / (ranks * the largest share): 1 where no rank idles; in a ring, whose ranks wait for one
  // another at each step, with the sum of the largest shares of the steps.
  double balance = 1;
  std::vector<Cost> costs;  // ring, gather, ulysses
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

}  // namespace sextant::ranks
