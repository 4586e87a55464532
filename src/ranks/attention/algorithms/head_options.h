// The options of a call for some of its heads, with the whole sequences.
#pragma once

#include <deque>

#include "ranks/attention/algorithms/heads.h"
#include "ranks/attention/block.h"

namespace sextant::ranks {

// Borrows from the call and from itself. Gathers a mask's rows, so every rank must make it.
template <class T>
struct HeadOptions {
  HeadOptions(const Call<T>& call, Heads heads);
  HeadOptions(const HeadOptions&) = delete;
  HeadOptions& operator=(const HeadOptions&) = delete;

  AttentionOptions<T> options;
  Heads queries;  // the heads of q

 private:
  Tensor<bool> bool_mask_;
  Tensor<MaskElement<T>> float_mask_;
  DistanceBias bias_;
  RotationTable<float> rotation_;
  std::deque<ShiftedTerm> terms_;
};

}  // namespace sextant::ranks
