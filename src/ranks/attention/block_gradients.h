// Adds up gradients of a rank's queries and of shared arrays, block by block, while slices of keys
// and values arrive.
#pragma once

#include "ranks/attention/algorithms/algorithms.h"
#include "ranks/attention/block.h"
#include "ranks/attention/communication.h"
#include "ranks/attention/query_blocks.h"

namespace sextant::ranks {

template <class T>
class BlockGradients {
 public:
  explicit BlockGradients(const BackwardCall<T>& b);

  // Returns whether the operator's fast path runs everything on this rank, with finite results.
  bool is_finite() const;
  bool results_are_finite() const;

  // Gradients of a slice of keys: [batch, kv_heads, keys, ...].
  struct OfKeys {
    Tensor<float> k, v;
    OfKeys() = default;
    OfKeys(const Call<T>& call, std::int64_t keys);
  };
  // Adds the terms of own queries with a slice to their gradients and the shared ones.
  OfKeys work_on(const Slice& slice, const std::byte* bytes);
  // Adds the returned gradients of own keys.
  void take(const Slice& slice, const OfKeys& gradients);
  // Sums over ranks if they share a gradient, and fills the caller's arrays.
  void give();

 private:
  void shift_large_logs();
  void block(const Piece& queries, const Piece& keys, const KeyArrays<float>& arrays, OfKeys& to);
  Tensor<double> sink_gradients() const;

  const BackwardCall<T>& b_;
  const Call<T>& call_;
  AsFloat<T> q_, k_, v_, out_, dout_;
  std::vector<Piece> blocks_;
  Tensor<float> dq_, dk_, dv_, logs_, shift_;
  Tensor<double> bias_, slopes_, mask_;
  std::vector<Tensor<double>> terms_;
  bool shifts_ = false;
};

}  // namespace sextant::ranks
