// A call on ranks after checking: the operator's arguments for the whole sequences, which no rank
// holds, and the parts that this rank has.
#pragma once

#include <cstdint>

#include "ranks/attention/call_shape.h"

namespace sextant::ranks {

template <class T>
struct Call : CallShape<T> {
  const Communicator& comm;
  AttentionOptions<T> options;                  // with position ids of the whole sequences
  View<const T> q, k, v;                        // own parts
  Tensor<std::int64_t> query_ids{}, key_ids{};  // gathered

  int rank() const noexcept { return comm.rank(); }
};

// Checks that all ranks make the same call and that attention() would take it. Throws the same
// Error on every rank.
template <class T>
Call<T> check_call(const char* function, const Communicator& comm, View<const T> q, View<const T> k,
                   View<const T> v, const AttentionOptions<T>& options, const Options& ranks);

// A rank's own result of the wanted shape, on all ranks alike.
template <class T, class U>
void check_result(const char* function, const char* argument, const Call<T>& call, View<U> view,
                  std::int64_t heads, std::int64_t rows, std::int64_t channels);

}  // namespace sextant::ranks
