// A call on ranks after checking: the operator's arguments for the whole sequences, which no rank
// holds, and the parts that this rank has.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "ranks/attention/agree.h"
#include "ranks/attention/call_shape.h"

namespace sextant::ranks {

template <class T>
struct Call : CallShape<T> {
  const Communicator& comm;
  AttentionOptions<T> options;                  // with position ids of the whole sequences
  View<const T> q, k, v;                        // own parts
  Tensor<std::int64_t> query_ids{}, key_ids{};  // gathered
  std::shared_ptr<const RotationTable<float>> rotation{};  // where it is not the caller's

  int rank() const noexcept { return comm.rank(); }
};

// Checks that all ranks make the same call and that attention() accepts it. Throws the same Error
// on every rank. `own` checks the other arguments of a rank, if its q, k and v have four axes;
// `also` has other values on which ranks must agree. It takes two rounds of short messages; one
// more for position ids.
template <class T>
Call<T> check_call(const char* function, const Communicator& comm, View<const T> q, View<const T> k,
                   View<const T> v, const AttentionOptions<T>& options, const Options& ranks,
                   const std::function<void()>& own = {}, const Agreement& also = {});

// Throws Error where an array of a rank's own is not of the wanted shape.
template <class U>
void check_own(const char* function, const char* argument, View<U> view, const Shape& wanted) {
  if (view.shape() == wanted && (view.count() == 0 || view.data() != nullptr)) return;
  throw Error(name_in(function, argument),
              "must be " + wanted.to_string() + ", got " + view.shape().to_string());
}

}  // namespace sextant::ranks
